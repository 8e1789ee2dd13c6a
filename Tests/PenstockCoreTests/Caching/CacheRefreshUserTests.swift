import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// A refresh behind the caller's back belongs to the user whose call it was begun for.
@Suite(.timeLimit(.minutes(5))) struct CacheRefreshUserTests {
    private static let fields: HTTPFields = [
        "Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\"",
    ]

    /// A client that has a stale response of alice's, and a server that holds the answer to its refresh.
    private struct Stale: Sendable {
        let script = ScriptedTransport([
            .respond(.tea(1, fields)), .held(.respond(.tea(2, fields))), .respond(.tea(3, fields)),
        ])
        let clock = TestClock()
        let user = Box("alice")
        let store: MemoryCacheStore
        let hook = Hook()
        let client: APIClient

        init() async throws {
            let (clock, user, hook) = (clock, user, hook)
            store = MemoryCacheStore(time: clock.timeSource)
            var configuration = APIClient.Configuration(services: [.shop()])
            configuration.cache = .store(store)
            configuration.time = clock.timeSource
            configuration.options.cache = .http
            configuration.identity = { user.value }
            configuration.headers = CommonHeaders { ["Authorization": "Bearer \(user.value)"] }
            configuration.sinks = [hook]
            configuration.callInterceptors = [hook]
            client = APIClient(configuration, transport: script)
            _ = try await client.send(Tea())
            clock.advance(by: .seconds(61))
        }

        /// Returns when a refresh is on the wire, or nothing is under way.
        func untilRefreshedOrNot() async {
            while !Task.isCancelled, client.callCount > 0, script.requests.count < 2 { await Task.yield() }
        }
    }

    /// Does something once a call has its answer, or while that is being decoded.
    private final class Hook: EventSink, Interceptor {
        let onAnswer = Box<(@Sendable () async -> Void)?>(nil)
        let onDecoding = Box<(@Sendable (CallID) -> Void)?>(nil)

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let exchange = try await next(request)
            await onAnswer.value?()
            return exchange
        }

        func receive(_ event: Event, _ context: EventContext) {
            guard case .stageStarted(.decoding) = event else { return }
            onDecoding.value?(context.call)
        }
    }

    @Test("It goes on for that user in that environment, whoever signs in meanwhile", .covers("H28"))
    func switched() async throws {
        let stale = try await Stale()
        stale.hook.onDecoding.value = { [client = stale.client, user = stale.user] _ in
            user.value = "bob"
            try? client.switchEnvironment(to: .test)
        }
        #expect(try await stale.client.response(for: Tea()).isStale)
        stale.hook.onDecoding.value = nil
        await stale.script.waitForExchanges(count: 2)
        let refresh = try #require(stale.script.requests.last)
        #expect(refresh.isolation.identity == "alice")
        #expect(refresh.isolation.environment == "development")
        #expect(refresh.request.fields[.authorization] == "Bearer alice")
        stale.script.release()
        await stale.client.untilIdle()
        let owners = await stale.store.entries(after: nil, limit: 9).map(\.response.key.partition)
        #expect(owners == [CachePartition(environment: "development", identity: "alice")])
        #expect(try await stale.client.send(Tea()).id == 3)
    }

    @Test("None is begun for a call that is cancelled", .covers("H28"))
    func cancelled() async throws {
        let stale = try await Stale()
        stale.hook.onDecoding.value = { [client = stale.client] id in client.cancel(id) }
        #expect(await failure { try await stale.client.send(Tea()) }?.kind == .cancelled)
        await stale.untilRefreshedOrNot()
        #expect(stale.script.requests.count == 1)
    }

    @Test("None is begun once the user has signed out", .covers("H28", "S4.13"))
    func signedOut() async throws {
        let stale = try await Stale()
        stale.hook.onAnswer.value = { [client = stale.client, user = stale.user] in
            let gone = user.value
            user.value = ""
            await client.signOut(gone)
        }
        #expect(await failure { try await stale.client.send(Tea()) }?.kind == .cancelled)
        await stale.untilRefreshedOrNot()
        #expect(stale.script.requests.count == 1)
        // The interceptor's task has ended with its call; what is stored is removed all the same.
        while !Task.isCancelled, await stale.store.statistics().entries > 0 { await Task.yield() }
        #expect(await stale.store.statistics().entries == 0)
    }

    @Test("Signing out ends the one under way, and nothing of it is stored", .covers("H28", "S4.13"))
    func ended() async throws {
        let stale = try await Stale()
        #expect(try await stale.client.response(for: Tea()).isStale)
        await stale.script.waitForExchanges(count: 2)
        #expect(stale.client.callCount == 1)
        stale.user.value = ""
        #expect(await stale.client.signOut("alice"))
        await stale.client.untilIdle()
        // The call has ended; its exchange is closed a moment later.
        while !Task.isCancelled, stale.script.openExchangeCount > 0 { await Task.yield() }
        #expect(await stale.store.statistics().entries == 0)
    }
}
