import Foundation

/// Every change goes through the gate: while it is under way nothing that was read before it is taken into memory.
extension LayeredCacheStore {
    @discardableResult
    public func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        begin(response.key)
        let stored = await below.put(response, body: body)
        end(response.key)
        return await settle(response, body: body, stored)
    }

    public func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? {
        guard let writer = await below.writer(for: response) else {
            return CollectingWriter(response, limit: limits.bodyBytes, store: self)
        }
        return LayeredWriter(writer, key: response.key, store: self)
    }

    @discardableResult
    public func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        if let body = state.withLock({ $0.table.peek(entry)?.body }), entry.row < 0 {
            return await put(response, body: body)
        }
        begin(response.key)
        let stored = await below.update(entry, to: response)
        end(response.key)
        if stored != nil { _ = await responses(for: response.key) }
        return stored
    }

    @discardableResult
    public func invalidate(_ selections: [CacheSelection]) async -> Bool {
        forget(selections)
        let isDone = await below.invalidate(selections)
        state.withLock { $0.gate.end(nil) }
        return isDone
    }

    @discardableResult
    public func remove(_ selections: [CacheSelection]) async -> Bool {
        forget(selections)
        let isDone = await below.remove(selections)
        state.withLock { $0.gate.end(nil) }
        return isDone
    }

    public func touch(_ entries: [CacheEntryID]) {
        state.withLock { state in
            for entry in entries {
                if let key = state.table.key(of: entry) { _ = state.table.use(key) }
            }
        }
        below.touch(entries)
    }

    public func statistics() async -> CacheStatistics {
        await below.statistics()
    }

    /// What is in memory alone, because the store below could not write it, is not among them.
    public func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        await below.entries(after: entry, limit: limit)
    }

    public func flush() async {
        below.touch(state.withLock { $0.takeUses() })
        await below.flush()
    }

    public func close() async {
        below.touch(state.withLock { $0.takeUses() })
        state.withLock { $0.table.removeAll() }
        await below.close()
    }

    /// A key is about to change: it is no longer at hand, and stays so until the change has ended.
    func begin(_ key: CacheKey) {
        state.withLock { state in
            state.gate.begin(key)
            state.table.remove(key) { _ in true }
        }
    }

    func end(_ key: CacheKey) {
        state.withLock { $0.gate.end(key) }
    }

    /// The selected responses are about to change.
    private func forget(_ selections: [CacheSelection]) {
        state.withLock { state in
            state.gate.begin(nil)
            for selection in selections {
                for key in state.table.keys(for: selection) { state.table.forget(key, selectedBy: selection) }
            }
        }
    }

    /// Takes what was stored below into memory; or the response itself, when it could not be stored there.
    private func settle(_ response: CachedResponse, body: Data, _ stored: StoredResponse?) async -> StoredResponse? {
        if stored != nil {
            _ = await responses(for: response.key)
            return stored
        }
        guard body.count <= limits.bodyBytes else { return nil }
        var response = response
        response.bodyLength = body.count
        return state.withLock { [response] state in
            state.lastVersion += 1
            // The rows below are never negative.
            let entry = CacheEntryID(row: -Int64(bitPattern: state.lastVersion), version: state.lastVersion)
            let kept = StoredResponse(response, entry: entry, body: body)
            state.table.set(response.key, to: [kept])
            return kept
        }
    }
}

/// Writes below, and takes what is finished into memory.
private final class LayeredWriter: CacheBodyWriter {
    private let writer: any CacheBodyWriter
    private let key: CacheKey
    private let store: LayeredCacheStore

    init(_ writer: any CacheBodyWriter, key: CacheKey, store: LayeredCacheStore) {
        self.writer = writer
        self.key = key
        self.store = store
    }

    func append(_ data: Data) async -> Bool {
        await writer.append(data)
    }

    func finish() async -> StoredResponse? {
        store.begin(key)
        defer { store.end(key) }
        return await writer.finish()
    }

    func abandon() {
        writer.abandon()
    }
}
