extension LoopbackServer {
    /// How slowly bytes go: so many at most, then a pause, and so on.
    public struct Throttle: Hashable, Sendable {
        /// How many bytes go at most before a pause; at least 1.
        public var bytes: Int
        /// The pause after so many bytes.
        public var interval: Duration

        /// `bytes` bytes in each `interval`.
        public init(bytes: Int, per interval: Duration) {
            self.bytes = max(1, bytes)
            self.interval = interval
        }
    }
}
