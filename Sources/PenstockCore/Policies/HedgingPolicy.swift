/// Sends a second attempt beside one that is slow, and takes the answer that comes first (J. Dean and L. Barroso, "The Tail at
/// Scale"). Only for calls that are idempotent, whose body can be sent again, and whose response is not streamed.
///
/// ```swift
/// var retry = RetryPolicy.standard
/// retry.hedging = HedgingPolicy(after: .milliseconds(400))
/// ```
public struct HedgingPolicy: Hashable, Sendable {
    /// How long an attempt may take on the wire before the next one is sent beside it: what is held back, by a queue, by a pause
    /// or for a credential, is not slow. Set it to what 95 of 100 answers take, so that
    /// hedges add a twentieth to the load; there is no default, since every server has its own.
    public var after: Duration
    /// How many attempts are sent besides the first. 1 by default: of two servers, one is rarely slow with the other.
    public var limit: Int

    /// What is sent beside an attempt that is slow.
    ///
    /// - Parameters:
    ///   - after: how long an attempt may take before another one is sent beside it.
    ///   - limit: how many attempts are sent besides the first.
    public init(after: Duration, limit: Int = 1) {
        self.after = after
        self.limit = limit
    }

    /// What is known when it is asked whether another attempt is to be sent beside those under way.
    public struct Situation: Hashable, Sendable {
        /// Whether the call may be sent twice: by its method, by declaration, or by its key.
        public var isIdempotent: Bool
        /// Whether the request can be sent again as it was.
        public var isBodyReplayable: Bool
        /// Whether the response is handed over as it comes.
        public var isStreamed: Bool
        /// How many hedges were sent.
        public var sent: Int
        /// How long ago the last attempt was sent.
        public var elapsed: Duration
        /// How long the server still wants to be left alone, by its last `Retry-After`; `nil` when it does not.
        public var serverPause: Duration?

        /// A call of which one attempt was sent, unless said otherwise.
        public init(
            isIdempotent: Bool, isBodyReplayable: Bool = true, isStreamed: Bool = false, sent: Int = 0,
            elapsed: Duration = .zero, serverPause: Duration? = nil
        ) {
            self.isIdempotent = isIdempotent
            self.isBodyReplayable = isBodyReplayable
            self.isStreamed = isStreamed
            self.sent = sent
            self.elapsed = elapsed
            self.serverPause = serverPause
        }
    }

    /// What is done about an attempt that is slow.
    @nonexhaustive
    public enum Decision: Hashable, Sendable {
        /// Another one is sent beside it.
        case send
        /// Ask again after this time.
        case wait(Duration)
        /// No further attempt is sent.
        case never
    }

    /// Decides whether another attempt is sent beside those under way. One that is sent has to be paid for from the origin's
    /// ``RetryBudget`` besides.
    public func decide(_ situation: Situation) -> Decision {
        guard situation.isIdempotent, situation.isBodyReplayable, !situation.isStreamed, situation.sent < limit,
            situation.serverPause == nil
        else { return .never }
        let left = after - situation.elapsed
        return left > .zero ? .wait(left) : .send
    }
}
