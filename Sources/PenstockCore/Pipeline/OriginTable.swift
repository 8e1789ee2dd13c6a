/// What is known of the servers that a client talks to, one entry for each origin: how much may be sent again, and whether it is
/// worth sending anything.
///
/// Kept by origin and not by user: whether a server works is nobody's secret, and it is one server for all of them.
final class OriginTable: Sendable {
    /// The leave to send one attempt.
    enum Permit: Sendable {
        /// The attempt may be sent; the leave is to be given back with the outcome.
        case allowed(Leave)
        case refused(reason: String)
    }

    /// What one attempt was let through with.
    struct Leave: Sendable {
        /// `nil` where there is no breaker.
        var pass: CircuitBreaker.Pass?
        /// When it was given.
        var given = Duration.zero
    }

    /// What came of an attempt.
    enum Outcome: Sendable {
        /// The server has answered, which says this of it.
        case answered(CircuitBreaker.Outcome)
        /// No answer came, or none whose status is known, which says this of the server.
        case failed(CircuitBreaker.Outcome)

        var health: CircuitBreaker.Outcome {
            switch self {
            case .answered(let outcome), .failed(let outcome): outcome
            }
        }

        /// Whether the server may never have seen anything of it.
        var isOnThisSide: Bool {
            if case .failed(.unknown) = self { true } else { false }
        }
    }

    private struct Health: Sendable {
        var budget: RetryBudget
        var breaker: CircuitBreaker?
        var throttle: AdaptiveThrottle?
        /// The moment until which the server wants to be left alone.
        var pausedUntil: Duration?
        var lastUse: Duration

        init(_ policies: OriginTable, at now: Duration) {
            budget = RetryBudget(policies.budget, at: now)
            breaker = policies.breaker.map { CircuitBreaker($0) }
            throttle = policies.throttle.map { AdaptiveThrottle($0) }
            lastUse = now
        }
    }

    private struct Table: Sendable {
        var healths: [Health] = []
        private var places: [HTTPURL.Origin: Int] = [:]
        /// What was asked for last is mostly asked for next.
        private var last: (origin: HTTPURL.Origin, place: Int)?

        func known(_ origin: HTTPURL.Origin) -> Health? { places[origin].map { healths[$0] } }

        mutating func place(of origin: HTTPURL.Origin, or make: () -> Health) -> Int {
            if let last, last.origin == origin { return last.place }
            let place = places[origin] ?? add(origin, make())
            last = (origin, place)
            return place
        }

        private mutating func add(_ origin: HTTPURL.Origin, _ new: Health) -> Int {
            guard healths.count >= OriginTable.mostOrigins,
                let oldest = places.min(by: { healths[$0.value].lastUse < healths[$1.value].lastUse })
            else {
                healths.append(new)
                places[origin] = healths.count - 1
                return healths.count - 1
            }
            places[oldest.key] = nil
            places[origin] = oldest.value
            healths[oldest.value] = new
            return oldest.value
        }
    }

    let budget: RetryBudget.Policy
    let breaker: CircuitBreaker.Policy?
    let throttle: AdaptiveThrottle.Policy?
    private let time: TimeSource
    private let table = Locked(Table())
    /// More servers than an app talks to. Beyond that, the one that was not used for the longest time is forgotten, so that
    /// redirects to ever new hosts do not fill the memory.
    static let mostOrigins = 256

    init(_ configuration: ClientConfiguration) {
        budget = configuration.retryBudget
        breaker = configuration.circuitBreaker
        throttle = configuration.throttle
        time = configuration.time
    }

    /// The table of the client which another one is derived from, where both go by the same numbers: the server is the same.
    static func of(_ configuration: ClientConfiguration, reusing other: OriginTable) -> OriginTable {
        let isSame =
            configuration.retryBudget == other.budget && configuration.circuitBreaker == other.breaker
            && configuration.throttle == other.throttle
        return isSame ? other : OriginTable(configuration)
    }

    // MARK: The budget

    /// Pays for sending something to an origin once more: a retry, a replay, a hedge.
    ///
    /// - Returns: `false` when the origin's budget is used up.
    func withdraw(_ cost: RetryBudget.Cost, for origin: HTTPURL.Origin) -> Bool {
        let now = time.now()
        return change(origin, now) { $0.budget.withdraw(cost, at: now) }
    }

