import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// How much room a cache takes.
@Suite(.timeLimit(.minutes(5)), .covers("S2.20"))
struct LimitTests {
    private static let limits = CacheLimits(bytes: 1 << 20, entries: 10_000, bodyBytes: 128 << 10)

    private static func writer(_ rig: Rig, _ target: String) async throws -> any CacheBodyWriter {
        let response = Sample.response(try Sample.key(target), seed: 7, at: rig.clock.timeSource)
        return try #require(await rig.store.writer(for: response))
    }

    /// Waits until the engine has no room to make any more.
    private static func settle(_ rig: Rig) async throws {
        for _ in 0..<1_000 {
            if await rig.store.change({ $0.mustMakeRoom }) == false { return }
        }
        Issue.record("the engine goes on making room: \(await rig.store.statistics())")
    }

    @Test("Bodies under way that cannot all be stored are refused, and nothing that is stored goes for them")
    func streams() async throws {
        let rig = try Rig(limits: Self.limits) { $0.chunkBytes = 16 << 10 }
        for index in 0..<20 { try await rig.put("/kept/\(index)", seed: UInt64(index), count: 10_000) }
        var writers: [any CacheBodyWriter] = []
        var taken = 0
        for index in 0..<9 {
            let writer = try await Self.writer(rig, "/\(index)")
            if await writer.append(sampleBytes(seed: 7, count: 125_000)) { taken += 1 }
            writers.append(writer)
        }
        try await Self.settle(rig)
        #expect((3...4).contains(taken), "half of the limit is for bodies under way: \(taken)")
        for index in 0..<20 { #expect(try await rig.seeds("/kept/\(index)") == [UInt64(index)]) }
        var finished = 0
        for writer in writers where await writer.finish() != nil { finished += 1 }
        #expect(finished == taken)
        let refused = try await Self.writer(rig, "/later")
        #expect(await refused.append(sampleBytes(seed: 7, count: 125_000)), "what is over takes no room")
        #expect(await refused.finish() != nil)
        await rig.store.close()
    }

    @Test("One body may be as large as a body may be, even if that is all there is room for")
    func oneLargeBody() async throws {
        let rig = try Rig(limits: CacheLimits(bytes: 1 << 20, entries: 100, bodyBytes: 900 << 10))
        let writer = try await Self.writer(rig, "/a")
        #expect(await writer.append(sampleBytes(seed: 7, count: 800 << 10)))
        #expect(await writer.finish() != nil)
        #expect(try await rig.seeds("/a") == [7])
        try await rig.put("/b", seed: 8, count: 850 << 10)
        #expect(try await rig.seeds("/b") == [8])
        await rig.store.close()
    }

    @Test("A body that turns out too long removes what it would have replaced, and nothing that has come since")
    func tooLong() async throws {
        let rig = try Rig(limits: CacheLimits(bytes: 1 << 20, entries: 100, bodyBytes: 100_000))
        for (older, newer) in [(0, 1), (1, 0), (0, 0)] {
            try await rig.put("/a", seed: 1)
            rig.clock.advance(by: .seconds(older))
            let writer = try await Self.writer(rig, "/a")
            rig.clock.advance(by: .seconds(newer))
            if newer > 0 { try await rig.put("/a", seed: 2) }
            #expect(await writer.append(Data(count: 100_000)))
            #expect(await !writer.append(Data(count: 1)))
            #expect(try await rig.seeds("/a") == (newer > 0 ? [2] : []))
        }
        await rig.store.close()
    }

    @Test("What can never fit is not stored, and nothing goes for it")
    func tooLarge() async throws {
        let rig = try Rig(limits: CacheLimits(bytes: 300_000, entries: 100, bodyBytes: 400_000))
        try await rig.put("/a", seed: 1)
        #expect(try await rig.put("/b", seed: 2, count: 310_000) == nil)
        #expect(try await rig.seeds("/a") == [1])
        #expect(await rig.store.statistics().entries == 1)
        await rig.store.close()
    }

    @Test(
        "What others left under way beyond the limit makes nothing go, and keeps nobody busy", arguments: [true, false])
    func leftBehind(isDead: Bool) async throws {
        let rig = try Rig(limits: Self.limits)
        for index in 0..<20 { try await rig.put("/\(index)", seed: UInt64(index), count: 10_000) }
        await rig.store.close()
        // A process that has ended, or one that runs as long as the machine.
        let process = try Process.run(URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", "exit 0"])
        process.waitUntilExit()
        let writer = isDead ? process.processIdentifier : 1
        let now = CacheDatabase.seconds(rig.clock.timeSource.date())
        let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0)
        for body in 1...9 {
            try other.execute("INSERT INTO unfinished VALUES (\(body), 0, 0, \(1 << 20), \(now), \(writer))")
        }
        try await rig.put("/new", seed: 77)
        try await Self.settle(rig)
        for index in 0..<20 { #expect(try await rig.seeds("/\(index)") == [UInt64(index)]) }
        #expect(try await rig.seeds("/new") == [77])
        #expect(try other.number("SELECT count(*) FROM unfinished") == (isDead ? 0 : 9))
        rig.clock.advance(by: .seconds(121))
        try await rig.put("/new", seed: 78)
        #expect(try other.number("SELECT count(*) FROM unfinished") == 0, "its time was over")
        await rig.store.close()
    }

    @Test(
        "The file and its log are no longer than the limit and the room of an empty cache",
        arguments: [100, 2_000, 9_000, 60_000])
    func fileSize(bodyBytes: Int) async throws {
        let limits = CacheLimits(bytes: 2 << 20, entries: 100_000, bodyBytes: 256 << 10)
        let rig = try Rig(limits: limits)
        var largest: Int64 = 0
        for index in 0..<max(8_000_000 / bodyBytes / 4, 200) where index < 3_000 {
            try await rig.put("/\(index)", seed: UInt64(index), count: bodyBytes)
            if index % 20 == 0 { largest = max(largest, try rig.folder.size) }
        }
        #expect(largest <= Int64(limits.bytes) + 256 << 10, "\(largest)")
        await rig.store.close()
        #expect(try rig.folder.size <= Int64(limits.bytes) + 256 << 10)
        if bodyBytes >= 2_000 { #expect(try rig.folder.size > 1 << 20, "hardly anything is kept") }
    }

    @Test("A large body is stored without a long log, and is whole")
    func largeBody() async throws {
        let limits = CacheLimits(bytes: 32 << 20, entries: 100, bodyBytes: 8 << 20)
        let disk = try CrashDisk(seed: 1)
        let rig = try Rig(limits: limits) { configuration in
            disk.configure(&configuration)
            configuration.chunkBytes = 64 << 10
        }
        // Room for the file and its log, not for the body twice.
        crash_disk_hold_at_most(disk.handle, 12 << 20)
        try await rig.put("/a", seed: 5, count: 7 << 20)
        #expect(crash_disk_file_size(disk.handle, "/cache.db-wal") <= limits.logBytes)
        #expect(try await rig.seeds("/a") == [5])
        await rig.store.flush()
        crash_disk_hold_at_most(disk.handle, 0)
        await rig.store.close()
    }

    @Test("A file that was made under larger limits shrinks")
    func smallerLimits() async throws {
        let rig = try Rig(limits: CacheLimits(bytes: 8 << 20, entries: 10_000))
        for index in 0..<300 { try await rig.put("/\(index)", seed: UInt64(index), count: 20_000) }
        await rig.store.close()
        #expect(try rig.folder.size > 5 << 20)
        let again = try Rig(rig.folder, limits: Self.limits)
        try await Self.settle(again)
        while try rig.folder.size > 1 << 20 + 256 << 10 { await again.store.flush() }
        #expect(try await again.seeds("/299") == [299])
        let known = try #require(await again.store.change { $0.fileBytes })
        #expect(known <= 1 << 20 + 256 << 10, "it would be written anew again and again")
        await again.store.close()
    }

    @Test("What was set aside counts, and goes before anything that is stored")
    func setAsideCounts() async throws {
        let folder = try Folder()
        try Sample.damaged(sampleBytes(seed: 1, count: 700_000)).write(to: folder.file)
        let rig = try Rig(folder, limits: Self.limits)
        for index in 0..<20 { try await rig.put("/\(index)", seed: UInt64(index), count: 10_000) }
        #expect(try folder.names.contains("cache.db.damaged-1"))
        for index in 20..<60 { try await rig.put("/\(index)", seed: UInt64(index), count: 10_000) }
        #expect(try folder.size <= 1 << 20 + 256 << 10)
        #expect(try !folder.names.contains("cache.db.damaged-1"))
        for index in 0..<60 { #expect(try await rig.seeds("/\(index)") == [UInt64(index)]) }
        await rig.store.close()
    }

    @Test("What was set aside is kept no longer than a response")
    func setAsideAges() async throws {
        let folder = try Folder()
        let limits = CacheLimits(bytes: 1 << 20, entries: 100, age: .seconds(86_400))
        let clock = TestClock().timeSource
        for (age, isKept) in [(86_000.0, true), (87_000.0, false)] {
            let aside = folder.url.appendingPathComponent("cache.db.newer")
            try Data("old".utf8).write(to: aside)
            try FileManager.default.setAttributes(
                [.modificationDate: clock.date() - age], ofItemAtPath: aside.path)
            let rig = try Rig(folder, limits: limits)
            try await rig.put("/a", seed: 1)
            #expect(try folder.names.contains("cache.db.newer") == isKept)
            await rig.store.close()
        }
    }
}

extension Folder {
    /// Of all files together, but the index of the log, which is not written to the disk.
    fileprivate var size: Int64 {
        get throws {
            try names.filter { !$0.hasSuffix("-shm") }.reduce(0) { sum, name in
                let attributes = try FileManager.default.attributesOfItem(atPath: url.appendingPathComponent(name).path)
                return sum + (attributes[.size] as? Int64 ?? 0)
            }
        }
    }
}
