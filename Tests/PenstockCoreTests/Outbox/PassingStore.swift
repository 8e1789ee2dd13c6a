import Foundation

@testable import PenstockCore

/// A store each of whose rows is delivered by another process right before it is asked for by its number, and that fails, or is
/// late to answer, when it is told to.
final class PassingStore: OutboxStore {
    /// What an outbox has asked.
    struct Questions: Sendable {
        /// How often it has asked what is next, which is what it begins a look with.
        var next = 0
        /// What it was after when it last asked for each row.
        var rows: [OutboxID: Int] = [:]
    }

    let memory: MemoryOutboxStore
    /// Whether the rows are delivered by another process.
    let passes: Bool
    /// What it fails with where it is asked what is next, and how often it has.
    let fault = Locked<OutboxStoreError?>(nil)
    let faults = Monitor(0)
    let questions = Monitor(Questions())
    /// What happens once, between the next change that may remove rows and the answer to it.
    private let delay = Locked<(@Sendable () async throws(OutboxStoreError) -> Void)?>(nil)
    /// What happens once, right before a row is looked up for an outbox that has asked for it.
    private let lookup = Locked<(@Sendable () async -> Void)?>(nil)

    init(memory: MemoryOutboxStore = MemoryOutboxStore(), passes: Bool = true) {
        self.memory = memory
        self.passes = passes
    }

    /// Has the next change that may remove rows answered after `body`, which may also let it fail.
    func delayAnswer(_ body: @escaping @Sendable () async throws(OutboxStoreError) -> Void) {
        delay.withLock { $0 = body }
    }

    /// Has the next row looked up after `body`.
    func delayLookup(_ body: @escaping @Sendable () async -> Void) {
        lookup.withLock { $0 = body }
    }

    private func answer() async throws(OutboxStoreError) {
        try await delay.take()?()
    }

    /// Has an outbox look what has become of a row, and returns once it has done with that.
    func look(at id: OutboxID, by outbox: Outbox) async {
        questions.withLock { $0.rows[id] = nil }
        // What is not there is removed without any other change, and the outbox looks at what there is to do.
        _ = try? await outbox.discard(OutboxID())
        await questions.waitUnlessCancelled { $0.rows[id] != nil }
        let seen = questions.withLock { $0.rows[id] } ?? 0
        _ = try? await outbox.discard(OutboxID())
        await questions.waitUnlessCancelled { $0.next > seen }
    }

    func row(_ id: OutboxID) async throws(OutboxStoreError) -> OutboxRow? {
        if passes { _ = try await memory.remove(id) }
        questions.withLock { $0.rows[id] = $0.next }
        await lookup.take()?()
        return try await memory.row(id)
    }

    func put(_ row: OutboxRow, isNumbered: Bool) async throws(OutboxStoreError) -> OutboxPlacement {
        let placement = try await memory.put(row, isNumbered: isNumbered)
        try await answer()
        return placement
    }

    func rows(
        _ selection: OutboxSelection, after position: Int64, limit: Int
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await memory.rows(selection, after: position, limit: limit)
    }

    func counts(of owner: OutboxOwner) async throws(OutboxStoreError) -> OutboxCounts {
        try await memory.counts(of: owner)
    }

    func nextMoment(
        of owner: OutboxOwner, avoiding destinations: Set<String>, at now: Date
    ) async throws(OutboxStoreError) -> Date? {
        if let fault = fault.withLock({ $0 }) {
            faults.withLock { $0 += 1 }
            throw fault
        }
        let moment = try await memory.nextMoment(of: owner, avoiding: destinations, at: now)
        questions.withLock { $0.next += 1 }
        return moment
    }

    func lease(
        for holder: String, at now: Date, duration: Duration
    ) async throws(OutboxStoreError) -> OutboxLease? {
        try await memory.lease(for: holder, at: now, duration: duration)
    }

    func release(_ lease: OutboxLease) async throws(OutboxStoreError) {
        try await memory.release(lease)
    }

    func claim(
        of owner: OutboxOwner, avoiding destinations: Set<String>, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await memory.claim(of: owner, avoiding: destinations, limit: limit, at: now, under: lease)
    }

    func settle(
        _ id: OutboxID, _ step: OutboxStep, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) {
        try await memory.settle(id, step, at: now, under: lease)
        if step == .done { try await answer() }
    }

    func expire(
        of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await memory.expire(of: owner, limit: limit, at: now, under: lease)
    }

    func hasten(_ owner: OutboxOwner, at now: Date) async throws(OutboxStoreError) {
        try await memory.hasten(owner, at: now)
    }

    func requeue(_ id: OutboxID, expires: Date, at now: Date) async throws(OutboxStoreError) -> Bool {
        try await memory.requeue(id, expires: expires, at: now)
    }

    func remove(_ id: OutboxID) async throws(OutboxStoreError) -> Bool {
        let isGone = try await memory.remove(id)
        try await answer()
        return isGone
    }

    func removeAll(ofIdentity identity: String) async throws(OutboxStoreError) -> [OutboxID] {
        let gone = try await memory.removeAll(ofIdentity: identity)
        try await answer()
        return gone
    }

    func close() async {
        await memory.close()
    }
}

extension Locked {
    /// Takes out what is there.
    fileprivate func take<Content: Sendable>() -> Content? where Value == Content? {
        withLock { value in
            defer { value = nil }
            return value
        }
    }
}
