import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// Disks that do not do what they are asked.
@Suite(.timeLimit(.minutes(5)), .covers("H29"))
struct FailureTests {

    @Test(
        "A disk that is full, write-protected or broken is a miss with an event; what can be read still is",
        arguments: [(13, "full"), (8, "readOnly"), (10 | (3 << 8), "inputOutput")] as [(Int32, String)])
    func refusedWrites(code: Int32, problem: String) async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Rig(change: disk)
        try await rig.put("/a", seed: 1)
        crash_disk_refuse(disk.handle, code)
        #expect(try await rig.put("/b", seed: 2) == nil)
        #expect(try await rig.seeds("/a") == [1])
        #expect(try await rig.seeds("/b") == [])
        #expect(
            rig.events.contains {
                if case .failed(.write, let seen, _) = $0 { seen.rawValue == problem } else { false }
            })
        crash_disk_refuse(disk.handle, 0)
        try await rig.put("/b", seed: 2)
        #expect(try await rig.seeds("/b") == [2])
        await rig.store.close()
    }

    /// Has the file grow no more.
    private static func fill(_ rig: Rig) async throws {
        let isFilled = await rig.store.change { database throws(SQLiteError) in
            let pages = try database.connection.number("PRAGMA page_count") ?? 0
            let free = try database.connection.number("PRAGMA freelist_count") ?? 0
            _ = try database.connection.number("PRAGMA max_page_count=\(pages)")
            return free == 0
        }
        #expect(isFilled == true, "there is room in the file")
    }

    @Test("Where there is no room, a few of those that were used least recently make it, and what was set aside")
    func makesRoom() async throws {
        let folder = try Folder()
        try Sample.damaged(Data("damaged".utf8)).write(to: folder.file)
        let rig = try Rig(folder)
        for index in 0..<20 { try await rig.put("/\(index)", seed: UInt64(index), count: 10_000) }
        try await Self.fill(rig)
        #expect(try folder.names.count > 3)
        #expect(try await rig.seeds("/0") == [0])
        try await rig.put("/new", seed: 77, count: 10_000)
        #expect(try await rig.seeds("/new") == [77])
        #expect(try await rig.seeds("/0") == [0], "it was used a moment ago")
        #expect(try await rig.seeds("/1") == [])
        let entries = await rig.store.statistics().entries
        #expect((10..<20).contains(entries), "\(entries)")
        #expect(try folder.names.count == 3)
        #expect(rig.events.all.allSatisfy { if case .failed = $0 { false } else { true } })
        await rig.store.close()
    }

    @Test("What finds no room by that costs no more until the file would be tried again")
    func makesRoomOnce() async throws {
        let rig = try Rig()
        for index in 0..<120 { try await rig.put("/\(index)", seed: UInt64(index)) }
        try await Self.fill(rig)
        let full = { (event: SQLiteCacheEvent) in if case .failed(.write, .full, _) = event { true } else { false } }
        for (wait, entries) in [(0, 88), (4_999, 88), (1, 56)] {
            rig.clock.advance(by: .milliseconds(wait))
            #expect(try await rig.put("/large", seed: 1, count: 200_000) == nil)
            #expect(await rig.store.statistics().entries == entries, "after \(wait) ms")
        }
        #expect(rig.events.contains(full))
        await rig.store.close()
    }

    @Test("A removal that cannot be written is not forgotten: until it is made up for, nothing is found")
    func refusedRemoval() async throws {
        for code in [8, 10 | (3 << 8)] as [Int32] {
            let disk = try CrashDisk(seed: 1)
            let rig = try Rig(change: disk)
            try await rig.put("/a", seed: 1)
            try await rig.put("/b", seed: 2)
            crash_disk_refuse(disk.handle, code)
            #expect(await rig.store.remove([.url(try HTTPURL("https://example.com/a"))]) == false)
            #expect(try await rig.seeds("/a") == [])
            rig.clock.advance(by: .seconds(6))
            #expect(try await rig.seeds("/a") == [])
            crash_disk_refuse(disk.handle, 0)
            rig.clock.advance(by: .seconds(6))
            #expect(try await rig.seeds("/a") == [])
            try await rig.put("/c", seed: 3)
            #expect(try await rig.seeds("/c") == [3])
            await rig.store.close()
        }
    }

    @Test("Where there is no room to write a removal down, everything is removed")
    func removalFromFullDisk() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Rig(change: disk)
        for target in ["/a", "/b"] { try await rig.put(target, seed: 1) }
        crash_disk_refuse(disk.handle, 13)
        #expect(await rig.store.remove([.url(try HTTPURL("https://example.com/a"))]))
        #expect(rig.events.all.contains(.thrownAway))
        #expect(!disk.exists("/cache.db"))
        crash_disk_refuse(disk.handle, 0)
        rig.clock.advance(by: .seconds(6))
        #expect(try await rig.seeds("/a") == [])
        try await rig.put("/a", seed: 2)
        #expect(try await rig.seeds("/a") == [2])
        await rig.store.close()
    }

    @Test("A file that another process holds is waited for, then is a miss with an event")
    func lockedFile() async throws {
        let rig = try Rig { $0.patience = .milliseconds(500) }
        try await rig.put("/a", seed: 1)
        let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 10_000)
        try other.execute("BEGIN IMMEDIATE")
        #expect(try await rig.put("/b", seed: 2) == nil)
        #expect(try await rig.seeds("/a") == [1])
        #expect(rig.events.contains { if case .failed(.write, .busy, _) = $0 { true } else { false } })
        #expect(await rig.store.remove([.all]) == false)
        #expect(try await rig.seeds("/a") == [])
        try other.execute("ROLLBACK")
        rig.clock.advance(by: .seconds(6))
        #expect(try await rig.seeds("/a") == [])
        try await rig.put("/b", seed: 2)
        #expect(try await rig.seeds("/b") == [2])
        await rig.store.close()
    }

    @Test("The memory above a disk that is full goes on caching")
    func memoryGoesOn() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Rig(change: disk)
        let layered = TieredCacheStore(over: rig.store, time: rig.clock.timeSource)
        try await rig.put("/warm", seed: 9)
        crash_disk_refuse(disk.handle, 13)
        let key = try Sample.key("/a")
        await layered.put(
            Sample.response(key, seed: 1, at: rig.clock.timeSource), body: sampleBytes(seed: 1, count: 10))
        let found = try #require(layered.responsesAtHand(for: key)?.first)
        #expect(await Sample.verify(found, in: layered) == 1)
        await layered.close()
    }

    @Test("A file that disappears under the store is begun anew")
    func movedFile() async throws {
        let rig = try Rig()
        try await rig.put("/a", seed: 1)
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: rig.folder.file.path + end) }
        try await rig.put("/b", seed: 2)
        #expect(try await rig.seeds("/b") == [2])
        #expect(try await rig.seeds("/a") == [])
        await rig.store.close()
    }
}

extension Rig {
    /// A store on a disk that can be made to fail.
    init(change disk: CrashDisk) throws {
        try self.init { disk.configure(&$0) }
    }
}
