import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Removals while something is being stored.
@Suite(.timeLimit(.minutes(5))) struct InvalidationLogTests {
    private static func key(_ path: String) throws -> CacheKey {
        CacheKey(url: try HTTPURL("https://a.example/\(path)"), partition: .init())
    }

    @Test("A ticket is good until its key is changed, during the change and after it", .covers("S4.13"))
    func oneKey() throws {
        var log = InvalidationLog<CacheResource>()
        let (a, b) = (try Self.key("a"), try Self.key("b"))
        let (forA, forB) = (log.ticket(for: a), log.ticket(for: b))
        #expect(log.isValid(forA))
        log.begin([.init(a)])
        let between = log.ticket(for: a)
        #expect(!log.isValid(forA))
        #expect(!log.isValid(between))
        #expect(log.isValid(forB))
        log.end([.init(a)])
        #expect(!log.isValid(forA))
        #expect(!log.isValid(between))
        #expect(log.isValid(log.ticket(for: a)))
        #expect(log.isValid(forB))
    }

    @Test("Of changes that overlap the last one to end counts", .covers("S4.13"), arguments: [false, true])
    func overlapping(isOfAll: Bool) throws {
        var log = InvalidationLog<CacheResource>()
        let (a, b) = (try Self.key("a"), try Self.key("b"))
        let subjects = isOfAll ? nil : [CacheResource(a), CacheResource(b)]
        log.begin(subjects)
        log.begin(subjects)
        #expect(!log.isValid(log.ticket(for: a)) && !log.isValid(log.ticket(for: b)))
        log.end(subjects)
        #expect(!log.isValid(log.ticket(for: a)) && !log.isValid(log.ticket(for: b)))
        log.end(subjects)
        #expect(log.isValid(log.ticket(for: a)) && log.isValid(log.ticket(for: b)))
    }

    @Test("A change of one goes on behind a change of all that has ended", .covers("S4.13"))
    func oneAndAll() throws {
        var log = InvalidationLog<CacheResource>()
        let a = try Self.key("a")
        log.begin([.init(a)])
        log.begin(nil)
        log.end(nil)
        #expect(!log.isValid(log.ticket(for: a)))
        log.end([.init(a)])
        #expect(log.isValid(log.ticket(for: a)))
        #expect(log.time == 4)
    }

    @Test("It remembers as many as its limit says, 1,024 unless told otherwise", .covers("S4.13"), arguments: [4, nil])
    func exactLimit(limit: Int?) throws {
        let count = limit ?? 1_024
        var logs = (
            limit.map { InvalidationLog<CacheKey>(limit: $0) } ?? .init(),
            limit.map { InvalidationLog<CacheResource>(limit: $0) } ?? .init()
        )
        let kept = try Self.key("kept")
        let tickets = (logs.0.ticket(for: kept), logs.1.ticket(for: kept))
        for number in 0...count {
            let key = try Self.key("\(number)")
            logs.0.note(key)
            logs.1.begin([.init(key)])
            #expect(logs.0.isValid(tickets.0) == (number < count))
            #expect(logs.1.isValid(tickets.1) == (number < count))
        }
    }

    @Test("A ticket that is renewed is as good as a new one", .covers("S4.13"))
    func renewal() throws {
        var log = InvalidationLog<CacheKey>()
        let (a, b) = (try Self.key("a"), try Self.key("b"))
        let ticket = log.ticket(for: a)
        log.note(a)
        log.note(b)
        #expect(log.time == 2 && !log.isValid(ticket))
        let renewed = log.renewed(ticket)
        #expect(renewed == log.ticket(for: a) && log.isValid(renewed))
        log.note(a)
        #expect(!log.isValid(renewed))
    }

    @Test("What a user has of a URL is one resource by whatever way, and another user's is another", .covers("S4.13"))
    func resources() throws {
        let url = try HTTPURL("https://a.example/a")
        func resource(_ identity: String, _ environment: String = "", way: String = "") -> CacheResource {
            CacheResource(url, in: CachePartition(environment: environment, identity: identity, way: way))
        }
        #expect(resource("alice") == resource("alice", way: "w"))
        #expect(resource("alice") != resource("bob") && resource("alice") != resource("alice", "test"))
        let other = CacheResource(try HTTPURL("https://a.example/b"), in: CachePartition(identity: "alice"))
        #expect(resource("alice") != other)
    }

    @Test("A change of everything ends every ticket from before its end", .covers("S4.13"))
    func everything() throws {
        var log = InvalidationLog<CacheResource>()
        let a = try Self.key("a")
        let before = log.ticket(for: a)
        log.begin(nil)
        let between = log.ticket(for: a)
        #expect(!log.isValid(between))
        log.end(nil)
        #expect(!log.isValid(before))
        #expect(!log.isValid(between))
        #expect(log.isValid(log.ticket(for: a)))
    }

    @Test("Past its limit it forgets, and then takes no ticket from before", .covers("S4.13"))
    func limit() throws {
        var log = InvalidationLog<CacheResource>(limit: 4)
        let kept = log.ticket(for: try Self.key("kept"))
        for number in 0..<10 {
            let key = try Self.key("\(number)")
            let ticket = log.ticket(for: key)
            log.begin([.init(key)])
            log.end([.init(key)])
            #expect(!log.isValid(ticket))
            #expect(log.isValid(log.ticket(for: key)))
        }
        #expect(!log.isValid(kept))
    }

    @Test("A change at one moment ends the tickets from before it, and none from after it", .covers("S4.21"))
    func oneMoment() throws {
        var log = InvalidationLog<CacheKey>()
        let (a, b) = (try Self.key("a"), try Self.key("b"))
        let (before, forB) = (log.ticket(for: a), log.ticket(for: b))
        log.note(a)
        #expect(!log.isValid(before))
        #expect(log.isValid(log.ticket(for: a)))
        #expect(log.isValid(forB))
    }

    @Test("Changes at one moment are forgotten past the limit too, with all tickets from before", .covers("S4.21"))
    func momentsPastTheLimit() throws {
        var log = InvalidationLog<CacheKey>(limit: 4)
        let kept = log.ticket(for: try Self.key("kept"))
        for number in 0..<4 { log.note(try Self.key("\(number)")) }
        #expect(log.isValid(kept))
        log.note(try Self.key("one more"))
        #expect(!log.isValid(kept))
        #expect(log.isValid(log.renewed(kept)))
    }

    @Test(
        "A change of a resource is one of every method's response, a change of a key is not", .covers("S4.13", "S4.21"))
    func subjects() throws {
        let get = try Self.key("a")
        let other = CacheKey(method: .post, url: try HTTPURL(get.url), partition: .init())
        var resources = InvalidationLog<CacheResource>()
        var keys = InvalidationLog<CacheKey>()
        let (ofResource, ofKey) = (resources.ticket(for: other), keys.ticket(for: other))
        resources.note(CacheResource(get))
        keys.note(get)
        #expect(!resources.isValid(ofResource))
        #expect(keys.isValid(ofKey))
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
        while !Task.isCancelled, !call.context.isCancelled { await Task.yield() }
        store.release()
        #expect(await forgotten.value)
        _ = await call.result
        #expect(await store.statistics().entries == 0)
    }
}

/// A store in memory that begins to put and waits until it is told to go on.
private final class HeldStore: MemoryBackedStore {
    let memory = MemoryCacheStore()
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

    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? { nil }
}
