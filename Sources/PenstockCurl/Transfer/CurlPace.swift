#if os(Linux)
    /// How much of a request body is handed to libcurl at a time, in bytes.
    ///
    /// Large pieces cost a fast connection the fewest calls. On a slow one a piece may be no larger than what leaves in a
    /// moment: while it leaves nothing is heard of it, neither by the progress report nor by the idle time-out.
    struct CurlPace {
        static let least = 64 << 10
        static let most = 512 << 10
        /// Nanoseconds within which the next piece is asked for by a connection that can take a larger one.
        private static let moment: UInt64 = 10_000_000

        private var size = Self.least
        private var lastPiece: UInt64?

        /// - Returns: the size of the piece that is to be handed over now.
        mutating func next(_ now: UInt64) -> Int {
            defer { lastPiece = now }
            guard let lastPiece else { return size }
            let isFast = now - min(now, lastPiece) < Self.moment
            size = isFast ? min(size * 2, Self.most) : max(size / 2, Self.least)
            return size
        }
    }
#endif
