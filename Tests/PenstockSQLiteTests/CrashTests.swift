import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// The power is cut, or the disk fails, at every operation. Afterwards each key has what was once stored for it, or
/// nothing; and what was removed or invalidated for good is so still. `PENSTOCK_CRASHES` is how many times; `PENSTOCK_SEED` repeats a run.
@Suite(.timeLimit(.minutes(60)), .covers("H29"))
struct CrashTests {
    private static func number(_ name: String, or other: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? other
    }

    private static let total = Int(number("PENSTOCK_CRASHES", or: 2_000))
    private static let seed = number("PENSTOCK_SEED", or: UInt64.random(in: 1...1_000_000))

    @Test(
        "After a power cut at any operation, a key has right bytes or none, and what was removed or invalidated stays so"
    )
    func powerCuts() async throws {
        print("crash seed \(Self.seed)")
        var crashes = 0
        while crashes < Self.total {
            let history = try History(seed: Self.seed &+ UInt64(crashes))
            for _ in 0..<100 where crashes < Self.total {
                try await history.liveUntilPowerCut()
                try await history.verify()
                crashes += 1
            }
        }
        #expect(crashes == Self.total)
    }

    @Test(
        "After a call to the disk that fails, once or from then on, a key has right bytes or none, and nothing comes back"
    )
    func failingCalls() async throws {
        var failures = 0
        while failures < Self.total / 2 {
            let history = try History(seed: Self.seed &+ 1_000_000 &+ UInt64(failures))
            for _ in 0..<100 where failures < Self.total / 2 {
                try await history.liveWithFailure()
                try await history.verify()
                failures += 1
            }
        }
        #expect(failures == Self.total / 2)
    }
}

/// A cache that lives through crash after crash, and what was ever put into it.
private final class History {
    private let disk: CrashDisk
    private let clock = TestClock()
    private var random: Seeded
    private var nextSeed: UInt64
    /// The pairs of body and latest metadata that were stored for each target.
    private var stored: [String: Set<Pair>] = [:]
    /// What was removed for good.
    private var removed: [String: Set<Pair>] = [:]
    /// What was invalidated for good.
    private var outdated: [String: Set<Pair>] = [:]
    private static let targets = (0..<12).map { "/\($0)" }
    private var store: SQLiteCacheStore

    private struct Pair: Hashable {
        let seed: UInt64
        let revision: String
    }

    init(seed: UInt64) throws {
        disk = try CrashDisk(seed: seed)
        random = Seeded(seed: seed)
        nextSeed = seed << 20
        store = Self.open(disk, clock)
    }

    private static func open(_ disk: CrashDisk, _ clock: TestClock) -> SQLiteCacheStore {
        let limits = CacheLimits(bytes: 120_000, entries: 30, bodyBytes: 40_000)
        var configuration = SQLiteCacheConfiguration(
            file: URL(fileURLWithPath: "/"), limits: limits, time: clock.timeSource)
        configuration.patience = .zero
        configuration.retryInterval = .zero
        disk.configure(&configuration)
        return SQLiteCacheStore(configuration)
    }

    func liveUntilPowerCut() async throws {
        crash_disk_cut_after(disk.handle, Int64.random(in: 1...60, using: &random))
        try await live()
        await reopen()
    }

    func liveWithFailure() async throws {
        let codes: [Int32] = [13, 13, 10 | (3 << 8), 10 | (4 << 8), 10 | (1 << 8), 14, 8]
        crash_disk_fail_after(
            disk.handle, Int64.random(in: 1...150, using: &random), codes.randomElement(using: &random) ?? 13,
            Bool.random(using: &random))
        try await live()
        await reopen()
    }

    /// Everything is closed, the power comes back, and time has gone on.
    private func reopen() async {
        await store.close()
        #expect(crash_disk_open_count(disk.handle) == 0, "something is open")
        crash_disk_restart(disk.handle)
        clock.advance(by: .seconds(10))
        store = Self.open(disk, clock)
    }

