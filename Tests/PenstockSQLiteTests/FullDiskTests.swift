import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// Disks that have no room for all that the limits allow.
@Suite(.timeLimit(.minutes(5)), .covers("H29"))
struct FullDiskTests {
    /// Limits that a disk of the tests cannot reach, with a log of a quarter of a megabyte at most.
    private static let limits = CacheLimits(bytes: 2 << 20, entries: 10_000, age: nil, bodyBytes: 1 << 20)

    private static func rig(_ disk: CrashDisk) throws -> Rig {
        try Rig(limits: limits) {
            disk.configure(&$0)
            $0.inlineBytes = 16 << 10
            $0.chunkBytes = 64 << 10
        }
    }

    private static func isFull(_ event: SQLiteCacheEvent) -> Bool {
        if case .failed(_, .full, _) = event { true } else { false }
    }

    @Test(
        "A disk that fills up takes everything all the same, in place of what was used least recently",
        arguments: [1_000, 20_000, 60_000])
    func fillsUp(size: Int) async throws {
        let disk = try CrashDisk(seed: 1)
        disk.knowsRoom = true
        crash_disk_hold_at_most(disk.handle, 1_300_000)
        let rig = try Self.rig(disk)
        for index in 0..<(6_000_000 / size) {
            #expect(try await rig.put("/\(index)", seed: UInt64(index), count: size) != nil, "\(index)")
        }
        #expect(!rig.events.contains(Self.isFull))
        #expect(try await rig.seeds("/\(6_000_000 / size - 1)").count == 1)
        let bytes = await rig.store.statistics().bytes
        #expect(bytes > 300_000, "more than is needed was removed")
        await rig.store.close()
    }

    @Test("What is used stays where a disk fills up")
    func keepsWhatIsUsed() async throws {
        let disk = try CrashDisk(seed: 1)
        disk.knowsRoom = true
        crash_disk_hold_at_most(disk.handle, 1_300_000)
        let rig = try Self.rig(disk)
        try await rig.put("/used", seed: 9, count: 20_000)
        for index in 0..<200 {
            try await rig.put("/\(index)", seed: UInt64(index), count: 20_000)
            #expect(try await rig.seeds("/used") == [9], "\(index)")
        }
        #expect(try await rig.seeds("/0") == [])
        await rig.store.close()
    }

    @Test("A nearly full disk does not have the log written back with every change")
    func gathersChanges() async throws {
        let disk = try CrashDisk(seed: 1)
        disk.knowsRoom = true
        let rig = try Rig(limits: CacheLimits(bytes: 16 << 20, entries: 10_000)) {
            disk.configure(&$0)
            $0.inlineBytes = 16 << 10
        }
        // A log that is longer than it may become once the disk is nearly full, and pages that are free by then.
        for index in 0..<60 { try await rig.put("/\(index)", seed: 0, count: 14_000) }
        for index in 0..<60 { await rig.store.remove([.url(try HTTPURL("https://example.com/\(index)"))]) }
        #expect(crash_disk_file_size(disk.handle, "/cache.db-wal") > 512 << 10)
        func changes(_ name: String) async throws -> Int64 {
            let before = crash_disk_changes(disk.handle)
            for index in 0..<100 { try await rig.put("/\(name)/\(index)", seed: 1, count: 500) }
            return crash_disk_changes(disk.handle) - before
        }
        let usual = try await changes("a")
        crash_disk_hold_at_most(disk.handle, crash_disk_size(disk.handle) + 400_000)
        let few = try await changes("b")
        #expect(few < usual * 3 / 2, "\(few) for \(usual)")
        #expect(await rig.store.statistics().entries == 200)
        await rig.store.close()
    }

