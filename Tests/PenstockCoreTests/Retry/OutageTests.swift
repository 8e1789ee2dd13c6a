import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// A server that is down for a minute, and many clients that go on calling it, each on a clock of its own that jumps to the end of
/// whatever is waited for. Nothing of it takes real time.
@Suite("An outage", .timeLimit(.minutes(5)))
struct OutageTests {
    /// What one client went through.
    private struct Story: Sendable {
        var calls = 0
        var attempts = 0
        /// When the first answer came after the server was back.
        var recovered: Duration?
        var failedAfterRecovery = 0
        var callsAfterRecovery = 0
    }

    private static let outage = Duration.seconds(60)

    /// Makes one call a second for 60 s of 503, and 10 s more.
    private func live(_ seed: UInt64, _ change: (inout APIClient.Configuration) -> Void = { _ in }) async -> Story {
        let clock = Box(Duration.zero)
        let attempts = Box(0)
        let stub = StubTransport { _ throws(TransportError) in
            guard clock.value < Self.outage else { return .product }
            attempts.update { $0 += 1 }
            return HTTPResponse(status: 503)
        }
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .none
        configuration.random = .seeded(seed)
        configuration.time = TimeSource(
            now: { clock.value }, date: { Date(timeIntervalSince1970: clock.value / .seconds(1)) },
            sleep: { duration in clock.update { $0 += duration } })
        change(&configuration)
        let client = APIClient(configuration, transport: stub)
        var story = Story()
        var random = Seeded(seed: seed)
        let phase = Duration.milliseconds(Int.random(in: 0..<1_000, using: &random))
        for second in 0..<70 {
            let moment = phase + .seconds(second)
            clock.update { $0 = max($0, moment) }
            let isBack = clock.value >= Self.outage
            let error = await failure { try await client.send(GetProduct()) }
            if isBack { story.callsAfterRecovery += 1 } else { story.calls += 1 }
            if isBack, error != nil { story.failedAfterRecovery += 1 }
            if error == nil { story.recovered = story.recovered ?? clock.value - Self.outage }
        }
        story.attempts = attempts.value
        return story
    }

    private func stories(
        _ count: Int, _ change: @escaping @Sendable (inout APIClient.Configuration) -> Void = { _ in }
    ) async -> [Story] {
        await withTaskGroup(of: Story.self) { group in
            for seed in 0..<count { group.addTask { await live(UInt64(seed), change) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(
        "While 1,000 clients get 503 for 60 s, what they send again stays within the budget, and 99 of 100 are served within 5 s of its end",
        .covers("H17"))
    func thousand() async {
        let stories = await stories(1_000)
        let calls = stories.reduce(0) { $0 + $1.calls }
        let attempts = stories.reduce(0) { $0 + $1.attempts }
        #expect(calls >= 55_000)
        #expect(Double(attempts) <= 1.1 * Double(calls))
        let served = stories.filter { $0.recovered.map { $0 <= .seconds(5) } ?? false }.count
        #expect(served >= 990)
        print("outage: \(calls) calls, \(attempts) attempts, \(served) of \(stories.count) served within 5 s")
    }

    @Test(
        "Without the circuit breaker it is the budget alone that bounds what is sent again: the floor, and what it regains"
    )
    func budgetAlone() async {
        for story in await stories(50, { $0.circuitBreaker = nil }) {
            // Ten at the start, and one for each 10 s.
            #expect(story.attempts > story.calls)
            #expect(story.attempts <= story.calls + 10 + 6)
            #expect(story.failedAfterRecovery == 0)
        }
    }

    @Test(
        "With one client for all, 1,000 calls that all get 503 for 60 s send hardly more than 1,000 requests",
        .covers("H17"))
    func oneClient() async {
        let clock = Box(Duration.zero)
        let stub = StubTransport { _ throws(TransportError) in HTTPResponse(status: 503) }
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.circuitBreaker = nil
        configuration.time = TimeSource(
            now: { clock.value }, date: { Date(timeIntervalSince1970: clock.value / .seconds(1)) },
            sleep: { _ in })
        let client = APIClient(configuration, transport: stub)
        for number in 0..<1_000 {
            clock.value = .milliseconds(60 * number)
            _ = await failure { try await client.send(GetProduct()) }
        }
        #expect(stub.requests.count > 1_000)
        #expect(stub.requests.count <= 1_000 + 10 + 6)
    }
}
