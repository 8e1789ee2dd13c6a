#if os(Linux)
    /// How many connections a pool keeps: as many as were in use at once lately, so that a lull of a moment does not close
    /// what the next moment opens again.
    struct CurlIdleLimit {
        /// Idle connections that are kept in any case.
        static let floor = 32
        /// The time, in nanoseconds, in which an eighth of what the peak exceeds the present by is forgotten.
        static let step: UInt64 = 1_000_000_000
        private static let share = 8

        private var peak = 0
        private var lastStep: UInt64 = 0

        /// - Parameters:
        ///   - active: exchanges under way.
        ///   - most: idle connections that may be kept at the very most.
        /// - Returns: how many connections to keep, those in use included.
        mutating func limit(active: Int, most: Int, _ now: UInt64) -> Int {
            if active >= peak {
                (peak, lastStep) = (active, now)
            } else {
                forget(active, now)
            }
            return active + min(max(0, most), max(Self.floor, peak - active))
        }

        private mutating func forget(_ active: Int, _ now: UInt64) {
            while now >= lastStep + Self.step, peak > active {
                peak -= (peak - active + Self.share - 1) / Self.share
                lastStep += Self.step
            }
            if peak == active { lastStep = now }
        }
    }
#endif
