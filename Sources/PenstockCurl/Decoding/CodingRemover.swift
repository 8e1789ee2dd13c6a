#if os(Linux)
    import CCodings

    /// Removes one coding. Its memory is that of the coding's window, however much goes through it.
    protocol CodingRemover: AnyObject {
        /// Whether the input may end here: there was none, or everything that began is complete.
        var isComplete: Bool { get }

        /// Reads `input` and writes `output` until one of them is used up. What does not fit stays inside, and comes
        /// with the next step, for which there need not be any input.
        ///
        /// Bytes behind the end of a coding are a fault. No coding allows them, they would pass unchecked, and who
        /// ignores them can be kept reading for ever.
        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep
    }

    /// What one step did.
    struct CodingStep {
        var consumed = 0
        var produced = 0
        /// What is wrong with the input, for people.
        var fault: String?
    }

    extension CodingStep {
        static let behindTheEnd = CodingStep(fault: "there is more behind the end of the content's coding")
    }

    /// Memory of a fixed size.
    final class CodingBuffer {
        let bytes: UnsafeMutableRawBufferPointer

        init(count: Int) {
            bytes = .allocate(byteCount: count, alignment: 16)
        }

        deinit {
            bytes.deallocate()
        }
    }

    /// Removes `gzip` (RFC 1952) or `deflate` (RFC 1950, and RFC 1951 alone) by zlib, checksums included.
    final class ZlibRemover: CodingRemover {
        private enum State {
            case untouched
            case within
            /// It is behind a member of gzip, or behind the only stream of deflate.
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

    /// Removes `br` (RFC 7932). Its window has at most 16 MiB; larger ones are another format, which stays off.
    final class BrotliRemover: CodingRemover {
        private let decoder: OpaquePointer
        private var hasBegun = false

        init?() {
            guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
            self.decoder = decoder
        }

        deinit {
            BrotliDecoderDestroyInstance(decoder)
        }

        var isComplete: Bool { !hasBegun || hasEnded }

        private var hasEnded: Bool { BrotliDecoderIsFinished(decoder) != 0 }

        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep {
            if !input.isEmpty {
                guard !hasEnded else { return .behindTheEnd }
                hasBegun = true
            }
            return hasBegun && !hasEnded ? decode(input, output) : CodingStep()
        }

        private func decode(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> CodingStep {
            var (left, room) = (input.count, output.count)
            var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let result = BrotliDecoderDecompressStream(decoder, &left, &source, &room, &target, nil)
            return CodingStep(
                consumed: input.count - left, produced: output.count - room,
                fault: result == BROTLI_DECODER_RESULT_ERROR ? "the content is not valid br" : nil)
        }
    }

    /// Removes `zstd` (RFC 8878), one frame after the other, with windows of at most 8 MiB (RFC 9659).
    final class ZstdRemover: CodingRemover {
        private static let maxWindowLog: Int32 = 23

        private let context: OpaquePointer
        private var isWithinFrame = false

        init?() {
            guard let context = ZSTD_createDCtx() else { return nil }
            self.context = context
            guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maxWindowLog)) == 0 else {
                return nil
            }
        }

        deinit {
            ZSTD_freeDCtx(context)
        }

        var isComplete: Bool { !isWithinFrame }

        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep {
            guard !isWithinFrame else { return decode(input, output) }
            guard let first = input.first else { return CodingStep() }
            guard Self.beginsFrame(first) else { return CodingStep(fault: "what should be a frame of zstd is none") }
            return decode(input, output)
        }

        /// A frame, or one to skip (RFC 8878 §3.1). The library also knows the formats from before the standard, whose
        /// windows it does not limit.
        private static func beginsFrame(_ first: UInt8) -> Bool {
            first == 0x28 || first >> 4 == 0x5
        }

        private func decode(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> CodingStep {
            var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
            var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
            // How much more it would like to have; 0 where a frame is complete and all of it handed out.
            let wanted = ZSTD_decompressStream(context, &target, &source)
            isWithinFrame = wanted != 0
            let isValid = ZSTD_isError(wanted) == 0
            return CodingStep(
                consumed: source.pos, produced: target.pos,
                fault: isValid ? nil : "the content is not valid zstd, or its window is too large")
        }
    }
#endif