    /// How many tokens an origin's budget holds.
    func budgetLeft(for origin: HTTPURL.Origin) -> Double {
        let now = time.now()
        return change(origin, now) { $0.budget.left(at: now) }
    }

    // MARK: Attempts

    /// Asks to send one attempt.
    ///
    /// - Parameter drawn: a random number; asked for only where it is needed.
    func admit(to origin: HTTPURL.Origin, drawing drawn: () -> UInt64) -> Permit {
        if breaker == nil, throttle == nil { return .allowed(Leave()) }
        let now = time.now()
        var random = DrawnRandom(throttle == nil ? 0 : drawn())
        return change(origin, now) { health in
            if let isAdmitted = health.throttle?.admit(at: now, using: &random), !isAdmitted {
                return .refused(reason: "\(origin.host) takes less than it is sent")
            }
            switch health.breaker?.admit(at: now) {
            case nil: return .allowed(Leave(given: now))
            case .allowed(let pass): return .allowed(Leave(pass: pass, given: now))
            case .refused:
                health.throttle?.takeBack(admittedAt: now)
                return .refused(reason: Self.reason(origin))
            }
        }
    }

    /// Why nothing is sent while the circuit of an origin is open.
    static func reason(_ origin: HTTPURL.Origin) -> String {
        "\(origin.host) fails, and is left alone for a moment"
    }

    /// An attempt is over.
    ///
    /// - Parameters:
    ///   - took: until the head of the response, or the failure.
    ///   - drawn: a random number; asked for only where it is needed.
    /// - Returns: what the breaker of the origin has become, where that has changed.
    @discardableResult
    func record(
        _ outcome: Outcome, of leave: Leave, to origin: HTTPURL.Origin, took: Duration, drawing drawn: () -> UInt64
    ) -> CircuitBreaker.State? {
        let now = time.now()
        let isOnThisSide = outcome.isOnThisSide
        let outcome = outcome.health
        let mayOpen = outcome == .failure || breaker.map { took >= $0.slowAfter } ?? false
        var random = DrawnRandom(mayOpen ? drawn() : 0)
        return change(origin, now) { health in
            if outcome == .success {
                health.budget.credit(at: now)
                health.throttle?.accept(at: now)
            }
            if isOnThisSide { health.throttle?.takeBack(admittedAt: leave.given) }
            guard let pass = leave.pass else { return nil }
            let before = health.breaker?.state
            health.breaker?.record(outcome, took: took, pass, at: now, using: &random)
            return health.breaker?.state == before ? nil : health.breaker?.state
        }
    }

    /// Whether nothing would be sent to an origin at a moment to come, as far as is known now.
    func isOpen(_ origin: HTTPURL.Origin, in wait: Duration) -> Bool {
        openTime(of: origin).map { wait < $0 } ?? false
    }

    /// How long nothing is sent to an origin whose circuit is open; `nil` where it is not.
    func openTime(of origin: HTTPURL.Origin) -> Duration? {
        guard breaker != nil else { return nil }
        let now = time.now()
        return table.withLock { table in
            if case .open(let until)? = table.known(origin)?.breaker?.state, until > now { until - now } else { nil }
        }
    }

    // MARK: What the server asks for

    /// A server wants to be left alone.
    func pause(_ origin: HTTPURL.Origin, for duration: Duration) {
        let now = time.now()
        change(origin, now) { $0.pausedUntil = max($0.pausedUntil ?? .zero, now + duration) }
    }

    /// How long the server still wants to be left alone; `nil` when it does not.
    func pause(of origin: HTTPURL.Origin) -> Duration? {
        let now = time.now()
        guard let until = table.withLock({ $0.known(origin)?.pausedUntil }), until > now else { return nil }
        return until - now
    }

    private func change<Result: Sendable>(
        _ origin: HTTPURL.Origin, _ now: Duration, _ body: (inout Health) -> Result
    ) -> Result {
        table.withLock { table in
            let place = table.place(of: origin) { Health(self, at: now) }
            table.healths[place].lastUse = now
            return body(&table.healths[place])
        }
    }
}
