import Foundation

/// What a store has taken in memory and not yet handed to the store below: of each response the latest only.
struct WriteBehindQueue: Sendable {
    struct Change: Sendable {
        var stored: StoredResponse
        /// The entry below whose body stays as it is; `nil` where the body is new.
        var original: CacheEntryID?
    }

    private var changes: [CacheKey: [Change]] = [:]
    private(set) var count = 0
    /// The length of the bodies, in bytes.
    private(set) var bytes = 0

    var all: [Change] { changes.values.flatMap { $0 } }

    subscript(key: CacheKey) -> [Change] { changes[key] ?? [] }

    /// Notes a change in place of an earlier one of the same response, whose new body is still to be written.
    mutating func add(_ change: Change) {
        var change = change
        let response = change.stored.response
        let earlier = remove(response.key) { $0.stored.response.variant == response.variant }
        if earlier.contains(where: { $0.original == nil }) { change.original = nil }
        changes[response.key, default: []].append(change)
        count += 1
        bytes += change.stored.body?.count ?? 0
    }

    @discardableResult
    mutating func remove(_ key: CacheKey, where condition: (Change) -> Bool) -> [Change] {
        guard let known = changes[key] else { return [] }
        let removed = known.filter(condition)
        guard !removed.isEmpty else { return [] }
        let kept = known.filter { !condition($0) }
        changes[key] = kept.isEmpty ? nil : kept
        count -= removed.count
        bytes -= removed.reduce(0) { $0 + ($1.stored.body?.count ?? 0) }
        return removed
    }

    mutating func removeAll() {
        self = WriteBehindQueue()
    }

    /// Drops what is selected.
    mutating func remove(_ selection: CacheSelection) {
        for key in Array(changes.keys) {
            remove(key) { selection.contains($0.stored.response, stored: $0.stored.entry) }
        }
    }

    /// Marks what is selected.
    mutating func invalidate(_ selection: CacheSelection) {
        for (key, known) in changes {
            changes[key] = known.map { change in
                let stored = change.stored
                guard selection.contains(stored.response, stored: stored.entry) else { return change }
                var response = stored.response
                response.isInvalidated = true
                let marked = StoredResponse(response, entry: stored.entry, body: stored.body)
                return Change(stored: marked, original: change.original)
            }
        }
    }

    /// What the store below has of a key, with what it has not been told of.
    static func overlay(_ found: [StoredResponse], with changes: [Change]) -> [StoredResponse] {
        guard !changes.isEmpty else { return found }
        let untouched = found.filter { stored in
            !changes.contains { $0.stored.response.variant == stored.response.variant }
        }
        return untouched + changes.map(\.stored)
    }
}
