import Foundation
import PenstockTestSupport
import Testing

/// A process dies at any of its calls to the store, the power is cut, or the disk fails, before a server that loses answers.
/// `PENSTOCK_SOAK=full` makes ten thousand crashes of the disk alone; `PENSTOCK_SEED` repeats a run. Where `PENSTOCK_CRASHES`
/// asks for few, as under a sanitizer, a tenth of the deaths is died.
@Suite(.timeLimit(.minutes(60)), .covers("X9"))
struct OutboxCrashTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isShort = environment["PENSTOCK_CRASHES"] != nil
    private static let crashes = environment["PENSTOCK_SOAK"] == "full" ? 10_000 : isShort ? 100 : 600
    private static let deaths = isShort ? 1_000 : 10_000
    private static let seed =
        environment["PENSTOCK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1_000_000)
    /// Lives of one history.
    private static let length = 20

    /// Lives through histories until so many of their lives have ended by a failure, a few histories at a time.
    ///
    /// - Returns: how many have.
    private static func live(
        until deaths: Int, _ seed: UInt64, _ ground: @escaping @Sendable (UInt64) throws -> any OutboxGround
    ) async throws -> Int {
        print("outbox crash seed \(Self.seed)")
        let width = 2
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<width {
                group.addTask {
                    var (seed, seen) = (seed &+ UInt64(worker), 0)
                    while seen < deaths / width {
                        let history = OutboxHistory(seed: seed, on: try ground(seed))
                        for _ in 0..<length { await history.live() }
                        try await history.end()
                        seen += history.deaths
                        seed &+= UInt64(width)
                    }
                    return seen
                }
            }
            return try await group.reduce(0, +)
        }
    }

    @Test(
        "After ten thousand deaths, each before or after a call to the store, each write has one effect, in its order")
    func deaths() async throws {
        let deaths = try await Self.live(until: Self.deaths, Self.seed &+ 2_000_000) { _ in MortalGround() }
        #expect(deaths >= Self.deaths)
    }

    @Test("After a power cut at any operation each write that was put has one effect, and each resource its order")
    func powerCuts() async throws {
        let cuts = try await Self.live(until: Self.crashes * 7 / 10, Self.seed) { seed in
            try DiskGround(seed: seed, .powerCut)
        }
        #expect(cuts >= Self.crashes * 7 / 10)
    }

    @Test("After a call to the disk that fails, once or from then on, each write that was put has one effect")
    func failingCalls() async throws {
        for index in 0..<(Self.crashes * 3 / 10 / Self.length) {
            let seed = Self.seed &+ 1_000_000 &+ UInt64(index)
            let history = OutboxHistory(seed: seed, on: try DiskGround(seed: seed, .failingCall))
            for _ in 0..<Self.length { await history.live() }
            try await history.end()
        }
    }
}
