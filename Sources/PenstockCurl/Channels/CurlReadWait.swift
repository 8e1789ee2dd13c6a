#if os(Linux)
    /// Decides whether who reads a wire waits for its socket by itself for a moment, before the poller's thread does.
    ///
    /// A peer that answers each message at once, on the same machine or in the same rack, does so sooner than the poller's thread
    /// can wake and wake the reader in turn. After four waits in a row that were that short, the thread of the reader looks
    /// by itself for ``longest`` at most, and the poller has the socket afterwards. Where it was in vain, that is not tried for
    /// the next waits, so that a peer that seldom says anything costs no thread.
    struct CurlReadWait {
        /// How long a reader's thread waits by itself, in nanoseconds.
        static let longest: UInt64 = 200_000
        private static let needed = 4
        /// Where the count of short waits begins after one that was in vain.
        private static let backOffCount = -60
        /// Waits in a row that took less than ``longest``.
        private var shortOnes = 0

        var isWorthwhile: Bool { shortOnes >= Self.needed }

        /// - Parameter duration: for how long the poller had the socket until something came, in nanoseconds.
        mutating func note(_ duration: UInt64) {
            shortOnes = duration < Self.longest ? min(shortOnes + 1, Self.needed) : min(shortOnes, 0)
        }

        /// A reader has waited, and nothing has come.
        mutating func backOff() {
            shortOnes = Self.backOffCount
        }
    }
#endif
