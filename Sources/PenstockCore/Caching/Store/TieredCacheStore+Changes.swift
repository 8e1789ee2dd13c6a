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

    /// Does something with the store below when its turn has come, after what is out of date there has been removed.
    func inTurn<Output>(_ body: () async -> Output) async -> Output {
        await lane.run {
            await removeOvertaken()
            return await body()
        }
    }

    private func removeOvertaken() async {
        let slots = state.withLock { $0.pending.overtaken }
        guard !slots.isEmpty else { return }
        // Another process may have stored what is newer.
        let entries = await selections(of: Set(slots.keys)) { response in
            slots[response.slot].map { response.responseTime < $0 } ?? false
        }
        if !entries.isEmpty { await below.remove(entries) }
        state.withLock { $0.pending.settle(slots) }
    }

    /// What the store below has in these slots.
    private func selections(
        of slots: Set<CacheSlot>, where isMeant: (CachedResponse) -> Bool = { _ in true }
    ) async -> [CacheSelection] {
        var selections: [CacheSelection] = []
        for key in Set(slots.map(\.key)) {
            let found = await below.responses(for: key)
            selections += found.filter { slots.contains($0.response.slot) && isMeant($0.response) }.map {
                .entry($0.entry)
            }
        }
        return selections
    }

    /// Changes one response below, in its turn. Meanwhile its key is not at hand, and nothing that was noted before of
    /// the response is written after it.
    func change<Output>(_ key: CacheKey, _ variant: CacheVariant, _ body: () async -> Output) async -> Output {
        state.withLock { state in
            state.invalidations.begin([key])
            state.table.remove(key) { _ in true }
            state.unwritten.remove(key) { $0.stored.response.variant == variant }
        }
        let output = await inTurn(body)
        state.withLock { $0.invalidations.end([key]) }
        return output
    }

    /// Removes what a response would take the place of: in memory, in the queue and below.
    fileprivate func removeOlderEverywhere(than response: CachedResponse) async {
        await change(response.key, response.variant) { await below.removeOlder(than: response) }
    }

    /// Changes the selected responses at one moment for all readers: in memory and in the queue at once, and what is read
    /// from below as if that had been changed too, until it has, in its turn. What the store below still has in the place of
    /// a selected response that it has not been told of is changed with it: it would come back as if it were the newest.
    private func change(
        _ selections: [CacheSelection], _ effect: PendingChanges.Effect,
        _ note: (inout State, CacheSelection) -> Void, below body: ([CacheSelection]) async -> Bool
    ) async -> Bool {
        let (number, slots) = state.withLock { state in
            state.invalidations.begin(nil)
            defer { state.lastChange += 1 }
            var slots: Set<CacheSlot> = []
            for selection in selections {
                let selection = state.written(selection)
                slots.formUnion(state.slotsOfUntold(selectedBy: selection))
                for key in state.table.keys(for: selection) { state.table.forget(key, selectedBy: selection) }
                note(&state, selection)
            }
            state.pending.begin(state.lastChange, selections.map(state.written), beside: slots, effect)
            return (state.lastChange, slots)
        }
        let isDone = await inTurn {
            let older = await self.selections(of: slots)
            return await body(state.withLock { state in selections.map(state.written) } + older)
        }
        state.withLock { state in
            state.pending.end(number)
            state.invalidations.end(nil)
        }
        return isDone
    }
}

extension TieredCacheStore.State {
    /// Where selected responses are that the store below has not been told of, and would not find by the selection.
    fileprivate func slotsOfUntold(selectedBy selection: CacheSelection) -> Set<CacheSlot> {
        if selection.isOfKeys { return [] }
        let untold = unwritten.all.map(\.stored) + alone(of: table.keys(for: selection))
        return Set(untold.filter { selection.contains($0.response, stored: $0.entry) }.map(\.response.slot))
    }

    /// All responses that the store below has not been told of.
    var untold: [CachedResponse] {
        (unwritten.all.map(\.stored) + alone(of: table.keys(for: .all))).map(\.response)
    }

    /// Responses in memory that the store below does not have.
    private func alone(of keys: [CacheKey]) -> [StoredResponse] {
        keys.flatMap { table.peek($0)?.responses ?? [] }.filter { written($0.entry) == nil }
    }
}

/// Writes below, and takes what is finished into memory.
private final class TieredWriter: CacheBodyWriter {
    private let writer: any CacheBodyWriter
    private let response: CachedResponse
    private let store: TieredCacheStore
    private let isOver = Locked(false)

    init(_ writer: any CacheBodyWriter, of response: CachedResponse, store: TieredCacheStore) {
        self.writer = writer
        self.response = response
        self.store = store
    }

    func append(_ data: Data) async -> Bool {
        if await writer.append(data) { return true }
        // What was there is out of date, and what has come has no place.
        if end() { await store.removeOlderEverywhere(than: response) }
        return false
    }

    /// - Returns: whether it was not over before.
    private func end() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }

    func finish() async -> StoredResponse? {
        _ = end()
        return await store.change(response.key, response.variant) { await writer.finish() }
    }

    func abandon() {
        _ = end()
        writer.abandon()
    }
}
