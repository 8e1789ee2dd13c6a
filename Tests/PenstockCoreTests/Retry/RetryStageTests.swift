import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A client with a clock that stands still, whose waits are nothing unless a server asks for them.
struct RetryRig {
    let script: ScriptedTransport
    let clock = TestClock()
    let recorder = EventRecorder()
    let client: APIClient

    /// - Parameter stores: whether the client has a cache, on the same clock.
    init(
        _ steps: [ScriptedTransport.Step], storing stores: Bool = false,
        _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) {
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.time = clock.timeSource
        configuration.random = RandomSource { 0 }
        configuration.sinks = [recorder]
        configuration.cache = stores ? .store(MemoryCacheStore(time: clock.timeSource)) : .none
        change(&configuration)
        script = ScriptedTransport(steps)
        client = APIClient(configuration, transport: script)
    }

    var hits: Int { script.requests.count }

    var events: [Event] { recorder.records.map(\.event) }

    /// The repetitions, each with its wait.
    var retries: [(wait: Duration, reason: RetryReason)] {
        events.compactMap { if case .retried(let wait, let reason, _) = $0 { (wait, reason) } else { nil } }
    }

    /// What the origin's budget had left after each of them.
    var budgets: [Double] {
        events.compactMap { if case .retried(_, _, let left) = $0 { left } else { nil } }
    }

    var refusals: [RetryRefusal] {
        events.compactMap { if case .notRetried(let refusal) = $0 { refusal } else { nil } }
    }
}

extension RandomSource {
    /// Numbers that repeat.
    static func seeded(_ seed: UInt64) -> RandomSource {
        let random = Locked(DrawnRandom(seed))
        return RandomSource { random.withLock { $0.next() } }
    }
}

struct PlaceOrder: Endpoint {
    typealias Output = Product
    var route: Route { .post("/orders") }
    var body: HTTPBody { .bytes(Data("one tea".utf8)) }
}

extension ScriptedTransport.Step {
    static let busy = ScriptedTransport.Step.respond(.json("busy", status: 503))
    static let product = ScriptedTransport.Step.respond(.product)

    static func busy(_ retryAfter: String) -> ScriptedTransport.Step {
        .respond(HTTPResponse(status: 503, fields: ["Retry-After": retryAfter], body: Data("busy".utf8)))
    }

