import PenstockCore
import PenstockTestSupport
import Testing

@Suite("What is repeated, and what never is")
struct RetryPolicyTests {
    /// Draws the longest wait.
    private static func random() -> RandomSource { RandomSource { .max } }

    private static func decide(_ attempt: FinishedAttempt, _ policy: RetryPolicy = .standard) -> RetryDecision {
        var random = random()
        return policy.decide(on: attempt, using: &random)
    }

    private static func isRetried(_ attempt: FinishedAttempt, _ policy: RetryPolicy = .standard) -> Bool {
        if case .retry = decide(attempt, policy) { true } else { false }
    }

    private static func reason(_ attempt: FinishedAttempt, _ policy: RetryPolicy = .standard) -> RetryReason? {
        if case .retry(_, let reason) = decide(attempt, policy) { reason } else { nil }
    }

    private static func refusal(_ attempt: FinishedAttempt, _ policy: RetryPolicy = .standard) -> RetryRefusal? {
        if case .stop(let refusal) = decide(attempt, policy) { refusal } else { nil }
    }

    @Test("Answers that speak of the moment are worth another attempt, those that speak of the request are not")
    func statuses() {
        for status in [408, 425, 429, 502, 503, 504] {
            #expect(Self.reason(.init(.answered(status: status), method: .get)) == .status(status))
        }
        for status in [200, 204, 301, 304, 400, 401, 403, 404, 409, 410, 421, 422, 423, 500, 501, 505, 599, 600] {
            #expect(Self.refusal(.init(.answered(status: status), method: .get)) == .final, "\(status)")
        }
        #expect(Self.isRetried(.init(.answered(status: 500), method: .get), RetryPolicy(statuses: [500])))
    }

