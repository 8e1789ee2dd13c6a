import Foundation

/// What a request carries: nothing, bytes, a file, or a stream.
///
/// The length is known for all but some streams, and says whether the wire shows `Content-Length` or chunks. A body
/// that ``isReplayable`` can be sent again, by a redirect that keeps it or by a retry.
public struct HTTPBody: Sendable {
    /// The pieces of a streamed body, in their order and of any size. An error that it throws ends the exchange, with
    /// ``TransportError/Kind/requestBody``.
    public typealias Chunks = AsyncThrowingStream<Data, any Error>

    /// Where the bytes come from: what a transport, a signer or a sealer that needs them looks at.
    @nonexhaustive
    public enum Source: Sendable {
        /// There are none.
        case none
        /// All of them, in memory.
        case bytes(Data)
        /// A regular file, read from its beginning each time it is sent.
        case file(URL)
        /// `open` is called once for each time the body is sent.
        case stream(open: @Sendable () throws -> Chunks)
    }

    /// Where the bytes come from.
    public let source: Source
    /// Length in bytes, `nil` where only the stream's end tells.
    public let length: Int?
    /// Whether it can be sent a second time.
    public var isReplayable: Bool { reading == nil }
    /// Whether it can be sent now: it can be read any number of times, or has not been read yet.
    var isUnread: Bool { reading?.isFree ?? true }
    /// The `Content-Type` that the content asks for, such as that of a form with its boundary; a request that names another one
    /// keeps its own. `nil` for content that says nothing of itself.
    public var contentType: String?
    /// Why it cannot be sent at all, where that is known already.
    let defect: (any Error)?
    /// The claim on a body that can be read only once; `nil` for every other body.
    let reading: OnlyReading?

    private init(source: Source, length: Int?, reading: OnlyReading? = nil, defect: (any Error)? = nil) {
        self.source = source
        self.length = length
        self.reading = reading
        self.defect = defect
    }

    /// No body.
    public static let none = HTTPBody(source: .none, length: 0)

    /// All of its bytes, where these are in memory: none for no body, and `nil` for a file and for a stream.
    ///
    /// ```swift
    /// let sent = stub.requests.last?.body.data      // what a test looks at
    /// ```
    public var data: Data? {
        switch source {
        case .none: Data()
        case .bytes(let data): data
        case .file, .stream: nil
        }
    }

    /// A body that is in memory. It can be sent any number of times.
    public static func bytes(_ data: Data) -> HTTPBody {
        HTTPBody(source: .bytes(data), length: data.count)
    }

    /// A text in UTF-8, as `text/plain` unless the request says otherwise.
    public static func text(_ text: String) -> HTTPBody {
        var body = bytes(Data(text.utf8))
        body.contentType = "text/plain; charset=utf-8"
        return body
    }

    /// A regular file that stays unchanged until the call ends.
    ///
    /// Where there is none at `url` that can be read, the call fails as ``APIError/TransportFault/requestBody`` when it is
    /// sent, with Foundation's error; nothing is sent in its place.
    public static func file(_ url: URL) -> HTTPBody {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int else {
                throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: url.path])
            }
            return HTTPBody(source: .file(url), length: size)
        } catch {
            return .defective(error)
        }
    }

    /// A body that cannot be sent: the call fails of this before anything is.
    static func defective(_ error: any Error) -> HTTPBody {
        HTTPBody(source: .stream { throw error }, length: nil, defect: error)
    }

    /// A stream that says by itself whether it can be opened again.
    static func stream(length: Int?, isReplayable: Bool, _ open: @escaping @Sendable () throws -> Chunks) -> HTTPBody {
        guard !isReplayable else { return .stream(length: length, open) }
        let reading = OnlyReading(open)
        return HTTPBody(source: .stream(open: reading.open), length: length, reading: reading)
    }

    /// A stream that can be opened again for every time it is sent.
    public static func stream(length: Int? = nil, _ open: @escaping @Sendable () throws -> Chunks) -> HTTPBody {
        HTTPBody(source: .stream(open: open), length: length)
    }

    /// A stream that can be read only once. Nothing that needs it a second time gets an empty body in its place: a redirect
    /// that keeps the body, and an interceptor that sends the request again, fail with ``APIError/Kind/blocked(reason:)``
    /// before anything is sent, and opening the stream again throws ``AlreadyRead``. An attempt that failed before
    /// anything of the body was read has not used it up.
    public static func onceOnly(length: Int? = nil, _ chunks: Chunks) -> HTTPBody {
        let reading = OnlyReading { chunks }
        return HTTPBody(source: .stream(open: reading.open), length: length, reading: reading)
    }

    /// A body that can be read only once was opened a second time.
    public struct AlreadyRead: Error, CustomStringConvertible {
        public var description: String { "the body can be read only once, and has been read" }
    }

    /// Whether there is no body at all; a body of no bytes is one all the same.
    public var isNone: Bool {
        if case .none = source { true } else { false }
    }
}

/// The one reading of a body that has no other: who sends it claims it, and who reads it uses it up.
final class OnlyReading: Sendable {
    private enum State {
        case free, claimed, read
    }

    private let chunks: @Sendable () throws -> HTTPBody.Chunks
    private let state = Locked(State.free)

    init(_ chunks: @escaping @Sendable () throws -> HTTPBody.Chunks) {
        self.chunks = chunks
    }

    /// - Throws: ``HTTPBody/AlreadyRead`` to everyone but the first.
    @Sendable func open() throws -> HTTPBody.Chunks {
        let isFirst = state.withLock { state in
            defer { state = .read }
            return state != .read
        }
        guard isFirst else { throw HTTPBody.AlreadyRead() }
        return try chunks()
    }

    /// Whether nobody has it, and nothing was read.
    var isFree: Bool { state.withLock { $0 == .free } }

    /// Takes the reading for one sending of the request.
    ///
    /// - Returns: `false` when another one has it, or the stream has been read.
    func claim() -> Bool {
        state.withLock { state in
            guard state == .free else { return false }
            state = .claimed
            return true
        }
    }

    /// Gives the reading back after a sending that came to nothing, unless the stream was read for it.
    func release() {
        state.withLock { if $0 == .claimed { $0 = .free } }
    }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How much there is, never what it is.
    public var description: String {
        switch source {
        case .none: "no body"
        case .bytes(let data): "\(data.count) bytes"
        case .file(let url): "file \(url.lastPathComponent)"
        case .stream: "stream"
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["body": description], displayStyle: .struct) }
}
