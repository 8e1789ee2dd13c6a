import Foundation

@testable import PenstockCore

/// A store each of whose rows is delivered by another process right before it is asked for by its number, and that fails when it
/// is told to.
struct PassingStore: OutboxStore {
    let memory: MemoryOutboxStore
    /// Whether the rows are delivered by another process.
    var passes = true
    /// What it fails with where it is asked what is next, and how often it has.
    let fault = Locked<OutboxStoreError?>(nil)
    let faults = Monitor(0)

    func row(_ id: OutboxID) async throws(OutboxStoreError) -> OutboxRow? {
        if passes { _ = try await memory.remove(id) }
        return try await memory.row(id)
    }

    func put(_ row: OutboxRow, isNumbered: Bool) async throws(OutboxStoreError) -> OutboxPlacement {
        try await memory.put(row, isNumbered: isNumbered)
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
        return try await memory.nextMoment(of: owner, avoiding: destinations, at: now)
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
        try await memory.remove(id)
    }

    func removeAll(ofIdentity identity: String) async throws(OutboxStoreError) -> [OutboxID] {
        try await memory.removeAll(ofIdentity: identity)
    }

    func close() async {
        await memory.close()
    }
}
