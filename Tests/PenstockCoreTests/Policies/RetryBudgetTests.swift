import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite("The retry budget")
struct RetryBudgetTests {
    @Test(
        "Over 10,000 calls as much is sent again as the ratio of the successes and the floor allow, give or take one",
        arguments: [0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.75, 1])
    func ratio(_ ratio: Double) {
        var budget = RetryBudget(.init(ratio: ratio, reserve: 10, refill: nil, capacity: 100), at: .zero)
        var retries = 0
        for call in 1...10_000 {
            let now = Duration.milliseconds(call)
            budget.credit(at: now)
            while budget.withdraw(.failure, at: now) { retries += 1 }
        }
        #expect(abs(Double(retries) - (10 + ratio * 10_000)) <= 1)
    }

    @Test(
        "While everything fails only the floor is left",
        arguments: [(RetryBudget.Cost.throttled, 20), (.failure, 10), (.timeout, 5)])
    func outage(_ cost: RetryBudget.Cost, _ expected: Int) {
        var budget = RetryBudget(.init(refill: nil), at: .zero)
        #expect((0..<10_000).filter { budget.withdraw(cost, at: .seconds($0)) }.count == expected)
    }

    @Test("The floor comes back with time, a token for each interval, and no further than it was")
    func refill() {
        var budget = RetryBudget(.init(reserve: 2, refill: .seconds(10)), at: .zero)
        #expect(budget.withdraw(.timeout, at: .zero) == true)
        #expect([0, 5, 20, 100].map { budget.left(at: .seconds($0)) } == [0, 0.5, 2, 2] && budget.tokens == 0)
        #expect(budget.withdraw(.failure, at: .seconds(9)) == false)
        #expect(budget.withdraw(.failure, at: .seconds(10)) == true)
        #expect(budget.withdraw(.failure, at: .seconds(10)) == false)
        // A clock that goes back gives nothing and takes nothing.
        #expect(budget.withdraw(.throttled, at: .seconds(5)) == false)
        #expect(budget.withdraw(.throttled, at: .seconds(15)) == true)
        #expect(budget.withdraw(.timeout, at: .seconds(1_000)) == true)
        #expect(budget.withdraw(.throttled, at: .seconds(1_000)) == false)
    }

    @Test("A floor that comes back in no time does not come back", arguments: [Duration.zero, .seconds(-1)])
    func senselessRefill(_ refill: Duration) {
        var budget = RetryBudget(.init(reserve: 2, refill: refill), at: .zero)
        #expect(budget.withdraw(.timeout, at: .zero) == true)
        #expect(budget.withdraw(.throttled, at: .seconds(1_000)) == false)
        #expect(budget.tokens == 0)
    }

    @Test("Successes save up to the capacity, and time takes nothing of it")
    func capacity() {
        var budget = RetryBudget(.init(ratio: 1, reserve: 2, refill: .seconds(10), capacity: 5), at: .zero)
        for _ in 0..<100 { budget.credit(at: .zero) }
        #expect(budget.tokens == 5)
        budget.credit(at: .seconds(100))
        #expect(budget.tokens == 5)
        #expect((0..<9).filter { _ in budget.withdraw(.failure, at: .seconds(100)) }.count == 5)
    }

    @Test("A floor above the capacity is the capacity")
    func highFloor() {
        var budget = RetryBudget(.init(ratio: 1, reserve: 5, refill: nil, capacity: 1), at: .zero)
        budget.credit(at: .zero)
        #expect(budget.tokens == 5)
    }

    @Test("What is refused costs nothing")
    func refusal() {
        var budget = RetryBudget(.init(reserve: 1, refill: nil, capacity: 1), at: .zero)
        #expect(budget.withdraw(.timeout, at: .zero) == false)
        #expect(budget.tokens == 1)
        #expect(budget.withdraw(.failure, at: .zero) == true)
        #expect(budget.tokens == 0)
    }

