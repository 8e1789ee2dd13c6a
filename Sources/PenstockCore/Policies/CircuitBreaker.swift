/// Stops sending to an origin that fails most of the time, and finds out with single attempts when it works again.
///
/// *Closed*, everything is sent. When enough of the attempts of the last half minute have failed or were slow, the circuit
/// *opens*: attempts are refused at once, without a wait for time-outs, and the server is left alone. After a pause it is
/// *half-open*: a few attempts are let through as probes, and their outcome closes the circuit or opens it for longer.
///
/// ```swift
/// var breaker = CircuitBreaker(.init(), at: clock.now)
/// switch breaker.admit(at: clock.now) {
/// case .allowed(let pass): … breaker.record(.success, took: .seconds(1), pass, at: clock.now, using: &random)
/// case .refused(let wait): …
/// }
/// ```
public struct CircuitBreaker: Sendable {
    /// The numbers of a breaker, made for a phone: it sends few requests, in bursts, and a person looks at the result.
    public struct Policy: Hashable, Sendable {
        /// How far back attempts count. 30 s by default: a burst of screens, and nothing from before the pocket.
        public var window: Duration
        /// How many attempts must lie in the window before it says anything. 20 by default: if one in ten fails by chance,
        /// half of 20 do so less than once in a hundred thousand times.
        public var minimumAttempts: Int
        /// Which share of failures opens the circuit. 0.5 by default: less may be one bad path of many.
        public var failureRate: Double
        /// The time from which on an attempt that succeeded is slow. 15 s by default, half of what ``Timeouts`` allow: the time-outs that
        /// follow are better not waited for. Counted to the head of the response: content may be long. A probe without an outcome
        /// is waited for as long, at least for ``longestPause`` and at most a minute or that.
        public var slowAfter: Duration
        /// Which share of slow attempts opens the circuit. 0.8 by default: a slow network is no failing server, and is only
        /// given up when nearly nothing comes in time. More than 1 for never.
        public var slowRate: Double
        /// The pause when it opens first. 1 s by default; it doubles with every probe that fails.
        public var shortestPause: Duration
        /// The longest pause. 4 s by default: a person notices a server that is back within five.
        public var longestPause: Duration
        /// How many probes are let through at a time, all of which must succeed. 1 by default.
        public var probes: Int

        /// The defaults, but for what is given.
        public init(
            window: Duration = .seconds(30), minimumAttempts: Int = 20, failureRate: Double = 0.5,
            slowAfter: Duration = .seconds(15), slowRate: Double = 0.8, shortestPause: Duration = .seconds(1),
            longestPause: Duration = .seconds(4), probes: Int = 1
        ) {
            self.window = window
            self.minimumAttempts = minimumAttempts
            self.failureRate = failureRate
            self.slowAfter = slowAfter
            self.slowRate = slowRate
            self.shortestPause = shortestPause
            self.longestPause = longestPause
            self.probes = probes
        }
    }

