import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite("What calls know of a server together", .timeLimit(.minutes(5)))
struct RetryStateTests {
    @Test(
        "The key is made once for a call, and is the same on each attempt and each pass; another call has another one")
    func key() async throws {
        let rig = RetryRig([.lost(.maybeProcessed), .busy, .product, .product]) { configuration in
            configuration.random = .seeded(9)
            // A call interceptor that sends all of it once more makes no new call.
            configuration.callInterceptors = [
                Intercepting { request, _, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            ]
            configuration.options.retry = RetryPolicy(backoff: .init(base: .zero))
        }
        _ = try await rig.client.send(PlaceOrder(), options: .idempotency(.key))
        let keys = rig.script.requests.map { $0.request.fields.values(of: IdempotencyKey.field) }
        #expect(keys.count == 4)
        #expect(Set(keys).count == 1 && keys.first?.count == 1)
        #expect(keys.first?.first?.first == "\"" && keys.first?.first?.count == 38)
        let other = RetryRig([.product])
        _ = try await other.client.send(PlaceOrder(), options: .idempotency(.key))
        #expect(other.script.requests.first?.request.fields[IdempotencyKey.field] != keys.first?.first)
    }

    @Test("A key goes with every method that does something, also with those that may be sent twice without one")
    func methodsWithKeys() async throws {
        let key = try #require(IdempotencyKey("order-17"))
        for (method, isKeyed) in [
            (HTTPMethod.put, true), (.delete, true), (.patch, true), (.post, true), (.get, false), (.head, false),
        ] {
            let rig = RetryRig([.busy, .product, .busy, .product])
            let endpoint = AdHocEndpoint(Route(method, "/orders/7"), decoding: ResponseDecoding<Void>.nothing)
            try await rig.client.send(endpoint, options: .idempotency(.keyed(key)))
            try await rig.client.send(endpoint, options: .idempotency(.key))
            let keys = rig.script.requests.map { $0.request.fields[IdempotencyKey.field] }
            #expect(keys.count == 4 && keys[0] == keys[1] && keys[2] == keys[3], "\(method)")
            #expect(keys[0] == (isKeyed ? key.fieldValue : nil) && (keys[2] != nil) == isKeyed, "\(method)")
        }
    }

    @Test("A key of the app's own, as an option or as a header, makes a POST repeatable; a GET carries none")
    func ownKeys() async throws {
        let key = try #require(IdempotencyKey("order-17"))
        let option = RetryRig([.busy, .product, .product])
        _ = try await option.client.send(PlaceOrder(), options: .idempotency(.keyed(key)))
        #expect(
            option.script.requests.map { $0.request.fields[IdempotencyKey.field] } == [#""order-17""#, #""order-17""#])
        _ = try await option.client.send(GetProduct(), options: .idempotency(.key))
        #expect(option.script.requests.last?.request.fields[IdempotencyKey.field] == nil)
        let header = RetryRig([.busy, .product])
        _ = try await header.client.send(PlaceOrder(), options: .headers(["Idempotency-Key": "mine"]))
        #expect(header.script.requests.map { $0.request.fields[IdempotencyKey.field] } == ["mine", "mine"])
        // An option does not replace what a header says.
        let both = RetryRig([.product])
        _ = try await both.client.send(
            PlaceOrder(),
            options: .with {
                $0.idempotency = .key; $0.headers = ["Idempotency-Key": "mine"]
            })
        #expect(both.script.requests.map { $0.request.fields[IdempotencyKey.field] } == ["mine"])
    }

    @Test("An order whose answer was lost is sent again under its key, and booked once", .covers("S4.8"))
    func order() async throws {
        let books = Box<[String: Int]>([:])
        let hits = Box(0)
        let stub = StubTransport { request throws(TransportError) in
            let key = request.fields[IdempotencyKey.field] ?? "none \(hits.value)"
            books.update { $0[key, default: 0] += $0[key] == nil ? 1 : 0 }
            // The first answers get lost on the way.
            let isHeard = hits.update { hits in
                hits += 1
                return hits > 2
            }
            guard isHeard else {
                throw TransportError(.connectionLost, sendState: .maybeProcessed)
            }
            return .product
        }
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.random = RandomSource { 0 }
        let client = APIClient(configuration, transport: stub)
        _ = try await client.send(PlaceOrder(), options: .idempotency(.key))
        #expect(hits.value == 3)
        #expect(books.value.count == 1 && books.value.values.allSatisfy { $0 == 1 })
        #expect(Set(stub.requests.map { $0.fields[IdempotencyKey.field] }).count == 1)
    }

    @Test("All calls of an origin share one budget, also those of derived clients; another origin has its own")
    func budget() async throws {
        let rig = RetryRig(Array(repeating: .busy, count: 99)) { configuration in
            configuration.retryBudget = .init(reserve: 3, refill: nil)
            configuration.circuitBreaker = nil
        }
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(rig.hits == 3 && rig.budgets == [2, 1])
        let derived = rig.client.with { $0.headers = ["X-Module": "a"] }
        let error = await failure { try await derived.send(GetProduct()) }
        #expect(rig.hits == 5)
        #expect(error?.debugMessage.contains("retry budget") == true)
        #expect(rig.refusals == [.limitReached, .budgetUsedUp])
        #expect(rig.budgets == [2, 1, 0])
        _ = await failure { try await derived.send(GetProduct()) }
        #expect(rig.hits == 6)
        _ = await failure {
            try await rig.client.send(GetProduct(), options: .with { $0.baseURL = "https://other.example.com" })
        }
        #expect(rig.hits == 9)
        // A client with other numbers has a purse of its own.
        let rich = rig.client.with { $0.retryBudget = .unlimited }
        _ = await failure { try await rich.send(GetProduct()) }
        #expect(rig.hits == 12 && rig.budgets == [2, 1, 0, 2, 1, .infinity, .infinity])
    }

    @Test("Successes pay back, and throttled answers cost half")
    func paidBack() async throws {
        let rig = RetryRig(
            [.busy("0"), .busy("0"), .product] + Array(repeating: .product, count: 5) + [.busy, .product, .busy]
        ) { $0.retryBudget = .init(reserve: 1, refill: nil) }
        for _ in 0..<6 { _ = try await rig.client.send(GetProduct()) }
        _ = try await rig.client.send(GetProduct())
        #expect(rig.hits == 10)
        let told = rig.budgets.map { ($0 * 10).rounded() / 10 }
        #expect(told == [0.5, 0, 0.2])
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(rig.refusals == [.budgetUsedUp])
    }

    @Test("What is told of the budget that is left counts what has come back during the attempt")
    func refilled() async throws {
        let rig = RetryRig([.busy("5"), .busy("15"), .product]) {
            $0.retryBudget = .init(ratio: 0, reserve: 2, refill: .seconds(10))
        }
        let call = rig.client.start(GetProduct())
        for wait in [5, 15] {
            await rig.clock.waitForSleepers(count: 1)
            rig.clock.advance(by: .seconds(wait))
        }
        _ = try await call.value
        #expect(rig.budgets == [1.5, 1.5])
    }

    @Test("An origin that fails is left alone for a moment: calls fail at once, a probe finds out when it works again")
    func breaker() async throws {
        let rig = RetryRig(Array(repeating: .busy, count: 20) + [.product, .product]) { configuration in
            configuration.options.retry = RetryPolicy.none
        }
        for _ in 0..<20 { _ = await failure { try await rig.client.send(GetProduct()) } }
        let refused = await failure { try await rig.client.send(GetProduct()) }
        guard case .unavailable? = refused?.kind else { return #expect(refused?.kind == .unavailable(reason: "")) }
        #expect(refused?.stage == .retry && refused?.attempts.isEmpty == true)
        #expect(rig.hits == 20)
        rig.clock.advance(by: .seconds(1))
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(GetProduct())
        #expect(rig.hits == 22)
        let changes = rig.events.compactMap { if case .circuitChanged(_, let state) = $0 { state } else { nil } }
        #expect(changes == [.open(until: .milliseconds(500)), .closed] || changes.count == 2)
        #expect(rig.recorder.grammarViolations.isEmpty)
    }

    @Test("A circuit that opens under a call ends its retries with the answer that it has")
    func breakerDuringRetry() async throws {
        let rig = RetryRig(Array(repeating: .busy, count: 20)) { configuration in
            configuration.circuitBreaker?.minimumAttempts = 2
        }
        let error = await failure { try await rig.client.send(GetProduct(), options: .retry(.limit(9))) }
        #expect(error?.kind == .httpStatus(503))
        #expect(error?.response?.body == Data("busy".utf8))
        #expect(rig.hits == 2)
        #expect(rig.refusals == [.circuitOpen])
    }

    @Test(
        "A circuit that opens while a call waits for its next attempt hides nothing of what became of the earlier one")
    func breakerDuringWait() async throws {
        for (step, kind, state) in [
            (
                ScriptedTransport.Step.lost(.maybeProcessed), APIError.Kind.transport(.connectionLost),
                SendState.maybeProcessed
            ),
            (
                .busy, .unavailable(reason: "development.shop.example.com fails, and is left alone for a moment"),
                .answered
            ),
        ] {
            let rig = RetryRig([step] + Array(repeating: .lost(.maybeProcessed), count: 9)) { configuration in
                configuration.random = RandomSource { .max }
                configuration.circuitBreaker?.minimumAttempts = 3
                configuration.options.retry = RetryPolicy(
                    limit: 1, backoff: .init(base: .seconds(10), cap: .seconds(10)))
            }
            let call = rig.client.start(GetProduct())
            await rig.clock.waitForSleepers(count: 1)
            rig.clock.advance(by: .milliseconds(9_500))
            for _ in 0..<2 { _ = await failure { try await rig.client.send(GetProduct(), options: .retry(.none)) } }
            rig.clock.advance(by: .milliseconds(500))
            let error = await failure { try await call.value }
            #expect(error?.kind == kind)
            #expect(error?.sendState == state)
            #expect(error?.response?.status == (state == .answered ? 503 : nil))
            #expect(error.map { "\($0)".contains("left alone") } == true)
            #expect(error?.attempts.count == 1 && rig.hits == 3)
        }
    }

    /// Answers after a time, and says when the head came.
    private struct TimedTransport: Transport {
        let clock: TestClock
        let head: Duration?
        var capabilities: TransportCapabilities { .all }

        func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            clock.advance(by: .seconds(20))
            return TransportResponse(.product, timings: Timings(responseStart: head))
        }

        func shutdown() async {}
    }

    @Test("An answer is slow by its head, and not by its content; without a measure, by all of the attempt")
    func slowHeads() async throws {
        for (head, isOpen) in [(Duration.seconds(14), false), (.seconds(15), true), (nil, true)] {
            let (clock, recorder) = (TestClock(), EventRecorder())
            var configuration = APIClient.Configuration(services: [.shop()])
            configuration.time = clock.timeSource
            configuration.random = RandomSource { 0 }
            configuration.sinks = [recorder]
            configuration.circuitBreaker?.minimumAttempts = 1
            let client = APIClient(configuration, transport: TimedTransport(clock: clock, head: head))
            _ = try await client.send(GetProduct())
            let changes = recorder.records.filter { if case .circuitChanged = $0.event { true } else { false } }
            #expect(changes.isEmpty == !isOpen, "\(head as Any)")
        }
    }

    @Test("While the circuit is open the cache answers with what it has")
    func stale() async throws {
        let stored = HTTPResponse(
            status: 200,
            fields: ["Cache-Control": "max-age=1, stale-if-error=600", "Content-Type": "application/json"],
            body: HTTPResponse.product.body)
        let rig = RetryRig([.respond(stored)] + Array(repeating: .lost(.maybeProcessed), count: 40), storing: true) {
            configuration in
            configuration.options.retry = RetryPolicy.none
            configuration.circuitBreaker?.minimumAttempts = 2
        }
        _ = try await rig.client.send(GetProduct())
        rig.clock.advance(by: .seconds(10))
        for _ in 0..<3 { _ = await failure { try await rig.client.send(GetProduct(id: "8")) } }
        let hits = rig.hits
        #expect(try await rig.client.response(for: GetProduct()).source == .memory)
        #expect(rig.hits == hits)
    }

    @Test("A client may refuse a share of its attempts by itself, in proportion to what the server does not take")
    func throttle() async throws {
        let rig = RetryRig(Array(repeating: .busy, count: 400)) { configuration in
            configuration.circuitBreaker = nil
            configuration.throttle = .init()
            configuration.options.retry = RetryPolicy.none
            configuration.random = .seeded(4)
        }
        for _ in 0..<400 { _ = await failure { try await rig.client.send(GetProduct()) } }
        // The probability of being sent falls as 1 ÷ n: the sum over 400 calls is below 7.
        #expect((2...20).contains(rig.hits))
    }

    @Test("What is known of servers is bounded, however many there are")
    func bounded() {
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.retryBudget = .init(reserve: 1, refill: nil)
        let clock = TestClock()
        configuration.time = clock.timeSource
        let table = OriginTable(configuration)
        func origin(_ number: Int) -> HTTPURL.Origin {
            .init(scheme: .https, host: "h\(number).example.com", port: 443)
        }
        #expect(OriginTable.mostOrigins == 256)
        for number in 0..<OriginTable.mostOrigins {
            #expect(table.withdraw(.failure, for: origin(number)))
            clock.advance(by: .seconds(1))
        }
        #expect(!table.withdraw(.failure, for: origin(0)))
        // One more pushes out the one that was not used for the longest time, which is the second.
        clock.advance(by: .seconds(1))
        #expect(table.withdraw(.failure, for: origin(1_000)))
        #expect(!table.withdraw(.failure, for: origin(0)))
        #expect(!table.withdraw(.failure, for: origin(2)))
        #expect(table.withdraw(.failure, for: origin(1)))
    }
}
