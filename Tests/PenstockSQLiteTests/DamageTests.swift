import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// Files that are not what the store wrote.
@Suite(.timeLimit(.minutes(10)), .covers("H29"))
struct DamageTests {
    /// A file with ten responses, each of them known by its seed, and nothing beside it.
    private static func filledFile() async throws -> (folder: Folder, bytes: Data) {
        let rig = try Rig {
            $0.inlineBytes = 2_000; $0.chunkBytes = 2_000
        }
        for index in 0..<10 { try await rig.put("/\(index)", seed: UInt64(index), count: index * 700) }
        await rig.store.close()
        return (rig.folder, try Data(contentsOf: rig.folder.file))
    }

    /// Looks at every key of a file, and sees that it can be written afterwards.
    private static func survives(_ bytes: Data, _ note: String) async throws -> (found: Int, events: Events) {
        let folder = try Folder()
        try bytes.write(to: folder.file)
        let rig = try Rig(folder) {
            $0.inlineBytes = 2_000; $0.chunkBytes = 2_000
        }
        var found = 0
        for index in 0..<10 {
            for seed in try await rig.seeds("/\(index)") {
                #expect(seed == UInt64(index), "\(note): \(seed) at /\(index)")
                found += 1
            }
        }
        _ = await rig.store.entries(after: nil, limit: 100)
        for attempt in 0..<4 {
            try await rig.put("/new", seed: 77, count: 5_000)
            if try await rig.seeds("/new") == [77] { break }
            #expect(attempt < 3, "\(note): nothing can be stored: \(rig.events.all)")
        }
        await rig.store.close()
        return (found, rig.events)
    }

    @Test("A file in which any bit was turned gives right bytes or none, and is repaired or set aside")
    func bitFlips() async throws {
        let (_, bytes) = try await Self.filledFile()
        var random = Seeded.printed("bit flip")
        var found = 0
        // The header and the roots of the tables in full, the rest in samples.
        let places = Array(0..<120) + (0..<480).map { _ in Int.random(in: 0..<bytes.count, using: &random) }
        for place in places {
            var damaged = bytes
            damaged[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            found += try await Self.survives(damaged, "byte \(place)").found
        }
        #expect(found > places.count * 5, "hardly anything is found in files with one bit turned: \(found)")
    }

    @Test("A file that was cut off anywhere gives right bytes or none")
    func truncation() async throws {
        let (_, bytes) = try await Self.filledFile()
        for length in [0, 72, 99, 100, 511, 4_095] + Array(stride(from: 4_096, to: bytes.count, by: 1_777)) {
            _ = try await Self.survives(bytes.prefix(length), "cut to \(length)")
        }
    }

    @Test("A file that bears the mark of a cache but is none is set aside, told of, and a new one is begun")
    func garbage() async throws {
        let (found, events) = try await Self.survives(Sample.damaged(sampleBytes(seed: 3, count: 50_000)), "garbage")
        #expect(found == 0)
        #expect(
            events.contains {
                if case .setAside(.damaged, let file) = $0 { file.path.hasSuffix(".damaged-1") } else { false }
            })
    }

    @Test("Damaged files are kept, but not without end")
    func manyDamaged() async throws {
        let folder = try Folder()
        for round in 0..<5 {
            try Sample.damaged(sampleBytes(seed: UInt64(round), count: 9_000)).write(to: folder.file)
            let rig = try Rig(folder)
            try await rig.put("/", seed: 1)
            await rig.store.close()
        }
        let kept = try folder.names.filter { $0.contains("damaged") }
        #expect(kept == ["cache.db.damaged-1", "cache.db.damaged-2"])
    }

    @Test("A file that a later version wrote is set aside as it is")
    func newerSchema() async throws {
        let (folder, _) = try await Self.filledFile()
        let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        try connection.execute("PRAGMA user_version = 1000")
        let rig = try Rig(folder)
        #expect(try await rig.seeds("/1") == [])
        try await rig.put("/1", seed: 5)
        #expect(try await rig.seeds("/1") == [5])
        #expect(rig.events.contains { if case .setAside(.newer, _) = $0 { true } else { false } })
        await rig.store.close()
        #expect(try folder.names.contains("cache.db.newer"))
    }

