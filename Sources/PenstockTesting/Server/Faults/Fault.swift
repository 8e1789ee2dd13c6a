extension LoopbackServer {
    /// One thing that goes wrong with one request: what happens, and when.
    ///
    /// ```swift
    /// // The first request is not read, its connection closed; the second is answered.
    /// let server = try LoopbackServer(faults: [.init(.close, at: .requestStart)]) { _ in .text("ok") }
    /// // Ten bytes of each reply's content come, then nothing more.
    /// let other = try LoopbackServer { _ in .text("hello, hello").fault(.stall, at: .responseBody(after: 10)) }
    /// ```
    ///
    /// `Documentation/FaultServer.md` tells what a client sees of each.
    public struct Fault: Hashable, Sendable {
        /// What happens.
        public enum Effect: Hashable, Sendable {
            /// The connection's socket is closed without a word: a TCP FIN, and with TLS no `close_notify`. On HTTP/2 this
            /// ends every stream of the connection.
            case close
            /// The connection's socket is reset (TCP RST).
            case reset
            /// The connection ends as it should. HTTP/1.1: `Connection: close` where the head is still to come, then the
            /// sending direction is closed, and the client is read until it closes. HTTP/2: GOAWAY, whose last stream is
            /// this one, or the one before when the trigger is the request's start or content; then the socket is closed.
            case shutDown
            /// HTTP/2: as ``shutDown``, with a last stream and a code of one's own. HTTP/1.1: ``shutDown``.
            case goAway(lastStream: Int, HTTP2ErrorCode)
            /// HTTP/2: RST_STREAM with the code; other streams go on. HTTP/1.1: ``reset``.
            case closeStream(HTTP2ErrorCode)
            /// Nothing more is sent, and of an unread request nothing more is read, until the client goes or the server
            /// stops. On HTTP/2 other streams go on.
            case stall

            /// Whether HTTP/1.1 announces the end in the head.
            var isShutDown: Bool {
                switch self {
                case .shutDown, .goAway: true
                case .close, .reset, .closeStream, .stall: false
                }
            }
        }

        /// When it happens.
        public enum Trigger: Hashable, Sendable {
            /// The request's head was read, nothing of its content.
            case requestStart
            /// So many bytes of the request's content were read, or all of it when there is less.
            case requestBody(after: Int)
            /// The moment before the first byte of the final response; 1xx responses have gone out.
            case responseStart
            /// The head and so many bytes of the response's content were sent, or all of it when there is less. What ends
            /// the content (the last chunk, trailers, END_STREAM) was not.
            case responseBody(after: Int)
            /// The moment after the last byte of the response.
            case responseEnd
        }

        /// What happens.
        public var effect: Effect
        /// When it happens.
        public var trigger: Trigger

        /// A fault for one request.
        public init(_ effect: Effect, at trigger: Trigger) {
            self.effect = effect
            self.trigger = trigger
        }

        /// Whether the trigger comes before there is a response.
        var isInRequest: Bool {
            switch trigger {
            case .requestStart, .requestBody: true
            case .responseStart, .responseBody, .responseEnd: false
            }
        }
    }

    /// What to do with a request whose head was read.
    public enum HeadDecision: Sendable {
        /// Read the content and ask the handler. A client that expects `100 Continue` gets it.
        case proceed
        /// Let this go wrong. A fault of the response's goes before one that the handler's response has.
        case fault(Fault.Effect, at: Fault.Trigger)
        /// Answer without the content. HTTP/1.1 then closes the connection; HTTP/2 ends the stream with RST_STREAM and
        /// NO_ERROR when content was still to come (RFC 9113 §8.1).
        case respond(Response)
    }

    /// An error code of HTTP/2 (RFC 9113 §7).
    public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
        /// The code as it goes over the wire.
        public let rawValue: UInt32

        /// Any code, known or not.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Nothing is wrong: a graceful end.
        public static let noError = HTTP2ErrorCode(rawValue: 0)
        /// The client has broken the protocol.
        public static let protocolError = HTTP2ErrorCode(rawValue: 1)
        /// The server has failed.
        public static let internalError = HTTP2ErrorCode(rawValue: 2)
        /// The client has sent more than it may.
        public static let flowControlError = HTTP2ErrorCode(rawValue: 3)
        /// Nothing was done for the stream: its request may be sent again, whatever its method (RFC 9113 §8.7).
        public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
        /// The stream is not wanted any more.
        public static let cancel = HTTP2ErrorCode(rawValue: 8)
        /// The client asks for too much.
        public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
        /// The request is to be made by HTTP/1.1.
        public static let http11Required = HTTP2ErrorCode(rawValue: 13)
    }
}
