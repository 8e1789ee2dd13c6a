import Foundation
import PenstockCore

/// A store as an app might write its own: a dictionary behind an actor, with what the protocol asks for and no more.
actor CustomStore: CacheStore {
    private let limits: CacheLimits
    private let time: TimeSource
    /// The least recently used first.
    private var entries: [StoredResponse] = []
    private var lastVersion: UInt64 = 0
    /// Uses that the order does not show yet.
    private nonisolated let touched = Locked<[CacheEntryID]>([])

    init(limits: CacheLimits, time: TimeSource) {
        self.limits = limits
        self.time = time
    }

    func responses(for key: CacheKey) async -> [StoredResponse] {
        removeOld()
        let found = entries.filter { $0.response.key == key }
        entries.removeAll { $0.response.key == key }
        entries += found
        return found
    }

    func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        guard let body = entries.first(where: { $0.entry == entry })?.body, (0..<body.count).contains(offset) else {
            return nil
        }
        return body.dropFirst(offset)
    }

    func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        removeOld()
        countUses()
        entries.removeAll { $0.response.key == response.key && $0.response.variant == response.variant }
        guard body.count <= limits.bodyBytes else { return nil }
        var response = response
        response.bodyLength = body.count
        lastVersion += 1
        let entry = CacheEntryID(row: Int64(lastVersion), version: lastVersion)
        let stored = StoredResponse(response, entry: entry, body: body)
        entries.append(stored)
        makeRoom(for: response.key)
        return stored
    }

    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? {
        CollectingWriter(response, limit: limits.bodyBytes, store: self)
    }

    func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        guard let index = entries.firstIndex(where: { $0.entry == entry }) else { return nil }
        var response = response
        response.bodyLength = entries[index].response.bodyLength
        entries[index] = StoredResponse(response, entry: entry, body: entries[index].body)
        return entries[index]
    }

    func invalidate(_ selections: [CacheSelection]) async -> Bool {
        entries = entries.map { stored in
            guard selections.contains(where: { $0.contains(stored.response, stored: stored.entry) }) else {
                return stored
            }
            var response = stored.response
            response.isInvalidated = true
            return StoredResponse(response, entry: stored.entry, body: stored.body)
        }
        return true
    }

    func remove(_ selections: [CacheSelection]) async -> Bool {
        entries.removeAll { stored in selections.contains { $0.contains(stored.response, stored: stored.entry) } }
        return true
    }

    nonisolated func touch(_ entries: [CacheEntryID]) {
        touched.withLock { $0 += entries }
    }

    func statistics() async -> CacheStatistics {
        CacheStatistics(entries: entries.count, bytes: entries.reduce(0) { $0 + ($1.body?.count ?? 0) })
    }

    func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        let later = entries.filter { $0.entry.row > entry?.row ?? 0 }.sorted { $0.entry.row < $1.entry.row }
        return Array(later.prefix(limit))
    }

    func flush() async {}
    func close() async {}

    private func removeOld() {
        guard let times = limits.validTimes(at: time.date()) else { return }
        entries.removeAll { !times.contains($0.response.responseTime) }
    }

    private func countUses() {
        let used = touched.withLock { touched in
            defer { touched = [] }
            return touched
        }
        for entry in used {
            guard let index = entries.firstIndex(where: { $0.entry == entry }) else { continue }
            entries.append(entries.remove(at: index))
        }
    }

    private func makeRoom(for key: CacheKey) {
        while entries.filter({ $0.response.key == key }).count > limits.variants,
            let oldest = entries.firstIndex(where: { $0.response.key == key })
        {
            entries.remove(at: oldest)
        }
        while entries.count > limits.entries || entries.reduce(0, { $0 + ($1.body?.count ?? 0) }) > limits.bytes {
            entries.removeFirst()
        }
    }
}
