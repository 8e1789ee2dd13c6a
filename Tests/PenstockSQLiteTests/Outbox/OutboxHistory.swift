import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// A time that goes on whenever somebody waits for it.
final class HurriedTime: Sendable {
    private let state = Locked(Duration.zero)

    var source: TimeSource {
        TimeSource(
            now: { self.state.withLock { $0 } },
            date: { Date(timeIntervalSince1970: 1_000_000_000 + self.state.withLock { $0 } / .seconds(1)) },
            sleep: { duration in
                try Task.checkCancellation()
                await Task.yield()
                self.state.withLock { $0 += max(duration, .zero) }
            })
    }

    /// Sets the clock forward or back.
    func jump(by duration: Duration) {
        state.withLock { $0 = max($0 + duration, .zero) }
    }
}

/// One write of many to a resource, which is tried for ever. Where it fails all the same, those behind it wait.
struct NumberedWrite: OutboxEndpoint {
    typealias Output = Void
    let resource: Int
    let number: Int
    var text = String(repeating: "x", count: 300)
    var route: Route { .post("/resources/\(resource, name: "resource")") }
    var lane: OutboxLane { "\(resource)" }

    static var outboxPolicy: OutboxPolicy {
        OutboxPolicy(
            lifetime: .seconds(1_000_000_000), keyLifetime: .seconds(1_000_000_000), afterFailure: .stopLane,
            conflictLimit: 1_000, numberField: "X-Number")
    }
}

/// What a server must have done, and what it did.
struct DeliveryRecord {
    /// By the number of each write that was put: its resource, and whether the caller was told that it is on disk.
    var put: [Int: (resource: Int, isKept: Bool)] = [:]
    /// How often each was done.
    private var counts: [Int: Int] = [:]
    /// The last that each resource took.
    private var last: [String: Int] = [:]
    /// How many effects were looked at.
    private var checked = 0

    /// Checks that each write that is on disk had one effect, no other had more, and that each resource saw them in order.
    ///
    /// - Parameter isOver: whether everything was delivered.
    mutating func check(_ server: IdempotentServer, isOver: Bool, _ comment: String = "") {
        let effects = server.effects.dropFirst(checked)
        checked += effects.count
        for effect in effects {
            guard let write = try? JSONDecoder().decode(Written.self, from: effect.body) else {
                Issue.record("the server got what was never written: \(effect) \(comment)")
                return
            }
            counts[write.number, default: 0] += 1
            #expect(counts[write.number] == 1, "\(write) was done again \(comment)")
            #expect(put[write.number]?.resource == write.resource, "\(write) \(comment)")
            let before = last[effect.path] ?? -1
            #expect(before < write.number, "\(effect.path) took \(write.number) after \(before) \(comment)")
            last[effect.path] = write.number
        }
        #expect(server.misusedKeys == [], "\(comment)")
        guard isOver else { return }
        for (number, write) in put where write.isKept { #expect(counts[number] == 1, "\(number) was lost \(comment)") }
    }

    private struct Written: Decodable {
        let resource: Int
        let number: Int
    }
}

/// What an outbox is kept in, and how that fails.
protocol OutboxGround {
    /// Opens the store, as a new process does.
    func open() -> any OutboxStore
    /// Lets something fail at a moment of the life to come.
    func arm(_ random: inout Seeded)
    /// Whether the life is over.
    var isDead: Bool { get }
    /// Mends what failed, once everything is closed. What was not kept is lost.
    func restart()
}

/// A disk whose power is cut, or that fails at one of its calls.
struct DiskGround: OutboxGround {
    enum Failure { case powerCut, failingCall }

    let disk: CrashDisk
    let failure: Failure

    init(seed: UInt64, _ failure: Failure) throws {
        disk = try CrashDisk(seed: seed)
        self.failure = failure
    }

    func open() -> any OutboxStore {
        var configuration = SQLiteOutboxStore.Configuration(file: URL(fileURLWithPath: "/outbox.db"))
        configuration.vfs = disk.name
        configuration.files = disk
        configuration.patience = .zero
        return SQLiteOutboxStore(configuration)
    }

    func arm(_ random: inout Seeded) {
        switch failure {
        case .powerCut: crash_disk_cut_after(disk.handle, Int64.random(in: 1...120, using: &random))
        case .failingCall:
            let codes: [Int32] = [13, 13, 10 | (3 << 8), 10 | (4 << 8), 10 | (1 << 8), 14, 8]
            crash_disk_fail_after(
                disk.handle, Int64.random(in: 1...200, using: &random), codes.randomElement(using: &random) ?? 13,
                Bool.random(using: &random))
        }
    }

