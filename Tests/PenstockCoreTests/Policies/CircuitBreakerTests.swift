import PenstockCore
import PenstockTestSupport
import Testing

@Suite("The circuit breaker")
struct CircuitBreakerTests {
    /// A breaker, its clock, and seeded randomness.
    private struct Bench {
        var breaker: CircuitBreaker
        var now = Duration.zero
        var random = Seeded(seed: 11)

        init(_ change: (inout CircuitBreaker.Policy) -> Void = { _ in }) {
            var policy = CircuitBreaker.Policy()
            change(&policy)
            breaker = CircuitBreaker(policy)
        }

        mutating func admit() -> CircuitBreaker.Pass? {
            if case .allowed(let pass) = breaker.admit(at: now) { pass } else { nil }
        }

        mutating func probe() throws -> CircuitBreaker.Pass {
            let pass = admit()
            return try #require(pass)
        }

        /// Sends one attempt; `false` when it is refused.
        @discardableResult
        mutating func attempt(_ outcome: CircuitBreaker.Outcome, took: Duration = .zero) -> Bool {
            guard let pass = admit() else { return false }
            record(outcome, pass, took: took)
            return true
        }

        mutating func record(_ outcome: CircuitBreaker.Outcome, _ pass: CircuitBreaker.Pass, took: Duration = .zero) {
            breaker.record(outcome, took: took, pass, at: now, using: &random)
        }

        mutating func fail(_ count: Int) {
            for _ in 0..<count { attempt(.failure) }
        }

        var openFor: Duration? {
            if case .open(let until) = breaker.state { until - now } else { nil }
        }
    }

    @Test("It opens at the share of failures, once there were enough attempts, and not one earlier")
    func opening() {
        var bench = Bench()
        for _ in 0..<10 { bench.attempt(.success) }
        bench.fail(9)
        #expect(bench.breaker.state == .closed)
        bench.fail(1)
        #expect(bench.openFor != nil)

        var few = Bench()
        few.fail(19)
        #expect(few.breaker.state == .closed)
        few.fail(1)
        #expect(few.openFor != nil)

        var good = Bench()
        for _ in 0..<30 { good.attempt(.success) }
        good.fail(29)
        #expect(good.breaker.state == .closed)
        good.fail(1)
        #expect(good.openFor != nil)
    }

    @Test("A quick success opens nothing, though it makes the attempts enough; a slow one and a failure do")
    func quickSuccess() {
        for (last, took, opens) in [
            (CircuitBreaker.Outcome.success, Duration.seconds(15) - .nanoseconds(1), false),
            (.success, .seconds(15), true), (.failure, .zero, true),
        ] {
            var bench = Bench()
            bench.fail(19)
            bench.attempt(last, took: took)
            #expect((bench.openFor != nil) == opens, "\(last) \(took)")
        }
    }

    @Test("Slow answers open it by a share of their own")
    func slow() {
        var bench = Bench()
        for _ in 0..<5 { bench.attempt(.success, took: .seconds(15) - .nanoseconds(1)) }
        for _ in 0..<19 { bench.attempt(.success, took: .seconds(15)) }
        #expect(bench.breaker.state == .closed)
        bench.attempt(.success, took: .seconds(15))
        #expect(bench.openFor != nil)
        // A failure counts once, however long it took.
        var failing = Bench { $0.failureRate = 2 }
        for _ in 0..<40 { failing.attempt(.failure, took: .seconds(60)) }
        #expect(failing.breaker.state == .closed)
    }

    @Test("Attempts older than the window do not count")
    func window() {
        var bench = Bench()
        bench.fail(19)
        bench.now = .seconds(30)
        bench.fail(1)
        #expect(bench.breaker.state == .closed)
        var within = Bench()
        within.fail(19)
        within.now = .seconds(30) - .nanoseconds(1)
        within.fail(1)
        #expect(within.openFor != nil)
    }

