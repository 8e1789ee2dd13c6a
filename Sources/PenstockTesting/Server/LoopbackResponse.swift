import Foundation
import PenstockCore

extension LoopbackServer {
    /// What the server does with a request: answer it well, answer it badly, or not at all.
    public struct Response: Sendable {
        /// The content and how it is framed.
        public enum Body: Sendable {
            /// Bytes with a `Content-Length`.
            case bytes(Data)
            /// Content in chunks: `next` is called with 0, 1, 2 … until it returns `nil`; `pause` goes before each but the first.
            case produced(pause: Duration, next: @Sendable (Int) -> Data?)
        }

        /// What happens to the connection after the reply.
        public enum Ending: Sendable {
            /// It stays open for the next request, unless the client has asked for it to be closed.
            case keepAlive
            /// Closed, as `Connection: close` announced.
            case close
            /// Closed without a word.
            case drop
            /// Broken with a reset.
            case reset
            /// Nothing more is sent, until the client goes or the server stops.
            case hold
        }

        enum Content: Sendable {
            case message
            case raw(Data)
            case takeOver(@Sendable (LoopbackWire) -> Void)
        }

        /// Any number; a status that has no content gets none (RFC 9110 §6.4.1).
        public var status: Int
        /// The fields, sent in their order. A `Content-Length` or `Transfer-Encoding` among them replaces the server's own.
        public var fields: HTTPFields
        /// The content, left out in the reply to `HEAD`.
        public var body: Body
        /// 1xx responses that go before. None by default.
        public var interim: [Interim] = []
        /// The pause before the head. None by default.
        public var delay: Duration = .zero
        /// The pause between head and content. None by default.
        public var contentDelay: Duration = .zero
        /// The pause between content and trailers, or what else ends the content. None by default.
        public var trailerDelay: Duration = .zero
        /// How slowly the content goes. As fast as it can by default.
        public var throttle: Throttle?
        /// Fields after the content. On HTTP/1.1 they make the content come in chunks. None by default.
        public var trailers: HTTPFields = [:]
        /// The `Content-Length` to claim instead of the true one.
        public var declaredLength: Int?
        /// What comes after the reply. Nothing by default.
        public var surplus: Surplus?
        /// Keeps the connection by default.
        public var ending: Ending = .keepAlive
        /// What goes wrong. Nothing by default. A trigger in the request has passed by now, and counts as
        /// ``Fault/Trigger/responseStart``: ``LoopbackServer/HeadDecision`` is for those.
        public var fault: Fault?
        /// What the server announces to the client of HTTP/2 before the reply, and keeps from then on. Nothing by default.
        public var settings: HTTP2Settings?
        /// Whether no length is announced: of an answer without content, to `HEAD` or of status 304, whose length nobody knows
        /// (RFC 9110 §8.6). It is, by default.
        package var omitsLength = false
        var content: Content = .message

        /// A reply with `Content-Length`.
        public init(status: Int = 200, fields: HTTPFields = [:], body: Data = Data()) {
            self.status = status
            self.fields = fields
            self.body = .bytes(body)
        }
    }

    /// Bytes that no request asked for.
    public struct Surplus: Sendable {
        /// The pause before the first of them goes out.
        public var delay: Duration
        /// Called with 0, 1, 2 … until it returns `nil` or the client goes; sent as they are, on HTTP/2 as frames.
        public var next: @Sendable (Int) -> Data?

        /// Bytes after a pause.
        public init(delay: Duration = .zero, next: @escaping @Sendable (Int) -> Data?) {
            self.delay = delay
            self.next = next
        }
    }

    /// A response before the final one (RFC 9110 §15.2).
    public struct Interim: Sendable {
        /// 100 to 199, unless a test wants a client to see something else.
        public var status: Int
        /// The fields, sent in their order.
        public var fields: HTTPFields
        /// The pause before it goes out.
        public var delay: Duration

        /// A response without content.
        public init(_ status: Int, fields: HTTPFields = [:], delay: Duration = .zero) {
            self.status = status
            self.fields = fields
            self.delay = delay
        }
    }
}

