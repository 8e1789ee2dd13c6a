import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What stages leave in an exchange, and what they are told of it.
@Suite(.timeLimit(.minutes(5))) struct SettlementTests {
    /// Makes an exchange of its own out of the one it is given.
    private static let renewing = Intercepting { request, _, next in
        let exchange = try await next(request)
        return Exchange(request: exchange.request, response: exchange.response)
    }

    @Test("An exchange that an interceptor has made anew is stored like the one it was made of", .covers("S2.13"))
    func stored() async throws {
        let rig = CacheRig(configured: { $0.callInterceptors = [Self.renewing] })
        let first = try await rig.tea()
        #expect(first.source == .interceptor)
        #expect(first.cacheStatus?.isStored == true)
        #expect(try await rig.tea().value.id == 1)
        #expect(rig.hits == 1)
    }

    @Test("So is one that was made anew around the attempt")
    func attempt() async throws {
        let rig = CacheRig(configured: { $0.attemptInterceptors = [Self.renewing] })
        _ = try await rig.tea()
        _ = try await rig.tea()
        #expect(rig.hits == 1)
    }

    @Test("An answer that an interceptor has made anew is refreshed like the one it was made of", .covers("S3.37"))
    func refreshed() async throws {
        let rig = CacheRig(configured: { $0.callInterceptors = [Self.renewing] })
        rig.serves(.tea(1, ["Cache-Control": "max-age=60, stale-while-revalidate=600"]))
        _ = try await rig.tea()
        rig.pass(61)
        rig.serves(.tea(2))
        #expect(try await rig.tea().value.id == 1)
        await rig.client.untilIdle()
        #expect(try await rig.tea().value.id == 2)
        #expect(rig.hits == 2)
    }

    @Test("Of an interceptor that sends twice, what became the answer is stored")
    func twice() async throws {
        let count = Box(0)
        let eager = Intercepting { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let rig = CacheRig(configured: { $0.callInterceptors = [eager] })
        rig.serves { _ in .tea(count.next(), ["Cache-Control": "no-cache"]) }
        #expect(try await rig.tea().value.id == 2)
        let stored = await rig.store.entries(after: nil, limit: 9)
        #expect(stored.compactMap(\.body).map { String(decoding: $0, as: UTF8.self).contains("\"id\":2") } == [true])
    }

    @Test("What was dropped because it did not pass is asked for anew, with parameters computed anew", .covers("S4.14"))
    func replay() async throws {
        let count = Box(0)
        let rig = CacheRig(configured: { $0.headers = CommonHeaders { ["X-Count": "\(count.next())"] } })
        let passes = Box<[Int]>([])
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let counting = Intercepting { request, call, next in
            passes.update { $0.append(call.pass) }
            return try await next(request)
        }
        let observed = rig.client.with { $0.callInterceptors = [counting] }
        let endpoint = Tea(validator: .rule("is new") { $0.id > 1 })
        #expect(try await observed.send(endpoint).id == 2)
        #expect(passes.value == [1, 2])
        #expect(rig.lastSent["X-Count"] == "3")
        let replays = rig.events.records.compactMap { record -> StageName? in
            if case .replayed(let stage, pass: 2) = record.event { stage } else { nil }
        }
        #expect(replays == [.cache])
        #expect(rig.events.grammarViolations == [])
    }

    @Test("Nothing is asked for anew twice for the same reason")
    func replayedOnce() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        let endpoint = Tea(validator: .rule("is never good") { _ in false })
        #expect(await failure { try await rig.client.send(endpoint) }?.kind == .validation(rule: "is never good"))
        #expect(rig.hits == 2)
        #expect(await rig.store.statistics().entries == 0)
    }

    @Test("A request is not made anew for a user who has signed in meanwhile", .covers("H28"))
    func replayForAnother() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        let user = rig.user
        let turning = Validator<Product>.rule("is never good") { _ in
            user.value = "bob"
            return false
        }
        let endpoint = Tea(validator: turning)
        #expect(await failure { try await rig.client.send(endpoint) }?.kind == .validation(rule: "is never good"))
        #expect(rig.hits == 1)
    }

    @Test("Nor is it for a call that was cancelled meanwhile, and nothing is told of it")
    func replayOfTheCancelled() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        let client = rig.client
        let cancelling = Validator<Product>.rule("is never good") { _ in
            client.cancelAll()
            return false
        }
        #expect(await failure { try await client.send(Tea(validator: cancelling)) }?.kind == .cancelled)
        #expect(rig.hits == 1)
        #expect(!rig.events.records.contains { if case .replayed = $0.event { true } else { false } })
    }

    @Test("Raw requests go through one path of their own, on which they share what they ask for")
    func raw() async throws {
        let script = ScriptedTransport([.held(.respond(.tea(1)))])
        let recorder = EventRecorder()
        let client = CallSupport.client(script) {
            $0.options.cache = .http
            $0.sinks = [recorder]
        }
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/"))
        async let first = client.send(request)
        await script.waitForExchanges(count: 1)
        async let second = client.send(request)
        await recorder.whenJoined(1)
        script.release()
        #expect(try await [first.http.status, second.http.status] == [200, 200])
        #expect(script.requests.count == 1)
    }
}

extension EventRecorder {
    /// Returns once so many calls wait for what another one has asked for.
    func whenJoined(_ count: Int) async {
        while !Task.isCancelled, joined < count { await Task.yield() }
    }

    private var joined: Int {
        records.count { record in
            switch record.event {
            case .inFlightDecided(.joined): true
            case .cacheDecided(_, let status): status.isCollapsed
            default: false
            }
        }
    }
}

extension Box<Int> {
    /// Counts one more.
    fileprivate func next() -> Int {
        update { value in
            value += 1
            return value
        }
    }
}