    @Test("An unlimited budget refuses nothing")
    func unlimited() {
        var budget = RetryBudget(.unlimited, at: .zero)
        #expect((0..<100_000).allSatisfy { _ in budget.withdraw(.timeout, at: .zero) })
        #expect(RetryBudget.Policy.unlimited.ratio == 0 && RetryBudget.Policy.unlimited.refill == nil)
    }

    @Test("By default a fifth of the successes, and a floor of ten that takes 10 s for each token")
    func defaults() {
        let policy = RetryBudget.Policy()
        #expect(policy.ratio == 0.2 && policy.reserve == 10 && policy.refill == .seconds(10) && policy.capacity == 100)
    }
}

@Suite("Hedging")
struct HedgingTests {
    private let policy = HedgingPolicy(after: .milliseconds(400))

    @Test("A hedge is sent when the time has passed, and not a nanosecond before")
    func time() {
        #expect(policy.decide(.init(isIdempotent: true)) == .wait(.milliseconds(400)))
        let before = HedgingPolicy.Situation(isIdempotent: true, elapsed: .milliseconds(400) - .nanoseconds(1))
        #expect(policy.decide(before) == .wait(.nanoseconds(1)))
        #expect(policy.decide(.init(isIdempotent: true, elapsed: .milliseconds(400))) == .send)
    }

    @Test(
        "None is sent for what must not be sent twice, is streamed, was hedged already, or when the server asked for a pause"
    )
    func never() {
        let elapsed = Duration.seconds(1)
        for situation in [
            HedgingPolicy.Situation(isIdempotent: false, elapsed: elapsed),
            .init(isIdempotent: true, isBodyReplayable: false, elapsed: elapsed),
            .init(isIdempotent: true, isStreamed: true, elapsed: elapsed),
            .init(isIdempotent: true, sent: 1, elapsed: elapsed),
            .init(isIdempotent: true, elapsed: elapsed, serverPause: .nanoseconds(1)),
        ] { #expect(policy.decide(situation) == .never) }
        let two = HedgingPolicy(after: .zero, limit: 2)
        #expect(two.decide(.init(isIdempotent: true, sent: 1)) == .send)
        #expect(two.decide(.init(isIdempotent: true, sent: 2)) == .never)
    }
}

@Suite("Idempotency keys")
struct IdempotencyKeyTests {
    @Test("A key is a random UUID, and is sent as a string of a structured field")
    func made() throws {
        var random = Seeded(seed: 7)
        let keys = (0..<1_000).map { _ in IdempotencyKey(using: &random) }
        #expect(Set(keys).count == keys.count)
        for key in keys {
            let parts = key.value.split(separator: "-", omittingEmptySubsequences: false)
            #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
            #expect(key.value.allSatisfy { "0123456789abcdef-".contains($0) })
            #expect(parts[2].first == "4")
            #expect(["8", "9", "a", "b"].contains(parts[3].first))
            #expect(key.fieldValue == "\"\(key.value)\"")
        }
        var ones = RandomSource { .max }
        #expect(IdempotencyKey(using: &ones).value == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        var zeros = RandomSource { 0 }
        #expect(IdempotencyKey(using: &zeros).value == "00000000-0000-4000-8000-000000000000")
    }

    @Test("A key of the app's own is printable ASCII, and quotes in it are escaped")
    func own() {
        #expect(IdempotencyKey("order-17")?.fieldValue == #""order-17""#)
        #expect(IdempotencyKey(#"a"b\c"#)?.fieldValue == #""a\"b\\c""#)
        #expect(IdempotencyKey(" ~")?.value == " ~")
        #expect(IdempotencyKey(String(repeating: "k", count: 255)) != nil)
        for text in ["", String(repeating: "k", count: 256), "ä", "a\nb", "\u{7F}", "\u{1F}"] {
            #expect(IdempotencyKey(text) == nil)
        }
    }
}