    static func lost(_ state: SendState) -> ScriptedTransport.Step {
        .fail(TransportError(.connectionLost, sendState: state))
    }
}

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryStageTests {
    @Test(
        "n retries on 503 are n + 1 requests; a POST is one unless it is declared idempotent; Retry-After is waited for; and a call that is cancelled while it waits ends",
        .covers("S0.10", "S3.31"))
    func settable() async throws {
        for limit in 0...5 {
            let rig = RetryRig(Array(repeating: .busy, count: 9))
            let error = await failure { try await rig.client.send(GetProduct(), options: .retry(.limit(limit))) }
            #expect(error?.kind == .httpStatus(503))
            #expect(error?.attempts.map(\.status) == Array(repeating: 503, count: limit + 1))
            #expect(rig.hits == limit + 1)
        }
        let many = Array(repeating: ScriptedTransport.Step.busy, count: 20)
        let unlimited = RetryRig(many) { ($0.retryBudget, $0.circuitBreaker) = (.unlimited, nil) }
        #expect(await failure { try await unlimited.client.send(GetProduct(), options: .retry(.limit(12))) } != nil)
        #expect(unlimited.hits == 13 && unlimited.refusals == [.limitReached])
        // By default an origin that answers nothing else is spared further ones.
        let spared = RetryRig(many) { $0.circuitBreaker = nil }
        #expect(await failure { try await spared.client.send(GetProduct(), options: .retry(.limit(12))) } != nil)
        #expect(spared.hits == 11 && spared.refusals == [.budgetUsedUp])
        let post = RetryRig([.busy, .busy])
        #expect(await failure { try await post.client.send(PlaceOrder()) }?.kind == .httpStatus(503))
        #expect(post.hits == 1)
        let declared = RetryRig([.busy, .product])
        _ = try await declared.client.send(PlaceOrder(), options: .idempotency(.declared))
        #expect(declared.hits == 2)

        let asked = RetryRig([.busy("5"), .product])
        let call = asked.client.start(GetProduct())
        await asked.clock.waitForSleepers(count: 1)
        asked.clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(asked.hits == 1 && asked.clock.sleeperCount == 1)
        asked.clock.advance(by: .nanoseconds(1))
        _ = try await call.value
        #expect(asked.hits == 2)
        #expect(asked.retries.map(\.wait) == [.seconds(5)])

        let cancelled = RetryRig([.busy("5"), .product])
        let waiting = cancelled.client.start(GetProduct())
        await cancelled.clock.waitForSleepers(count: 1)
        waiting.cancel()
        #expect(await failure { try await waiting.value }?.kind == .cancelled)
        #expect(cancelled.hits == 1 && cancelled.client.callCount == 0)
    }

    @Test("A status below 400 that the policy names is repeated, and the last answer has its content")
    func accepted() async throws {
        var head = HTTPResponse.product
        head.status = 202
        let pending = ScriptedTransport.Step.respond(head)
        let policy = RetryPolicy(limit: 2, backoff: .init(base: .zero), statuses: [202])
        let rig = RetryRig([pending, pending, .product])
        let response = try await rig.client.response(for: GetProduct(), options: .retry(policy))
        #expect(response.http.status == 200 && response.value.id == 7)
        #expect(rig.hits == 3 && rig.retries.map(\.reason) == [.status(202), .status(202)])
        let last = RetryRig([pending, pending, pending, .product])
        let answer = try await last.client.response(for: GetProduct(), options: .retry(policy))
        #expect(answer.http.status == 202 && answer.value.id == 7)
        #expect(last.hits == 3 && last.refusals.isEmpty)
        let post = RetryRig([pending, .product])
        _ = try await post.client.send(PlaceOrder(), options: .retry(policy))
        #expect(post.hits == 1)
    }

    @Test("Why there is no further attempt is told of failures, from 400 on, and where one was wanted")
    func toldRefusals() async throws {
        for (status, limit, refusals) in [
            (399, 1, []), (400, 1, [.limitReached]), (599, 1, [.limitReached]), (599, 0, []),
        ] as [(Int, Int, [RetryRefusal])] {
            let answer = ScriptedTransport.Step.respond(HTTPResponse(status: status))
            let rig = RetryRig([answer, answer])
            let policy = RetryPolicy(limit: limit, backoff: .init(base: .zero), statuses: [399, 400, 599])
            let error = await failure { try await rig.client.send(GetProduct(), options: .retry(policy)) }
            #expect(error?.kind == .httpStatus(status))
            #expect(rig.hits == limit + 1 && rig.refusals == refusals, "\(status) \(limit)")
            #expect(error?.debugMessage.contains("not retried") == !refusals.isEmpty)
        }
        let note = "not retried: \(RetryRefusal.limitReached)"
        let bare = APIError(.cancelled, stage: .retry)
        #expect(bare.noting(.limitReached).debugMessage == note && bare.noting(nil).debugMessage.isEmpty)
        let said = APIError(.cancelled, stage: .retry, debugMessage: "said")
        #expect(said.noting(.limitReached).debugMessage == "said; \(note)" && said.noting(nil).debugMessage == "said")
    }

    @Test("A wait ends with the call: by cancelling all, by the death of its scope, by the call's own time-out")
    func waitsEnd() async throws {
        let all = RetryRig([.busy("30")])
        let call = all.client.start(GetProduct())
        await all.clock.waitForSleepers(count: 1)
        all.client.cancelAll()
        #expect(await failure { try await call.value }?.kind == .cancelled)

        let scoped = RetryRig([.busy("30")])
        var scope: CallScope? = CallScope()
        let owned = scoped.client.start(GetProduct(), in: scope)
        await scoped.clock.waitForSleepers(count: 1)
        scope = nil
        #expect(await failure { try await owned.value }?.kind == .cancelled)
        #expect(scoped.hits == 1)
    }

    @Test(
        "An attempt that fails when its call has been cancelled is followed by none: none is told of, and none is paid for",
        .covers("S0.10"))
    func cancelledBefore() async throws {
        let client = Box<APIClient?>(nil)
        let recorder = EventRecorder()
        let stub = StubTransport { _ throws(TransportError) in
            client.value?.cancelAll()
            throw TransportError(.connectionLost, sendState: .unsent)
        }
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.sinks = [recorder]
        configuration.cache = .none
        configuration.retryBudget = .init(reserve: 3, refill: nil)
        client.value = APIClient(configuration, transport: stub)
        defer { client.value = nil }
        #expect(await failure { try await client.value?.send(GetProduct()) }?.kind == .cancelled)
        #expect(stub.requests.count == 1)
        let origin = try #require(stub.requests.first?.url.origin)
        #expect(client.value?.state.origins.budgetLeft(for: origin) == 3)
        let told = recorder.records.contains { record in
            switch record.event {
            case .retried, .notRetried: true
            default: false
            }
        }
        #expect(!told)
    }

    @Test("By default idempotent calls survive failures that pass, and events and attempts show each of them")
    func defaults() async throws {
        let rig = RetryRig([.lost(.maybeProcessed), .busy, .product])
        let response = try await rig.client.response(for: GetProduct())
        #expect(response.attempts.map(\.status) == [nil, 503, 200])
        #expect(rig.retries.map(\.reason) == [.connectionLost, .status(503)])
        #expect(rig.recorder.grammarViolations.isEmpty)
        #expect(rig.refusals.isEmpty)
        let trace = rig.recorder.calls.first.map { rig.recorder.trace(of: $0) } ?? []
        #expect(trace.filter { $0 == "retry" }.count == 1)
        #expect(trace.filter { $0 == "admission" }.count == 3)
    }

    @Test("What is not idempotent is sent again only where the server provably did not process it", .covers("S3.31"))
    func unprocessed() async throws {
        for (step, hits) in [
            (ScriptedTransport.Step.lost(.unsent), 2), (.lost(.unprocessed), 2), (.lost(.maybeProcessed), 1),
            (.lost(.answered), 1), (.busy, 1), (.respond(.init(status: 425)), 2),
        ] {
            let rig = RetryRig([step, .product])
            let error = await failure { try await rig.client.send(PlaceOrder()) }
            #expect(rig.hits == hits)
            #expect((error == nil) == (hits == 2))
            if hits == 1 {
                #expect(rig.refusals == [.mayHaveBeenProcessed])
                #expect(error?.debugMessage.contains("may have processed") == true)
            }
        }
    }

    @Test("Certificates that are refused, cancellation and what was not allowed to leave are never tried again")
    func never() async throws {
        for kind in [
            TransportError.Kind.tls(.untrusted), .cancelled, .unsupported("it"), .requestBody,
            .limitExceeded(.bodyBytes),
            .unreachable(.offline),
        ] {
            let rig = RetryRig([.fail(TransportError(kind, sendState: .unsent)), .product])
            #expect(await failure { try await rig.client.send(GetProduct()) } != nil)
            #expect(rig.hits == 1 && rig.refusals.isEmpty, "\(kind)")
        }
        let vetoed = RetryRig([.product]) { configuration in
            configuration.attemptInterceptors = [
                Intercepting { _, _, _ in
                    throw APIError(.transport(.connectionLost), stage: .attemptInterception, sendState: .unsent)
                }
            ]
        }
        #expect(await failure { try await vetoed.client.send(GetProduct()) } != nil)
        #expect(vetoed.hits == 0 && vetoed.retries.isEmpty)
    }

    @Test(
        "Retry-After of 10⁹, −1, a past date or garbage: never past the deadline, never a crash", .covers("H16"),
        arguments: ["1000000000", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "garbage", "", "99999999999999999999", "1e9"])
    func absurd(_ value: String) async throws {
        let isLong = value.first == "1" && value != "1e9" || value.first == "9"
        for options in [CallOptions.timeout(.seconds(30)), CallOptions()] {
            let rig = RetryRig([.busy(value), .product])
            let error = await failure { try await rig.client.send(GetProduct(), options: options) }
            // No time has passed: what would be too long a wait failed at once, and the rest is no wait at all.
            #expect(rig.clock.now.offset == .zero && rig.clock.sleeperCount == 0)
            #expect(error?.kind == (isLong ? .httpStatus(503) : nil))
            #expect(rig.hits == (isLong ? 1 : 2))
            if isLong {
                #expect(error?.response?.body == Data("busy".utf8))
                #expect(error?.debugMessage.contains("86400") == true)
            }
        }
    }

    @Test("A wait that would reach the deadline fails at once, with the answer and the reason", .covers("H16"))
    func pastDeadline() async throws {
        let rig = RetryRig([.busy("10"), .product])
        let waiting = rig.client.start(GetProduct(), options: .timeout(.seconds(10)))
        // Time stands still: a wait that has begun is not waited for.
        while !Task.isCancelled, rig.client.callCount > 0, rig.retries.isEmpty { await Task.yield() }
        waiting.cancel()
        let error = await waiting.result.failure
        #expect(error?.kind == .httpStatus(503))
        #expect(rig.refusals == [.pastDeadline(wait: .seconds(10), left: .seconds(10))])
        #expect(error?.debugMessage.contains("the call has 10.0 seconds left") == true)
        // An attempt that used up most of the time leaves the rest to the next one.
        let later = RetryRig([.held(.busy("4")), .held(.product)])
        let call = later.client.start(GetProduct(), options: .timeout(.seconds(10)))
        await later.script.waitForExchanges(count: 1)
        later.clock.advance(by: .seconds(5))
        later.script.release()
        await later.clock.waitForSleepers(count: 1)
        later.clock.advance(by: .seconds(4))
        await later.script.waitForExchanges(count: 2)
        #expect(later.script.requests.last?.timeouts.total == .seconds(1))
        later.script.release()
        _ = try await call.value
    }

    @Test(
        "The content of an answer that leads to another attempt is not wanted; that of the last one is, and reaches the caller"
    )
    func discarding() async throws {
        let transport = HeadTransport([503, 503, 503, 503])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.random = RandomSource { 0 }
        let client = APIClient(configuration, transport: transport)
        let error = await failure { try await client.send(GetProduct()) }
        #expect(transport.skipped.value == [true, true, false])
        #expect(error?.response?.body == Data("content".utf8))
        transport.skipped.value = []
        #expect(await failure { try await client.send(GetProduct(), options: .retry(.none)) } != nil)
        #expect(transport.skipped.value == [false])
    }

    @Test("A policy that sends nothing beside an attempt throws content away like one that has no such policy")
    func discardingWithoutHedges() async throws {
        let transport = HeadTransport([503, 503, 503])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.random = RandomSource { 0 }
        configuration.options.retry = RetryPolicy(hedging: HedgingPolicy(after: .seconds(60), limit: 0))
        let client = APIClient(configuration, transport: transport)
        _ = await failure { try await client.send(GetProduct()) }
        #expect(transport.skipped.value == [true, true, false])
    }

    @Test("The budget pays once for each repetition, however often the transport asks whether there will be one")
    func paidOnce() async throws {
        let transport = HeadTransport(Array(repeating: 503, count: 9))
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.random = RandomSource { 0 }
        configuration.circuitBreaker = nil
        configuration.retryBudget = .init(reserve: 3, refill: nil)
        let client = APIClient(configuration, transport: transport)
        _ = await failure { try await client.send(GetProduct(), options: .retry(.limit(8))) }
        #expect(transport.skipped.value == [true, true, true, false])
    }

    @Test("A streamed call is repeated by the heads of its responses")
    func streamed() async throws {
        let rig = RetryRig([.busy, .stream(.init(status: 200), [Data("a".utf8), Data("b".utf8)])])
        let response = try await rig.client.stream(GetProduct())
        #expect(response.http.status == 200)
        #expect(try await response.reduce(into: Data()) { $0.append($1) } == Data("ab".utf8))
        #expect(rig.hits == 2)
    }

    @Test("A body that can be read only once is sent again where nothing was read of it, and never else")
    func onceOnly() async throws {
        struct Upload: Endpoint {
            typealias Output = Product
            let body: HTTPBody
            var route: Route { .put("/photo") }
        }
        for (step, hits) in [(ScriptedTransport.Step.lost(.unsent), 2), (.lost(.maybeProcessed), 1), (.busy, 1)] {
            let body = HTTPBody.onceOnly(AsyncThrowingStream { $0.finish() })
            let rig = RetryRig([step, .product])
            let error = await failure { try await rig.client.send(Upload(body: body)) }
            #expect(rig.hits == hits)
            if hits == 1 {
                #expect(rig.refusals == [.bodyNotReplayable])
                #expect(error?.kind != .blocked(reason: ""))
            }
        }
    }

    @Test("An event stream connects again by its own rules, not by these")
    func eventStreams() async throws {
        let rig = RetryRig([.busy, .product])
        var iterator = rig.client.events(of: GetProduct()).makeAsyncIterator()
        await #expect(throws: APIError.self) { try await iterator.next() }
        #expect(rig.hits == 1)
    }

    @Test("The cache sees one outcome after all attempts: what is stale is given out only then")
    func cache() async throws {
        let stored = HTTPResponse(
            status: 200,
            fields: ["Cache-Control": "max-age=1, stale-if-error=600", "Content-Type": "application/json"],
            body: HTTPResponse.product.body)
        let rig = RetryRig([.respond(stored), .busy, .busy, .busy], storing: true)
        _ = try await rig.client.send(GetProduct())
        rig.clock.advance(by: .seconds(10))
        let response = try await rig.client.response(for: GetProduct())
        #expect(response.source == .memory)
        #expect(rig.hits == 4)
        #expect(response.attempts.map(\.status) == [503, 503, 503])
    }
}

/// Tells at the head of each response whether its content is wanted, as a transport does.
private final class HeadTransport: Transport {
    let skipped = Box<[Bool]>([])
    private let statuses: Box<[Int]>

    init(_ statuses: [Int]) {
        self.statuses = Box(statuses)
    }

    var capabilities: TransportCapabilities { .all }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var response = HTTPResponse(status: statuses.update { $0.removeFirst() })
        let isSkipped = request.isContentSkipped(response.status, response)
        // A transport may ask as often as it likes.
        guard isSkipped == request.isContentSkipped(response.status, response) else {
            throw TransportError(.other, sendState: .answered)
        }
        skipped.update { $0.append(isSkipped) }
        if !isSkipped { response.body = Data("content".utf8) }
        return TransportResponse(response)
    }

    func preconnect(_ request: TransportRequest) async throws(TransportError) {}

    func shutdown() async {}
}
