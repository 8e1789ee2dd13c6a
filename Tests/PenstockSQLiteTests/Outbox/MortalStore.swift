import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting

/// A memory that outlives the processes that keep an outbox in it, each of which dies at one of its calls: before that has
/// done anything, or once it is done and nobody is told.
final class MortalGround: OutboxGround {
    fileprivate struct Life: Sendable {
        /// How many calls are left; `nil` for a process that lives.
        var calls: Int?
        var isDoneAtDeath = false
        var isDead = false
    }

    private let memory = MemoryOutboxStore()
    private let life = Locked(Life())

    func open() -> any OutboxStore { MortalStore(memory, life) }

    func arm(_ random: inout Seeded) {
        let new = Life(calls: Int.random(in: 1...16, using: &random), isDoneAtDeath: Bool.random(using: &random))
        life.withLock { $0 = new }
    }

    var isDead: Bool { life.withLock(\.isDead) }

    func restart() {
        life.withLock { $0 = Life() }
    }
}

/// The store of one process.
private final class MortalStore: OutboxStore {
    private let memory: MemoryOutboxStore
    private let life: Locked<MortalGround.Life>
    private let isClosed = Locked(false)

    init(_ memory: MemoryOutboxStore, _ life: Locked<MortalGround.Life>) {
        self.memory = memory
        self.life = life
    }

    /// - Throws: ``OutboxStoreError/closed`` to a process that is dead: it hears nothing any more.
    private func call<Output: Sendable>(
        _ body: (MemoryOutboxStore) async throws(OutboxStoreError) -> Output
    ) async throws(OutboxStoreError) -> Output {
        if isClosed.withLock({ $0 }) { throw .closed }
        let (isDead, isDone) = life.withLock { life in
            guard !life.isDead else { return (true, false) }
            guard let calls = life.calls else { return (false, true) }
            life.calls = calls - 1
            life.isDead = calls <= 1
            return (life.isDead, !life.isDead || life.isDoneAtDeath)
        }
        let output: Output? = isDone ? try await body(memory) : nil
        guard !isDead, let output else { throw .closed }
        return output
    }

    func put(_ row: OutboxRow, isNumbered: Bool) async throws(OutboxStoreError) -> OutboxPlacement {
        try await call { store throws(OutboxStoreError) in try await store.put(row, isNumbered: isNumbered) }
    }

    func row(_ id: OutboxID) async throws(OutboxStoreError) -> OutboxRow? {
        try await call { store throws(OutboxStoreError) in try await store.row(id) }
    }

    func rows(
        _ selection: OutboxSelection, after position: Int64, limit: Int
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await call { store throws(OutboxStoreError) in
            try await store.rows(selection, after: position, limit: limit)
        }
    }

    func counts(of owner: OutboxOwner) async throws(OutboxStoreError) -> OutboxCounts {
        try await call { store throws(OutboxStoreError) in try await store.counts(of: owner) }
    }

    func nextMoment(
        of owner: OutboxOwner, avoiding destinations: Set<String>, at now: Date
    ) async throws(OutboxStoreError) -> Date? {
        try await call { store throws(OutboxStoreError) in
            try await store.nextMoment(of: owner, avoiding: destinations, at: now)
        }
    }

    func lease(
        for holder: String, at now: Date, duration: Duration
    ) async throws(OutboxStoreError) -> OutboxLease? {
        try await call { store throws(OutboxStoreError) in
            try await store.lease(for: holder, at: now, duration: duration)
        }
    }

    func release(_ lease: OutboxLease) async throws(OutboxStoreError) {
        try await call { store throws(OutboxStoreError) in try await store.release(lease) }
    }

    func claim(
        of owner: OutboxOwner, avoiding destinations: Set<String>, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await call { store throws(OutboxStoreError) in
            try await store.claim(of: owner, avoiding: destinations, limit: limit, at: now, under: lease)
        }
    }

    func settle(
        _ id: OutboxID, _ step: OutboxStep, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) {
        try await call { store throws(OutboxStoreError) in try await store.settle(id, step, at: now, under: lease) }
    }

    func expire(
        of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await call { store throws(OutboxStoreError) in
            try await store.expire(of: owner, limit: limit, at: now, under: lease)
        }
    }

    func hasten(_ owner: OutboxOwner, at now: Date) async throws(OutboxStoreError) {
        try await call { store throws(OutboxStoreError) in try await store.hasten(owner, at: now) }
    }

    func requeue(_ id: OutboxID, expires: Date, at now: Date) async throws(OutboxStoreError) -> Bool {
        try await call { store throws(OutboxStoreError) in try await store.requeue(id, expires: expires, at: now) }
    }

    func remove(_ id: OutboxID) async throws(OutboxStoreError) -> Bool {
        try await call { store throws(OutboxStoreError) in try await store.remove(id) }
    }

    func removeAll(ofIdentity identity: String) async throws(OutboxStoreError) -> [OutboxID] {
        try await call { store throws(OutboxStoreError) in try await store.removeAll(ofIdentity: identity) }
    }

    /// The process ends; the memory stays.
    func close() async {
        isClosed.withLock { $0 = true }
    }
}
