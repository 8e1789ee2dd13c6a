import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// How long anybody waits for others who have the file.
@Suite(.timeLimit(.minutes(5)), .covers("H29"))
struct WaitingTests {
    private static func elapsed(_ body: () async throws -> Void) async throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try await body()
        return clock.now - start
    }

    @Test("While another process holds the file, no change waits longer than it may, however many there are")
    func lockedFile() async throws {
        let rig = try Rig { $0.patience = .seconds(8) }
        try await rig.put("/a", seed: 1)
        let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0)
        try other.execute("BEGIN IMMEDIATE")
        let longest = try await withThrowingTaskGroup(of: Duration.self) { group in
            for index in 0..<100 {
                group.addTask {
                    try await Self.elapsed {
                        let stored = try await rig.put("/\(index)", seed: 2)
                        #expect(stored == nil)
                    }
                }
            }
            return try await group.max() ?? .zero
        }
        #expect(longest >= .seconds(7.9), "it was not waited for")
        // Far less than twice as long, also on a machine that is busy.
        #expect(longest < .seconds(14))
        #expect(rig.events.all == Array(repeating: .failed(.write, .busy, code: 5), count: 100))
        try other.execute("ROLLBACK")
        try await rig.put("/b", seed: 3)
        #expect(try await rig.seeds("/b") == [3])
        await rig.store.close()
    }

    @Test("While another process writes, what is stored is found at once")
    func lookUps() async throws {
        let rig = try Rig { $0.patience = .seconds(20) }
        try await rig.put("/a", seed: 1)
        let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0)
        try other.execute("BEGIN IMMEDIATE")
        let put = Task { try await rig.put("/b", seed: 2) != nil }
        let time = try await Self.elapsed {
            for _ in 0..<100 {
                let seeds = try await rig.seeds("/a")
                #expect(seeds == [1])
            }
        }
        #expect(time < .seconds(5))
        try other.execute("ROLLBACK")
        #expect(try await put.value, "who lets go in time is waited for")
        await rig.store.close()
    }

    @Test(
        "What holds up the queue holds up nobody for longer than patience: what is stored is given up, what is removed is found no more"
    )
    func stuckQueue() async throws {
        let rig = try Rig { $0.patience = .seconds(3) }
        try await rig.put("/a", seed: 1)
        let gate = DispatchSemaphore(value: 0)
        let isStuck = Locked(false)
        let stuck = Task {
            await rig.store.change(isAlone: true, patience: .seconds(3_600)) { _ in
                isStuck.withLock { $0 = true }
                gate.wait()
                return true
            }
        }
        while !Task.isCancelled, !isStuck.withLock({ $0 }) { await Task.yield() }
        #expect(try await rig.seeds("/a") == [1])
        #expect(try await rig.put("/b", seed: 2) == nil)
        #expect(try await rig.seeds("/a") == [1])
        #expect(await rig.store.invalidate([.url(try HTTPURL("https://example.com/a"))]) == false)
        #expect(try await rig.seeds("/a") == [], "what may be out of date was found")
        gate.signal()
        #expect(await stuck.value == true)
        rig.clock.advance(by: .seconds(6))
        let found = await rig.store.find(try Sample.key("/a"))
        #expect(found.first?.response.isInvalidated == true, "the invalidation was forgotten")
        #expect(try await rig.seeds("/b") == [], "what was given up was done")
        await rig.store.close()
    }

    @Test("A change that is given up is not done, one that runs is not given up, and each ends once")
    func jobs() {
        let job = CacheJob(run: { _ in {} })
        #expect(job.take())
        #expect(job.take(), "a transaction may run it again")
        #expect(!job.giveUp())
        #expect(job.end())
        #expect(!job.end())
        #expect(!job.take())
        let late = CacheJob(run: { _ in {} })
        #expect(late.giveUp())
        #expect(!late.take())
        #expect(!late.end())
    }

    @Test("As long as changes are done, those behind them wait")
    func progress() {
        let job = CacheJob(run: { _ in {} })
        let past = DispatchTime(uptimeNanoseconds: 1)
        #expect(job.isLate(patience: .zero, lastDone: past))
        #expect(!job.isLate(patience: .seconds(60), lastDone: past))
        #expect(!job.isLate(patience: .seconds(60), lastDone: .now()))
        #expect(!job.isLate(patience: .zero, lastDone: .now() + 60))
        let own = CacheJob(run: { _ in {} }, patience: .seconds(60))
        #expect(!own.isLate(patience: .zero, lastDone: past))
    }

    @Test("A process that has taken the whole file makes a look-up a miss within a moment")
    func wholeFile() async throws {
        let rig = try Rig { $0.patience = .seconds(1) }
        try await rig.put("/a", seed: 1)
        await rig.store.close()
        var other: SQLiteConnection? = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0)
        try other?.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE state SET epoch = epoch; COMMIT")
        let time = try await Self.elapsed {
            for _ in 0..<20 {
                let seeds = try await rig.seeds("/a")
                #expect(seeds == [])
            }
        }
        // The first waits, and those after it know.
        #expect(time < .seconds(10))
        other = nil
        // Opening a file has a second here, which a busy machine may not have at once.
        var seeds: [UInt64] = []
        for _ in 0..<50 where seeds.isEmpty {
            rig.clock.advance(by: .seconds(6))
            seeds = try await rig.seeds("/a")
        }
        #expect(seeds == [1])
        await rig.store.close()
    }

    @Test("Who looks something up for long makes the others miss, and does not keep them")
    func slowLookUp() throws {
        let reader = CacheReader(limits: .disk, time: .system)
        let key = try Sample.key("/a")
        guard case .closed = reader.responses(for: key, mayWait: true) else { throw CocoaError(.fileReadUnknown) }
        #expect(reader.lock.try())
        guard case .failed(let error) = reader.responses(for: key, mayWait: true) else {
            throw CocoaError(.fileReadUnknown)
        }
        #expect(error.meaning == .busy)
        let entry = CacheEntryID(row: 1, version: 1)
        guard case .failed = reader.bytes(of: entry, from: 0, mayWait: true) else {
            throw CocoaError(.fileReadUnknown)
        }
        guard case .wouldWait = reader.responses(for: key, mayWait: false) else { throw CocoaError(.fileReadUnknown) }
        reader.lock.unlock()
        guard case .closed = reader.bytes(of: entry, from: 0, mayWait: true) else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    @Test("A look-up that has to wait waits on no thread that runs tasks")
    func tasksGoOn() async throws {
        let rig = try Rig()
        try await rig.put("/a", seed: 1)
        _ = try await rig.seeds("/a")
        let reader = rig.store.engine.reader
        let lookUps = 4 * ProcessInfo.processInfo.activeProcessorCount
        // On a busy machine the first may have given up before the last has begun.
        var haveAllWaited = false
        for _ in 0..<20 where !haveAllWaited {
            let ended = Locked(0)
            let all = reader.handedOver + lookUps
            await Self.hold(reader.lock)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<lookUps {
                    group.addTask {
                        _ = try? await rig.seeds("/a")
                        ended.withLock { $0 += 1 }
                    }
                }
                while !Task.isCancelled, reader.handedOver < all, ended.withLock({ $0 == 0 }) { await Task.yield() }
                // This task goes on while all of them wait.
                haveAllWaited = ended.withLock { $0 == 0 }
                Self.release.signal()
            }
        }
        #expect(haveAllWaited)
        let found = try await rig.seeds("/a")
        #expect(found == [1])
        await rig.store.close()
    }

    /// A lock is let go of by the thread that took it.
    private static let holder = DispatchQueue(label: "holder")
    private static let release = DispatchSemaphore(value: 0)

    private static func hold(_ lock: NSLock) async {
        await withCheckedContinuation { continuation in
            holder.async {
                lock.lock()
                continuation.resume()
                release.wait()
                lock.unlock()
            }
        }
    }

    @Test("To note a use waits for no look-up")
    func uses() {
        let reader = CacheReader(limits: .disk, time: .system)
        #expect(reader.lock.try())
        defer { reader.lock.unlock() }
        for row in 0..<70_000 as Range<Int64> { reader.touch(CollectionOfOne(row)) }
        let uses = reader.takeUses()
        #expect(uses.last == 69_999)
        #expect(uses.count <= 65_536 && uses.count > 32_000)
        #expect(reader.takeUses().isEmpty)
    }
}
