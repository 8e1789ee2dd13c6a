import Foundation
import Testing

@testable import PenstockCore

/// What waits to be written: of each response the latest, and how much it is in all.
@Suite struct WriteBehindQueueTests {
    private static func stored(
        _ path: String, _ language: String? = nil, entry: Int64 = -1, body: Int? = 0, tags: [String] = []
    ) throws -> StoredResponse {
        let selectors = language.map { [CacheVariant.Selector(name: "accept-language", value: $0)] } ?? []
        let response = CachedResponse(
            key: try key(path), variant: CacheVariant(selectors: selectors), status: 200, fields: [:],
            requestTime: .distantPast, responseTime: .distantPast, bodyLength: body ?? 0, tags: tags)
        return StoredResponse(response, entry: CacheEntryID(row: entry, version: 1), body: body.map { Data(count: $0) })
    }

    private static func key(_ path: String) throws -> CacheKey {
        CacheKey(url: try HTTPURL("https://a.example\(path)"), partition: CachePartition(identity: "alice"))
    }

    /// Three responses of 1, 20 and 300 bytes, of which two have one key.
    private static func three() throws -> WriteBehindQueue {
        var changes = WriteBehindQueue()
        changes.add(.init(stored: try stored("/a", "en", entry: -1, body: 1, tags: ["t"]), original: nil))
        changes.add(.init(stored: try stored("/a", "nl", entry: -2, body: 20), original: nil))
        changes.add(.init(stored: try stored("/b", entry: -3, body: 300, tags: ["t"]), original: nil))
        return changes
    }

    private static func rows(_ changes: [WriteBehindQueue.Change]) -> [Int64] {
        changes.map(\.stored.entry.row).sorted()
    }

    @Test(.timeLimit(.minutes(2))) func `one change after the other is let through`() async {
        let (lane, seen) = (ChangeLane(), Locked<[String]>([]))
        let (begun, gate) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let first = Task {
            await lane.run {
                begun.continuation.yield()
                for await _ in gate.stream { break }
                seen.withLock { $0.append("first") }
            }
        }
        for await _ in begun.stream { break }
        let second = Task { await lane.run { seen.withLock { $0.append("second") } } }
        for _ in 0..<100 { await Task.yield() }
        #expect(seen.withLock { $0 } == [])
        gate.continuation.yield()
        await first.value
        await second.value
        #expect(seen.withLock { $0 } == ["first", "second"])
        #expect(await lane.run { 7 } == 7)
    }

    @Test func `each response counts once, with the bytes of its body`() throws {
        var changes = WriteBehindQueue()
        #expect(changes.count == 0 && changes.bytes == 0 && changes.all.isEmpty)
        let (a, c) = (try Self.key("/a"), try Self.key("/c"))
        changes = try Self.three()
        #expect(changes.count == 3 && changes.bytes == 321)
        #expect(Self.rows(changes.all) == [-3, -2, -1])
        #expect(Self.rows(changes[a]) == [-2, -1])
        #expect(changes[c].isEmpty)
        // One whose body did not come along has none that takes memory.
        changes.add(.init(stored: try Self.stored("/c", entry: 4, body: nil), original: nil))
        #expect(changes.count == 4 && changes.bytes == 321)
        #expect(changes.remove(c) { _ in true }.count == 1)
        #expect(changes.count == 3 && changes.bytes == 321)
        changes.removeAll()
        #expect(changes.count == 0 && changes.bytes == 0 && changes.all.isEmpty)
    }

    @Test func `a later change takes the place of the one before, of the same variant alone`() throws {
        let a = try Self.key("/a")
        var changes = try Self.three()
        changes.add(.init(stored: try Self.stored("/a", "nl", entry: -4, body: 4_000), original: nil))
        #expect(changes.count == 3 && changes.bytes == 4_301)
        #expect(Self.rows(changes[a]) == [-4, -1])
    }

    /// Whether the body below stays: only where none of the changes had a new one.
    @Test(arguments: [(nil, nil, nil), (nil, 7, nil), (7, nil, nil), (7, 8, 8)] as [(Int64?, Int64?, Int64?)])
    func `a new body that is still to be written is written with the change that follows`(
        first: Int64?, second: Int64?, kept: Int64?
    ) throws {
        func entry(_ row: Int64?) -> CacheEntryID? { row.map { CacheEntryID(row: $0, version: 1) } }
        var changes = WriteBehindQueue()
        changes.add(.init(stored: try Self.stored("/a"), original: entry(first)))
        changes.add(.init(stored: try Self.stored("/a"), original: entry(second)))
        #expect(changes.all.map(\.original) == [entry(kept)])
    }

    @Test func `what is removed is counted no more, and is handed out`() throws {
        let (a, c) = (try Self.key("/a"), try Self.key("/c"))
        var changes = try Self.three()
        #expect(changes.remove(c) { _ in true }.isEmpty)
        #expect(changes.remove(a) { _ in false }.isEmpty)
        #expect(changes.count == 3 && changes.bytes == 321)
        #expect(Self.rows(changes.remove(a) { $0.stored.entry.row == -2 }) == [-2])
        #expect(changes.count == 2 && changes.bytes == 301)
        #expect(Self.rows(changes.all) == [-3, -1])
        #expect(Self.rows(changes.remove(a) { _ in true }) == [-1])
        #expect(changes.count == 1 && changes.bytes == 300)
        var selected = try Self.three()
        selected.remove(.tag("t", in: .everyone))
        #expect(Self.rows(selected.all) == [-2])
        #expect(selected.count == 1 && selected.bytes == 20)
    }

    @Test func `what is selected is marked, and stays what it was besides`() throws {
        var changes = try Self.three()
        let original = CacheEntryID(row: 9, version: 1)
        changes.add(.init(stored: try Self.stored("/d", entry: 9, body: 5, tags: ["t"]), original: original))
        changes.invalidate(.tag("t", in: .everyone))
        let marked = changes.all.filter(\.stored.response.isInvalidated)
        #expect(Self.rows(marked) == [-3, -1, 9])
        #expect(marked.first { $0.stored.entry.row == 9 }?.original == original)
        #expect(marked.first { $0.stored.entry.row == 9 }?.stored.body?.count == 5)
        #expect(changes.count == 4 && changes.bytes == 326)
    }

    @Test func `a variant that is to be written hides the one below, and no other`() throws {
        let below = [
            try Self.stored("/a", "en", entry: 1), try Self.stored("/a", "nl", entry: 2),
            try Self.stored("/a", "fr", entry: 3),
        ]
        let changes = try Self.three()
        let (a, b) = (try Self.key("/a"), try Self.key("/b"))
        let found = WriteBehindQueue.overlay(below, with: changes[a])
        #expect(found.map(\.entry.row) == [3, -1, -2])
        #expect(WriteBehindQueue.overlay(below, with: []).map(\.entry.row) == [1, 2, 3])
        #expect(WriteBehindQueue.overlay([], with: changes[b]).map(\.entry.row) == [-3])
    }
}
