import Foundation

/// Invalidations and removals that the store below is still being told of. What is read from it meanwhile is shown as it
/// will be, so that a reader sees each change as a whole.
struct PendingChanges: Sendable {
    enum Effect: Sendable {
        case invalidation, removal
    }

    fileprivate struct Change: Sendable {
        let number: UInt64
        let selections: [CacheSelection]
        let slots: Set<CacheSlot>
        let effect: Effect
    }

    private var changes: [Change] = []
    /// Where the store below may have something older than what memory alone had, which has been lost: it is to be removed. What has
    /// been lost there came at the moment that stands beside it.
    private(set) var overtaken: [CacheSlot: Date] = [:]

    /// - Parameter slots: where the selected responses were in memory alone, and what is older goes with them.
    mutating func begin(
        _ number: UInt64, _ selections: [CacheSelection], beside slots: Set<CacheSlot>, _ effect: Effect
    ) {
        changes.append(Change(number: number, selections: selections, slots: slots, effect: effect))
    }

    mutating func end(_ number: UInt64) {
        changes.removeAll { $0.number == number }
    }

    mutating func overtake(_ lost: [CachedResponse]) {
        for response in lost {
            overtaken[response.slot] = max(overtaken[response.slot] ?? .distantPast, response.responseTime)
        }
    }

    /// What was overtaken there has been removed.
    mutating func settle(_ slots: [CacheSlot: Date]) {
        for (slot, moment) in slots where overtaken[slot] == moment { overtaken[slot] = nil }
    }

    /// Responses as the store below will have them.
    func applied(to found: [StoredResponse]) -> [StoredResponse] {
        changes.isEmpty && overtaken.isEmpty ? found : found.compactMap(applied)
    }

    private func applied(to stored: StoredResponse) -> StoredResponse? {
        var response = stored.response
        if let lost = overtaken[response.slot], response.responseTime < lost { return nil }
        for change in changes where change.selects(stored) {
            guard change.effect == .invalidation else { return nil }
            response.isInvalidated = true
        }
        return StoredResponse(response, entry: stored.entry, body: stored.body)
    }
}

extension PendingChanges.Change {
    fileprivate func selects(_ stored: StoredResponse) -> Bool {
        slots.contains(stored.response.slot)
            || selections.contains { $0.contains(stored.response, stored: stored.entry) }
    }
}

/// What a store holds one response of at most.
struct CacheSlot: Hashable, Sendable {
    let key: CacheKey
    let variant: CacheVariant
}

extension CachedResponse {
    var slot: CacheSlot { CacheSlot(key: key, variant: variant) }
}

/// Lets one change after the other through, in the order in which they came.
final class ChangeLane: Sendable {
    private let isTaken = Monitor(false)

    func run<Output>(_ change: () async -> Output) async -> Output {
        await isTaken.wait { isTaken in
            defer { isTaken = true }
            return isTaken ? nil : ()
        }
        defer { isTaken.withLock { $0 = false } }
        return await change()
    }
}
