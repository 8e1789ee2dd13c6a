extension LoopbackServer {
    /// A frame of HTTP/2 that the client sent (RFC 9113 §4.1).
    public struct HTTP2Frame: Hashable, Sendable {
        /// What it is for, by its number on the wire.
        public enum Kind: UInt8, Sendable {
            /// DATA: content (§6.1).
            case data
            /// HEADERS: the fields of a head or of trailers (§6.2).
            case headers
            /// PRIORITY: out of use (§6.3).
            case priority
            /// RST_STREAM: the end of one stream (§6.4).
            case resetStream
            /// SETTINGS: what the sender can take, or its acknowledgement (§6.5).
            case settings
            /// PUSH_PROMISE: a server's alone; a client that sends one breaks the protocol (§6.6).
            case pushPromise
            /// PING: a test of the connection, or the answer to one (§6.7).
            case ping
            /// GOAWAY: no more streams on this connection (§6.8).
            case goAway
            /// WINDOW_UPDATE: room for more content (§6.9).
            case windowUpdate
            /// CONTINUATION: more of a block of fields (§6.10). Never recorded by itself, as it counts as part of its
            /// HEADERS.
            case continuation
        }

        /// What it is for. CONTINUATION counts as part of its HEADERS.
        public let kind: Kind
        /// The flags as on the wire.
        public let flags: UInt8
        /// 0 for what concerns the connection.
        public let stream: Int
        /// The length of its payload, in bytes.
        public let length: Int
        /// Why the client ended a stream or the connection.
        public let code: HTTP2ErrorCode?

        /// Whether it acknowledges a SETTINGS or PING frame of the server.
        public var isAcknowledgement: Bool { (kind == .settings || kind == .ping) && flags & 1 != 0 }
    }
}