extension LoopbackServer.Response {
    /// A reply of `text/plain`, unless the fields name another type.
    public static func text(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> Self {
        Self(status: status, fields: with("text/plain; charset=utf-8", fields), body: Data(text.utf8))
    }

    /// A reply of `application/json`, unless the fields name another type.
    public static func json(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> Self {
        Self(status: status, fields: with("application/json", fields), body: Data(text.utf8))
    }

    /// One chunk after the other, with a pause between them.
    public static func chunks(_ pieces: [Data], pause: Duration = .zero, fields: HTTPFields = [:]) -> Self {
        var response = Self(fields: fields)
        response.body = .produced(pause: pause) { pieces.indices.contains($0) ? pieces[$0] : nil }
        return response
    }

    /// Claims `declared` bytes of content, sends only `body`, and then drops the connection (or as `ending` says).
    public static func short(_ body: Data, declared: Int, ending: Ending = .drop) -> Self {
        var response = Self(body: body)
        response.declaredLength = declared
        response.ending = ending
        return response
    }

    /// Bytes as they are, instead of a reply.
    public static func raw(_ bytes: Data, ending: Ending = .drop) -> Self {
        var response = Self()
        response.content = .raw(bytes)
        response.ending = ending
        return response
    }

    /// No answer, until the client goes or the server stops.
    public static let hold = raw(Data(), ending: .hold)
    /// The connection is closed without a reply.
    public static let close = raw(Data(), ending: .drop)
    /// The connection is reset without a reply.
    public static let reset = raw(Data(), ending: .reset)

    /// The same, gone wrong.
    ///
    /// ```swift
    /// .text("hello").fault(.closeStream(.refusedStream), at: .responseStart)
    /// ```
    public func fault(_ effect: LoopbackServer.Fault.Effect, at trigger: LoopbackServer.Fault.Trigger)
        -> Self
    {
        with { $0.fault = .init(effect, at: trigger) }
    }

    /// A part of a reply that a delay goes before.
    public enum Part: Sendable {
        /// The status line and the fields.
        case head
        /// The first byte of the content.
        case content
        /// The trailers, or what else ends the content.
        case trailers
    }

    /// The same after a while, or with a while before one of its later parts.
    public func delayed(by duration: Duration, before part: Part = .head) -> Self {
        with { copy in
            switch part {
            case .head: copy.delay = duration
            case .content: copy.contentDelay = duration
            case .trailers: copy.trailerDelay = duration
            }
        }
    }

    /// The same with content that goes slowly.
    public func throttled(to bytes: Int, per interval: Duration) -> Self {
        with { $0.throttle = .init(bytes: bytes, per: interval) }
    }

    /// The same after these 1xx responses.
    public func preceded(by interim: [LoopbackServer.Interim]) -> Self {
        with { $0.interim = interim }
    }

    /// The same with fields after the content.
    public func trailers(_ trailers: HTTPFields) -> Self {
        with { $0.trailers = trailers }
    }

    /// The same after other settings of HTTP/2.
    public func announcing(_ settings: LoopbackServer.HTTP2Settings) -> Self {
        with { $0.settings = settings }
    }

    /// The same with bytes that come after it.
    public func followed(by bytes: Data, after delay: Duration = .zero) -> Self {
        followed(after: delay) { $0 == 0 ? bytes : nil }
    }

    /// The same with bytes that come after it for as long as there are any: a reply without end, where ``raw(_:ending:)``
    /// began it.
    public func followed(after delay: Duration = .zero, by next: @escaping @Sendable (Int) -> Data?) -> Self {
        with { $0.surplus = .init(delay: delay, next: next) }
    }

    /// The same with another fate of the connection.
    public func ending(_ ending: Ending) -> Self {
        with { $0.ending = ending }
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    private static func with(_ type: String, _ fields: HTTPFields) -> HTTPFields {
        guard !fields.contains(.contentType) else { return fields }
        var fields = fields
        fields[.contentType] = type
        return fields
    }
}
