import Foundation

/// Responses that are at hand at once and written a moment later, many together.
extension TieredCacheStore {
    /// How many unwritten responses, and how many bytes of them, there may be before whoever stores one more waits.
    private static let patience = (responses: 1_024, bytes: 8 << 20)
    private static let batch = 64

    @discardableResult
    public func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        var response = response
        response.bodyLength = body.count
        if let stored = await keep(response, body) {
            await writeSoon()
            return stored
        }
        guard mayWrite(response) else {
            // What was there is out of date, and what has come has no place.
            await change(response.key, response.variant) {}
            return nil
        }
        let stored = await change(response.key, response.variant) { [response] in
            await below.put(response, body: body)
        }
        if stored != nil { _ = await responses(for: response.key) }
        return stored
    }

    @discardableResult
    public func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        if let stored = state.withLock({ $0.update(entry, to: response) }) {
            await writeSoon()
            return stored
        }
        if entry.row < 0 { await writeUnwritten() }
        guard mayWrite(response), let original = state.withLock({ $0.written(entry) }) else { return nil }
        let stored = await change(response.key, response.variant) { await below.update(original, to: response) }
        if stored != nil { _ = await responses(for: response.key) }
        return stored
    }

    /// Hands everything to the store below that it has not been told of when this begins.
    func writeUnwritten() async {
        await inTurn {
            var rest = state.withLock { $0.unwritten.all }[...]
            while !rest.isEmpty {
                let batch = rest.prefix(Self.batch)
                rest = rest.dropFirst(batch.count)
                await write(Array(batch))
            }
        }
    }

    /// The response in memory, among the others of its key; `nil` when it does not fit there, or the key is changing.
    private func keep(_ response: CachedResponse, _ body: Data) async -> StoredResponse? {
        guard body.count <= limits.bodyBytes else { return nil }
        if let stored = state.withLock({ $0.putAtHand(response, body) }) { return stored }
        let ticket = state.withLock { $0.invalidations.ticket(for: response.key) }
        let others = await responses(for: response.key)
        return state.withLock { $0.put(response, body, among: others, ticket) }
    }

    /// Sees to it that the store below is told of everything in a while.
    func beginToWrite() {
        state.withLock { state in
            guard state.writer == nil else { return }
            state.writer = Task { [end = time.now() + writeDelay] in await self.write(at: end) }
        }
    }

    private func writeSoon() async {
        beginToWrite()
        let mustWait = state.withLock { state in
            state.unwritten.count > Self.patience.responses || state.unwritten.bytes > Self.patience.bytes
        }
        if mustWait { await writeUnwritten() }
    }

    private func write(at moment: Duration) async {
        // Cancelled by close(), which writes by itself.
        try? await time.sleep(until: moment)
        state.withLock { $0.writer = nil }
        await writeUnwritten()
    }

    /// The store below makes one transaction of what comes at the same time.
    private func write(_ changes: [WriteBehindQueue.Change]) async {
        await withTaskGroup(of: Void.self) { group in
            for change in changes { group.addTask { await self.write(change) } }
        }
    }

    private func write(_ change: WriteBehindQueue.Change) async {
        let stored = change.stored
        guard let body = stored.body, state.withLock({ $0.isUnwritten(change) }) else { return }
        guard mayWrite(stored.response) else { return state.withLock { $0.settle(stored, as: nil) } }
        let times = limits.validTimes(at: time.date())
        guard times?.contains(stored.response.responseTime) ?? true else {
            return state.withLock { $0.settle(stored, as: nil) }
        }
        let written: StoredResponse? =
            if let original = change.original {
                await below.update(original, to: stored.response)
            } else {
                await below.put(stored.response, body: body)
            }
        state.withLock { $0.settle(stored, as: written) }
    }
}

extension TieredCacheStore.State {
    /// `nil` when the other responses of the key are not at hand.
    fileprivate mutating func putAtHand(_ response: CachedResponse, _ body: Data) -> StoredResponse? {
        guard atHand(response.key) != nil else { return nil }
        return put(StoredResponse(response, entry: nextEntry(), body: body), original: nil)
    }

    fileprivate mutating func put(
        _ response: CachedResponse, _ body: Data, among others: [StoredResponse],
        _ ticket: InvalidationLog<CacheKey>.Ticket
    ) -> StoredResponse? {
        guard invalidations.isValid(ticket) else { return nil }
        let stored = StoredResponse(response, entry: nextEntry(), body: body)
        guard table.fits([stored]) else { return nil }
        table.set(response.key, to: others)
        return put(stored, original: nil)
    }

    fileprivate mutating func update(_ entry: CacheEntryID, to response: CachedResponse) -> StoredResponse? {
        guard
            let old = atHand(response.key)?.first(where: { known in
                known.response.variant == response.variant && known.entry == (written(entry) ?? entry)
            }), let body = old.body
        else { return nil }
        var response = response
        response.bodyLength = body.count
        let stored = StoredResponse(response, entry: old.entry, body: body)
        return put(stored, original: old.entry.row < 0 ? nil : old.entry)
    }

    /// Puts a response into memory, and in line to be written. Nothing that was read of its key before is taken into memory after it.
    private mutating func put(_ stored: StoredResponse, original: CacheEntryID?) -> StoredResponse {
        invalidations.note(stored.response.key)
        table.put(stored)
        unwritten.add(.init(stored: stored, original: original))
        return stored
    }

    /// An entry that the store below does not know: its rows are never negative.
    private mutating func nextEntry() -> CacheEntryID {
        lastVersion += 1
        return CacheEntryID(row: -Int64(bitPattern: lastVersion), version: lastVersion)
    }

    /// An entry as the store below knows it.
    func written(_ entry: CacheEntryID) -> CacheEntryID? {
        entry.row >= 0 ? entry : writtenEntries[entry.row]
    }

    func written(_ selection: CacheSelection) -> CacheSelection {
        if case .entry(let entry) = selection, let known = written(entry) { .entry(known) } else { selection }
    }

    fileprivate func isUnwritten(_ change: WriteBehindQueue.Change) -> Bool {
        unwritten[change.stored.response.key].contains { Self.isSame($0.stored, change.stored) }
    }

    /// A response has been written, or could not be and stays in memory alone.
    fileprivate mutating func settle(_ stored: StoredResponse, as written: StoredResponse?) {
        let key = stored.response.key
        // Also where it has been taken back meanwhile: what takes it back speaks of it by the entry that it had.
        if let written { note(stored.entry, as: written.entry) }
        guard !unwritten.remove(key, where: { Self.isSame($0.stored, stored) }).isEmpty, let written else { return }
        invalidations.note(key)
        guard table.peek(key)?.responses.contains(where: { Self.isSame($0, stored) }) ?? false else { return }
        table.rename(stored.entry, to: written.entry, of: key)
    }

    /// A caller that has found the response before it was written may still speak of it.
    private mutating func note(_ entry: CacheEntryID, as written: CacheEntryID) {
        guard entry.row < 0 else { return }
        if writtenEntries.count >= 4_096 { writtenEntries.removeAll() }
        writtenEntries[entry.row] = written
    }

    /// Whether nothing has come in a response's place: neither another body nor other fields.
    private static func isSame(_ left: StoredResponse, _ right: StoredResponse) -> Bool {
        left.entry == right.entry && left.response.isSame(as: right.response)
    }
}