    var isDead: Bool { crash_disk_is_cut(disk.handle) }

    func restart() {
        #expect(crash_disk_open_count(disk.handle) == 0, "something is open")
        crash_disk_restart(disk.handle)
    }
}

/// An outbox that lives through failure after failure of what it is kept in, before a server that loses answers.
final class OutboxHistory {
    private let ground: any OutboxGround
    private let time = HurriedTime()
    private var random: Seeded
    private let server: IdempotentServer
    private let client: APIClient
    private let isCalm = Locked(false)
    private var record = DeliveryRecord()
    private var nextNumber = 0
    private var store: any OutboxStore
    private var outbox: Outbox
    /// How many lives ended by a failure.
    private(set) var deaths = 0

    init(seed: UInt64, on ground: any OutboxGround) {
        self.ground = ground
        random = Seeded(seed: seed)
        let (fates, isCalm) = (Locked(Seeded(seed: seed &+ 1)), isCalm)
        server = IdempotentServer(fate: { _ in
            if isCalm.withLock({ $0 }) { return .answer }
            return fates.withLock { random in
                let all: [IdempotentServer.Fate] = [
                    .answer, .answer, .answer, .drop, .commitAndDrop, .commitAndDrop, .unreachable,
                    .process(conflicts: 2), .refuse(503), .refuse(429, retryAfter: "3"), .refuse(401), .refuse(408),
                ]
                return all.randomElement(using: &random) ?? .answer
            }
        })
        var configuration = APIClient.Configuration(services: [Service(.main, [.test: "https://api.example.com"])])
        configuration.environment = .test
        configuration.cache = .none
        configuration.time = time.source
        let numbers = Locked(Seeded(seed: seed &+ 2))
        configuration.random = RandomSource { numbers.withLock { $0.next() } }
        client = APIClient(configuration, transport: StubTransport(server.respond))
        (store, outbox) = Self.open(ground, client)
    }

    private static func open(_ ground: any OutboxGround, _ client: APIClient) -> (any OutboxStore, Outbox) {
        let store = ground.open()
        return (store, Outbox(client, store: store, .init(endpoints: [NumberedWrite.self])))
    }

    /// Puts a few writes in while the sender is at work, sets the clock now and then, and stops; then the next one opens what
    /// is left.
    func live() async {
        ground.arm(&random)
        outbox.start()
        // A store that fails says so to whoever puts something in.
        _ = try? await retryDoubtful()
        for _ in 0..<Int.random(in: 2...8, using: &random) where !ground.isDead {
            if Int.random(in: 0..<10, using: &random) == 0 {
                let jumps = [-100_000, -3_600, -20, 20, 3_600, 100_000]
                time.jump(by: .seconds(jumps.randomElement(using: &random) ?? 0))
            }
            await put()
        }
        for _ in 0..<Int.random(in: 0...40, using: &random) where !ground.isDead { await Task.yield() }
        record.check(server, isOver: false)
        await reopen()
    }

    private func put() async {
        let write = NumberedWrite(resource: Int.random(in: 0..<3, using: &random), number: nextNumber)
        nextNumber += 1
        record.put[write.number] = (write.resource, false)
        do throws(OutboxError) {
            _ = try await outbox.put(write)
            record.put[write.number] = (write.resource, true)
        } catch {
            guard case .store = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    /// Has those sent again of which nobody knows, since the clock was set back, whether the server has forgotten their keys. It
    /// forgets none.
    ///
    /// - Returns: whether there were any.
    private func retryDoubtful() async throws -> Bool {
        let doubtful = try await outbox.undeliverable().filter { $0.failure?.reason == .keyExpired }
        for entry in doubtful { try await outbox.retry(entry.id) }
        return !doubtful.isEmpty
    }

    private func reopen() async {
        await outbox.close()
        await store.close()
        #expect(client.callCount == 0, "something is under way")
        if ground.isDead { deaths += 1 }
        ground.restart()
        (store, outbox) = Self.open(ground, client)
    }

    /// Delivers all that is left, and checks everything.
    func end() async throws {
        isCalm.withLock { $0 = true }
        outbox.start()
        while !Task.isCancelled {
            let isEmpty = try await outbox.counts().pending == 0
            if try await !retryDoubtful(), isEmpty { break }
            await Task.yield()
        }
        #expect(try await outbox.undeliverable().isEmpty)
        record.check(server, isOver: true)
        await outbox.close()
        await store.close()
    }
}