    @Test("A folder in the place of the file is left alone, and the store is a miss")
    func folderInPlace() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
        let rig = try Rig(folder)
        #expect(try await rig.put("/", seed: 1) == nil)
        #expect(try await rig.seeds("/") == [])
        #expect(rig.events.contains { if case .failed(.open, _, _) = $0 { true } else { false } })
        try FileManager.default.removeItem(at: folder.file)
        rig.clock.advance(by: .seconds(6))
        try await rig.put("/", seed: 1)
        #expect(try await rig.seeds("/") == [1])
        await rig.store.close()
    }

    @Test("A length in the file decides no allocation: a row that claims too much is a miss")
    func hostileLengths() async throws {
        let rig = try Rig {
            $0.inlineBytes = 2_000; $0.chunkBytes = 2_000
        }
        let stored = try #require(try await rig.put("/a", seed: 1, count: 100))
        await rig.store.close()
        let key = CacheRow.bytes(of: stored.response.key)
        let connection = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 5_000)
        for length in [101, 1 << 40, Int.max] {
            for number in [0, 99] as [Int64] {
                var place = CacheRow.BodyPlace(version: stored.entry.version, number: number, length: length)
                place.chunkBytes = number == 0 ? 0 : Int(UInt32.max)
                let head = CacheRow.encode(stored.response, key: key, body: place, row: stored.entry.row)
                let statement = try connection.statement("UPDATE entry SET head = ? WHERE id = ?")
                try statement.bind(stored.entry.row, at: 2)
                try CacheDatabase.run(statement, with: head, at: 1)
                for found in await rig.store.find(stored.response.key) {
                    #expect(await rig.store.body(of: found) == nil)
                }
                #expect(await rig.store.bytes(of: stored.entry, from: 0) == nil)
            }
        }
        await rig.store.close()
    }

    @Test("A part that claims to lie beyond all numbers is a miss", arguments: [Int.max, Int.max - 99, -1, 901])
    func forgedParts(offset: Int) async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1, count: 100))
        var forged = stored.response
        forged.part = CachedPart(offset: offset, completeLength: 1_000)
        try await rig.replaceHead(of: stored, with: forged)
        #expect(await rig.store.responses(for: forged.key).isEmpty)
        forged.part = CachedPart(offset: 900, completeLength: 1_000)
        let again = try #require(try await rig.put("/a", seed: 1, count: 100))
        try await rig.replaceHead(of: again, with: forged)
        #expect(await rig.store.responses(for: forged.key).first?.response.part == forged.part)
        await rig.store.close()
    }

    @Test("Numbers in the file that no sum may be made of stop nobody")
    func forgedNumbers() async throws {
        for (table, column) in [
            ("entry", "size"), ("entry", "used"), ("entry", "body"), ("state", "bytes"), ("state", "entries"),
            ("state", "epoch"), ("state", "unfinished"),
        ] {
            for number in [Int64.min, .max] {
                let rig = try Rig()
                try await rig.put("/a", seed: 1)
                try await rig.put("/b", seed: 2)
                let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 5_000)
                try other.execute("UPDATE \(table) SET \(column) = \(number)")
                for round in 0..<5 as Range<UInt64> { try await rig.put("/\(round)", seed: round) }
                _ = await rig.store.statistics()
                await rig.store.remove([.url(try HTTPURL("https://example.com/a"))])
                await rig.store.remove([.all])
                await rig.store.close()
                try await rig.put("/c", seed: 3)
                #expect(try await rig.seeds("/c") == [3], "\(table).\(column) = \(number)")
                await rig.store.close()
            }
        }
    }

    @Test("A date that no clock shows is a miss")
    func forgedDates() async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1))
        let forged = CachedResponse(
            key: stored.response.key, status: 200, fields: [:], requestTime: stored.response.requestTime,
            responseTime: Date(timeIntervalSince1970: 1e300), bodyLength: 1_000)
        try await rig.replaceHead(of: stored, with: forged)
        #expect(await rig.store.entries(after: nil, limit: 9).isEmpty)
        await rig.store.close()
    }

    @Test("A clock that goes back a year, or forward, finds right bytes or none")
    func clocks() async throws {
        for step in [-366 * 86_400, 366 * 86_400] {
            let folder = try Folder()
            let rig = try Rig(folder)
            try await rig.put("/a", seed: 1)
            await rig.store.close()
            let moved = try Rig(folder) { configuration in
                let date = configuration.time.date
                configuration.time.date = { date() + Double(step) }
            }
            #expect(Set(try await moved.seeds("/a")).isSubset(of: [1]))
            try await moved.put("/a", seed: 2)
            #expect(try await moved.seeds("/a").count <= 1)
            await moved.store.close()
        }
    }
}

extension Rig {
    /// Writes into the file what its store would never write, with a checksum that is right.
    fileprivate func replaceHead(of stored: StoredResponse, with response: CachedResponse) async throws {
        let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 5_000)
        let old = try connection.statement("SELECT head FROM entry WHERE id = ?")
        try old.bind(stored.entry.row, at: 1)
        #expect(try old.step())
        let place = try #require(CacheRow.decode(try old.bytes(0), row: stored.entry.row)?.body)
        old.reset()
        let key = CacheRow.bytes(of: response.key)
        let head = CacheRow.encode(response, key: key, body: place, row: stored.entry.row)
        let statement = try connection.statement("UPDATE entry SET head = ? WHERE id = ?")
        try statement.bind(stored.entry.row, at: 2)
        try CacheDatabase.run(statement, with: head, at: 1)
    }
}
