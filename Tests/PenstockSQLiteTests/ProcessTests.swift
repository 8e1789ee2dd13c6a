import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// Several processes with one file, and processes that are killed.
@Suite(.timeLimit(.minutes(10)), .covers("H29"))
struct ProcessTests {
    private static func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        guard let writer = BuiltProgram.url("cache-writer") else { throw CocoaError(.fileNoSuchFile) }
        process.executableURL = writer
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // The process that would write a crash down holds on to what its end is noticed by.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        try process.run()
        return process
    }

    /// - Returns: how many responses were found, all of them right.
    private static func verify(_ file: URL, _ events: Events) async throws -> Int {
        var configuration = SQLiteCacheConfiguration(file: file, onEvent: events.receive)
        configuration.patience = .seconds(30)
        let store = SQLiteCacheStore(configuration)
        var found = 0
        for index in 0..<40 {
            for stored in await store.find(try Sample.key("/\(index)")) {
                await Sample.verify(stored, in: store, "/\(index)")
                found += 1
            }
        }
        await store.close()
        return found
    }

    /// The length of the file and of its log, and when they were written to last.
    private static func written(_ file: URL) -> [String] {
        [file.path, file.path + "-wal"].compactMap { path in
            guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
            let date = facts[.modificationDate] as? Date
            return "\(path) \(facts[.size] ?? 0) \(date?.timeIntervalSince1970 ?? 0)"
        }
    }

    @Test("A process that is killed while it writes leaves right bytes")
    func kills() async throws {
        let folder = try Folder()
        let events = Events()
        var random = Seeded.printed("kill")
        var found = 0
        for round in 0..<12 {
            let before = Self.written(folder.file)
            let process = try Self.start([folder.file.path, "\(random.next() >> 1)"])
            // However long it takes to begin, it is killed while it writes. How far it comes decides nothing but where.
            while Self.written(folder.file) == before, process.isRunning {
                try await Task.sleep(for: .milliseconds(2))
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...180, using: &random)))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(process.terminationStatus == SIGKILL, "round \(round): it ended before it was killed")
            found = try await Self.verify(folder.file, events)
            #expect(
                !events.contains { if case .setAside = $0 { true } else { false } }, "round \(round): \(events.all)")
        }
        #expect(found > 0, "nothing was ever written")
    }

    @Test("Three processes write one file, and what is found is right")
    func sharing() async throws {
        let folder = try Folder()
        let events = Events()
        let processes = try (1...3).map { try Self.start([folder.file.path, "\($0)", "150"]) }
        var found = 0
        while processes.contains(where: \.isRunning) {
            found = try await Self.verify(folder.file, events)
        }
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        found = try await Self.verify(folder.file, events)
        #expect(found > 10)
        #expect(events.all == [])
    }

    @Test("What another process removes or replaces is no longer at hand in this one")
    func coherence() async throws {
        let here = try Rig()
        let elsewhere = try Rig(here.folder)
        let layered = TieredCacheStore(over: here.store, coherence: .zero, time: here.clock.timeSource)
        for target in ["/a", "/b"] {
            let response = Sample.response(try Sample.key(target), seed: 1, at: here.clock.timeSource)
            await layered.put(response, body: sampleBytes(seed: 1, count: 100))
        }
        #expect(layered.responsesAtHand(for: try Sample.key("/a")) != nil)
        _ = try await elsewhere.put("/c", seed: 3)
        _ = await here.store.statistics()
        #expect(layered.responsesAtHand(for: try Sample.key("/a")) != nil, "what is new elsewhere takes nothing away")
        _ = try await elsewhere.put("/a", seed: 2)
        await elsewhere.store.remove([.url(try HTTPURL("https://example.com/b"))])
        here.store.lookForForeignChanges()
        _ = await here.store.statistics()
        #expect(layered.responsesAtHand(for: try Sample.key("/a")) == nil)
        let found = await layered.find(try Sample.key("/a"))
        #expect(await Sample.verify(try #require(found.first), in: layered) == 2)
        #expect(await layered.find(try Sample.key("/b")).isEmpty)
        await layered.close()
        await elsewhere.store.close()
    }
}
