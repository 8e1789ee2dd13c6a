#if os(Linux)
    import CCodings
    import Foundation
    import PenstockCore

    /// permessage-deflate (RFC 7692) by zlib.
    public struct ZlibCompression: WebSocketCompression {
        /// Compression with as much memory and effort as zlib takes unless told otherwise.
        public init() {}

        public func deflater(windowBits: Int) -> (any MessageDeflater)? {
            // zlib makes a window of 512 bytes where raw DEFLATE with 256 is asked for, which the other end could not read.
            9...15 ~= windowBits ? ZlibDeflater(windowBits: Int32(windowBits)) : nil
        }

        public func inflater(windowBits: Int) -> (any MessageInflater)? {
            // A larger window reads what was made with a smaller one.
            8...15 ~= windowBits ? ZlibInflater(windowBits: Int32(max(windowBits, 9))) : nil
        }
    }

    /// A stream of zlib, which remembers its address.
    ///
    /// Unchecked because a C handle cannot say so: it is used with its lock held.
    private final class ZlibStream: @unchecked Sendable {
        let stream: UnsafeMutablePointer<z_stream>
        private let end: (UnsafeMutablePointer<z_stream>) -> Void
        private let lock = Locked<Bool>(true)

        init?(
            _ prepare: (UnsafeMutablePointer<z_stream>) -> Int32,
            end: @escaping (UnsafeMutablePointer<z_stream>) -> Void
        ) {
            self.end = end
            stream = .allocate(capacity: 1)
            stream.initialize(to: z_stream())
            guard prepare(stream) == Z_OK else { return nil }
        }

        deinit {
            end(stream)
            stream.deallocate()
        }

        /// Runs zlib over the input until it has no more to give.
        ///
        /// - Parameter step: one call of zlib; `false` when this is to be the last.
        func run(_ input: Data, _ step: (UnsafeMutablePointer<z_stream>, inout Data) -> Bool) -> Data {
            lock.withLock { _ in
                var output = Data()
                input.withUnsafeBytes { bytes in
                    stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
                    stream.pointee.avail_in = UInt32(clamping: bytes.count)
                    while step(stream, &output) {}
                }
                return output
            }
        }

        func locked<Result: Sendable>(_ body: (UnsafeMutablePointer<z_stream>) -> Result) -> Result {
            lock.withLock { _ in body(stream) }
        }
    }

    extension UnsafeMutablePointer<z_stream> {
        /// Gives zlib room behind what is there, at most so much of it, and keeps what it has filled.
        fileprivate func step(_ output: inout Data, room: Int, _ body: () -> Int32) -> (code: Int32, produced: Int) {
            var code = Z_OK
            var produced = 0
            let piece = withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { buffer -> Data in
                pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                pointee.avail_out = UInt32(clamping: room)
                code = body()
                produced = room - Int(pointee.avail_out)
                return Data(buffer.prefix(produced))
            }
            output.append(piece)
            return (code, produced)
        }
    }

    private let room = 16 << 10

    private final class ZlibDeflater: MessageDeflater {
        private let zlib: ZlibStream

        init?(windowBits: Int32) {
            guard
                let zlib = ZlibStream({ ccodings_deflate_raw_init($0, -windowBits) }, end: { deflateEnd($0) })
            else { return nil }
            self.zlib = zlib
        }

        func deflate(_ message: Data) -> Data? {
            guard message.count <= UInt32.max else { return nil }
            var isWhole = true
            var output = zlib.run(message) { stream, output in
                let (code, produced) = stream.step(&output, room: room) { CCodings.deflate(stream, Z_SYNC_FLUSH) }
                isWhole = code == Z_OK || code == Z_BUF_ERROR
                return isWhole && produced == room
            }
            guard isWhole, output.suffix(4) == Data([0, 0, 0xFF, 0xFF]) else {
                reset()
                return nil
            }
            output.removeLast(4)
            return output
        }

        func reset() {
            zlib.locked { _ = deflateReset($0) }
        }
    }

    private final class ZlibInflater: MessageInflater {
        /// How many blocks of one message may call themselves the last. Each costs as much work as a whole window, and may have two
        /// bytes, so that a message of nothing else would keep this end busy for many seconds.
        private static let mostLastBlocks = 4_096

        private let zlib: ZlibStream
        private let lastBlocks = Locked(0)

        init?(windowBits: Int32) {
            guard let zlib = ZlibStream({ ccodings_inflate_init($0, -windowBits) }, end: { inflateEnd($0) }) else {
                return nil
            }
            self.zlib = zlib
        }

        func inflate(_ piece: Data, upTo limit: Int) throws(WebSocketFailure) -> Data {
            var failure: WebSocketFailure?
            let output = zlib.run(piece) { stream, output in
                // One byte more than may come, so that it shows when more would.
                let left = min(max(0, limit - output.count), room - 1) + 1
                let (code, produced) = stream.step(&output, room: left) {
                    CCodings.inflate(stream, Z_SYNC_FLUSH)
                }
                if output.count > limit {
                    failure = WebSocketFailure(.messageTooBig, "a message expands to more than its limit")
                }
                switch code {
                case Z_OK: return failure == nil && (produced == left || stream.pointee.avail_in > 0)
                case Z_BUF_ERROR: return false
                case Z_STREAM_END where failure == nil:
                    guard countLastBlock() else {
                        failure = WebSocketFailure(.compression, "a message has too many blocks that are its last")
                        return false
                    }
                    return Self.goOn(stream)
                default:
                    failure = failure ?? WebSocketFailure(.compression, "a message is not valid DEFLATE")
                    return false
                }
            }
            if let failure { throw failure }
            return output
        }

        /// - Returns: `false` where the message has had so many that there may be no more.
        private func countLastBlock() -> Bool {
            lastBlocks.withLock { count in
                count += 1
                return count <= Self.mostLastBlocks
            }
        }

        /// Makes the stream ready for more behind a block that calls itself the last: there may be some (RFC 7692 §7.2.3.4), which refers
        /// to what was before.
        private static func goOn(_ stream: UnsafeMutablePointer<z_stream>) -> Bool {
            var window = [UInt8](repeating: 0, count: 32 << 10)
            var count = UInt32(window.count)
            guard inflateGetDictionary(stream, &window, &count) == Z_OK, inflateReset(stream) == Z_OK else {
                return false
            }
            _ = inflateSetDictionary(stream, window, count)
            return stream.pointee.avail_in > 0
        }

        // zlib says so with a bit, whenever it returns.
        var isComplete: Bool { zlib.locked { $0.pointee.data_type & 128 != 0 } }

        func endMessage() {
            lastBlocks.withLock { $0 = 0 }
        }

        func reset() {
            zlib.locked { _ = inflateReset($0) }
        }
    }
#endif
