import Foundation

/// A response of which the head has come, and its content on the way.
public struct TransportStream: Sendable {
    /// The head; the body is empty.
    public var response: HTTPResponse
    /// The timings as far as the head.
    public var timings: Timings
    /// What the exchange goes over, as far as the head.
    public var connection: ConnectionInfo
    /// What follows the head, to be read to its end. Letting go of it earlier closes the wire.
    public let content: any TransportContent

    /// A response of which the head has come.
    ///
    /// - Parameters:
    ///   - response: its body is empty.
    ///   - timings: as far as the head. None by default.
    ///   - connection: all default values unless told otherwise.
    ///   - content: what follows the head; of no bytes where nothing does.
    public init(
        _ response: HTTPResponse, timings: Timings = .init(), connection: ConnectionInfo = .init(),
        content: any TransportContent
    ) {
        self.response = response
        self.timings = timings
        self.connection = connection
        self.content = content
    }
}

/// The content of a response, received as it is asked for. Letting go of it before its end closes the wire.
public protocol TransportContent: AnyObject, Sendable {
    /// The next bytes, their codings removed; `nil` at the end, and from then on. Not to be called by two tasks at a
    /// time.
    ///
    /// - Throws: what ended the exchange early, with the send state `answered`; again for every call that follows.
    func next() async throws(TransportError) -> Data?

    /// No more is wanted: reads past the rest where that is cheap and closes the wire otherwise; decodes nothing.
    func discard()

    /// What is known once ``next()`` has given `nil`; before that, what is known so far.
    var completion: TransportCompletion { get }
}

/// How a streamed exchange went.
public struct TransportCompletion: Sendable {
    /// The fields after the content (RFC 9110 §6.5); empty until the content has ended.
    public var trailers: HTTPFields
    /// When the phases ended, as far as is known.
    public var timings: Timings
    /// What the exchange went over; its bytes are counted once the content has ended.
    public var connection: ConnectionInfo

    /// What is known of a streamed exchange: nothing by default.
    public init(trailers: HTTPFields = [:], timings: Timings = .init(), connection: ConnectionInfo = .init()) {
        self.trailers = trailers
        self.timings = timings
        self.connection = connection
    }
}

/// Content that is there already, handed over piece by piece: of doubles, and of responses that no wire brought.
public final class BufferedContent: TransportContent {
    private struct State {
        var pieces: ArraySlice<Data>
        var failure: TransportError?
        var isDiscarded = false
    }

    private let state: Locked<State>
    private let final: TransportCompletion

    /// Content of these pieces.
    ///
    /// - Parameters:
    ///   - pieces: empty ones are left out.
    ///   - failure: what ends the content after the last piece; `nil` for a good end.
    public init(
        _ pieces: [Data], failure: TransportError? = nil, completion: TransportCompletion = TransportCompletion()
    ) {
        state = Locked(State(pieces: pieces.filter { !$0.isEmpty }[...], failure: failure))
        final = completion
    }

    public func next() async throws(TransportError) -> Data? {
        try state.withLock { state throws(TransportError) in
            guard !state.isDiscarded else { return nil }
            if let piece = state.pieces.popFirst() { return piece }
            if let failure = state.failure { throw failure }
            return nil
        }
    }

    public func discard() {
        state.withLock { $0.isDiscarded = true }
    }

    public var completion: TransportCompletion { final }
}
