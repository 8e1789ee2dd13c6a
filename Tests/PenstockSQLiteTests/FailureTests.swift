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
