/// Invalidations and removals that the store below is still being told of. What is read from it meanwhile is shown as it
/// will be, so that a reader sees each change as a whole.
struct PendingChanges: Sendable {
    enum Effect: Sendable {
        case invalidation, removal
    }

    fileprivate struct Change: Sendable {
        let number: UInt64
        let selections: [CacheSelection]
        let effect: Effect
    }

    private var changes: [Change] = []

    mutating func begin(_ number: UInt64, _ selections: [CacheSelection], _ effect: Effect) {
        changes.append(Change(number: number, selections: selections, effect: effect))
    }

    mutating func end(_ number: UInt64) {
        changes.removeAll { $0.number == number }
    }

    /// Responses as the store below will have them.
    func applied(to found: [StoredResponse]) -> [StoredResponse] {
        changes.isEmpty ? found : found.compactMap(applied)
    }

    private func applied(to stored: StoredResponse) -> StoredResponse? {
        var response = stored.response
        for change in changes where change.selects(stored) {
            guard change.effect == .invalidation else { return nil }
            response.isInvalidated = true
        }
        return StoredResponse(response, entry: stored.entry, body: stored.body)
    }
}

extension PendingChanges.Change {
    fileprivate func selects(_ stored: StoredResponse) -> Bool {
        selections.contains { $0.contains(stored.response, stored: stored.entry) }
    }
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
