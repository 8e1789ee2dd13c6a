import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Removals while something is being stored.
@Suite(.timeLimit(.minutes(5))) struct CacheChangesTests {
    private static func key(_ path: String) throws -> CacheKey {
        CacheKey(url: try HTTPURL("https://a.example/\(path)"), partition: .init())
    }

    @Test("A ticket is good until its key is changed, during the change and after it", .covers("S4.13"))
    func oneKey() throws {
        var changes = CacheChanges()
        let (a, b) = (try Self.key("a"), try Self.key("b"))
        let (forA, forB) = (changes.ticket(for: a), changes.ticket(for: b))
        #expect(changes.isValid(forA))
        changes.begin([.init(a)])
        let between = changes.ticket(for: a)
        #expect(!changes.isValid(forA))
        #expect(!changes.isValid(between))
        #expect(changes.isValid(forB))
        changes.end([.init(a)])
        #expect(!changes.isValid(forA))
        #expect(!changes.isValid(between))
        #expect(changes.isValid(changes.ticket(for: a)))
        #expect(changes.isValid(forB))
    }

    @Test("A change of everything ends every ticket from before its end", .covers("S4.13"))
    func everything() throws {
        var changes = CacheChanges()
        let a = try Self.key("a")
        let before = changes.ticket(for: a)
        changes.begin(nil)
        let between = changes.ticket(for: a)
        #expect(!changes.isValid(between))
        changes.end(nil)
        #expect(!changes.isValid(before))
        #expect(!changes.isValid(between))
        #expect(changes.isValid(changes.ticket(for: a)))
    }

    @Test("Past its limit it forgets, and then takes no ticket from before", .covers("S4.13"))
    func limit() throws {
        var changes = CacheChanges(limit: 4)
        let kept = changes.ticket(for: try Self.key("kept"))
        for number in 0..<10 {
            let key = try Self.key("\(number)")
            let ticket = changes.ticket(for: key)
            changes.begin([.init(key)])
            changes.end([.init(key)])
            #expect(!changes.isValid(ticket))
            #expect(changes.isValid(changes.ticket(for: key)))
        }
        #expect(!changes.isValid(kept))
    }

    @Test("Signing out waits for what is being stored, and then removes it", .covers("S4.13", "H28"))
    func storing() async throws {
        let store = HeldStore()
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(store)
        configuration.identity = { "alice" }
        let client = APIClient(configuration, transport: StubTransport { _ in .tea(1) })
        let call = client.start(Tea())
        await store.untilHeld()
        let forgotten = Task { await client.signOut("alice") }
        while !call.context.isCancelled { await Task.yield() }
        store.release()
        #expect(await forgotten.value)
        _ = await call.result
        #expect(await store.statistics().entries == 0)
    }
}

/// A store in memory that begins to put and waits until it is told to go on.
private final class HeldStore: CacheStore {
    private let memory = MemoryCacheStore()
    private let started = AsyncStream<Void>.makeStream()
    private let released = AsyncStream<Void>.makeStream()

    func untilHeld() async {
        for await _ in started.stream { return }
    }

    func release() {
        released.continuation.yield()
    }

    func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        started.continuation.yield()
        // In a task of its own, since that of the call is cancelled.
        await Task { [released] in
            for await _ in released.stream { return }
        }.value
        return await memory.put(response, body: body)
    }

    func responses(for key: CacheKey) async -> [StoredResponse] { await memory.responses(for: key) }
    func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? { await memory.bytes(of: entry, from: offset) }
    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? { nil }
    func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        await memory.update(entry, to: response)
    }
    func invalidate(_ selections: [CacheSelection]) async -> Bool { await memory.invalidate(selections) }
    func remove(_ selections: [CacheSelection]) async -> Bool { await memory.remove(selections) }
    func touch(_ entries: [CacheEntryID]) { memory.touch(entries) }
    func statistics() async -> CacheStatistics { await memory.statistics() }
    func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        await memory.entries(after: entry, limit: limit)
    }
    func flush() async {}
    func close() async {}
}
