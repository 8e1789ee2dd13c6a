#if os(Linux)
    import Foundation
    import PenstockCore

    /// Where libcurl reads a request body from. Touched on the loop's thread only.
    protocol CurlBodySource: AnyObject {
        /// Length in bytes, `nil` where the stream's end tells.
        var length: Int? { get }
        /// Whether the last byte was handed out.
        var isFinished: Bool { get }
        /// What a stream threw.
        var failure: (any Error)? { get }
        /// Whether it is known that there is something to read from.
        var isOpen: Bool { get }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead
        /// Goes back to the beginning.
        ///
        /// - Returns: `false` where that is not possible.
        func rewind() -> Bool
        /// Lets go of what is open.
        func close()
    }

    extension CurlBodySource {
        var failure: (any Error)? { nil }
        var isOpen: Bool { true }
    }

    enum CurlBodyRead {
        case bytes(Int)
        case end
        /// Nothing yet; the source tells the loop when there is.
        case later
        case failed(String)
    }

    /// A body in memory, kept alive for as long as libcurl may read it.
    final class CurlBytesSource: CurlBodySource {
        private let data: Data
        private var offset = 0

        init(_ data: Data) {
            self.data = data
        }

        var length: Int? { data.count }
        var isFinished: Bool { offset == data.count }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead {
            let count = min(buffer.count, data.count - offset)
            guard count > 0 else { return .end }
            let start = data.startIndex + offset
            data.copyBytes(to: buffer.bindMemory(to: UInt8.self), from: start..<(start + count))
            offset += count
            return .bytes(count)
        }

        func rewind() -> Bool {
            offset = 0
            return true
        }

        func close() {}
    }

    /// Chooses how a request body is read.
    enum CurlBodySources {
        /// Larger bodies are read from the app's own memory as they are sent.
        private static let maxInline = 32 << 10

        /// Whether a body is read as it is sent; a small one leaves with the head.
        static func isRead(_ body: HTTPBody) -> Bool {
            if case .bytes(let data) = body.source { return data.count > maxInline }
            return !body.isNone
        }

        /// - Returns: `nil` where there is no body, or one that is small enough to be given to libcurl.
        static func source(for transfer: CurlTransfer) throws(TransportError) -> (any CurlBodySource)? {
            let body = transfer.request.request.body
            transfer.state.progress.expectedToSend = body.length
            switch body.source {
            case .none: return nil
            case .bytes(let data): return data.count > maxInline ? CurlBytesSource(data) : nil
            case .file(let url):
                return CurlFileSource(url, length: body.length ?? 0) { [weak transfer] in transfer?.tellRead($0) }
            case .stream(let open):
                return CurlStreamSource(length: body.length, open: open) { [weak transfer] in transfer?.stream($0) }
            @unknown default:
                throw TransportError(.unsupported("this kind of body"), sendState: .unsent)
            }
        }
    }

    /// How much of a request body is handed to libcurl at a time, in bytes.
    ///
    /// Large pieces cost a fast connection the fewest calls. On a slow one a piece may be no larger than what leaves in a
    /// moment: while it leaves nothing is heard of it, neither by the progress report nor by the idle time-out.
    struct CurlUploadPace {
        static let least = 64 << 10
        static let most = 512 << 10
        /// Nanoseconds within which the next piece is asked for by a connection that can take a larger one.
        private static let moment: UInt64 = 10_000_000

        private var size = Self.least
        private var lastPiece: UInt64?

        /// - Returns: the size of the piece that is to be handed over now.
        mutating func next(_ now: UInt64) -> Int {
            defer { lastPiece = now }
            guard let lastPiece else { return size }
            let isFast = now - min(now, lastPiece) < Self.moment
            size = isFast ? min(size * 2, Self.most) : max(size / 2, Self.least)
            return size
        }
    }
#endif
