#if os(Linux)
    import CCodings

    /// Removes `gzip` (RFC 1952) or `deflate` (RFC 1950, and RFC 1951 alone) by zlib, checksums included.
    final class ZlibRemover: CodingRemover {
        private enum State {
            case untouched
            case within
            /// Behind a member of gzip, or behind the only stream of deflate.
            case ended
        }

        // MAX_WBITS, alone and as zlib wants it for each of the formats.
        private static let zlibFormat: Int32 = 15
        private static let gzipFormat: Int32 = 15 + 16
        private static let rawFormat: Int32 = -15

        private let isGzip: Bool
        // zlib remembers the address.
        private let stream: UnsafeMutablePointer<z_stream>
        private var state = State.untouched

        init?(isGzip: Bool) {
            self.isGzip = isGzip
            stream = .allocate(capacity: 1)
            stream.initialize(to: z_stream())
            // Everything is set by now: on failure, too, `deinit` cleans up.
            guard ccodings_inflate_init(stream, isGzip ? Self.gzipFormat : Self.zlibFormat) == Z_OK else { return nil }
        }

        deinit {
            inflateEnd(stream)
            stream.deallocate()
        }

        var isComplete: Bool { state != .within }

        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep {
            if state != .within, let first = input.first {
                guard begin(first) else { return .behindTheEnd }
                state = .within
            }
            return state == .within ? inflate(input, output) : CodingStep()
        }

        /// - Returns: whether something may begin here.
        private func begin(_ first: UInt8) -> Bool {
            switch (state, isGzip) {
            case (.untouched, true): return true
            case (.untouched, false): return inflateReset2(stream, Self.format(first)) == Z_OK
            // The next member (RFC 1952 §2.2), by the first byte of its mark; zlib looks at the rest.
            case (_, true): return first == 0x1F && inflateReset(stream) == Z_OK
            case (_, false): return false
            }
        }

        /// `deflate` means RFC 1950, but some servers send RFC 1951 without the wrapper. What the wrapper begins with
        /// would be a stored block with padding that is not zero, which nobody writes.
        private static func format(_ first: UInt8) -> Int32 {
            first & 0x0F == 8 && first >> 4 <= 7 ? zlibFormat : rawFormat
        }

        private func inflate(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> CodingStep {
            let (offered, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
            let bytes = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes)
            stream.pointee.avail_in = offered
            stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = room
            let code = CCodings.inflate(stream, Z_NO_FLUSH)
            var step = CodingStep(
                consumed: Int(offered - stream.pointee.avail_in), produced: Int(room - stream.pointee.avail_out))
            switch code {
            // The last only says that nothing could be done.
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: state = .ended
            default: step.fault = "the content is not valid \(isGzip ? "gzip" : "deflate")"
            }
            return step
        }
    }
#endif
