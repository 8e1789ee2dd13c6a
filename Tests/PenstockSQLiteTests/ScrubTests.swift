import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// Erasing where something is in the way.
@Suite(.timeLimit(.minutes(5)), .covers("H28"))
struct ScrubTests {
    private static let secret = "anna's diary entry of a Tuesday"

    /// - Parameter annas: how many of forty are anna's as well as bert's.
    private static func fill(_ rig: Rig, annas: Int = 40) async throws {
        for index in 0..<40 {
            for identity in index < annas ? ["anna", "bert"] : ["bert"] {
                let key = try Sample.key("/\(index)", identity: identity)
                let text = identity == "anna" ? secret : "bert's shopping list"
                let body = Data(String(repeating: text, count: 100).utf8)
                await rig.store.put(Sample.response(key, seed: 0, at: rig.clock.timeSource), body: body)
            }
        }
    }

    private static func holdsSecret(_ folder: Folder) throws -> Bool {
        try folder.bytes.range(of: Data(secret.utf8)) != nil
    }

    /// Somebody who reads the file, and so keeps its log.
    private static func reader(_ folder: Folder) throws -> SQLiteConnection {
        let reader = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
        try reader.execute("BEGIN; SELECT count(*) FROM entry")
        return reader
    }

    @Test("Who reads the file while a user is erased is waited for")
    func waits() async throws {
        let rig = try Rig()
        try await Self.fill(rig)
        let reader = try Self.reader(rig.folder)
        let removal = Task { await rig.store.remove([.identity("anna")]) }
        while !rig.events.contains({ if case .failed(.scrub, .busy, _) = $0 { true } else { false } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try Self.holdsSecret(rig.folder), "the reader was not in the way")
        try reader.execute("COMMIT")
        #expect(await removal.value)
        #expect(try !Self.holdsSecret(rig.folder))
        await rig.store.close()
    }

    @Test("An erasure that others kept from being finished says so, and is finished when they let go, by itself")
    func finishesLater() async throws {
        let rig = try Rig { $0.patience = .milliseconds(50) }
        try await Self.fill(rig)
        let reader = try Self.reader(rig.folder)
        #expect(await rig.store.remove([.identity("anna")]) == false)
        #expect(await rig.store.find(try Sample.key("/1", identity: "anna")).isEmpty)
        #expect(await rig.store.find(try Sample.key("/1", identity: "bert")).count == 1)
        #expect(try Self.holdsSecret(rig.folder), "the reader was not in the way")
        let told = rig.events.all.count
        try reader.execute("COMMIT")
        while try Self.holdsSecret(rig.folder) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(rig.events.all.count == told, "each attempt was told of")
        await rig.store.close()
    }

    @Test("Two who erase at once are both told when it is done")
    func together() async throws {
        let rig = try Rig()
        try await Self.fill(rig)
        let reader = try Self.reader(rig.folder)
        async let first = rig.store.remove([.identity("anna")])
        async let second = rig.store.remove([.identity("bert")])
        while !rig.events.contains({ if case .failed(.scrub, .busy, _) = $0 { true } else { false } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        try reader.execute("COMMIT")
        #expect(await first)
        #expect(await second)
        #expect(await rig.store.statistics() == CacheStatistics())
        await rig.store.close()
    }

    @Test("A store that is closed before the file is clean leaves it to the next one that opens the file")
    func nextOne() async throws {
        let rig = try Rig { $0.patience = .milliseconds(50) }
        try await Self.fill(rig)
        let reader = try Self.reader(rig.folder)
        #expect(await rig.store.remove([.identity("anna")]) == false)
        await rig.store.close()
        try reader.execute("COMMIT")
        #expect(try Self.holdsSecret(rig.folder))
        let next = try Rig(rig.folder)
        #expect(await next.store.find(try Sample.key("/1", identity: "bert")).count == 1)
        while try Self.holdsSecret(rig.folder) { try await Task.sleep(for: .milliseconds(20)) }
        await next.store.close()
    }

    @Test(
        "Where there is no room to write the file anew, signing out leaves no byte nevertheless",
        arguments: [true, false])
    func fullDisk(isKnown: Bool) async throws {
        let disk = try CrashDisk(seed: 1)
        disk.knowsRoom = isKnown
        let rig = try Rig(change: disk)
        try await Self.fill(rig, annas: 2)
        await rig.store.flush()
        let secret = Data(Self.secret.utf8)
        #expect(disk.contains(secret))
        let size = crash_disk_size(disk.handle)
        // Enough for the log of the removal, not for a second file.
        crash_disk_hold_at_most(disk.handle, size + size / 2)
        #expect(await rig.store.remove([.identity("anna")]))
        #expect(!disk.contains(secret))
        #expect(rig.events.all == [.thrownAway], "there was no room even for the removal")
        crash_disk_hold_at_most(disk.handle, size * 2)
        #expect(try await rig.put("/a", seed: 3) != nil)
        #expect(try await rig.seeds("/a") == [3])
        await rig.store.close()
    }

    @Test("Where there is room enough, what belongs to others stays", arguments: [true, false])
    func enoughRoom(isKnown: Bool) async throws {
        let disk = try CrashDisk(seed: 1)
        disk.knowsRoom = isKnown
        let rig = try Rig(change: disk)
        try await Self.fill(rig)
        await rig.store.flush()
        crash_disk_hold_at_most(disk.handle, crash_disk_size(disk.handle) * 4)
        #expect(await rig.store.remove([.identity("anna")]))
        #expect(!disk.contains(Data(Self.secret.utf8)))
        #expect(await rig.store.find(try Sample.key("/1", identity: "bert")).count == 1)
        #expect(rig.events.all == [])
        await rig.store.close()
    }

    @Test("Everything may go where nothing can be written at all")
    func nothingCanBeWritten() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Rig(change: disk)
        try await Self.fill(rig)
        crash_disk_refuse(disk.handle, 13)
        #expect(await rig.store.remove([.identity("anna")]))
        #expect(!disk.contains(Data(Self.secret.utf8)))
        crash_disk_refuse(disk.handle, 0)
        await rig.store.close()
    }
}
