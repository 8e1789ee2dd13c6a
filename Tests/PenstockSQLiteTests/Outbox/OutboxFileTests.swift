import Foundation
import Penstock
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// Files that cannot be used, and files with very much in them.
@Suite(.timeLimit(.minutes(10)), .covers("X9"))
struct OutboxFileTests {
    private static func open(
        _ folder: Folder, _ change: (inout SQLiteOutboxStore.Configuration) -> Void = { _ in }
    ) -> SQLiteOutboxStore {
        var configuration = SQLiteOutboxStore.Configuration(file: folder.file)
        change(&configuration)
        return SQLiteOutboxStore(configuration)
    }

    /// A folder with an outbox of so many rows, closed.
    private static func filled(_ count: Int = 40) async throws -> Folder {
        let folder = try Folder()
        let store = open(folder)
        for index in 0..<count {
            _ = try await store.put(.sample(String(repeating: "x", count: 2_000), lane: "\(index)"), isNumbered: false)
        }
        await store.close()
        return folder
    }

    /// Whatever is asked of the store is that error, and no byte of the file changes.
    /// By a handle: `Data(contentsOf:)` leaks a page for a file that is empty.
    private static func content(_ file: URL) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        return try handle.readToEnd() ?? Data()
    }

    private static func expectUnusable(_ folder: Folder, _ error: OutboxStoreError) async throws {
        let bytes = try content(folder.file)
        let store = open(folder)
        for _ in 0..<2 {
            await #expect(throws: error) { try await store.put(.sample("new"), isNumbered: false) }
            await #expect(throws: error) { try await store.rows(.pending(OutboxRow.sampleOwner), after: 0, limit: 9) }
            await #expect(throws: error) { try await store.counts(of: OutboxRow.sampleOwner) }
            await #expect(throws: error) { try await store.open() }
        }
        await store.close()
        #expect(try content(folder.file) == bytes, "the file was changed")
    }

    @Test("A file of a newer version is left as it is")
    func newer() async throws {
        let folder = try await Self.filled()
        do {
            let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
            try connection.execute("PRAGMA user_version=99")
        }
        try await Self.expectUnusable(folder, .newerVersion)
    }

    @Test("A damaged file is left as it is, until the app sets it aside: nothing of it is removed then")
    func damaged() async throws {
        let folder = try await Self.filled()
        let handle = try FileHandle(forWritingTo: folder.file)
        try handle.seek(toOffset: 3 * 4_096)
        handle.write(Data(repeating: 0xA5, count: 4_096))
        try handle.close()
        let bytes = try Data(contentsOf: folder.file)
        try await Self.expectUnusable(folder, .damaged)
        let store = Self.open(folder)
        for number in 1...3 {
            let aside = try await store.setAside()
            #expect(aside.lastPathComponent == "cache.db.damaged-\(number)")
            #expect(try Data(contentsOf: folder.url.appendingPathComponent("cache.db.damaged-1")) == bytes)
            #expect(try await store.put(.sample("new"), isNumbered: false).row.position == 1)
        }
        await store.close()
    }

    @Test("A file that was cut is damaged, and so is an empty one beside a log")
    func cut() async throws {
        let folder = try await Self.filled()
        let bytes = try Data(contentsOf: folder.file)
        try bytes.prefix(bytes.count / 2).write(to: folder.file)
        try await Self.expectUnusable(folder, .damaged)
        try Data().write(to: folder.file)
        try Data(count: 64).write(to: folder.url.appendingPathComponent("cache.db-wal"))
        try await Self.expectUnusable(folder, .damaged)
    }

    @Test("What is somebody else's is left as it is")
    func foreign() async throws {
        let text = try Folder()
        try Data("dear diary".utf8).write(to: text.file)
        try await Self.expectUnusable(text, .foreign)
        let database = try Folder()
        do {
            let connection = try SQLiteConnection(path: database.file.path, vfs: nil, patience: 0, .creating)
            try connection.execute("CREATE TABLE note (text); INSERT INTO note VALUES ('mine')")
        }
        try await Self.expectUnusable(database, .foreign)
        let unmarked = try await Self.filled()
        do {
            let connection = try SQLiteConnection(path: unmarked.file.path, vfs: nil, patience: 0)
            try connection.execute("PRAGMA application_id=7")
        }
        try await Self.expectUnusable(unmarked, .damaged)
        let folder = try Folder()
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: true)
        let store = Self.open(folder)
        await #expect(throws: OutboxStoreError.foreign) { try await store.put(.sample("new"), isNumbered: false) }
    }

    @Test("A full and a read-only disk are errors of what is put in; what is there stays, and goes on with the room")
    func fullAndReadOnly() async throws {
        for (code, error) in [(13, OutboxStoreError.full), (8, .readOnly), (10, .inputOutput(code: 10))]
            as [(Int32, OutboxStoreError)]
        {
            let disk = try CrashDisk(seed: 1)
            var configuration = SQLiteOutboxStore.Configuration(file: URL(fileURLWithPath: "/outbox.db"))
            configuration.vfs = disk.name
            configuration.files = disk
            let store = SQLiteOutboxStore(configuration)
            let row = OutboxRow.sample("1")
            _ = try await store.put(row, isNumbered: false)
            crash_disk_refuse(disk.handle, code)
            await #expect(throws: error) { try await store.put(.sample("2"), isNumbered: false) }
            crash_disk_refuse(disk.handle, 0)
            #expect(try await store.row(row.id)?.payload == Data("1".utf8))
            _ = try await store.put(.sample("3"), isNumbered: false)
            #expect(try await store.counts(of: OutboxRow.sampleOwner).pending == 2)
            await store.close()
        }
        let disk = try CrashDisk(seed: 1)
        var configuration = SQLiteOutboxStore.Configuration(file: URL(fileURLWithPath: "/outbox.db"))
        configuration.vfs = disk.name
        configuration.files = disk
        let store = SQLiteOutboxStore(configuration)
        crash_disk_hold_at_most(disk.handle, 400_000)
        var put = 0
        await #expect(throws: OutboxStoreError.full) {
            for _ in 0..<1_000 {
                _ = try await store.put(.sample(String(repeating: "x", count: 4_000)), isNumbered: false)
                put += 1
            }
        }
        #expect(put > 5)
        #expect(try await store.counts(of: OutboxRow.sampleOwner).pending == put)
        await store.close()
    }

    @Test("Another process that holds the file is waited for, and then told of")
    func busy() async throws {
        let folder = try await Self.filled(1)
        let other = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        try other.execute("BEGIN IMMEDIATE")
        let store = Self.open(folder) { $0.patience = .milliseconds(20) }
        await #expect(throws: OutboxStoreError.busy) { try await store.put(.sample("2"), isNumbered: false) }
        try other.execute("COMMIT")
        _ = try await store.put(.sample("2"), isNumbered: false)
        await store.close()
    }

    @Test("A row whose bytes were changed is none to be sent: its payload is given as nothing")
    func damagedRow() async throws {
        let folder = try Folder()
        let store = Self.open(folder)
        let row = try await store.put(.sample("right"), isNumbered: false).row
        let other = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 5_000)
        try other.execute("UPDATE item SET payload = CAST('wrong' AS BLOB)")
        #expect(try await store.row(row.id)?.payload == Data())
        // The bytes of one row are not those of another.
        let second = try await store.put(.sample("other"), isNumbered: false).row
        let pick = "(SELECT payload FROM item WHERE position = \(second.position))"
        let checksum = "(SELECT checksum FROM item WHERE position = \(second.position))"
        try other.execute("UPDATE item SET payload = \(pick), checksum = \(checksum)")
        #expect(try await store.row(row.id)?.payload == Data())
        #expect(try await store.row(second.id)?.payload == Data("other".utf8))
        await store.close()
    }

    @Test("A file that somebody removed is made anew, so that what is put from then on is not lost with it")
    func removed() async throws {
        let folder = try Folder()
        let store = Self.open(folder)
        _ = try await store.put(.sample("1"), isNumbered: false)
        for name in try folder.names { try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name)) }
        let row = try await store.put(.sample("2"), isNumbered: false).row
        await store.close()
        let later = Self.open(folder)
        #expect(try await later.row(row.id) == row)
        await later.close()
    }

    @Test("Nobody but the owner may read the file, and nothing that was removed is left in it")
    func privacy() async throws {
        let folder = try Folder()
        let file = folder.url.appendingPathComponent("state/penstock/outbox.sqlite")
        let store = PlatformOutbox.store(at: file)
        let row = OutboxRow.sample("a secret wish")
        _ = try await store.put(row, isNumbered: false)
        for name in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        let parent = try FileManager.default.attributesOfItem(atPath: file.deletingLastPathComponent().path)
        #expect(parent[.posixPermissions] as? Int == 0o700)
        #expect(try await store.remove(row.id))
        await store.close()
        #expect(try Data(contentsOf: file).range(of: Data("a secret wish".utf8)) == nil)
    }

    /// Of the file and its log.
    private static func holds(_ folder: Folder, _ mark: String) throws -> Bool {
        try ["cache.db", "cache.db-wal"].contains { name in
            let file = folder.url.appendingPathComponent(name)
            guard FileManager.default.fileExists(atPath: file.path) else { return false }
            return try content(file).range(of: Data(mark.utf8)) != nil
        }
    }

    @Test("What a logout removes is neither in the file nor in its log when it returns")
    func purged() async throws {
        let folder = try Folder()
        let store = Self.open(folder)
        for index in 0..<20 { _ = try await store.put(.sample("secret \(index)", lane: "\(index)"), isNumbered: false) }
        #expect(try Self.holds(folder, "secret"))
        _ = try await store.removeAll(ofIdentity: OutboxRow.sampleOwner.identity)
        #expect(try !Self.holds(folder, "secret"))
        await store.close()
    }

    @Test(
        "What was delivered is in the log no more once nothing is changed for a while, also after somebody read from it"
    )
    func tidied() async throws {
        let folder = try Folder()
        let store = Self.open(folder) { $0.idle = .milliseconds(20) }
        let row = OutboxRow.sample("secret")
        _ = try await store.put(row, isNumbered: false)
        let reader = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        try reader.execute("BEGIN; SELECT count(*) FROM item")
        let lease = try #require(try await store.lease(for: "one", at: OutboxRow.sampleDate, duration: .seconds(15)))
        try await store.settle(row.id, .done, at: OutboxRow.sampleDate, under: lease)
        try await Task.sleep(for: .milliseconds(60))
        #expect(try Self.holds(folder, "secret"), "somebody reads it")
        #expect(try await store.row(row.id) == nil, "nobody waits for that")
        try reader.execute("COMMIT")
        while try Self.holds(folder, "secret") { try await Task.sleep(for: .milliseconds(5)) }
        await store.close()
    }

    /// The machine's, whose folder may not be written.
    private struct ReadOnlyFiles: CacheFileSystem {
        private let machine = MachineFileSystem()

        func exists(_ path: String) -> Bool { machine.exists(path) }
        func isOther(_ path: String) -> Bool { machine.isOther(path) }
        func isWritable(_ path: String) -> Bool { false }
        func size(_ path: String) -> Int64 { machine.size(path) }
        func date(_ path: String) -> Date? { machine.date(path) }
        func freeBytes(at path: String) -> Int64? { machine.freeBytes(at: path) }
        func create(_ path: String) -> Bool { false }
        func narrow(_ path: String) -> Bool { true }
        func move(_ path: String, to other: String) -> Bool { false }
        func remove(_ path: String) -> Bool { false }
        func settle(_ path: String) {}
    }

    @Test(
        "Where the disk may not be written that is the error of whatever is asked; where there is no folder it is another"
    )
    func readOnlyFolder() async throws {
        let folder = try await Self.filled(3)
        let store = Self.open(folder) { $0.files = ReadOnlyFiles() }
        await #expect(throws: OutboxStoreError.readOnly) { try await store.put(.sample("new"), isNumbered: false) }
        await #expect(throws: OutboxStoreError.readOnly) { try await store.counts(of: OutboxRow.sampleOwner) }
        await #expect(throws: OutboxStoreError.readOnly) { _ = try await store.setAside() }
        await store.close()
        let nowhere = SQLiteOutboxStore(.init(file: folder.url.appendingPathComponent("none/outbox.db")))
        await #expect(throws: OutboxStoreError.inputOutput(code: 14)) { try await nowhere.open() }
    }

    @Test(
        "A file of each earlier version is opened, and its rows are delivered, held back by nothing", arguments: [1, 2])
    func earlierVersion(_ version: Int) async throws {
        let folder = try await Self.filled(3)
        do {
            let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
            try connection.execute(
                """
                DROP INDEX item_resting; ALTER TABLE item DROP COLUMN rests_until; PRAGMA user_version=2
                """)
            if version == 1 {
                try connection.execute(
                    """
                    DROP INDEX lane_due; ALTER TABLE lane DROP COLUMN destination; ALTER TABLE item DROP COLUMN destination;
                    CREATE INDEX lane_due ON lane (owner, due, lane) WHERE is_ready = 1; PRAGMA user_version=1
                    """)
            }
        }
        let store = Self.open(folder)
        let (owner, now) = (OutboxRow.sampleOwner, OutboxRow.sampleDate)
        let lease = try #require(try await store.lease(for: "one", at: now, duration: .seconds(15)))
        let held: Set<String> = [String(repeating: "a", count: 32)]
        #expect(try await store.nextMoment(of: owner, avoiding: held, at: now) == now)
        let rows = try await store.claim(of: owner, avoiding: held, limit: 9, at: now, under: lease)
        #expect(rows.count == 3 && rows.allSatisfy { $0.destination == nil && $0.restsUntil == nil })
        await store.close()
    }

    @Test(
        "The file is in a folder that nobody empties, another one for each program; a process that runs tests has none")
    func place() {
        let home = URL(fileURLWithPath: "/home/anna")
        let folder = { (environment: [String: String]) in
            PlatformOutbox.folder(environment, home: home).appendingPathComponent("penstock").path
        }
        #if !canImport(Darwin)
            #expect(folder([:]) == "/home/anna/.local/state/penstock")
            #expect(folder(["XDG_STATE_HOME": "/state"]) == "/state/penstock")
            #expect(folder(["XDG_STATE_HOME": "relative"]) == "/home/anna/.local/state/penstock")
        #endif
        #expect(PlatformOutbox.shared is MemoryOutboxStore)
    }

    @Test("Every statement finds its rows by an index")
    func plans() async throws {
        let folder = try Folder()
        let store = Self.open(folder)
        try await Self.useEverything(store)
        let statements = try await store.statements()
        await store.close()
        let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        let meant = [
            ("SELECT id, lane, state, position FROM item WHERE identity", "for a logout alone"),
            ("DELETE FROM item WHERE identity", "for a logout alone"),
            (
                "UPDATE lane SET due = ?1 WHERE owner = ?2 AND due > ?1",
                "writes nearly all of them, when the network is back"
            ),
        ]
        #expect(statements.count > 30, "\(statements.count)")
        for sql in statements where !["P", "B", "C", "R"].contains(sql.first) {
            let explained = try connection.statement("EXPLAIN QUERY PLAN \(sql)")
            var lines: [String] = []
            while try explained.step() { lines.append(String(decoding: try explained.bytes(3), as: UTF8.self)) }
            explained.reset()
            let slow = lines.filter {
                $0.hasPrefix("SCAN") && !$0.contains("CONSTANT") && !$0.contains("item_sending")
                    && !$0.contains("item_resting") || $0.contains("TEMP")
            }
            #expect(slow.isEmpty || meant.contains { sql.hasPrefix($0.0) }, "\(sql): \(lines)")
        }
    }

    private static func useEverything(_ store: SQLiteOutboxStore) async throws {
        let (owner, now) = (OutboxRow.sampleOwner, OutboxRow.sampleDate)
        let rows = (0..<6).map { OutboxRow.sample("\($0)", lane: "\($0 % 3)", fold: $0 < 4 ? "f\($0)" : nil) }
        for row in rows { _ = try await store.put(row, isNumbered: true) }
        let lease = try #require(try await store.lease(for: "one", at: now, duration: .seconds(15)))
        let claimed = try await store.claim(of: owner, limit: 3, at: now, under: lease)
        #expect(claimed.count == 3)
        let steps: [OutboxStep] = [
            .done, .undeliverable(OutboxFailure(.refused)), .wait(OutboxWait(until: now.addingTimeInterval(9))),
        ]
        for (row, step) in zip(claimed, steps) { try await store.settle(row.id, step, at: now, under: lease) }
        try await store.hasten(owner, at: now)
        _ = try await store.nextMoment(of: owner, at: now)
        _ = try await store.counts(of: owner)
        _ = try await store.requeue(claimed[1].id, expires: now, at: now)
        _ = try await store.expire(of: owner, limit: 9, at: now, under: lease)
        for selection in [OutboxSelection.pending(owner), .undeliverable(owner), .fold("f1")] {
            _ = try await store.rows(selection, after: 0, limit: 9)
        }
        _ = try await store.claim(of: owner, limit: 3, at: now, under: lease)
        try await store.release(lease)
        _ = try await store.lease(for: "two", at: now, duration: .seconds(15))
        _ = try await store.remove(rows[5].id)
        _ = try await store.removeAll(ofIdentity: owner.identity)
    }

    @Test("With a hundred thousand writes claiming and settling cost no more than with a thousand")
    func many() async throws {
        let total = 100_000
        let folder = try Folder()
        var store = Self.open(folder)
        let clock = ContinuousClock()
        // Many callers at once share a sync.
        try await withThrowingTaskGroup(of: Void.self) { [store] group in
            for index in 0..<1_000 {
                group.addTask {
                    let row = OutboxRow.sample("\(index)", lane: "\(index)")
                    _ = try await store.put(row, isNumbered: false)
                }
            }
            try await group.waitForAll()
        }
        let few = try await Self.work(store, clock)
        await store.close()
        try Self.fill(folder, to: total)
        store = Self.open(folder)
        let start = clock.now
        #expect(try await store.counts(of: OutboxRow.sampleOwner).pending == total)
        let opening = clock.now - start
        let many = try await Self.work(store, clock)
        print(
            "outbox of \(total): opened and counted in \(opening), a hundred claimed and settled in \(many), of 900 in \(few)"
        )
        #expect(many < few * 6 + .milliseconds(200), "\(many) and \(few)")
        #expect(try await store.put(.sample("last"), isNumbered: false).row.position == Int64(total + 101))
        let last = try await store.rows(.pending(OutboxRow.sampleOwner), after: Int64(total + 100), limit: 9)
        #expect(last.map(\.payload) == [Data("last".utf8)])
        await store.close()
    }

    /// Adds rows like the last one, ten to a lane, faster than they can be put.
    private static func fill(_ folder: Folder, to total: Int) throws {
        let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 5_000)
        let missing = total - Int(try connection.number("SELECT count(*) FROM item") ?? 0)
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <"
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            \(numbers) \(missing)) INSERT INTO item (id, identity, owner, lane, created, expires, is_kept, stops_lane, \
            state, attempts, conflicts, checksum, payload) SELECT randomblob(16), identity, owner, \
            CAST('more ' || (i % 10000) AS BLOB), created, expires, 0, 0, 0, 0, 0, checksum, payload FROM n, item \
            WHERE position = (SELECT max(position) FROM item);
            \(numbers) 10000) INSERT INTO lane (lane, owner, due, is_hinted, last_number, is_ready) \
            SELECT CAST('more ' || (i - 1) AS BLOB), owner, due, 0, 0, 1 FROM n, \
            (SELECT owner, due FROM lane LIMIT 1);
            COMMIT
            """)
    }

    /// What a sender does for a hundred rows.
    private static func work(_ store: SQLiteOutboxStore, _ clock: ContinuousClock) async throws -> Duration {
        let (owner, now) = (OutboxRow.sampleOwner, OutboxRow.sampleDate.addingTimeInterval(1))
        let start = clock.now
        let lease = try #require(try await store.lease(for: "one", at: now, duration: .seconds(15)))
        for _ in 0..<25 {
            #expect(try await store.nextMoment(of: owner, at: now) != nil)
            let rows = try await store.claim(of: owner, limit: 4, at: now, under: lease)
            #expect(rows.count == 4)
            for row in rows { try await store.settle(row.id, .done, at: now, under: lease) }
        }
        try await store.release(lease)
        return clock.now - start
    }

    private struct SetLike: OutboxEndpoint {
        typealias Output = Void
        var isLiked: Bool
        var route: Route { .put("/likes/1") }
        var lane: OutboxLane { "like/1" }
        var fold: OutboxFold? { "like/1" }
    }

    @Test(
        "The last of nine taps is in the file when the app ends, and is the one write of the next; a refusal shows what the server has",
        .covers("S3.12"), arguments: [200, 403])
    func toggle(status: Int) async throws {
        let folder = try Folder()
        let stub = StubTransport { _ in HTTPResponse(status: status) }
        let client = APIClient(.init(services: [Service(.main, "https://api.example.com")]), transport: stub)
        func launch(initially value: Bool) async throws -> (SQLiteOutboxStore, Outbox, OutboxToggle<SetLike>) {
            let store = Self.open(folder)
            let outbox = Outbox(client, store: store, .init(endpoints: [SetLike.self]))
            let like = try await OutboxToggle("like/1", initially: value, in: outbox) { SetLike(isLiked: $0) }
            return (store, outbox, like)
        }
        let first = try await launch(initially: true)
        for _ in 1...9 {
            first.2.toggle()
            try await first.2.stored()
        }
        #expect(!first.2.value)
        await first.1.close()
        await first.0.close()
        #expect(stub.requests.isEmpty)
        // The app has learned nothing of it: what the server has is in the file as well.
        let second = try await launch(initially: false)
        #expect(!second.2.value, "the last tap")
        second.1.start()
        if status == 200 {
            try await second.2.settled()
        } else {
            await #expect(throws: OutboxError.self) { try await second.2.settled() }
        }
        #expect(second.2.value == (status == 403))
        let sent = stub.requests.map { request in
            if case .bytes(let data) = request.body.source { String(decoding: data, as: UTF8.self) } else { "" }
        }
        #expect(sent == [#"{"isLiked":false}"#])
        await second.1.close()
        await second.0.close()
    }

    @Test("However many changes wait for another process, none waits for longer than it may")
    func busyTogether() async throws {
        let folder = try await Self.filled(1)
        let store = Self.open(folder) { $0.patience = .milliseconds(100) }
        try await store.open()
        let other = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        try other.execute("BEGIN IMMEDIATE")
        let took = await ContinuousClock().measure {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        await #expect(throws: OutboxStoreError.busy) {
                            try await store.put(.sample("\(index)"), isNumbered: false)
                        }
                    }
                }
            }
        }
        // One after the other they would wait for 20 s.
        #expect(took < .seconds(10))
        try other.execute("COMMIT")
        await store.close()
    }

    @Test("A file that a newer process has migrated meanwhile is left as it is")
    func overtaken() async throws {
        let folder = try await Self.filled(1)
        let other = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        let version = try #require(try other.number("PRAGMA user_version"))
        try other.execute("PRAGMA user_version=\(version - 1)")
        try other.execute("BEGIN IMMEDIATE")
        let store = Self.open(folder)
        let opening = Task { try await store.open() }
        // It has seen the version from before, and waits to go on.
        try await Task.sleep(for: .milliseconds(300))
        try other.execute("PRAGMA user_version=\(version + 1); COMMIT")
        await #expect(throws: OutboxStoreError.newerVersion) { try await opening.value }
        #expect(try other.number("PRAGMA user_version") == version + 1)
        await store.close()
    }

    @Test("What a toggle wants may be long, and where the file cannot hold it that is too large and no damage")
    func longIntent() async throws {
        let folder = try Folder()
        let store = Self.open(folder)
        let sample = OutboxRow.sample("x")
        func row(_ intent: Int) -> OutboxRow {
            OutboxRow(
                id: OutboxID(), owner: sample.owner, lane: sample.lane, payload: sample.payload,
                created: sample.created, expires: sample.expires, intent: Data(count: intent))
        }
        _ = try await store.put(row(600 << 10), isNumbered: false)
        let size = (2 << 20) + sample.payload.count
        await #expect(throws: OutboxStoreError.tooLarge(bytes: size, limit: 960 << 10)) {
            try await store.put(row(2 << 20), isNumbered: false)
        }
        await store.close()
    }
}
