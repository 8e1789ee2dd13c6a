import Foundation

/// Keeps responses in memory, within limits. It may be used by any number of threads; a look-up takes the time of one
/// look-up in a dictionary, and bodies are shared, never copied.
///
/// The variants of a key are used and go together.
public final class MemoryCacheStore: CacheStore, PromptCacheStore {
    struct State: Sendable {
        var table: MemoryCacheTable
        var lastVersion: UInt64 = 0

        mutating func nextEntry() -> CacheEntryID {
            lastVersion += 1
            return CacheEntryID(row: Int64(bitPattern: lastVersion), version: lastVersion)
        }
    }

    private let limits: CacheLimits
    private let time: TimeSource
    private let key = CredentialDigests.newKey()
    private let state: Locked<State>

    /// An empty store.
    ///
    /// - Parameters:
    ///   - limits: what is kept at most.
    ///   - time: asked for the date when there is a limit of age.
    public init(limits: CacheLimits = .memory, time: TimeSource = .system) {
        self.limits = limits
        self.time = time
        state = Locked(State(table: MemoryCacheTable(limits: limits)))
    }

    /// Nothing of it leaves the memory.
    public var holdsSealedReplies: Bool { true }

    public func responsesAtHand(for key: CacheKey) -> [StoredResponse]? {
        let found = state.withLock { $0.table.use(key)?.responses ?? [] }
        guard let times = limits.validTimes(at: time.date()), !found.isEmpty else { return found }
        return valid(found, of: key, in: times)
    }

    public func responses(for key: CacheKey) async -> [StoredResponse] {
        responsesAtHand(for: key) ?? []
    }

    public func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        let body = state.withLock { $0.table.peek(entry)?.body } ?? Data()
        return offset >= 0 && offset < body.count ? body.dropFirst(offset) : nil
    }

    @discardableResult
    public func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        putAtOnce(response, body: body)
    }

    @discardableResult
    func putAtOnce(_ response: CachedResponse, body: Data) -> StoredResponse? {
        guard body.count <= limits.bodyBytes else {
            remove(response.key, response.variant)
            return nil
        }
        var response = response
        if response.bodyLength != body.count { response.bodyLength = body.count }
        let times = limits.validTimes(at: time.date())
        return state.withLock { [response] state in
            if let times { state.table.removeOld(outside: times) }
            let stored = StoredResponse(response, entry: state.nextEntry(), body: body)
            state.table.put(stored)
            return stored
        }
    }

    public func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? {
        CollectingWriter(response, limit: limits.bodyBytes, store: self)
    }

    @discardableResult
    public func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        state.withLock { state -> StoredResponse? in
            guard let group = state.table.peek(response.key),
                let old = group.responses.first(where: { $0.entry == entry }), old.response.variant == response.variant
            else { return nil }
            var response = response
            response.bodyLength = old.response.bodyLength
            let stored = StoredResponse(response, entry: entry, body: old.body)
            state.table.put(stored)
            return stored
        }
    }

    @discardableResult
    public func invalidate(_ selections: [CacheSelection]) async -> Bool {
        state.withLock { state in
            for selection in selections {
                for key in state.table.keys(for: selection) { state.invalidate(key, selection) }
            }
        }
        return true
    }

    @discardableResult
    public func remove(_ selections: [CacheSelection]) async -> Bool {
        state.withLock { state in
            for selection in selections {
                for key in state.table.keys(for: selection) {
                    state.table.remove(key) { selection.contains($0.response, stored: $0.entry) }
                }
            }
        }
        return true
    }

    public func touch(_ entries: [CacheEntryID]) {
        state.withLock { state in
            for entry in entries {
                if let key = state.table.key(of: entry) { _ = state.table.use(key) }
            }
        }
    }

    /// The key of the digests, as old as the store.
    public func digestKey() async -> Data? { key }

    public func statistics() async -> CacheStatistics {
        state.withLock { $0.table.statistics }
    }

    public func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        let all = state.withLock { $0.table.all }.sorted { $0.entry.version < $1.entry.version }
        let start = entry.flatMap { last in all.firstIndex { $0.entry.version > last.version } ?? all.count } ?? 0
        return Array(all[start...].prefix(limit))
    }

    /// Nothing here outlives the process.
    public func flush() async {}

    /// There is nothing to let go of.
    public func close() async {}

    private func remove(_ key: CacheKey, _ variant: CacheVariant) {
        state.withLock { $0.table.remove(key) { $0.response.variant == variant } }
    }

    /// Returns the responses of `found` that are not too old; the others go.
    private func valid(_ found: [StoredResponse], of key: CacheKey, in times: ClosedRange<Date>) -> [StoredResponse] {
        if found.allSatisfy({ times.contains($0.response.responseTime) }) { return found }
        state.withLock { $0.table.remove(key) { !times.contains($0.response.responseTime) } }
        return found.filter { times.contains($0.response.responseTime) }
    }
}

extension MemoryCacheStore.State {
    fileprivate mutating func invalidate(_ key: CacheKey, _ selection: CacheSelection) {
        guard let group = table.peek(key) else { return }
        let marked = group.responses.map { stored in
            guard selection.contains(stored.response, stored: stored.entry) else { return stored }
            var response = stored.response
            response.isInvalidated = true
            return StoredResponse(response, entry: stored.entry, body: stored.body)
        }
        table.set(key, to: marked)
    }
}