    @Test(
        "A cache that is begun on a nearly full disk grows while there is room beside its log",
        arguments: [500, 20_000])
    func growsWhileSmall(size: Int) async throws {
        for room in [300_000, 500_000, 620_000, 780_000, 940_000] {
            let disk = try CrashDisk(seed: 1)
            disk.knowsRoom = true
            crash_disk_hold_at_most(disk.handle, Int64(room))
            let rig = try Rig(limits: CacheLimits(bytes: 16 << 20, entries: 10_000)) {
                disk.configure(&$0)
                $0.inlineBytes = 16 << 10
                $0.chunkBytes = 64 << 10
            }
            for index in 0..<200 {
                #expect(try await rig.put("/\(index)", seed: 1, count: size) != nil, "\(index) of \(room)")
            }
            #expect(!rig.events.contains(Self.isFull))
            let bytes = await rig.store.statistics().bytes
            if room > 700_000 { #expect(bytes > 80_000, "\(bytes) of \(room)") }
            await rig.store.close()
        }
    }

    #if os(Linux)
        @Test("A file system that has no size is not taken for a full disk")
        func knowsNoSize() throws {
            var status = statvfs()
            try #require(statvfs("/proc", &status) == 0)
            #expect(status.f_blocks == 0)
            #expect(MachineFileSystem().freeBytes(at: "/proc") == nil)
        }
    #endif

    /// Stores until there is room for no more.
    private static func fill(_ rig: Rig, _ disk: CrashDisk) async throws {
        for index in 0..<12 { try await rig.put("/\(index)", seed: UInt64(index), count: 60_000) }
        crash_disk_hold_at_most(disk.handle, crash_disk_size(disk.handle))
        var index = 0
        while index < 40, try await rig.put("/more/\(index)", seed: UInt64(index), count: 60_000) != nil { index += 1 }
        #expect(index < 40)
    }

    @Test(
        "Where there is no room even to remove something, the file is begun anew, and what is marked or removed stays so"
    )
    func beginsAnew() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Self.rig(disk)
        try await Self.fill(rig, disk)
        rig.clock.advance(by: .seconds(5))
        for index in 0..<20 {
            #expect(try await rig.put("/new/\(index)", seed: UInt64(index), count: 20_000) != nil, "\(index)")
            rig.clock.advance(by: .seconds(1))
        }
        #expect(rig.events.all.count { $0 == .thrownAway } == 1)
        #expect(try await rig.seeds("/0") == [])
        #expect(try await rig.seeds("/new/19") == [19])
        await rig.store.close()
    }

    @Test("A disk that is full for a moment costs nothing that is stored")
    func momentarily() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Self.rig(disk)
        try await Self.fill(rig, disk)
        let entries = await rig.store.statistics().entries
        for _ in 0..<10 { #expect(try await rig.put("/new", seed: 1, count: 60_000) == nil) }
        crash_disk_hold_at_most(disk.handle, 8 << 20)
        rig.clock.advance(by: .seconds(5))
        #expect(try await rig.put("/new", seed: 1, count: 60_000) != nil)
        #expect(await rig.store.statistics().entries == entries + 1)
        #expect(!rig.events.all.contains(.thrownAway))
        await rig.store.close()
    }

    @Test("A file that cannot be opened for want of room is begun anew")
    func opensAnew() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Self.rig(disk)
        try await Self.fill(rig, disk)
        await rig.store.close()
        crash_disk_hold_at_most(disk.handle, crash_disk_size(disk.handle))
        let next = try Self.rig(disk)
        for _ in 0..<4 {
            try await next.put("/new", seed: 1, count: 20_000)
            next.clock.advance(by: .seconds(6))
        }
        #expect(try await next.seeds("/new") == [1])
        await next.store.close()
    }

    @Test("Uses that could not be written down are written down with the next change")
    func keepsUses() async throws {
        let disk = try CrashDisk(seed: 1)
        let rig = try Self.rig(disk)
        for index in 0..<3 { try await rig.put("/\(index)", seed: UInt64(index)) }
        #expect(try await rig.seeds("/0") == [0])
        let reader = rig.store.engine.reader
        #expect(reader.useCount == 1)
        crash_disk_refuse(disk.handle, 13)
        #expect(try await rig.put("/3", seed: 3, count: 60_000) == nil)
        #expect(reader.useCount == 1)
        await rig.store.close()
    }
}
