#if os(Linux)
    /// How large the collected responses of a pool have been lately, and from that how large a buffer the next exchange gets.
    ///
    /// libcurl gives each exchange its buffer from the beginning, so that one of its own size takes more memory than anything
    /// else while calls wait. It begins small: a response that turns out larger is read in more pieces, and the exchanges
    /// that begin after it are ready for as much.
    struct CurlAnswerSizes {
        /// What libcurl takes where it is told nothing, and the least that it can be told.
        static let most = 16 << 10
        static let least = 1 << 10
        /// What is forgotten with each response, of what the largest exceeds it by.
        private static let share = 16

        private var largest = least

        /// In bytes, for the head and the content together.
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
