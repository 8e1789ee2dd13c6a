import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A memory over another store, seen by readers while that is being changed.
@Suite(.timeLimit(.minutes(5))) struct TieredStoreTests {
    private static let partition = CachePartition(identity: "alice")

    private static func url(_ path: String) throws -> HTTPURL { try HTTPURL("https://a.example\(path)") }

    private static func key(_ path: String) throws -> CacheKey { CacheKey(url: try url(path), partition: partition) }

    /// - Parameter mark: a number. It came so many seconds after the beginning of time.
    private static func response(_ path: String, _ mark: String = "1", tags: [String] = []) throws -> CachedResponse {
        CachedResponse(
            key: try key(path), status: 200, fields: ["X-Mark": mark], requestTime: .distantPast,
            responseTime: .distantPast + (Double(mark) ?? 0), bodyLength: 0, tags: tags)
    }

    /// What readers see of some responses, each in a word.
    private static func seen(_ paths: [String], in store: TieredCacheStore) async throws -> [String] {
        var seen: [String] = []
        for path in paths {
            let found = await store.find(try key(path))
            seen.append(found.first.map { $0.response.isInvalidated ? "invalid" : "fresh" } ?? "gone")
        }
        return seen
    }

    @Test(
        "A reader during a change sees all of it: in memory, in the queue and below", .covers("S4.21", "S3.45"),
        arguments: [true, false])
    func betweenTimes(isInvalidation: Bool) async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below, writeDelay: .seconds(3_600))
        let paths = ["/below", "/memory", "/queue", "/tagged", "/other"]
        for path in paths where path != "/queue" {
            let tags = path == "/tagged" ? ["t"] : []
            await below.put(try Self.response(path, tags: tags), body: Data("b".utf8))
        }
        _ = await layered.find(try Self.key("/memory"))
        await layered.put(try Self.response("/queue"), body: Data("b".utf8))
        #expect(try await Self.seen(["/queue"], in: layered) == ["fresh"])
        #expect(await below.responses(for: try Self.key("/queue")).isEmpty)

        let selections: [CacheSelection] = try ["/below", "/memory", "/queue"].map { .url(try Self.url($0)) }
        below.holdsChanges()
        let change = Task {
            if isInvalidation {
                await layered.invalidate(selections + [.tag("t", in: .partition(Self.partition))])
            } else {
                await layered.remove(selections + [.tag("t", in: .partition(Self.partition))])
            }
        }
        await below.untilHeld()
        // The store below has not been changed yet.
        #expect(await below.responses(for: try Self.key("/below")).first?.response.isInvalidated == false)
        let word = isInvalidation ? "invalid" : "gone"
        let expected = [word, word, word, word, "fresh"]
        #expect(try await Self.seen(paths, in: layered) == expected)
        #expect(try await Self.seen(paths.reversed(), in: layered) == expected.reversed())
        below.release()
        #expect(await change.value)
        #expect(try await Self.seen(paths, in: layered) == expected)
        await layered.close()
        #expect(try await Self.seen(paths, in: TieredCacheStore(over: below)) == expected)
    }

    @Test(
        "What is older below changes with what took its place and was not written yet", .covers("S4.21", "S3.45"),
        arguments: [true, false], [true, false])
    func notYetWritten(isInvalidation: Bool, byTag: Bool) async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below, writeDelay: .seconds(3_600))
        await below.put(try Self.response("/a"), body: Data("old".utf8))
        await below.put(try Self.response("/other"), body: Data("b".utf8))
        let new = try #require(await layered.put(try Self.response("/a", "2", tags: ["t"]), body: Data("new".utf8)))
        let selection = byTag ? CacheSelection.tag("t") : .entry(new.entry)
        below.holdsChanges()
        let change = Task {
            isInvalidation ? await layered.invalidate([selection]) : await layered.remove([selection])
        }
        await below.untilHeld()
        let expected = [isInvalidation ? "invalid" : "gone", "fresh"]
        #expect(try await Self.seen(["/a", "/other"], in: layered) == expected)
        below.release()
        #expect(await change.value)
        #expect(try await Self.seen(["/a", "/other"], in: layered) == expected)
        // Also where the process is killed before anything else is written.
        #expect(try await Self.seen(["/a", "/other"], in: TieredCacheStore(over: below)) == expected)
        await layered.flush()
        #expect(try await Self.seen(["/a", "/other"], in: layered) == expected)
        #expect(await layered.find(try Self.key("/a")).first?.response.fields["X-Mark"] == (isInvalidation ? "2" : nil))
    }

    @Test("What is older below goes with what is kept in memory alone", .covers("S4.21", "S3.45"))
    func olderThanAlone() async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below, writeDelay: .seconds(3_600))
        await below.put(try Self.response("/a"), body: Data("old".utf8))
        _ = await layered.find(try Self.key("/a"))
        await layered.put(try Self.response("/a", "2", tags: ["t"]), body: Data("new".utf8))
        below.refusesPuts()
        await layered.flush()
        #expect(await layered.find(try Self.key("/a")).first?.response.fields["X-Mark"] == "2")
        #expect(await layered.remove([.tag("t")]))
        #expect(try await Self.seen(["/a"], in: layered) == ["gone"])
        #expect(await below.statistics().entries == 0)
    }

    @Test("A read that began before a change and ends after it takes nothing old into memory", .covers("S4.21"))
    func overtaken() async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below)
        await below.put(try Self.response("/a"), body: Data("b".utf8))
        below.holdsReads()
        let read = Task { await layered.find(try Self.key("/a")).first?.response.isInvalidated }
        await below.untilHeld()
        let selection = CacheSelection.url(try Self.url("/a"))
        #expect(await layered.invalidate([selection]))
        below.release()
        _ = try await read.value
        #expect(try await Self.seen(["/a"], in: layered) == ["invalid"])
    }

    @Test("What is stored while a change is under way is not changed by it", .covers("S4.21"))
    func storedMeanwhile() async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below)
        await layered.put(try Self.response("/a"), body: Data("old".utf8))
        await layered.flush()
        below.holdsChanges()
        let selection = CacheSelection.url(try Self.url("/a"))
        let change = Task { await layered.invalidate([selection]) }
        await below.untilHeld()
        let put = Task { await layered.put(try Self.response("/a", "2"), body: Data("new".utf8)) }
        below.release()
        #expect(await change.value)
        _ = try await put.value
        let found = try #require(await layered.find(try Self.key("/a")).first)
        #expect(!found.response.isInvalidated)
        #expect(await layered.body(of: found) == Data("new".utf8))
    }

    // MARK: Other processes

    @Test("What another process replaces takes nothing else away from this one", .covers("S3.45"))
    func foreignReplacement() async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(
            over: below, coherence: .zero, writeDelay: .seconds(3_600), time: TestClock().timeSource)
        for path in ["/a", "/b"] {
            await below.put(try Self.response(path), body: Data(path.utf8))
            let found = try #require(await layered.find(try Self.key(path)).first)
            #expect(await layered.body(of: found) == Data(path.utf8))
        }
        await layered.put(try Self.response("/queue"), body: Data("q".utf8))
        let reads = below.bodyReads
        await below.put(try Self.response("/a", "2"), body: Data("other".utf8))
        below.noteForeign(isRemoval: false)
        // The one that was replaced, the other one with the body that is in memory, and the one that waits to be written.
        let replaced = try #require(await layered.find(try Self.key("/a")).first)
        #expect(replaced.response.fields["X-Mark"] == "2")
        let kept = try #require(await layered.find(try Self.key("/b")).first)
        #expect(kept.body == Data("/b".utf8))
        #expect(below.bodyReads == reads)
        #expect(try await Self.seen(["/queue"], in: layered) == ["fresh"])
        #expect(layered.responsesAtHand(for: try Self.key("/b")) != nil)
        await layered.flush()
        #expect(await below.responses(for: try Self.key("/queue")).count == 1)
    }

    @Test("What nobody has looked at for longer than a change may go unnoticed is not at hand", .covers("S4.21"))
    func pause() async throws {
        let (below, clock) = (GatedStore(), TestClock())
        let layered = TieredCacheStore(
            over: below, coherence: .milliseconds(100), writeDelay: .seconds(3_600), time: clock.timeSource)
        for path in ["/a", "/b"] {
            await below.put(try Self.response(path), body: Data("a".utf8))
            #expect(try await Self.seen([path], in: layered) == ["fresh"])
        }
        below.holdsLooks()
        await below.remove([.identity("alice")])
        below.noteForeign(isRemoval: false, isSeen: false)
        clock.advance(by: .milliseconds(100))
        #expect(layered.responsesAtHand(for: try Self.key("/a")) != nil)
        clock.advance(by: .milliseconds(1))
        // The look has not ended: none of them is at hand, and the store below is asked.
        for _ in 0..<2 { #expect(try await Self.seen(["/a", "/b"], in: layered) == ["gone", "gone"]) }
        below.endLooks()
        #expect(layered.responsesAtHand(for: try Self.key("/a"))?.isEmpty == nil)
        await below.put(try Self.response("/c"), body: Data("c".utf8))
        #expect(try await Self.seen(["/c"], in: layered) == ["fresh"])
        #expect(layered.responsesAtHand(for: try Self.key("/c")) != nil)
    }

    @Test("What is kept in memory alone stays there when the store below is asked again", .covers("S3.45"))
    func aloneInMemory() async throws {
        let (below, clock) = (GatedStore(), TestClock())
        let layered = TieredCacheStore(over: below, writeDelay: .seconds(3_600), time: clock.timeSource)
        var partition = Self.partition
        partition.isSealed = true
        let key = CacheKey(url: try Self.url("/sealed"), partition: partition)
        let response = CachedResponse(
            key: key, status: 200, fields: [:], requestTime: .distantPast, responseTime: .distantPast, bodyLength: 0)
        await layered.put(response, body: Data("s".utf8))
        await layered.flush()
        #expect(await below.statistics().entries == 0)
        clock.advance(by: .seconds(5))
        #expect(layered.responsesAtHand(for: key) == nil)
        for _ in 0..<2 { #expect(await layered.find(key).first?.body == Data("s".utf8)) }
    }

    @Test("What another process removes is not written by this one", .covers("S3.45"))
    func foreignRemoval() async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below, coherence: .zero, writeDelay: .seconds(3_600))
        await below.put(try Self.response("/a"), body: Data("a".utf8))
        #expect(try await Self.seen(["/a"], in: layered) == ["fresh"])
        await layered.put(try Self.response("/queue"), body: Data("q".utf8))
        await below.remove([.identity("alice")])
        below.noteForeign(isRemoval: true)
        #expect(try await Self.seen(["/a", "/queue"], in: layered) == ["gone", "gone"])
        await layered.flush()
        #expect(await below.statistics().entries == 0)
    }

    @Test("What is lost to another process's removal brings nothing older back", .covers("S3.45", "S4.21"))
    func lostToForeignRemoval() async throws {
        let below = GatedStore()
        let layered = TieredCacheStore(over: below, coherence: .zero, writeDelay: .seconds(3_600))
        for path in ["/a", "/b", "/c"] { await below.put(try Self.response(path), body: Data("old".utf8)) }
        for path in ["/a", "/b"] { await layered.put(try Self.response(path, "2"), body: Data("new".utf8)) }
        below.noteForeign(isRemoval: true)
        #expect(try await Self.seen(["/a", "/b", "/c"], in: layered) == ["gone", "gone", "fresh"])
        #expect(await below.statistics().entries == 3)
        // What comes now is kept.
        await layered.put(try Self.response("/b", "3"), body: Data("newest".utf8))
        #expect(try await Self.seen(["/a", "/b", "/c"], in: layered) == ["gone", "fresh", "fresh"])
        await layered.flush()
        #expect(try await Self.seen(["/a", "/b", "/c"], in: layered) == ["gone", "fresh", "fresh"])
        #expect(await below.responses(for: try Self.key("/b")).map { $0.response.fields["X-Mark"] } == ["3"])
        #expect(await below.statistics().entries == 2)
        // It has been removed once, and nothing that comes later is.
        await below.put(try Self.response("/a", "4"), body: Data("foreign".utf8))
        below.noteForeign(isRemoval: false)
        #expect(try await Self.seen(["/a"], in: layered) == ["fresh"])
    }

    @Test("What another process has stored is given, where what is lost to its removal is not newer", .covers("S3.45"))
    func newerElsewhere() async throws {
        for mark in ["2", "3"] {
            let below = GatedStore()
            let layered = TieredCacheStore(over: below, coherence: .zero, writeDelay: .seconds(3_600))
            await layered.put(try Self.response("/a", "2"), body: Data("new".utf8))
            await below.put(try Self.response("/a", mark), body: Data("foreign".utf8))
            below.noteForeign(isRemoval: true)
            #expect(await layered.find(try Self.key("/a")).map { $0.response.fields["X-Mark"] } == [mark])
            await layered.flush()
            #expect(await below.statistics().entries == 1)
        }
    }

    @Test("A change that waits for its turn finds what is out of date removed", .covers("S3.45"))
    func largeAfterForeignRemoval() async throws {
        let below = GatedStore()
        var limits = CacheLimits.memory
        limits.bodyBytes = 5
        let layered = TieredCacheStore(over: below, limits: limits, coherence: .zero, writeDelay: .seconds(3_600))
        await below.put(try Self.response("/a"), body: Data("old".utf8))
        await layered.put(try Self.response("/a", "2"), body: Data("new".utf8))
        below.noteForeign(isRemoval: true)
        #expect(try await Self.seen(["/a"], in: layered) == ["gone"])
        // It is written at once.
        await layered.put(try Self.response("/a", "3"), body: Data("too large for the memory".utf8))
        #expect(try await Self.seen(["/a"], in: layered) == ["fresh"])
        await layered.flush()
        #expect(await below.responses(for: try Self.key("/a")).map { $0.response.fields["X-Mark"] } == ["3"])
    }
}

