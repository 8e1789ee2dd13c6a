extension LoopbackServer {
    /// What the server saw of one connection.
    public struct ConnectionRecord: Sendable {
        /// Counted from 1 in the order they were accepted.
        public let number: Int
        /// Whether it is open now.
        public internal(set) var isOpen = true
        /// Whether it was the client that closed or broke it first.
        public internal(set) var closedByClient = false
        /// Bytes read from the socket, those of TLS and of framing included.
        public internal(set) var bytesReceived = 0
        /// Bytes handed to the socket, those of TLS and of framing included.
        public internal(set) var bytesSent = 0
        /// How many requests' heads were read.
        public internal(set) var requests = 0
        /// The frames of HTTP/2 that the client sent, up to 10,000.
        public internal(set) var frames: [HTTP2Frame] = []
        /// How its TLS handshake went; `nil` without TLS, and while it is under way.
        public internal(set) var handshake: Handshake?
        /// What went wrong before the first request, as scripted.
        public internal(set) var connectionFault: ConnectionFault?
        /// ``bytesReceived`` when its first fault fired; `nil` as long as none did.
        var bytesReceivedAtFault: Int?

        /// How many bytes the client has sent since the connection's first fault fired; `nil` as long as none did. A client
        /// that noticed and gave up sends none, but for the farewell of TLS or HTTP/2.
        public var bytesReceivedAfterFault: Int? { bytesReceivedAtFault.map { bytesReceived - $0 } }

        init(number: Int) {
            self.number = number
        }
    }

    /// How a TLS handshake went.
    public struct Handshake: Sendable {
        /// Why it failed, in OpenSSL's words, such as the alert that the client sent; `nil` when it succeeded.
        public internal(set) var failure: String?
        /// `TLSv1.3`, for instance.
        public internal(set) var version: String?
        /// The host the client asked for (SNI).
        public internal(set) var serverName: String?
        /// What was agreed on by ALPN: `h2` or `http/1.1`.
        public internal(set) var applicationProtocol: String?
        /// Whether an earlier session went on.
        public internal(set) var isResumed = false
        /// The common name of the client's certificate, where one was asked for.
        public internal(set) var clientName: String?

        /// Whether it succeeded.
        public var isComplete: Bool { failure == nil }
    }

    /// A fault that fired.
    public struct FiredFault: Hashable, Sendable {
        /// The fault as scripted.
        public let fault: Fault
        /// The connection's number.
        public let connection: Int
        /// The request's number.
        public let request: Int
        /// The HTTP/2 stream; `nil` on HTTP/1.1.
        public let stream: Int?
    }
}
