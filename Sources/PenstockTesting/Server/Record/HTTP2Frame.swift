extension LoopbackServer {
    /// A frame of HTTP/2 that the client sent (RFC 9113 §4.1).
    public struct HTTP2Frame: Hashable, Sendable {
        /// What it is for, by its number on the wire.
        public enum Kind: UInt8, Sendable {
            case data
            case headers
            case priority
            case resetStream
            case settings
            case pushPromise
            case ping
            case goAway
            case windowUpdate
            case continuation
        }

        /// What it is for. CONTINUATION counts as part of its HEADERS.
        public let kind: Kind
        /// As on the wire.
        public let flags: UInt8
        /// 0 for what concerns the connection.
        public let stream: Int
        /// Of its payload, in bytes.
        public let length: Int
        /// Why the client ended a stream or the connection.
        public let code: HTTP2ErrorCode?

        /// Whether it acknowledges a SETTINGS or PING frame of the server.
        public var isAcknowledgement: Bool { (kind == .settings || kind == .ping) && flags & 1 != 0 }
    }
}