/// A store in memory that hands bodies out apart, holds what a test wants held, and tells of changes by others.
private final class GatedStore: PunctualCacheStore, MemoryBackedStore {
    private struct State {
        var holdsChanges = false
        var holdsReads = false
        var bodyReads = 0
        var foreign = (changes: UInt64(0), removals: UInt64(0))
        var holdsLooks = false
        var unseen: UInt64 = 0
        var looks: [@Sendable () -> Void] = []
        var refusesPuts = false
    }

    let memory = MemoryCacheStore()
    private let state = Locked(State())
    private let held = AsyncStream<Void>.makeStream()
    private let released = AsyncStream<Void>.makeStream()

    func holdsChanges() { state.withLock { $0.holdsChanges = true } }
    func holdsReads() { state.withLock { $0.holdsReads = true } }

    func refusesPuts() { state.withLock { $0.refusesPuts = true } }

    @discardableResult
    func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        state.withLock(\.refusesPuts) ? nil : await memory.put(response, body: body)
    }

    func untilHeld() async {
        for await _ in held.stream { return }
    }

    func release() { released.continuation.yield() }

    private func hold() async {
        held.continuation.yield()
        for await _ in released.stream { return }
    }

    var bodyReads: Int { state.withLock(\.bodyReads) }

    func noteForeign(isRemoval: Bool, isSeen: Bool = true) {
        state.withLock { state in
            guard isSeen else { return state.unseen += 1 }
            state.foreign.changes += 1
            if isRemoval { state.foreign.removals += 1 }
        }
    }

    var foreignChanges: UInt64 { state.withLock { $0.foreign.changes } }
    var foreignRemovals: UInt64 { state.withLock { $0.foreign.removals } }
    func lookForForeignChanges() {}

    func holdsLooks() { state.withLock { $0.holdsLooks = true } }

    func lookForForeignChanges(_ didLook: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            if state.holdsLooks { state.looks.append(didLook) }
            return state.holdsLooks
        }
        if !isHeld { didLook() }
    }

    func endLooks() {
        let looks = state.withLock { state in
            state.holdsLooks = false
            state.foreign.changes += state.unseen
            return state.looks
        }
        for look in looks { look() }
    }

    func responses(for key: CacheKey) async -> [StoredResponse] {
        let found = await memory.responses(for: key).map { StoredResponse($0.response, entry: $0.entry, body: nil) }
        let holds = state.withLock { state in
            defer { state.holdsReads = false }
            return state.holdsReads
        }
        if holds { await hold() }
        return found
    }

    func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        state.withLock { $0.bodyReads += 1 }
        return await memory.bytes(of: entry, from: offset)
    }

    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? { nil }

    func invalidate(_ selections: [CacheSelection]) async -> Bool {
        await holdChange()
        return await memory.invalidate(selections)
    }

    @discardableResult
    func remove(_ selections: [CacheSelection]) async -> Bool {
        await holdChange()
        return await memory.remove(selections)
    }

    private func holdChange() async {
        let holds = state.withLock { state in
            defer { state.holdsChanges = false }
            return state.holdsChanges
        }
        if holds { await hold() }
    }
}
