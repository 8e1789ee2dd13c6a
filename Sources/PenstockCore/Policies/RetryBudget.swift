/// How much may be sent again to one origin: what keeps retries from becoming the load that a failing server dies of.
///
/// A budget is a purse of tokens. Everything that is sent once more pays out of it, be it a retry, a replay after a
/// credential was refreshed, or a hedge; every answer that is a success pays a part back. So while a server works, what is
/// sent again is a share of what succeeds, and while it does not, only the reserve is left: a total outage is met with
/// hardly more than one attempt for each call, however many calls there are.
///
/// ```swift
/// var budget = RetryBudget(.init(ratio: 0.2, reserve: 10), at: .zero)
/// budget.credit(at: .seconds(1))                            // a success
/// if budget.withdraw(.failure, at: .seconds(2)) { … }       // may be sent again
/// ```
public struct RetryBudget: Sendable {
    /// The numbers of a budget.
    public struct Policy: Hashable, Sendable {
        /// How many tokens a success pays back. 0.2 by default: one retry for five successes, so that retries never add more
        /// than a fifth to what the server has to bear.
        public var ratio: Double
        /// How many tokens there are at the start: the floor. 10 by default, since the first calls after the launch must be
        /// retried too, and a screen that loads in the lift sends about ten.
        public var reserve: Double
        /// The time in which one token comes back by itself, up to ``reserve``; `nil` for never. 10 s by default: an app that
        /// sends one call a minute has no fifth of five successes to live on, and six retries a minute hurt no server.
        public var refill: Duration?
        /// The most that successes may save up. 100 by default: an hour that went well must not pay for a storm.
        public var capacity: Double

        /// The defaults, but for what is given.
        public init(ratio: Double = 0.2, reserve: Double = 10, refill: Duration? = .seconds(10), capacity: Double = 100)
        {
            self.ratio = ratio
            self.reserve = reserve
            self.refill = refill
            self.capacity = capacity
        }

        /// Everything may be sent again, any number of times. For tests, and for a server on the same machine.
        public static let unlimited = Policy(ratio: 0, reserve: .infinity, refill: nil, capacity: .infinity)
    }

    /// What sending again costs, by what came of the attempt before.
    @nonexhaustive
    public enum Cost: Sendable {
        /// The server answered that it has too much to do, or when to come back. Half a token: it is alive, and saying no
        /// cost it next to nothing.
        case throttled
        /// A connection that failed, or an answer of a server that failed. One token.
        case failure
        /// Nothing came for a whole time-out. Two tokens: the server may still be at work on the first request.
        case timeout
        /// A replay with a newer credential. One token.
        case replay
        /// A second attempt beside one under way. One token.
        case hedge

        /// The cost in tokens.
        public var tokens: Double {
            switch self {
            case .throttled: 0.5
            case .failure, .replay, .hedge: 1
            case .timeout: 2
            }
        }
    }

    /// The numbers it goes by.
    public let policy: Policy
    /// What is left in the purse.
    public private(set) var tokens: Double
    /// The moment up to which ``tokens`` has what came back by itself.
    private var filled: Duration
    /// Sums of tenths are not exact, and a token must not be missing for the last bit of one.
    private static let tolerance = 1e-6

    /// A full reserve.
    ///
    /// - Parameter now: on the clock that all further moments are read from.
    public init(_ policy: Policy = .init(), at now: Duration) {
        self.policy = policy
        tokens = min(policy.reserve, max(policy.capacity, policy.reserve))
        filled = now
    }

    /// A call was answered, and the answer is no failure of the server.
    public mutating func credit(at now: Duration) {
        fill(at: now)
        tokens = min(tokens + policy.ratio, max(policy.capacity, policy.reserve))
    }

    /// Pays for sending something again.
    ///
    /// - Returns: `false` when there is not enough left; nothing was taken then.
    public mutating func withdraw(_ cost: Cost, at now: Duration) -> Bool {
        fill(at: now)
        guard tokens + Self.tolerance >= cost.tokens else { return false }
        tokens = max(tokens - cost.tokens, 0)
        return true
    }

    /// What can be paid with, in tokens: ``tokens``, and what has come back by itself since.
    ///
    /// - Parameter now: on the clock that the budget was made by.
    public func left(at now: Duration) -> Double {
        var filled = self
        filled.fill(at: now)
        return filled.tokens
    }

    private mutating func fill(at now: Duration) {
        guard let refill = policy.refill, refill > .zero, now > filled else { return }
        // Only up to the reserve; what successes saved beyond it stays.
        if tokens < policy.reserve { tokens = min(tokens + (now - filled) / refill, policy.reserve) }
        filled = now
    }
}