    @Test("Attempts are forgotten by tenths of the window")
    func tenths() {
        for (moment, isForgotten) in [(Duration.seconds(3) - .nanoseconds(1), true), (.seconds(3), false)] {
            var bench = Bench()
            bench.now = moment
            bench.fail(19)
            bench.now = .seconds(30)
            bench.fail(1)
            #expect((bench.breaker.state == .closed) == isForgotten, "\(moment)")
        }
    }

    @Test("A clock that goes back loses nothing")
    func clockBack() {
        var bench = Bench()
        bench.now = .seconds(100)
        bench.fail(19)
        bench.now = .seconds(1)
        bench.fail(1)
        #expect(bench.openFor != nil)
        // Also behind several parts of the window.
        var parts = Bench()
        for (second, count) in [(50, 9), (62, 10), (1, 1)] {
            parts.now = .seconds(second)
            parts.fail(count)
        }
        #expect(parts.openFor != nil)
    }

    @Test("The longest pause is one that is drawn")
    func longestPause() {
        var breaker = CircuitBreaker(.init(minimumAttempts: 1))
        var highest = RandomSource { .max }
        guard case .allowed(let pass) = breaker.admit(at: .zero) else { return #expect(Bool(false)) }
        breaker.record(.failure, took: .zero, pass, at: .zero, using: &highest)
        #expect(breaker.state == .open(until: .seconds(1)))
    }

    @Test("While it is open everything is refused, with the time to ask again")
    func open() {
        var bench = Bench()
        bench.fail(20)
        let pause = bench.openFor ?? .zero
        #expect(pause >= .milliseconds(500) && pause <= .seconds(1))
        bench.now = pause - .nanoseconds(1)
        #expect(bench.breaker.admit(at: bench.now) == .refused(retryIn: .nanoseconds(1)))
        bench.now = pause
        let probe = bench.admit()
        #expect(probe?.isProbe == true)
        #expect(bench.breaker.state == .halfOpen)
        #expect(bench.breaker.admit(at: bench.now) == .refused(retryIn: .seconds(1)))
    }

    @Test("A probe that succeeds closes it, with nothing remembered")
    func closing() {
        var bench = Bench()
        bench.fail(20)
        bench.now = .seconds(1)
        #expect(bench.attempt(.success) == true)
        #expect(bench.breaker.state == .closed)
        bench.fail(19)
        #expect(bench.breaker.state == .closed)
        bench.fail(1)
        #expect(bench.openFor.map { $0 <= .seconds(1) } == true)
    }

    @Test("Each probe that fails doubles the pause, up to the longest")
    func reopening() {
        var bench = Bench { $0.longestPause = .seconds(3) }
        bench.fail(20)
        for longest in [2, 3, 3] {
            bench.now += .seconds(3)
            #expect(bench.attempt(.failure) == true)
            let pause = bench.openFor ?? .zero
            #expect(pause >= .seconds(longest) / 2 && pause <= .seconds(longest))
        }
    }

    @Test("As many probes are let through as the policy says, and all must succeed")
    func probes() {
        var bench = Bench { $0.probes = 2 }
        bench.fail(20)
        bench.now = .seconds(1)
        let (first, second) = (bench.admit(), bench.admit())
        #expect(bench.admit() == nil)
        if let first { bench.record(.success, first) }
        #expect(bench.breaker.state == .halfOpen)
        #expect(bench.admit() == nil)
        if let second { bench.record(.success, second) }
        #expect(bench.breaker.state == .closed)
        var none = Bench { $0.probes = 0 }
        none.fail(20)
        none.now = .seconds(1)
        #expect(none.attempt(.success) == true)
        #expect(none.breaker.state == .closed)
    }

    @Test("A probe that says nothing gives its place to the next one")
    func lostProbe() {
        var bench = Bench()
        bench.fail(20)
        bench.now = .seconds(1)
        #expect(bench.attempt(.unknown) == true)
        #expect(bench.breaker.state == .halfOpen)
        #expect(bench.attempt(.success) == true)
        #expect(bench.breaker.state == .closed)
    }

    @Test(
        "A probe without an outcome is waited for as long as a slow answer, within limits, and then another one is let through",
        arguments: [
            (15, 4, 15), (3, 4, 4), (0, 0, 0), (60, 4, 60), (61, 4, 60), (90, 70, 70), (.max, 4, 60),
        ] as [(Int64, Int64, Int64)])
    func unendingProbe(slowAfter: Int64, longestPause: Int64, patience: Int64) {
        var bench = Bench {
            ($0.slowAfter, $0.longestPause) = (.seconds(slowAfter), .seconds(longestPause))
            ($0.shortestPause, $0.slowRate) = (.zero, 2)
        }
        bench.fail(20)
        for _ in 0..<3 {
            let probe = bench.admit()
            #expect(probe?.isProbe == true)
            guard patience > 0 else { continue }
            bench.now += .seconds(patience) - .nanoseconds(1)
            #expect(bench.admit() == nil)
            bench.now += .nanoseconds(1)
        }
        #expect(bench.breaker.state == .halfOpen)
    }

    @Test("Of a probe that is waited for no more, a success closes the circuit, and anything else changes nothing")
    func lateProbe() throws {
        var bench = Bench { $0.slowRate = 2 }
        bench.fail(20)
        bench.now = .seconds(1)
        let probes = try (0..<3).map { _ in
            defer { bench.now += .seconds(15) }
            return try bench.probe()
        }
        bench.now -= .seconds(15)
        bench.record(.unknown, probes[0])
        #expect(bench.admit() == nil, "the place of the one that is waited for is still taken")
        bench.record(.failure, probes[1])
        #expect(bench.breaker.state == .halfOpen)
        var closed = bench
        closed.record(.success, probes[0], took: .seconds(60))
        #expect(closed.breaker.state == .closed)
        closed.record(.failure, probes[2])
        closed.fail(19)
        #expect(closed.breaker.state == .closed)
        bench.record(.failure, probes[2])
        #expect(bench.openFor != nil)
        // The next half-open stretch waits for its own probe.
        bench.now += .seconds(4)
        let next = try bench.probe()
        bench.record(.unknown, next)
        #expect(bench.admit() != nil)
    }

    @Test("Probes that have passed are not sent again for one that has no outcome; the wait begins with the last")
    func severalProbes() throws {
        var bench = Bench { $0.probes = 3 }
        bench.fail(20)
        bench.now = .seconds(1)
        let passed = try bench.probe()
        _ = bench.admit()
        bench.now = .seconds(10)
        _ = bench.admit()
        bench.record(.success, passed)
        bench.now = .seconds(25) - .nanoseconds(1)
        #expect(bench.admit() == nil)
        bench.now = .seconds(25)
        let (second, third) = (try bench.probe(), try bench.probe())
        #expect(bench.admit() == nil)
        bench.record(.success, second)
        #expect(bench.breaker.state == .halfOpen)
        bench.record(.success, third)
        #expect(bench.breaker.state == .closed)
    }

    @Test("What was sent before it opened says nothing afterwards")
    func stale() {
        var bench = Bench()
        guard let old = bench.admit(), let older = bench.admit() else { return #expect(Bool(false)) }
        bench.fail(20)
        bench.record(.success, old)
        #expect(bench.openFor != nil)
        bench.now = .seconds(1)
        guard let probe = bench.admit() else { return #expect(Bool(false)) }
        bench.record(.failure, older)
        #expect(bench.breaker.state == .halfOpen)
        bench.record(.success, probe)
        #expect(bench.breaker.state == .closed)
    }

    @Test("What was sent while it was closed counts neither as a probe nor in a later stretch")
    func stretches() throws {
        var bench = Bench()
        let old = try (0..<3).map { _ in try bench.probe() }
        bench.fail(20)
        bench.now = .seconds(1)
        let probe = try bench.probe()
        bench.record(.success, old[0])
        #expect(bench.breaker.state == .halfOpen)
        bench.record(.success, probe)
        #expect(bench.breaker.state == .closed)
        bench.record(.failure, old[1])
        bench.fail(19)
        #expect(bench.breaker.state == .closed)
        bench.fail(1)
        bench.now = .seconds(2)
        _ = try bench.probe()
        bench.record(.success, old[2])
        #expect(bench.breaker.state == .halfOpen)
    }

    @Test("A probe says nothing once another one has opened the circuit again", arguments: [true, false])
    func probeOfBefore(isGood: Bool) throws {
        var bench = Bench { $0.probes = 2 }
        bench.fail(20)
        bench.now = .seconds(1)
        let (first, second) = (try bench.probe(), try bench.probe())
        bench.record(.failure, first)
        var late = bench
        late.record(isGood ? .success : .failure, second)
        #expect(late.breaker.state == bench.breaker.state)
        bench.now = .seconds(3)
        let next = try bench.probe()
        bench.record(isGood ? .success : .failure, second)
        #expect(bench.breaker.state == .halfOpen)
        bench.record(.success, next)
        #expect(bench.breaker.state == .halfOpen, "two must succeed")
        bench.record(.success, try bench.probe())
        #expect(bench.breaker.state == .closed)
    }

    @Test("What says nothing about the server does not count")
    func unknown() {
        var bench = Bench()
        for _ in 0..<100 { bench.attempt(.unknown, took: .seconds(60)) }
        bench.fail(19)
        #expect(bench.breaker.state == .closed)
    }

    @Test("The pauses of many clients are spread over half of the longest")
    func spread() {
        var random = Seeded(seed: 3)
        let pauses = (0..<1_000).map { _ in
            var bench = Bench()
            bench.random = Seeded(seed: random.next())
            bench.fail(20)
            return (bench.openFor ?? .zero) / .seconds(1)
        }
        #expect(pauses.allSatisfy { (0.5...1).contains($0) })
        for bin in 0..<5 { #expect((150...250).contains(pauses.filter { Int(($0 - 0.5) * 10) == bin }.count)) }
    }

    @Test("The defaults are those of a phone")
    func defaults() {
        let policy = CircuitBreaker.Policy()
        #expect(policy.window == .seconds(30) && policy.minimumAttempts == 20 && policy.failureRate == 0.5)
        #expect(policy.slowAfter == .seconds(15) && policy.slowRate == 0.8 && policy.probes == 1)
        #expect(policy.shortestPause == .seconds(1) && policy.longestPause == .seconds(4))
    }
}

@Suite("Client-side throttling")
struct AdaptiveThrottleTests {
    /// A throttle that has seen so many requests, all of which it let through, and of them so many accepted.
    private func throttle(requests: Int, accepts: Int, _ policy: AdaptiveThrottle.Policy = .init()) -> AdaptiveThrottle
    {
        var throttle = AdaptiveThrottle(policy)
        var never = RandomSource { .max }
        for _ in 0..<requests { _ = throttle.admit(at: .zero, using: &never) }
        for _ in 0..<accepts { throttle.accept(at: .zero) }
        return throttle
    }

    @Test(
        "The probability is (requests − K × accepts) ÷ (requests + 1), and never below zero",
        arguments: [
            (0, 0, 0.0), (10, 10, 0), (10, 5, 0), (10, 4, 2 / 11), (10, 0, 10 / 11), (99, 0, 0.99), (100, 25, 50 / 101),
        ] as [(Int, Int, Double)])
    func formula(_ requests: Int, _ accepts: Int, _ expected: Double) {
        var throttle = throttle(requests: requests, accepts: accepts)
        #expect(abs(throttle.refusalProbability(at: .zero) - expected) < 1e-9)
    }

    @Test("Another multiplier counts, one below 1 counts as 1")
    func multiplier() {
        var cautious = throttle(requests: 10, accepts: 8, .init(multiplier: 1.1))
        #expect(abs(cautious.refusalProbability(at: .zero) - 1.2 / 11) < 1e-9)
        var senseless = throttle(requests: 10, accepts: 5, .init(multiplier: 0))
        #expect(abs(senseless.refusalProbability(at: .zero) - 5.0 / 11) < 1e-9)
    }

    @Test("What is taken back does not count, where it was counted and is not forgotten")
    func takingBack() {
        let (part, moment) = (Duration.seconds(12), Duration.seconds(60))
        for (taken, left) in [(moment, 9.0), (moment + part - .nanoseconds(1), 9), (moment + part, 10), (.zero, 10)] {
            var throttle = AdaptiveThrottle()
            var never = RandomSource { .max }
            for _ in 0..<10 { _ = throttle.admit(at: moment, using: &never) }
            throttle.takeBack(admittedAt: taken)
            #expect(abs(throttle.refusalProbability(at: moment) - left / (left + 1)) < 1e-9, "\(taken)")
        }
        var late = throttle(requests: 1, accepts: 0)
        var never = RandomSource { .max }
        for _ in 0..<5 { _ = late.admit(at: .seconds(120), using: &never) }
        late.takeBack(admittedAt: .zero)
        #expect(abs(late.refusalProbability(at: .seconds(120)) - 5.0 / 6) < 1e-9)
        var all = throttle(requests: 3, accepts: 0)
        for _ in 0..<3 { all.takeBack(admittedAt: .zero) }
        #expect(all.refusalProbability(at: .zero) == 0)
    }

    @Test("What is older than two minutes does not count")
    func window() {
        var throttle = throttle(requests: 10, accepts: 0)
        #expect(throttle.refusalProbability(at: .seconds(120) - .nanoseconds(1)) > 0.9)
        #expect(throttle.refusalProbability(at: .seconds(120)) == 0)
    }

    @Test("A window of less than ten nanoseconds is one of ten", arguments: [10, 9, 0, -5])
    func shortestWindow(nanoseconds: Int) {
        for (moment, isForgotten) in [(9, false), (10, true)] {
            var throttle = throttle(requests: 1, accepts: 0, .init(window: .nanoseconds(nanoseconds)))
            #expect((throttle.refusalProbability(at: .nanoseconds(moment)) == 0) == isForgotten, "\(moment)")
        }
    }

    @Test("However long it goes on, it keeps what is of one window")
    func room() {
        var throttle = AdaptiveThrottle()
        for minute in 0..<10_000 { throttle.accept(at: .seconds(60 * minute)) }
        #expect("\(throttle)".utf8.count < 5_000)
    }

    @Test("A draw below the probability is refused, and the probability itself is let through")
    func draw() {
        // One request and no accept: one half. Of what is drawn the lower 53 bits count.
        for (drawn, isAdmitted) in [(UInt64(1) << 52, true), ((UInt64(1) << 52) - 1, false), (0, false)] {
            var throttle = throttle(requests: 1, accepts: 0)
            var random = RandomSource { drawn }
            #expect(throttle.refusalProbability(at: .zero) == 0.5)
            #expect(throttle.admit(at: .zero, using: &random) == isAdmitted, "\(drawn)")
        }
    }

    @Test("A server is sent twice what it can take, and next to nothing while it takes nothing")
    func effect() {
        // Of each four calls the server can take so many.
        for (capacity, range) in [(0, 1...60), (1, 4_000...6_000), (2, 7_500...10_000), (4, 10_000...10_000)] {
            var throttle = AdaptiveThrottle()
            var random = Seeded(seed: 5)
            var (sent, taken) = (0, 0)
            for call in 0..<10_000 {
                let now = Duration.milliseconds(call)
                if call % 4 == 0 { taken = 0 }
                guard throttle.admit(at: now, using: &random) else { continue }
                sent += 1
                guard taken < capacity else { continue }
                taken += 1
                throttle.accept(at: now)
            }
            #expect(range.contains(sent), "\(capacity): \(sent)")
        }
    }
}
