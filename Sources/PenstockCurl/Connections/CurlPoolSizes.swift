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
        ///   - active: transfers under way.
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

    /// The size of the buffer that the next transfer of a pool receives into: as large as collected responses were lately.
    ///
    /// libcurl gives each transfer its buffer from the beginning, so that one of its own size takes more memory than anything
    /// else while calls wait. It begins small: a response that turns out larger is read in more pieces, and the transfers
    /// that begin after it are ready for as much.
    struct CurlReceiveBufferSize {
        /// What libcurl takes where it is told nothing, and the least that it can be told.
        static let most = 16 << 10
        static let least = 1 << 10
        /// What is forgotten with each response, of what the largest exceeds it by.
        private static let share = 16

        private var largest = least

        /// The size of the buffer in bytes, for the head and the content together.
        var buffer: Int {
            var size = Self.least
            while size < largest { size *= 2 }
            return size
        }

        /// - Parameter bytes: of the head and of the content as it came.
        mutating func note(_ bytes: Int) {
            guard bytes < largest else { return largest = min(bytes, Self.most) }
            largest -= (largest - bytes + Self.share - 1) / Self.share
        }
    }
#endif
