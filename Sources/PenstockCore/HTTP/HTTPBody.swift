import Foundation

/// What a request carries: nothing, bytes, a file, or a stream.
///
/// The length is known for all but some streams, and says whether the wire shows `Content-Length` or chunks. A body
/// that ``isReplayable`` can be sent again, by a redirect that keeps it or by a retry.
public struct HTTPBody: Sendable {
    public typealias Chunks = AsyncThrowingStream<Data, any Error>

    @nonexhaustive
    public enum Source: Sendable {
        case none
        case bytes(Data)
        /// A regular file, read from its beginning each time it is sent.
        case file(URL)
        /// `open` is called once for each time the body is sent.
        case stream(open: @Sendable () throws -> Chunks)
    }

    public let source: Source
    /// Length in bytes, `nil` where only the stream's end tells.
    public let length: Int?
    /// Whether it can be sent a second time.
    public let isReplayable: Bool

    private init(source: Source, length: Int?, isReplayable: Bool) {
        self.source = source
        self.length = length
        self.isReplayable = isReplayable
    }

    /// No body.
    public static let none = HTTPBody(source: .none, length: 0, isReplayable: true)

    public static func bytes(_ data: Data) -> HTTPBody {
        HTTPBody(source: .bytes(data), length: data.count, isReplayable: true)
    }

    /// A regular file that stays unchanged until the call ends.
    ///
    /// - Throws: Foundation's error when there is no readable file at `url`.
    public static func file(_ url: URL) throws -> HTTPBody {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: url.path])
        }
        return HTTPBody(source: .file(url), length: size, isReplayable: true)
    }

    /// A stream that can be opened again for every time it is sent.
    public static func stream(length: Int? = nil, _ open: @escaping @Sendable () throws -> Chunks) -> HTTPBody {
        HTTPBody(source: .stream(open: open), length: length, isReplayable: true)
    }

    /// A stream that can be read only once.
    public static func onceOnly(length: Int? = nil, _ chunks: Chunks) -> HTTPBody {
        HTTPBody(source: .stream(open: { chunks }), length: length, isReplayable: false)
    }

    public var isNone: Bool {
        if case .none = source { true } else { false }
    }
}
