import Foundation

/// What waits for the store below. Every change is noted in the log of invalidations: while it is under way, and after it,
/// nothing that was read before it is taken into memory.
extension TieredCacheStore {
    public func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? {
        guard mayWrite(response), let writer = await below.writer(for: response) else {
            return CollectingWriter(response, limit: limits.bodyBytes, store: self)
        }
        return TieredWriter(writer, of: response, store: self)
    }

    @discardableResult
    public func invalidate(_ selections: [CacheSelection]) async -> Bool {
        await change(selections, .invalidation) { state, selection in
            state.unwritten.invalidate(selection)
        } below: {
            await below.invalidate($0)
        }
    }

    @discardableResult
    public func remove(_ selections: [CacheSelection]) async -> Bool {
        await change(selections, .removal) { state, selection in
            state.unwritten.remove(selection)
        } below: {
            await below.remove($0)
        }
    }

    public func touch(_ entries: [CacheEntryID]) {
        state.withLock { state in
            for entry in entries {
                if let key = state.table.key(of: state.written(entry) ?? entry) { _ = state.table.use(key) }
            }
        }
        below.touch(state.withLock { state in entries.compactMap(state.written) })
    }

    public func statistics() async -> CacheStatistics {
        await writeUnwritten()
        return await below.statistics()
    }

    /// What is in memory alone, because the store below could not write it, is not among them.
    public func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        await writeUnwritten()
        return await below.entries(after: entry, limit: limit)
    }

    public func flush() async {
        await writeUnwritten()
        below.touch(state.withLock { $0.takeUses() })
        await below.flush()
    }

    public func close() async {
        state.withLock { $0.writer }?.cancel()
        await writeUnwritten()
        below.touch(state.withLock { $0.takeUses() })
        state.withLock { $0.table.removeAll() }
        await below.close()
    }

    /// Changes one response below, in its turn. Meanwhile its key is not at hand, and nothing that was noted before of
    /// the response is written after it.
    func change<Output>(_ key: CacheKey, _ variant: CacheVariant, _ body: () async -> Output) async -> Output {
        state.withLock { state in
            state.invalidations.begin([key])
            state.table.remove(key) { _ in true }
            state.unwritten.remove(key) { $0.stored.response.variant == variant }
        }
        let output = await lane.run(body)
        state.withLock { $0.invalidations.end([key]) }
        return output
    }

    /// Changes the selected responses at one moment for all readers: in memory and in the queue at once, and what is read
    /// from below as if that had been changed too, until it has, in its turn.
    private func change(
        _ selections: [CacheSelection], _ effect: PendingChanges.Effect,
        _ note: (inout State, CacheSelection) -> Void, below body: ([CacheSelection]) async -> Bool
    ) async -> Bool {
        let number = state.withLock { state in
            state.invalidations.begin(nil)
            defer { state.lastChange += 1 }
            for selection in selections {
                let selection = state.written(selection)
                for key in state.table.keys(for: selection) { state.table.forget(key, selectedBy: selection) }
                note(&state, selection)
            }
            state.pending.begin(state.lastChange, selections.map(state.written), effect)
            return state.lastChange
        }
        let isDone = await lane.run { await body(state.withLock { state in selections.map(state.written) }) }
        state.withLock { state in
            state.pending.end(number)
            state.invalidations.end(nil)
        }
        return isDone
    }
}

/// Writes below, and takes what is finished into memory.
private final class TieredWriter: CacheBodyWriter {
    private let writer: any CacheBodyWriter
    private let response: CachedResponse
    private let store: TieredCacheStore

    init(_ writer: any CacheBodyWriter, of response: CachedResponse, store: TieredCacheStore) {
        self.writer = writer
        self.response = response
        self.store = store
    }

    func append(_ data: Data) async -> Bool {
        await writer.append(data)
    }

    func finish() async -> StoredResponse? {
        await store.change(response.key, response.variant) { await writer.finish() }
    }

    func abandon() {
        writer.abandon()
    }
}