    /// What the breaker lets through.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// Every attempt, as long as few fail.
        case closed
        /// - Parameter until: when probes begin.
        case open(until: Duration)
        /// Probes, as many at a time as the policy says, whose outcome decides.
        case halfOpen
    }

    /// The leave to send one attempt, to be given back with its outcome.
    public struct Pass: Hashable, Sendable {
        /// Whether the attempt finds out if the server works again.
        public let isProbe: Bool
        /// Which stretch of the breaker's life it was given in: what was sent before it opened says nothing afterwards.
        fileprivate let era: Int
        /// Which probe it is; 0 for what is none.
        fileprivate let number: Int
    }

    /// Whether one attempt may be sent.
    @nonexhaustive
    public enum Admission: Hashable, Sendable {
        /// It may; the pass is given back with its outcome.
        case allowed(Pass)
        /// - Parameter retryIn: after which time to ask again.
        case refused(retryIn: Duration)
    }

    /// What an attempt says of its server.
    @nonexhaustive
    public enum Outcome: Hashable, Sendable {
        /// The server works.
        case success
        /// The server does not work, or not in time.
        case failure
        /// It says nothing about the server: the call was cancelled, or the failure was on this side.
        case unknown
    }

    /// The numbers it goes by.
    public let policy: Policy
    /// What it lets through now.
    public private(set) var state = State.closed
    private var era = 0
    private var tallies: SlidingTally<Tally>
    /// How many times in a row it has opened.
    private var openings = 0
    /// How many probes are waited for.
    private var probesUnderWay = 0
    private var probesPassed = 0
    /// The last probe, and when it was let through.
    private var lastProbe = (number: 0, at: Duration.zero)
    /// The last of the probes that are not waited for any more, as they had no outcome for so long.
    private var lastLostProbe = 0

    private struct Tally: Tallied {
        var attempts = 0
        var failures = 0
        var slow = 0

        static func + (left: Tally, right: Tally) -> Tally {
            Tally(
                attempts: left.attempts + right.attempts, failures: left.failures + right.failures,
                slow: left.slow + right.slow)
        }
    }

    /// A closed breaker that has seen nothing yet.
    public init(_ policy: Policy = .init()) {
        self.policy = policy
        tallies = SlidingTally(window: policy.window)
    }

    /// Asks to send one attempt.
    public mutating func admit(at now: Duration) -> Admission {
        switch state {
        case .closed:
            return .allowed(Pass(isProbe: false, era: era, number: 0))
        case .open(let until) where now < until:
            return .refused(retryIn: until - now)
        case .open:
            state = .halfOpen
            (probesUnderWay, probesPassed) = (0, 0)
            era += 1
            return probe(at: now)
        case .halfOpen:
            return probe(at: now)
        }
    }

    /// A probe may never have an outcome: it is suspended on the wire or waits for a network, or the app's code holds it. Another one is
    /// let through after a time, or the origin would be refused for ever.
    private mutating func probe(at now: Duration) -> Admission {
        if probesUnderWay + probesPassed >= max(policy.probes, 1) {
            guard now - lastProbe.at >= policy.probePatience else { return .refused(retryIn: policy.shortestPause) }
            (probesUnderWay, lastLostProbe) = (0, lastProbe.number)
        }
        probesUnderWay += 1
        lastProbe = (lastProbe.number + 1, now)
        return .allowed(Pass(isProbe: true, era: era, number: lastProbe.number))
    }

    /// Tells of the outcome of an attempt; once for each pass.
    ///
    /// - Parameters:
    ///   - took: until the head of the response, or the failure.
    ///   - random: spreads the end of the pause, so that not all clients probe at once.
    public mutating func record(
        _ outcome: Outcome, took: Duration, _ pass: Pass, at now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        guard pass.era == era else { return }
        switch (state, outcome) {
        case (.closed, .unknown), (.open, _): break
        case (.closed, _): count(outcome, isSlow: took >= policy.slowAfter, now, &random)
        case (.halfOpen, _): countProbe(outcome, isLost: pass.number <= lastLostProbe, now, &random)
        }
    }

    /// Counts the outcome of a probe. Of one that is not waited for any more, only a success counts: the server works. What else came of it
    /// is old, and another probe is under way.
    private mutating func countProbe(
        _ outcome: Outcome, isLost: Bool, _ now: Duration, _ random: inout some RandomNumberGenerator
    ) {
        if !isLost { probesUnderWay -= 1 }
        switch outcome {
        case .success:
            probesPassed += 1
            if probesPassed >= max(policy.probes, 1) { close() }
        case .failure where !isLost: open(now, &random)
        case .failure, .unknown: break
        }
    }

    private mutating func count(
        _ outcome: Outcome, isSlow: Bool, _ now: Duration, _ random: inout some RandomNumberGenerator
    ) {
        let isFailure = outcome == .failure
        tallies.add(Tally(attempts: 1, failures: isFailure ? 1 : 0, slow: isSlow && !isFailure ? 1 : 0), at: now)
        // A success that was quick makes no rate higher.
        guard isFailure || isSlow else { return }
        let sum = tallies.sum(at: now)
        guard sum.attempts >= policy.minimumAttempts else { return }
        let all = Double(sum.attempts)
        guard Double(sum.failures) >= policy.failureRate * all || Double(sum.slow) >= policy.slowRate * all else {
            return
        }
        open(now, &random)
    }

    private mutating func open(_ now: Duration, _ random: inout some RandomNumberGenerator) {
        openings += 1
        let longest = Backoff(base: policy.shortestPause, cap: policy.longestPause).ceiling(before: openings)
        // Not full jitter: a pause of nothing would be none.
        state = .open(until: now + longest * Double.random(in: 0.5...1, using: &random))
    }

    private mutating func close() {
        state = .closed
        openings = 0
        era += 1
        tallies = SlidingTally(window: policy.window)
    }
}

extension CircuitBreaker.Policy {
    /// How long a probe is waited for before another one is let through.
    fileprivate var probePatience: Duration { max(min(slowAfter, .seconds(60)), longestPause) }
}

extension CircuitBreaker.Outcome {
    /// What an answer says of the server: it works, unless it says itself that it does not. 429 and its like (408, 425) are the
    /// words of a server that works and wants less of it.
    public init(status: Int) {
        switch status {
        case 408, 425, 429: self = .unknown
        // Not Implemented and HTTP Version Not Supported are about the request.
        case 501, 505: self = .success
        case 500...: self = .failure
        default: self = .success
        }
    }

    /// What a failure says of the server: nothing where the way there, this machine or the caller is at fault.
    public init(_ kind: APIError.Kind) {
        switch kind {
        case .unreachable(.connectionRefused), .timeout(.connect), .timeout(.firstByte), .timeout(.idle):
            self = .failure
        case .transport(let fault): self = fault == .requestBody ? .unknown : .failure
        default: self = .unknown
        }
    }
}

/// What can be summed up over a window.
protocol Tallied: Sendable {
    init()
    static func + (left: Self, right: Self) -> Self
}

/// Sums over the last while, in ten parts: what is older than the window is forgotten a tenth of the window at a time.
struct SlidingTally<Value: Tallied>: Sendable {
    private static var parts: Int { 10 }

    private let part: Duration
    private var tallies: [(number: Int64, value: Value)] = []

    /// - Parameter window: at least ten nanoseconds.
    init(window: Duration) {
        part = max(window, .nanoseconds(10)) / Self.parts
    }

    mutating func add(_ value: Value, at now: Duration) {
        let number = number(of: now)
        if let last = tallies.last, last.number >= number {
            tallies[tallies.count - 1].value = last.value + value
        } else {
            forget(before: number)
            tallies.append((number, value))
        }
    }

    /// Adds to what was counted at an earlier moment, where that is not forgotten.
    mutating func amend(_ value: Value, at moment: Duration) {
        let number = number(of: moment)
        guard let place = tallies.firstIndex(where: { $0.number == number }) else { return }
        tallies[place].value = tallies[place].value + value
    }

    mutating func sum(at now: Duration) -> Value {
        forget(before: number(of: now))
        return tallies.reduce(Value()) { $0 + $1.value }
    }

    private mutating func forget(before number: Int64) {
        tallies.removeAll { $0.number <= number - Int64(Self.parts) }
    }

    private func number(of moment: Duration) -> Int64 {
        Int64((moment / part).rounded(.down))
    }
}
