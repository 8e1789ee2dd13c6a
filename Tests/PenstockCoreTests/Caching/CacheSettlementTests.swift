import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What becomes of a stored response, and of what it was stored for, once a call has judged it.
@Suite(.timeLimit(.minutes(5))) struct CacheSettlementTests {
    private func client(_ store: any CacheStore, answering response: HTTPResponse = .tea(1)) -> APIClient {
        Rig {
            $0.cache = .store(store)
            $0.options.cache = .http
        } answering: { _ in
            response
        }.client
    }

    /// A call that asks for the server's own answer shares it with no other.
    @Test(arguments: [
        (CachePolicy.reload, [ToldStore.Deed.putAtOnce, .putAtOnce]), (.http, [.put]),
    ])
    func `a store that never waits is handed at once what no other call may have got`(
        policy: CachePolicy, deeds: [ToldStore.Deed]
    ) async throws {
        let store = ToldStore()
        let client = client(store)
        for _ in 0..<2 {
            let options = CallOptions.with { $0.cache = policy }
            #expect(try await client.send(Tea(cacheTags: ["a", "b"]), options: options).id == 1)
        }
        #expect(store.done == deeds)
        #expect(await store.entries(after: nil, limit: 9).map(\.response.tags) == [["a", "b"]])
    }

    @Test func `what a call makes out of date is invalidated after its own response is stored`() async throws {
        let store = ToldStore()
        let reload = CallOptions.with { $0.cache = .reload }
        _ = try await client(store).send(Tea(invalidates: [.tag("other")]), options: reload)
        #expect(store.done == [.put, .invalidate])
        let own = ToldStore()
        _ = try await client(own).send(Tea(invalidates: [.tag("tea")]))
        #expect(await own.entries(after: nil, limit: 9).map(\.response.isInvalidated) == [true])
    }

    @Test func `whoever has got a response may clear it by a tag, also when another call has loaded it since`()
        async throws
    {
        let rig = CacheRig()
        _ = try await rig.tea()
        _ = try await rig.client.send(Tea(cacheTags: []), options: .with { $0.cache = .reload })
        await rig.client.clearCache(.tag("tea"))
        #expect(try await rig.tea().source == .network)
        // One that finds it adds its own.
        #expect(try await rig.client.response(for: Tea(cacheTags: ["other"])).source == .memory)
        #expect(await rig.store.entries(after: nil, limit: 9).map(\.response.tags) == [["tea", "other"]])
        await rig.client.clearCache(.tag("other"))
        #expect(try await rig.tea().source == .network)
    }

    @Test func `a hit whose tags are known changes nothing in the store`() async throws {
        let store = ToldStore()
        let client = client(store)
        _ = try await client.send(Tea())
        let deeds = store.done
        _ = try await client.send(Tea())
        _ = try await client.send(Tea(cacheTags: []))
        #expect(store.done == deeds)
    }

    @Test("A write that was done makes reads out of date, also where its answer cannot be read", .covers("S4.21"))
    func unreadableAnswer() async throws {
        let rig = CacheRig { $0.method == .post ? .json(#"{"retcode":0,"retdesc":"","data":{"no":1}}"#) : .tea(1) }
        _ = try await rig.tea()
        await #expect(throws: APIError.self) { try await rig.client.send(Pour()) }
        #expect(try await rig.tea().source == .network)
        rig.serves { $0.method == .post ? HTTPResponse(status: 500) : .tea(1) }
        await #expect(throws: APIError.self) { try await rig.client.send(Pour()) }
        #expect(try await rig.tea().source == .memory)
    }

    @Test func `what is not to be stored is handed to no store`() async throws {
        let store = ToldStore()
        _ = try await client(store, answering: .tea(1, ["Cache-Control": "no-store"])).send(Tea())
        #expect(store.done.isEmpty)
    }

    @Test func `what is removed while a response is on its way takes that response with it`() async throws {
        let store = ToldStore()
        let script = ScriptedTransport([.held(.respond(.tea(1))), .respond(.tea(2))])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(store)
        configuration.options.cache = .reload
        let client = APIClient(configuration, transport: script)
        let call = client.start(Tea())
        await script.waitForExchanges(count: 1)
        await client.clearCache(.all)
        script.release()
        #expect(try await call.value.id == 1)
        #expect(!store.done.contains { $0 != .remove })
        // What was let go holds up nothing that comes later.
        await client.clearCache(.all)
        #expect(try await client.send(Tea()).id == 2)
        #expect(store.done.filter { $0 != .remove } == [.putAtOnce])
    }

    @Test(arguments: [["tea"], ["a", "b"], []])
    func `what was streamed is stored with the tags of its endpoint`(tags: [String]) async throws {
        let store = ToldStore()
        let client = client(store)
        _ = try await client.stream(Leaves(cacheTags: tags)).collect()
        #expect(await store.entries(after: nil, limit: 9).map(\.response.tags) == [tags])
        await client.clearCache(.tag("tea"))
        #expect(await store.statistics().entries == (tags == ["tea"] ? 0 : 1))
    }

    @Test func `a stale answer of a call that makes other things out of date is refreshed as well`() async throws {
        let rig = CacheRig()
        rig.serves(.tea(1, ["Cache-Control": "max-age=60, stale-while-revalidate=600"]))
        _ = try await rig.tea()
        rig.pass(61)
        rig.serves(.tea(2))
        #expect(try await rig.client.send(Tea(invalidates: [.tag("other")])).id == 1)
        await rig.client.untilIdle()
        #expect(rig.hits == 2)
        #expect(try await rig.tea().value.id == 2)
    }

    @Test func `of several calls that got one stale answer one refreshes it, until that has ended`() async throws {
        let capture = Capture()
        let rig = Rig { $0.callInterceptors = [capture] }
        _ = try await rig.client.send(GetProduct())
        let call = JudgingDouble(try #require(capture.contexts.first))
        let request = try #require(capture.requests.first)
        let (access, isolation) = (CacheAccess(MemoryCacheStore()), call.context.isolation)
        let key = try #require(await access.key(of: request, in: isolation, .http, nil))
        func settle(atOnce: Bool) async -> Bool {
            let settlement = CacheSettlement(access, isolation.partition, stale: key)
            if atOnce { return settlement.acceptedAtOnce(by: call, of: request) }
            await settlement.accepted(by: call, of: request)
            return true
        }
        for atOnce in [true, true, false] { #expect(await settle(atOnce: atOnce)) }
        #expect(call.repeated.value.count == 1)
        call.repeated.value[0]()
        for atOnce in [false, true] { #expect(await settle(atOnce: atOnce)) }
        #expect(call.repeated.value.count == 2)
    }
}

/// A call that repeats nothing, and keeps what is to be called when it has.
private final class JudgingDouble: JudgingCall {
    let context: CallContext
    let repeated = Box<[@Sendable () -> Void]>([])
    var cacheTags: [String] { [] }
    var invalidates: [CacheSelection] { [] }

    init(_ context: CallContext) { self.context = context }

    func repeatInBackground(_ request: HTTPRequest, didEnd: @escaping @Sendable () -> Void) {
        repeated.update { $0.append(didEnd) }
    }
}

/// A memory that tells what was done to it.
final class ToldStore: PromptCacheStore, MemoryBackedStore {
    enum Deed: Sendable { case put, putAtOnce, update, invalidate, remove }

    let memory = MemoryCacheStore()
    private let deeds = Box<[Deed]>([])

    var done: [Deed] { deeds.value }

    private func tell(_ deed: Deed) { deeds.update { $0.append(deed) } }

    func putAtOnce(_ response: CachedResponse, body: Data) -> StoredResponse? {
        tell(.putAtOnce)
        return memory.putAtOnce(response, body: body)
    }

    func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        tell(.put)
        return await memory.put(response, body: body)
    }

    func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        tell(.update)
        return await memory.update(entry, to: response)
    }

    func invalidate(_ selections: [CacheSelection]) async -> Bool {
        tell(.invalidate)
        return await memory.invalidate(selections)
    }

    func remove(_ selections: [CacheSelection]) async -> Bool {
        tell(.remove)
        return await memory.remove(selections)
    }

    func responsesAtHand(for key: CacheKey) -> [StoredResponse]? { memory.responsesAtHand(for: key) }
}
