/// Refuses attempts on the client's side in proportion to how many the server does not take: the client-side throttling of
/// B. Beyer et al., "Site Reliability Engineering", chapter 21.
///
/// An attempt is refused with the probability `max(0, (requests − K × accepts) / (requests + 1))`, over the last two minutes.
/// A server that takes half of what it is sent is therefore still sent all that it can take, twice over for `K` = 2, and one
/// that takes nothing is soon sent next to nothing.
public struct AdaptiveThrottle: Sendable {
    /// The numbers of a throttle.
    public struct Policy: Hashable, Sendable {
        /// `K`. 2 by default, as the book has it: lower values refuse more, but then the client is slower to see that the
        /// server has recovered. At least 1.
        public var multiplier: Double
        /// How far back attempts count. 2 min by default, as the book has it.
        public var window: Duration

        /// The defaults, but for what is given.
        public init(multiplier: Double = 2, window: Duration = .seconds(120)) {
            self.multiplier = multiplier
            self.window = window
        }
    }

    private struct Tally: Tallied {
        var requests = 0
        var accepts = 0

        static func + (left: Tally, right: Tally) -> Tally {
            Tally(requests: left.requests + right.requests, accepts: left.accepts + right.accepts)
        }
    }

    /// The numbers it goes by.
    public let policy: Policy
    private var tallies: SlidingTally<Tally>

    /// A throttle that has seen no attempts yet, and refuses none.
    public init(_ policy: Policy = .init()) {
        self.policy = policy
        tallies = SlidingTally(window: policy.window)
    }

    /// The probability with which the next attempt is refused: 0 to less than 1.
    public mutating func refusalProbability(at now: Duration) -> Double {
        let sum = tallies.sum(at: now)
        let (requests, accepts) = (Double(sum.requests), Double(sum.accepts))
        return max(0, (requests - max(policy.multiplier, 1) * accepts) / (requests + 1))
    }

    /// Asks to send one attempt, which counts as a request whatever the answer is, unless it is taken back.
    ///
    /// - Returns: `false` when it is refused.
    public mutating func admit(at now: Duration, using random: inout some RandomNumberGenerator) -> Bool {
        let probability = refusalProbability(at: now)
        tallies.add(Tally(requests: 1), at: now)
        return probability <= 0 || Double.random(in: 0..<1, using: &random) >= probability
    }

    /// An attempt that was let through says nothing of the server, since nothing is known to have come from there: it was cancelled, or
    /// found no way. It does not count as a request.
    ///
    /// - Parameter moment: when it was let through.
    public mutating func takeBack(admittedAt moment: Duration) {
        tallies.amend(Tally(requests: -1), at: moment)
    }

    /// The server has taken an attempt: it answered, and not that it has too much to do.
    public mutating func accept(at now: Duration) {
        tallies.add(Tally(accepts: 1), at: now)
    }
}
