import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// How SQLite carries out the statements of the engine.
@Suite(.timeLimit(.minutes(5)))
struct QueryPlanTests {
    /// Statements that go through a whole table or sort, by how they begin, and why they may.
    private static let meant: [(statement: String, why: String)] = [
        (
            "DELETE FROM entry WHERE id = (SELECT id FROM entry ORDER BY used",
            "reads the first row of an index, no more"
        ),
        ("DELETE FROM entry WHERE environment = ?", "erases, after which the whole file is written anew"),
        ("SELECT id FROM entry WHERE environment = ?", "for an environment, which nobody invalidates at each write"),
        ("SELECT id FROM entry WHERE 1", "selects everything"),
        ("SELECT count(*) FROM entry", "once, when the file is opened"),
        ("SELECT coalesce(sum(size), 0) FROM entry", "once, when the file is opened"),
        ("SELECT coalesce(sum(size), 0) FROM unfinished", "as many rows as there are bodies under way"),
        ("SELECT body, renewed, writer FROM unfinished", "as many rows as there are bodies under way"),
        ("SELECT body FROM unfinished WHERE", "as many rows as there are bodies under way"),
    ]

    @Test("No statement goes through all rows or sorts them, but those that are meant to")
    func plans() async throws {
        let rig = try Rig(limits: CacheLimits(bytes: 400_000, entries: 30, age: .seconds(60), bodyBytes: 100_000))
        try await Self.useEverything(rig)
        let writing = await rig.store.change { $0.connection.preparedStatements }
        let statements = try #require(writing) + rig.store.engine.reader.preparedStatements
        #expect(statements.count > 45, "some statements were not used: \(statements.count)")
        await rig.store.close()
        let connection = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0)
        var seen: Set<String> = []
        for statement in statements where statement.first != "P" && statement.first != "B" && statement.first != "C" {
            let slow = try Self.plan(of: statement, connection).filter { $0.contains("SCAN") || $0.contains("TEMP") }
            let reason = Self.meant.first { statement.hasPrefix($0.statement) }
            if let reason { seen.insert(reason.statement) }
            #expect(slow.isEmpty || reason != nil, "\(statement): \(slow)")
        }
        #expect(
            seen.count == Self.meant.count, "not used: \(Self.meant.map(\.statement).filter { !seen.contains($0) })")
    }

    @Test("What a write invalidates of one user is found without looking at the user's other rows", .covers("S4.21"))
    func oneUser() async throws {
        let rig = try Rig()
        try await rig.put("/a", seed: 1, identity: "anna", tags: ["t"])
        await rig.store.close()
        let connection = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0)
        let owner = CachePartition(identity: "anna")
        let url = try HTTPURL("https://example.com/a")
        for (selection, index) in [
            (
                CacheSelection.url(url, in: .partition(owner)),
                "entry_owner (identity=? AND environment=? AND place=? AND url=?)"
            ),
            (.path(url, in: .partition(owner)), "entry_owner (identity=? AND environment=? AND place=?)"),
            (.tag("t", in: .partition(owner)), "PRIMARY KEY (tag=? AND identity=? AND environment=?)"),
            (.url(url), "entry_place (place=? AND url=?)"), (.path(url), "entry_place (place=?)"),
        ] {
            let sql =
                "SELECT id FROM entry WHERE \(CacheDatabase.condition(selection, CacheAtRest(secret: Data([1]))).sql)"
            let plan = try Self.plan(of: sql, connection)
            #expect(plan.contains { $0.contains(index) }, "\(selection): \(plan)")
        }
    }

    @Test("A file of the first version gets the new indexes, and loses what was written before secrets were left out")
    func migration() async throws {
        let folder = try Folder()
        try Self.makeFirstVersion(folder.file.path)
        let rig = try Rig(folder)
        let first = try #require(CacheSchema.migrations.first)
        #expect(first.name.hasPrefix("responses, their bodies"))
        #expect(await rig.store.statistics() == CacheStatistics(), "\(rig.events.all)")
        try await rig.put("/new", seed: 3)
        #expect(try await rig.seeds("/new") == [3])
        await rig.store.close()
        #expect(rig.events.all == [])
        let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        #expect(try connection.number("PRAGMA user_version") == Int64(CacheSchema.migrations.count))
        #expect(try connection.number("SELECT count(*) FROM sqlite_schema WHERE type = 'index'") == 5)
    }

    private static func makeFirstVersion(_ path: String) throws {
        let connection = try SQLiteConnection(path: path, vfs: nil, patience: 0, .creating)
        let first = try #require(CacheSchema.migrations.first)
        try connection.execute(first.sql)
        try connection.execute("PRAGMA application_id=\(0x5053_544B); PRAGMA user_version=1")
        let (identity, environment) = (CacheHash.identity("anna"), CacheHash.environment(""))
        try connection.execute(
            """
            INSERT INTO entry VALUES (1, \(identity), \(environment), 3, 4, 1 << 40, 6, 77, 0, x'00', x'00');
            INSERT INTO tag VALUES (\(CacheHash.tag("t")), 1);
            UPDATE state SET entries = 1, bytes = 77;
            """)
    }

    /// Calls every function of the store, with every selection.
    private static func useEverything(_ rig: Rig) async throws {
        for index in 0..<60 { try await rig.put("/\(index)", seed: UInt64(index), count: 20_000, tags: ["t"]) }
        let stored = try #require(try await rig.put("/a", seed: 1, identity: "anna", tags: ["t"]))
        for _ in 0..<3 {
            for seed in 0..<5 as Range<UInt64> { try await rig.put("/many", seed: seed) }
        }
        _ = try await rig.seeds("/a", identity: "anna")
        _ = await rig.store.bytes(of: stored.entry, from: 0)
        _ = try await rig.seeds("/59")
        await rig.store.update(stored.entry, to: stored.response)
        for end in [true, false] {
            let writer = try #require(await rig.store.writer(for: stored.response))
            for _ in 0..<3 { #expect(await writer.append(sampleBytes(seed: 1, count: 30_000))) }
            if end { _ = await writer.finish() } else { writer.abandon() }
        }
        rig.clock.advance(by: .seconds(61))
        try await rig.put("/new", seed: 1)
        let damaged = try #require(try await rig.put("/damaged", seed: 1))
        let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 5_000)
        try other.execute("UPDATE entry SET head = x'00' WHERE id = \(damaged.entry.row)")
        #expect(await rig.store.find(damaged.response.key).isEmpty)
        await rig.store.flush()
        rig.store.lookForForeignChanges()
        _ = await rig.store.statistics()
        _ = await rig.store.entries(after: nil, limit: 5)
        let url = try HTTPURL("https://example.com/a")
        let partition = CachePartition(identity: "anna")
        for selection in [
            CacheSelection.key(stored.response.key), .entry(stored.entry), .url(url),
            .url(url, in: .partition(partition)),
            .path(url),
            .path(url, in: .partition(partition)), .tag("t"), .tag("t", in: .partition(partition)),
            .partition(partition), .identity("anna"),
            .environment("test"), .all,
        ] {
            #expect(await rig.store.invalidate([selection]))
            #expect(await rig.store.remove([selection]))
        }
    }

    /// What SQLite would do.
    private static func plan(of statement: String, _ connection: SQLiteConnection) throws -> [String] {
        let explained = try connection.statement("EXPLAIN QUERY PLAN \(statement)")
        defer { explained.reset() }
        var lines: [String] = []
        while try explained.step() { lines.append(String(decoding: try explained.bytes(3), as: UTF8.self)) }
        return lines
    }
}
