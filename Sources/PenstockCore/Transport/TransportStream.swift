import Foundation

/// A response of which the head has come, and its content on the way.
public struct TransportStream: Sendable {
    /// The head; the body is empty.
    public var response: HTTPResponse
    /// As far as the head.
    public var timings: Timings
    public var connection: ConnectionInfo
    public let content: any TransportContent

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
    public var timings: Timings
    public var connection: ConnectionInfo

    public init(trailers: HTTPFields = [:], timings: Timings = .init(), connection: ConnectionInfo = .init()) {
        self.trailers = trailers
        self.timings = timings
        self.connection = connection
    }
}