    @Test(
        "A request that is not idempotent is repeated only where the server provably did not process it, or knows it by a key"
    )
    func provablyUnprocessed() {
        let lost = { FinishedAttempt.Outcome.failed(.transport(.connectionLost), $0) }
        for method in [HTTPMethod.post, .patch, HTTPMethod(rawValue: "PURGE") ?? .post] {
            for (outcome, isProven) in [
                (lost(.unsent), true), (lost(.unprocessed), true), (lost(.maybeProcessed), false),
                (lost(.answered), false), (.answered(status: 503), false), (.answered(status: 408), false),
                (.answered(status: 429), false), (.answered(status: 425), true),
                (.failed(.unreachable(.connectionRefused), .unsent), true),
                (.failed(.timeout(.connect), .unsent), true),
            ] {
                let attempt = FinishedAttempt(outcome, method: method)
                #expect(Self.isRetried(attempt) == isProven, "\(method) \(outcome)")
                if !isProven { #expect(Self.refusal(attempt) == .mayHaveBeenProcessed) }
                #expect(Self.isRetried(.init(outcome, method: method, isDeclaredIdempotent: true)))
            }
        }
        for method in [HTTPMethod.get, .head, .options, .trace, .put, .delete] {
            for state in [SendState.unsent, .unprocessed, .maybeProcessed, .answered] {
                #expect(Self.isRetried(.init(lost(state), method: method)))
            }
        }
    }

    @Test("What cannot end otherwise is never repeated, however far the request got")
    func never() {
        let kinds: [APIError.Kind] = [
            .tls(.untrusted), .tls(.expired), .tls(.wrongHost), .tls(.handshake), .tls(.trustMaterial), .cancelled,
            .blocked(reason: ""), .unsupported(feature: ""), .cacheMiss, .unavailable(reason: ""),
            .invalidParameter(field: "", reason: ""), .invalidConfiguration(reason: ""),
            .limitExceeded(.bodyBytes), .transport(.requestBody), .timeout(.total), .unreachable(.offline),
            .unreachable(.proxyAuthentication), .unreachable(.noDescriptors), .business(code: 1, message: ""),
            .validation(rule: ""), .decoding(path: "", reason: ""), .malformedEnvelope(reason: ""),
        ]
        let all = RetryPolicy(statuses: Set(200...999), timeouts: [.connect, .firstByte, .idle, .total])
        for kind in kinds {
            for state in [SendState.unsent, .unprocessed, .maybeProcessed, .answered] {
                #expect(Self.refusal(.init(.failed(kind, state), method: .get), all) == .final, "\(kind) \(state)")
            }
        }
    }

    @Test("Failures on the way there that may pass are repeated, each with its reason")
    func passing() {
        for how in [TransportError.Reachability.nameNotResolved, .connectionRefused, .noRoute, .proxy] {
            #expect(Self.reason(.init(.failed(.unreachable(how), .unsent), method: .post)) == .unreachable(how))
        }
        let lost = APIError.Kind.transport(.connectionLost)
        #expect(Self.reason(.init(.failed(lost, .maybeProcessed), method: .get)) == .connectionLost)
        #expect(Self.reason(.init(.failed(lost, .unprocessed), method: .post)) == .unprocessed)
    }

    @Test("A server that breaks the protocol is asked again only where it said that it had not looked at the request")
    func brokenProtocol() {
        for fault in [APIError.TransportFault.protocolViolation, .other] {
            for state in [SendState.unsent, .maybeProcessed, .answered] {
                #expect(Self.refusal(.init(.failed(.transport(fault), state), method: .get)) == .final)
            }
            #expect(Self.reason(.init(.failed(.transport(fault), .unprocessed), method: .post)) == .unprocessed)
        }
    }

    @Test("Of the time-outs, those that the policy names are repeated")
    func timeouts() {
        let attempt = { FinishedAttempt(.failed(.timeout($0), .maybeProcessed), method: .get) }
        #expect(Self.reason(attempt(.connect)) == .timeout(.connect))
        #expect(Self.refusal(attempt(.firstByte)) == .final)
        #expect(Self.refusal(attempt(.idle)) == .final)
        let all = RetryPolicy(timeouts: [.firstByte, .idle])
        #expect(Self.reason(attempt(.firstByte), all) == .timeout(.firstByte))
        #expect(Self.reason(attempt(.idle), all) == .timeout(.idle))
        #expect(Self.refusal(attempt(.connect), all) == .final)
        var post = attempt(.firstByte)
        post.method = .post
        #expect(Self.refusal(post, all) == .mayHaveBeenProcessed)
    }

    @Test("There are as many repetitions as the policy allows, and no more", arguments: [0, 1, 2, 7])
    func limit(_ limit: Int) {
        for number in 1...9 {
            let attempt = FinishedAttempt(.answered(status: 503), method: .get, number: number)
            #expect(Self.isRetried(attempt, .limit(limit)) == (number <= limit))
            if number > limit { #expect(Self.refusal(attempt, .limit(limit)) == .limitReached) }
        }
        #expect(Self.refusal(.init(.answered(status: 503), method: .get), .none) == .limitReached)
    }

    @Test("A body that can be read only once is not sent again")
    func onceOnly() {
        let attempt = FinishedAttempt(.answered(status: 503), method: .put, isBodyReplayable: false)
        #expect(Self.refusal(attempt) == .bodyNotReplayable)
    }

    @Test("The wait is what the server asks for, or the backoff where that is longer")
    func waits() {
        func wait(_ hint: Duration?) -> Duration? {
            let attempt = FinishedAttempt(.answered(status: 503), method: .get, retryAfter: hint)
            guard case .retry(let wait, _) = Self.decide(attempt) else { return nil }
            return wait
        }
        let backoff = try? #require(wait(nil))
        #expect(backoff.map { $0 > .milliseconds(249) && $0 < .milliseconds(250) } == true)
        #expect(wait(.zero) == backoff)
        #expect(wait(.milliseconds(249)) == backoff)
        #expect(wait(.milliseconds(250)) == .milliseconds(250))
        #expect(wait(.seconds(7)) == .seconds(7))
        #expect(wait(.seconds(60)) == .seconds(60))
        #expect(wait(.seconds(60) + .nanoseconds(1)) == nil)
    }

    @Test("A hint beyond what the policy waits for ends the call, and tells how long it was")
    func longHints() {
        let attempt = FinishedAttempt(.answered(status: 503), method: .get, retryAfter: .seconds(61))
        #expect(Self.refusal(attempt) == .hintTooLong(.seconds(61)))
        #expect(Self.isRetried(attempt, RetryPolicy(longestHint: .seconds(61))))
    }

    @Test("A wait that would reach the deadline is not begun")
    func deadline() {
        func attempt(left: Duration) -> FinishedAttempt {
            .init(.answered(status: 503), method: .get, timeLeft: left, retryAfter: .seconds(5))
        }
        #expect(Self.isRetried(attempt(left: .seconds(5) + .nanoseconds(1))))
        #expect(Self.refusal(attempt(left: .seconds(5))) == .pastDeadline(wait: .seconds(5), left: .seconds(5)))
        #expect(Self.refusal(attempt(left: .seconds(4))) == .pastDeadline(wait: .seconds(5), left: .seconds(4)))
        #expect(Self.refusal(attempt(left: .seconds(-1))) == .pastDeadline(wait: .seconds(5), left: .seconds(-1)))
    }

    @Test("The reason that is told is the first that holds: outcome, safety, number, body, hint, deadline")
    func order() {
        var attempt = FinishedAttempt(
            .answered(status: 404), method: .post, number: 3, isBodyReplayable: false, timeLeft: .zero,
            retryAfter: .seconds(100))
        #expect(Self.refusal(attempt) == .final)
        attempt.outcome = .answered(status: 503)
        #expect(Self.refusal(attempt) == .mayHaveBeenProcessed)
        attempt.isDeclaredIdempotent = true
        #expect(Self.refusal(attempt) == .limitReached)
        attempt.number = 2
        #expect(Self.refusal(attempt) == .bodyNotReplayable)
        attempt.isBodyReplayable = true
        #expect(Self.refusal(attempt) == .hintTooLong(.seconds(100)))
        attempt.retryAfter = .seconds(1)
        #expect(Self.refusal(attempt) == .pastDeadline(wait: .seconds(1), left: .zero))
    }

    @Test("A throttled answer costs less than a failure, and that less than a time-out")
    func costs() {
        #expect(RetryReason.status(429).cost(isHinted: false).tokens == 0.5)
        #expect(RetryReason.status(503).cost(isHinted: true).tokens == 0.5)
        #expect(RetryReason.unprocessed.cost(isHinted: false).tokens == 0.5)
        #expect(RetryReason.status(503).cost(isHinted: false).tokens == 1)
        #expect(RetryReason.connectionLost.cost(isHinted: false).tokens == 1)
        #expect(RetryReason.connectionLost.cost(isHinted: true).tokens == 1)
        #expect(RetryReason.unreachable(.proxy).cost(isHinted: false).tokens == 1)
        #expect(RetryReason.timeout(.connect).cost(isHinted: false).tokens == 2)
        #expect(RetryReason.timeout(.idle).cost(isHinted: true).tokens == 2)
        #expect(RetryBudget.Cost.replay.tokens == 1)
        #expect(RetryBudget.Cost.hedge.tokens == 1)
    }

    @Test("Every refusal says in words why")
    func words() {
        let all: [RetryRefusal] = [
            .final, .mayHaveBeenProcessed, .limitReached, .bodyNotReplayable, .hintTooLong(.seconds(1)),
            .pastDeadline(wait: .seconds(2), left: .seconds(1)), .budgetUsedUp, .circuitOpen,
        ]
        #expect(Set(all.map(\.description)).count == all.count)
        #expect("\(RetryRefusal.pastDeadline(wait: .seconds(2), left: .seconds(1)))".contains("2.0 seconds"))
    }
}

@Suite("Backoff with full jitter")
struct BackoffTests {
    @Test("The ceiling doubles from the base up to the cap")
    func ceilings() {
        let backoff = Backoff(base: .milliseconds(100), cap: .seconds(1))
        #expect(
            (-1...7).map { backoff.ceiling(before: $0) / .milliseconds(1) } == [
                100, 100, 100, 200, 400, 800, 1_000, 1_000, 1_000,
            ])
        #expect(Backoff().ceiling(before: 1) == .milliseconds(250))
        #expect(Backoff().ceiling(before: 7) == .seconds(16))
        #expect(Backoff().ceiling(before: 8) == .seconds(20))
        #expect(Backoff().ceiling(before: .max) == .seconds(20))
    }

    @Test("Durations that make no sense neither crash nor give a negative wait")
    func senseless() {
        #expect(Backoff(base: .seconds(-1), cap: .seconds(5)).ceiling(before: 9) == .zero)
        #expect(Backoff(base: .seconds(1), cap: .seconds(-5)).ceiling(before: 9) == .zero)
        #expect(Backoff(base: .seconds(Int64.max), cap: .seconds(Int64.max)).ceiling(before: 99) == .seconds(86_400))
        #expect(Backoff(base: .nanoseconds(1), cap: .seconds(Int64.max)).ceiling(before: 99) == .seconds(86_400))
    }

    @Test("10,000 waits are spread evenly: each of 20 bins holds a twentieth of them, within a fifth", arguments: 1...3)
    func spread(_ retry: Int) {
        var random = Seeded(seed: 0x5EED + UInt64(retry))
        let backoff = Backoff()
        let ceiling = backoff.ceiling(before: retry)
        var bins = [Int](repeating: 0, count: 20)
        for _ in 0..<10_000 {
            let wait = backoff.delay(before: retry, using: &random)
            #expect(wait >= .zero && wait < ceiling)
            bins[min(Int(wait / ceiling * 20), 19)] += 1
        }
        for count in bins { #expect((400...600).contains(count)) }
    }
}

@Suite("Which answers and failures speak against a server")
struct OutcomeTests {
    @Test("A status below 500 is that of a server that works, one that asks for less says nothing, others are failures")
    func statuses() {
        for status in [200, 301, 400, 404, 499, 501, 505] {
            #expect(CircuitBreaker.Outcome(status: status) == .success, "\(status)")
        }
        for status in [408, 425, 429] { #expect(CircuitBreaker.Outcome(status: status) == .unknown) }
        for status in [500, 502, 503, 504, 506, 599, 600, 999] {
            #expect(CircuitBreaker.Outcome(status: status) == .failure)
        }
    }

    @Test("What this machine, the way or the caller is to blame for says nothing about the server")
    func failures() {
        for kind in [
            APIError.Kind.unreachable(.connectionRefused), .timeout(.connect), .timeout(.firstByte), .timeout(.idle),
            .transport(.connectionLost), .transport(.protocolViolation), .transport(.other),
        ] { #expect(CircuitBreaker.Outcome(kind) == .failure) }
        for kind in [
            APIError.Kind.unreachable(.offline), .unreachable(.proxy), .unreachable(.nameNotResolved),
            .unreachable(.noRoute),
            .unreachable(.noDescriptors), .timeout(.total), .transport(.requestBody), .cancelled, .tls(.untrusted),
            .blocked(reason: ""), .limitExceeded(.bodyBytes),
        ] { #expect(CircuitBreaker.Outcome(kind) == .unknown, "\(kind)") }
    }
}
