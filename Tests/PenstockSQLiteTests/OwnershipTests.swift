import Foundation
import Penstock
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// Whose files the store reads, writes and removes, and who may read its own.
@Suite(.timeLimit(.minutes(5)))
struct OwnershipTests {
    // MARK: Who may read

    private static func rights(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }

    @Test("Nobody but their owner may read the cache, its log, and what is set aside", .covers("H28"))
    func rights() async throws {
        let folder = try Folder()
        try Sample.damaged(sampleBytes(seed: 1, count: 5_000)).write(to: folder.file)
        let rig = try Rig(folder)
        try await rig.put("/a", seed: 1)
        #expect(try folder.names == ["cache.db", "cache.db-shm", "cache.db-wal", "cache.db.damaged-1"])
        for name in try folder.names { #expect(try Self.rights(folder.url.path + "/" + name) == 0o600, "\(name)") }
        await rig.store.close()
        #expect(try Self.rights(folder.file.path) == 0o600)
    }

    @Test("A file is its owner's alone from the moment it exists", .covers("H28"))
    func creation() throws {
        let folder = try Folder()
        let files = MachineFileSystem()
        #expect(files.create(folder.file.path))
        #expect(try Self.rights(folder.file.path) == 0o600)
        try Data("something".utf8).write(to: folder.file)
        #expect(files.create(folder.file.path), "there is one now")
        #expect(try Data(contentsOf: folder.file) == Data("something".utf8))
        #expect(!files.create(folder.file.path + "/below"))
    }

    @Test("What others could read of a cache they can no longer, once it was opened")
    func narrowing() async throws {
        let rig = try Rig()
        try await rig.put("/a", seed: 1)
        for name in try rig.folder.names { chmod(rig.folder.url.path + "/" + name, 0o666) }
        let again = try Rig(rig.folder)
        #expect(try await again.seeds("/a") == [1])
        for name in try rig.folder.names {
            #expect(try Self.rights(rig.folder.url.path + "/" + name) == 0o600, "\(name)")
        }
        await again.store.close()
        await rig.store.close()
    }

    @Test("Folders that are made for a cache are their owner's alone; those that were there are left as they are")
    func folders() async throws {
        let folder = try Folder()
        let before = try Self.rights(folder.url.path)
        let file = folder.url.appendingPathComponent("a/b/http.sqlite")
        let store = try await PlatformCache.open(file)
        #expect(try Self.rights(folder.url.path) == before)
        for name in ["a", "a/b"] { #expect(try Self.rights(folder.url.path + "/" + name) == 0o700) }
        #expect(try Self.rights(file.path) == 0o600)
        await store.close()
    }

    @Test("Two programs of one name have a cache each, and an app has that of its bundle")
    func programs() {
        func name(_ bundle: String?, _ executable: String?) -> String {
            PlatformCache.folderName(bundle: bundle, executable: executable, process: "app")
        }
        #expect(name(nil, "/opt/one/app") != name(nil, "/opt/two/app"))
        #expect(name(nil, "/opt/one/app") == name("", "/opt/one/app"))
        #expect(name(nil, "/opt/one/app").hasPrefix("app-"))
        #expect(name(nil, "/opt/one/app").count == 20)
        #expect(name("com.example.shop", "/opt/one/app") == "com.example.shop")
        #expect(name(nil, nil) == "app")
        #expect(CacheFileName.digest("") == "ef46db3751d8e999")
    }

    // MARK: Whose it is

    enum Foreign: String, CaseIterable {
        case text, zeros, shortText, database, loggedDatabase, openDatabase, version, mark, cutCache

        /// Makes the file, and gives what keeps it as it is.
        func make(_ file: URL) throws -> SQLiteConnection? {
            switch self {
            case .text: try Data(String(repeating: "precious\n", count: 400).utf8).write(to: file)
            case .zeros: try Data(count: 8_192).write(to: file)
            case .shortText: try Data("precious".utf8).write(to: file)
            case .cutCache: try Data("SQLite format 3\0".utf8).write(to: file)
            case .database: _ = try Self.database(file, "CREATE TABLE entry (text)")
            case .loggedDatabase: _ = try Self.database(file, "PRAGMA journal_mode=WAL; CREATE TABLE theirs (text)")
            case .openDatabase:
                return try Self.database(
                    file, "PRAGMA journal_mode=WAL; CREATE TABLE theirs (text); INSERT INTO theirs VALUES ('precious')")
            case .version: _ = try Self.database(file, "PRAGMA user_version=1")
            case .mark: _ = try Self.database(file, "PRAGMA application_id=77")
            }
            return nil
        }

        private static func database(_ file: URL, _ sql: String) throws -> SQLiteConnection {
            let connection = try SQLiteConnection(path: file.path, vfs: nil, patience: 0, .creating)
            try connection.execute(sql)
            return connection
        }
    }

    @Test(
        "What is neither empty nor a cache is refused and stays as it is", .covers("H29"), arguments: Foreign.allCases)
    func foreign(kind: Foreign) async throws {
        let folder = try Folder()
        let holder = try kind.make(folder.file)
        chmod(folder.file.path, 0o644)
        // Another connection's index of the log says who reads, so it changes.
        let names = try folder.names
        let before = try names.filter { !$0.hasSuffix("-shm") }.map {
            try Data(contentsOf: folder.url.appendingPathComponent($0))
        }
        let rig = try Rig(folder) { $0.patience = .milliseconds(100) }
        await #expect(throws: SQLiteCacheError(.notACache, code: 26)) { try await rig.store.open() }
        await #expect(throws: SQLiteCacheError(.notACache, code: 26)) { try await rig.store.open() }
        #expect(try await rig.put("/a", seed: 1) == nil)
        #expect(try await rig.seeds("/a") == [])
        #expect(await rig.store.remove([.all]) == false)
        rig.clock.advance(by: .seconds(6))
        #expect(await rig.store.remove([.identity("anna")]) == false)
        await rig.store.close()
        #expect(try folder.names == names)
        #expect(
            try names.filter { !$0.hasSuffix("-shm") }.map {
                try Data(contentsOf: folder.url.appendingPathComponent($0))
            } == before)
        #expect(try Self.rights(folder.file.path) == 0o644)
        #expect(rig.events.contains { if case .failed(.open, .notACache, 26) = $0 { true } else { false } })
        #expect(!rig.events.contains { if case .setAside = $0 { true } else { $0 == .thrownAway } })
        withExtendedLifetime(holder) {}
    }

    @Test("Another program's database that was interrupted keeps what was written", .covers("H29"))
    func interruptedDatabase() async throws {
        let made = try Folder()
        let holder = try #require(try Foreign.openDatabase.make(made.file))
        let folder = try Folder()
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: made.file.path + end, toPath: folder.file.path + end)
        }
        let rig = try Rig(folder)
        await #expect(throws: SQLiteCacheError(.notACache, code: 26)) { try await rig.store.open() }
        await rig.store.close()
        for end in ["", "-wal"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file.path + end))
            #expect(try bytes == Data(contentsOf: URL(fileURLWithPath: made.file.path + end)), "\(end)")
        }
        let theirs = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        #expect(try theirs.number("SELECT count(*) FROM theirs") == 1)
        withExtendedLifetime(holder) {}
    }

    @Test("An empty file and an empty database become a cache", .covers("H29"), arguments: [true, false])
    func empty(isDatabase: Bool) async throws {
        let folder = try Folder()
        if isDatabase {
            let made = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0, .creating)
            try made.execute("CREATE TABLE gone (text); DROP TABLE gone")
        } else {
            try Data().write(to: folder.file)
        }
        let rig = try Rig(folder)
        try await rig.store.open()
        try await rig.put("/a", seed: 1)
        #expect(try await rig.seeds("/a") == [1])
        await rig.store.close()
        #expect(rig.events.all == [])
    }

    @Test("A cache that has lost its mark is known by its tables, and is set aside", .covers("H29"))
    func lostMark() async throws {
        let rig = try Rig()
        try await rig.put("/a", seed: 1)
        await rig.store.close()
        var bytes = try Data(contentsOf: rig.folder.file)
        bytes[69] ^= 1
        try bytes.write(to: rig.folder.file)
        let again = try Rig(rig.folder)
        try await again.put("/b", seed: 2)
        #expect(try await again.seeds("/b") == [2])
        #expect(again.events.contains { if case .setAside(.damaged, _) = $0 { true } else { false } })
        await again.store.close()
    }

    @Test("The mark stands in the file itself before anything is stored", .covers("H29"))
    func markFirst() async throws {
        let rig = try Rig()
        try await rig.store.open()
        let bytes = try Data(contentsOf: rig.folder.file)
        #expect(bytes[68..<72] == Data("PSTK".utf8))
        await rig.store.close()
    }

    @Test("A file that is put in the place of another program's is used after a while", .covers("H29"))
    func replacedForeign() async throws {
        let rig = try Rig()
        try Data("precious".utf8).write(to: rig.folder.file)
        #expect(try await rig.put("/a", seed: 1) == nil)
        try FileManager.default.removeItem(at: rig.folder.file)
        rig.clock.advance(by: .seconds(6))
        try await rig.put("/a", seed: 1)
        #expect(try await rig.seeds("/a") == [1])
        await rig.store.close()
    }
}
