import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// What is left of what was removed.
@Suite(.timeLimit(.minutes(5)))
struct ErasureTests {
    private static let secret = "anna's diary entry of a Tuesday"

    /// Responses of two users, long and short, replaced and updated, so that rows move about in the file.
    private static func fill(_ rig: Rig, rounds: Int) async throws {
        var random = Seeded(seed: 7)
        for round in 0..<rounds {
            for identity in ["anna", "bert"] {
                let text = identity == "anna" ? secret : "bert's shopping list"
                let count = [1, 5, 30, 200, 4_000].randomElement(using: &random) ?? 1
                let key = try Sample.key("/\(round % 150)?of=\(text.dropLast(3).hashValue)", identity: identity)
                var response = Sample.response(key, seed: 0, at: rig.clock.timeSource, tags: [text])
                response = CachedResponse(
                    key: key, status: 200, fields: ["X-Text": text], requestTime: response.requestTime,
                    responseTime: response.responseTime, bodyLength: 0, tags: [text])
                let body = Data(String(repeating: text, count: count).utf8)
                guard round % 5 == 0 else {
                    await rig.store.put(response, body: body)
                    continue
                }
                let writer = await rig.store.writer(for: response)
                _ = await writer?.append(body)
                if round % 10 == 0 { writer?.abandon() } else { _ = await writer?.finish() }
            }
        }
    }

    @Test(
        "After a user's responses are removed, no byte of them is in any file", .covers("H28"),
        arguments: [
            CacheSelection.identity("anna"), .partition(CachePartition(identity: "anna")), .environment(""), .all,
        ])
    func erasure(selection: CacheSelection) async throws {
        let rig = try Rig()
        try Sample.damaged(Data("damaged before \(Self.secret)".utf8)).write(to: rig.folder.file)
        try await Self.fill(rig, rounds: 300)
        let unfinished = await rig.store.writer(
            for: Sample.response(try Sample.key("/", identity: "anna"), seed: 0, at: rig.clock.timeSource))
        _ = await unfinished?.append(Data(String(repeating: Self.secret, count: 9_000).utf8))
        #expect(try rig.folder.bytes.range(of: Data(Self.secret.utf8)) != nil, "the test looks for the wrong bytes")
        #expect(await rig.store.remove([selection]))
        let bytes = try rig.folder.bytes
        for part in [Self.secret, String(Self.secret.prefix(12)), String(Self.secret.suffix(12))] {
            #expect(bytes.range(of: Data(part.utf8)) == nil, "\(part) is left")
        }
        #expect(await unfinished?.finish() == nil, "what was being written for the user was stored")
        let isBertGone = selection == .all || selection == .environment("")
        #expect((bytes.range(of: Data("bert's shopping".utf8)) == nil) == isBertGone)
        await rig.store.close()
    }

    @Test("An erasure that was cut short is made up for when the file is opened", .covers("H28"))
    func interruptedErasure() async throws {
        let rig = try Rig()
        try await Self.fill(rig, rounds: 100)
        // Removed, but not yet scrubbed.
        _ = await rig.store.change { database throws(SQLiteError) in try database.remove([.identity("anna")]) }
        await rig.store.close()
        let again = try Rig(rig.folder)
        _ = await again.store.statistics()
        _ = await again.store.statistics()
        await again.store.close()
        #expect(try rig.folder.bytes.range(of: Data(Self.secret.prefix(12).utf8)) == nil)
    }

    @Test("After everything was removed, memory, disk and index are empty, also after a restart", .covers("S2.18"))
    func removeAll() async throws {
        let rig = try Rig()
        let layered = TieredCacheStore(over: rig.store, time: rig.clock.timeSource)
        for index in 0..<50 {
            let response = Sample.response(try Sample.key("/\(index)"), seed: 1, at: rig.clock.timeSource, tags: ["t"])
            await layered.put(response, body: sampleBytes(seed: 1, count: index * 3_000))
        }
        #expect(await layered.find(try Sample.key("/7")).count == 1)
        await layered.remove([.all])
        #expect(layered.responsesAtHand(for: try Sample.key("/7")) == nil)
        #expect(await layered.find(try Sample.key("/7")).isEmpty)
        await layered.close()
        let again = try Rig(rig.folder)
        #expect(await again.store.statistics() == CacheStatistics())
        #expect(try await again.seeds("/7") == [])
        await again.store.close()
        try expectNoRows(in: rig.folder)
    }

    @Test("No row outlives the response it belongs to, whatever happened to it", .covers("S2.20"))
    func noOrphans() async throws {
        let rig = try Rig(limits: CacheLimits(bytes: 300_000, entries: 40))
        try await Self.fill(rig, rounds: 200)
        await rig.store.invalidate([.all])
        await rig.store.remove([.tag(Self.secret)])
        for stored in await rig.store.entries(after: nil, limit: 100) { await rig.store.remove([.entry(stored.entry)]) }
        #expect(await rig.store.statistics() == CacheStatistics())
        await rig.store.close()
        try expectNoRows(in: rig.folder)
    }

    private func expectNoRows(in folder: Folder) throws {
        let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        for table in ["entry", "tag", "chunk", "unfinished"] {
            #expect(try connection.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
    }

    @Test("What a process left unfinished when it ended is removed by the next one")
    func leftovers() async throws {
        let rig = try Rig()
        let key = try Sample.key("/")
        let writer = await rig.store.writer(for: Sample.response(key, seed: 1, at: rig.clock.timeSource))
        _ = await writer?.append(sampleBytes(seed: 1, count: 300_000))
        await rig.store.close()
        let next = try Rig(rig.folder)
        next.clock.advance(by: .seconds(3_600))
        #expect(await next.store.statistics() == CacheStatistics())
        #expect(await writer?.finish() == nil)
        await next.store.close()
        try expectNoRows(in: rig.folder)
    }
}
