/// Which attempts are repeated, how often, and after what wait: a table of reasons.
///
/// ```swift
/// try await client.send(Products(), options: .retry(.limit(4)))
/// try await client.send(Quote(), options: .retry(.none))
/// ```
///
/// Two rules stand above all settings. **Nothing is done twice**: what is not idempotent is repeated only where it provably
/// was not processed, or where it carries a key that the server knows it by. And **nothing is repeated that cannot end
/// otherwise**: a certificate that is refused, a call that was cancelled, a request that was not allowed to leave.
public struct RetryPolicy: Hashable, Sendable {
    /// How often an attempt is repeated at most. 2 by default: where one attempt in ten fails by chance, three fail once in a
    /// thousand, and each further one buys little and costs the server as much. What the origin's ``RetryBudget`` does not have
    /// left is not sent again either: 10 repetitions by default while nothing succeeds there.
    public var limit: Int
    /// The wait before each repetition.
    public var backoff: Backoff
    /// Which answers are worth another attempt. By default those that speak of the moment and not of the request: 408
    /// (Request Timeout), 425 (Too Early), 429 (Too Many Requests), 502, 503 and 504 (a gateway found no server, or the server
    /// has too much to do). Not 500: it is mostly a fault in the code that meets just this request, and meets it again.
    public var statuses: Set<Int>
    /// Which time-outs of an attempt are worth another one. Only that of the connection by default. After
    /// ``TimeoutPhase/firstByte`` or ``TimeoutPhase/idle`` somebody has waited for half a minute, and would for another one;
    /// add them where ``Timeouts`` are short. ``TimeoutPhase/total`` is the end of the call, whatever is set here.
    public var timeouts: Set<TimeoutPhase>
    /// The longest `Retry-After` that is waited for. 60 s by default; a call that is asked to wait longer fails at once with
    /// the answer it has, which is kinder than a spinner. Where all calls heed what a server asks of one
    /// (``AdmissionPolicy/heedsServer``), it is the longest wait for that, too.
    public var longestHint: Duration
    /// Whether a second attempt is sent beside one that is slow, and when; `nil`, which is the default, for never.
    public var hedging: HedgingPolicy?

    /// The defaults, but for what is given.
    public init(
        limit: Int = 2, backoff: Backoff = .init(), statuses: Set<Int> = [408, 425, 429, 502, 503, 504],
        timeouts: Set<TimeoutPhase> = [.connect], longestHint: Duration = .seconds(60), hedging: HedgingPolicy? = nil
    ) {
        self.limit = limit
        self.backoff = backoff
        self.statuses = statuses
        self.timeouts = timeouts
        self.longestHint = longestHint
        self.hedging = hedging
    }

    /// The defaults.
    public static let standard = RetryPolicy()
    /// Every attempt is the only one.
    public static let none = RetryPolicy(limit: 0)

    /// The defaults, with another number of repetitions, each of which the origin's ``RetryBudget`` pays for: a limit above its
    /// reserve, 10 by default, is reached only where that is raised as well (``RetryBudget/Policy``).
    public static func limit(_ limit: Int) -> RetryPolicy {
        RetryPolicy(limit: limit)
    }
}

/// An attempt that is over, with all that decides whether it is repeated.
public struct FinishedAttempt: Hashable, Sendable {
    /// What came of it.
    @nonexhaustive
    public enum Outcome: Hashable, Sendable {
        /// An answer came, with this status.
        case answered(status: Int)
        /// None came: how it failed, and how far the request had got.
        case failed(APIError.Kind, SendState)
    }

    /// What came of it.
    public var outcome: Outcome
    /// Whether it is idempotent (RFC 9110 §9.2.2) is half of what decides.
    public var method: HTTPMethod
    /// Whether the request may be sent twice, whatever its method: it was declared so, or carries a key.
    public var isDeclaredIdempotent: Bool
    /// Which attempt it was: 1 for the first.
    public var number: Int
    /// Whether the request can be sent again as it was.
    public var isBodyReplayable: Bool
    /// How long the call may still take; `nil` for as long as it likes.
    public var timeLeft: Duration?
    /// What the answer asked for, by ``RetryAfter``; `nil` where it did not ask.
    public var retryAfter: Duration?

    /// The first attempt of a call without a deadline, unless said otherwise.
    public init(
        _ outcome: Outcome, method: HTTPMethod, isDeclaredIdempotent: Bool = false, number: Int = 1,
        isBodyReplayable: Bool = true, timeLeft: Duration? = nil, retryAfter: Duration? = nil
    ) {
        self.outcome = outcome
        self.method = method
        self.isDeclaredIdempotent = isDeclaredIdempotent
        self.number = number
        self.isBodyReplayable = isBodyReplayable
        self.timeLeft = timeLeft
        self.retryAfter = retryAfter
    }
}

/// What is done about an attempt that is over.
@nonexhaustive
public enum RetryDecision: Hashable, Sendable {
    /// The request is sent again after a wait, for this reason.
    case retry(after: Duration, RetryReason)
    /// The call ends with what came of the attempt; why there is no other one.
    case stop(RetryRefusal)
}