    private func live() async throws {
        for _ in 0..<25 where !crash_disk_is_cut(disk.handle) { try await step() }
    }

    private func step() async throws {
        let target = "/\(Int.random(in: 0..<12, using: &random))"
        switch Int.random(in: 0..<20, using: &random) {
        case 0: await remove(try url(target), of: [target])
        case 1: await remove(.identity("anna"), of: Self.targets)
        case 2: await invalidate(try url(target), of: [target])
        case 8: await invalidate(.all, of: Self.targets)
        case 3: try await update(target)
        case 4: await store.flush()
        case 5, 6: try await write(target)
        case 7: for found in await store.find(try key(target)) { await check(found, target) }
        default: try await put(target)
        }
    }

    private func key(_ target: String) throws -> CacheKey {
        try Sample.key(target, identity: "anna")
    }

    private func response(_ target: String, _ seed: UInt64, _ revision: String) throws -> CachedResponse {
        CachedResponse(
            key: try key(target), status: 200, fields: ["X-Seed": "\(seed)", "X-Revision": revision],
            requestTime: clock.timeSource.date(), responseTime: clock.timeSource.date(), bodyLength: 0, tags: [target])
    }

    /// Notes what may be found from now on, and makes the response.
    private func next(_ target: String) throws -> (CachedResponse, Data) {
        nextSeed += 1
        stored[target, default: []].insert(Pair(seed: nextSeed, revision: "first"))
        let length = [0, 300, 1_024, 1_025, 5_000, 12_000].randomElement(using: &random) ?? 0
        return (try response(target, nextSeed, "first"), sampleBytes(seed: nextSeed, count: length))
    }

    private func put(_ target: String) async throws {
        let (response, body) = try next(target)
        await store.put(response, body: body)
    }

    private func write(_ target: String) async throws {
        let (response, body) = try next(target)
        guard let writer = await store.writer(for: response) else { return }
        for start in stride(from: 0, to: body.count, by: 700) {
            _ = await writer.append(body.dropFirst(start).prefix(700))
        }
        if Bool.random(using: &random) { _ = await writer.finish() } else { writer.abandon() }
    }

    private func update(_ target: String) async throws {
        guard let found = await store.find(try key(target)).first,
            let seed = found.response.fields["X-Seed"].flatMap({ UInt64($0) })
        else { return }
        nextSeed += 1
        stored[target, default: []].insert(Pair(seed: seed, revision: "\(nextSeed)"))
        await store.update(found.entry, to: try response(target, seed, "\(nextSeed)"))
    }

    private func url(_ target: String) throws -> CacheSelection {
        .url(try HTTPURL("https://example.com\(target)"))
    }

    /// - Parameter targets: those of which nothing may come back once it is done.
    private func remove(_ selection: CacheSelection, of targets: [String]) async {
        guard await store.remove([selection]) else { return }
        for target in targets { removed[target, default: []].formUnion(stored[target] ?? []) }
    }

    /// - Parameter targets: those of which nothing may be fresh once it is done.
    private func invalidate(_ selection: CacheSelection, of targets: [String]) async {
        guard await store.invalidate([selection]) else { return }
        for target in targets { outdated[target, default: []].formUnion(stored[target] ?? []) }
    }

    func verify() async throws {
        for target in Self.targets {
            for found in await store.find(try key(target)) { await check(found, target) }
        }
    }

    private func check(_ found: StoredResponse, _ target: String) async {
        guard let seed = await Sample.verify(found, in: store, target) else { return }
        let pair = Pair(seed: seed, revision: found.response.fields["X-Revision"] ?? "")
        #expect(stored[target]?.contains(pair) == true, "\(target) has what was never stored for it: \(pair)")
        #expect(removed[target]?.contains(pair) != true, "\(target) came back: \(pair)")
        if outdated[target]?.contains(pair) == true {
            #expect(found.response.isInvalidated, "\(target) is fresh again: \(pair)")
        }
    }
}