/// Why an attempt is repeated.
@nonexhaustive
public enum RetryReason: Hashable, Sendable {
    /// The server answered with a status that is worth another attempt.
    case status(Int)
    /// No connection could be made.
    case unreachable(TransportError.Reachability)
    /// A phase of the attempt took too long.
    case timeout(TimeoutPhase)
    /// The connection broke.
    case connectionLost
    /// The server said that it did not look at the request.
    case unprocessed

    /// What repeating it costs.
    ///
    /// - Parameter isHinted: whether the server said when to come back.
    public func cost(isHinted: Bool) -> RetryBudget.Cost {
        switch self {
        case .status where isHinted, .status(429), .unprocessed: .throttled
        case .timeout: .timeout
        default: .failure
        }
    }
}

/// Why an attempt is not repeated, although the call has failed.
@nonexhaustive
public enum RetryRefusal: Hashable, Sendable {
    /// Another attempt would end alike, or nobody wants one.
    case final
    /// The server may have done what was asked, and doing it twice is not the same as doing it once.
    case mayHaveBeenProcessed
    /// There were as many attempts as the policy allows.
    case limitReached
    /// The body can be read only once.
    case bodyNotReplayable
    /// The server asks to be left alone for longer than ``RetryPolicy/longestHint``.
    case hintTooLong(Duration)
    /// The call would be over before the wait is.
    case pastDeadline(wait: Duration, left: Duration)
    /// The ``RetryBudget`` of the origin is used up.
    case budgetUsedUp
    /// The ``CircuitBreaker`` of the origin is open.
    case circuitOpen
}

extension RetryPolicy {
    /// Decides about an attempt that has failed. What is repeated has to be paid for from the origin's budget besides.
    ///
    /// - Parameter random: draws the wait.
    public func decide(
        on attempt: FinishedAttempt, using random: inout some RandomNumberGenerator
    ) -> RetryDecision {
        guard let cause = cause(of: attempt.outcome) else { return .stop(.final) }
        let isRepeatable = attempt.method.isIdempotent || attempt.isDeclaredIdempotent || cause.isUnprocessed
        guard isRepeatable else { return .stop(.mayHaveBeenProcessed) }
        guard attempt.number <= limit else { return .stop(.limitReached) }
        guard attempt.isBodyReplayable else { return .stop(.bodyNotReplayable) }
        let hint = attempt.retryAfter ?? .zero
        guard hint <= longestHint else { return .stop(.hintTooLong(hint)) }
        let wait = max(hint, backoff.delay(before: attempt.number, using: &random))
        if let left = attempt.timeLeft, wait >= left { return .stop(.pastDeadline(wait: wait, left: left)) }
        return .retry(after: wait, cause.reason)
    }

    /// Why an attempt with this outcome is worth another one, and whether the server provably did not process it; `nil` when
    /// it is not worth one.
    private func cause(of outcome: FinishedAttempt.Outcome) -> (reason: RetryReason, isUnprocessed: Bool)? {
        switch outcome {
        case .answered(let status):
            // 425 says that the server was unwilling to risk processing it (RFC 8470 §5.2).
            return statuses.contains(status) ? (.status(status), status == 425) : nil
        case .failed(let kind, let state):
            return reason(for: kind, state).map { ($0, state <= .unprocessed) }
        }
    }

    private func reason(for kind: APIError.Kind, _ state: SendState) -> RetryReason? {
        switch kind {
        case .unreachable(let how): return Self.isPassing(how) ? .unreachable(how) : nil
        case .timeout(.total): return nil
        case .timeout(let phase): return timeouts.contains(phase) ? .timeout(phase) : nil
        case .transport(.requestBody): return nil
        // Refused on purpose, in the words of the protocol: any kind of failure may be made of that.
        case .transport where state == .unprocessed: return .unprocessed
        case .transport(.connectionLost): return .connectionLost
        default: return nil
        }
    }

    /// Whether it may be otherwise within seconds. Without any network nothing will change by itself; a proxy that wants other
    /// credentials keeps wanting them; and what this process lacks, the server cannot give.
    private static func isPassing(_ how: TransportError.Reachability) -> Bool {
        switch how {
        case .nameNotResolved, .connectionRefused, .noRoute, .proxy: true
        case .offline, .proxyAuthentication, .noDescriptors: false
        }
    }
}

extension RetryRefusal: CustomStringConvertible {
    /// The reason in words for developers, as a part of ``APIError/debugMessage``.
    public var description: String {
        switch self {
        case .final: "another attempt would end alike"
        case .mayHaveBeenProcessed: "the server may have processed the request, which is not idempotent"
        case .limitReached: "there were as many attempts as the policy allows"
        case .bodyNotReplayable: "the body can be read only once"
        case .hintTooLong(let hint): "the server asks to wait \(hint), longer than the policy allows"
        case .pastDeadline(let wait, let left): "the wait would be \(wait), and the call has \(left) left"
        case .budgetUsedUp: "the retry budget of the origin is used up"
        case .circuitOpen: "the circuit breaker of the origin is open"
        }
    }
}
