import Foundation

/// A memory over a slower store, as one: what was read or written lately is at hand, and everything is below.
///
/// What is stored is at hand at once, and handed to the store below a moment later, together with what came meanwhile:
/// at most ``writeDelay`` later, and at the latest by ``flush()``. A process that is killed before loses it. Removals and
/// invalidations wait for the store below. What that could not write is kept in memory alone. Removals and changes by
/// other processes are noticed within ``coherence`` of their commit, and cost each key one look-up below: what was not
/// asked about for longer than that is not at hand, since nobody has looked meanwhile.
public final class TieredCacheStore: HoldingCacheStore {
    struct State: Sendable {
        var table: MemoryCacheTable
        /// A read from below that began before one of them is not taken into memory.
        var invalidations = InvalidationLog<CacheKey>()
        /// Uses that the store below has not been told of.
        var uses: [CacheEntryID] = []
        var round: UInt64 = 1
        var seenChanges: UInt64
        var seenRemovals: UInt64
        var looks: ForeignLooks
        var lastVersion: UInt64 = 0
        var lastChange: UInt64 = 0
        var unwritten = WriteBehindQueue()
        /// What the store below is being told of, and readers see already.
        var pending = PendingChanges()
        /// The entries that responses have got below, by the rows that responses had in memory alone.
        var writtenEntries: [Int64: CacheEntryID] = [:]
        /// Writes what is unwritten, after a while.
        var writer: Task<Void, Never>?
    }

    /// The store below.
    public let below: any CacheStore
    /// How long a change by another process may go unnoticed.
    public let coherence: Duration
    /// How long a response waits for others before it is handed to the store below.
    public let writeDelay: Duration
    let limits: CacheLimits
    let state: Locked<State>
    /// Everything that changes the store below goes through it.
    let lane = ChangeLane()
    let time: TimeSource
    private let shared: (any SharedCacheStore)?
    private let punctual: (any PunctualCacheStore)?

    /// A memory over a store, of which the memory is empty at first.
    ///
    /// - Parameters:
    ///   - below: where everything is.
    ///   - limits: of the memory; a body that is larger than their ``CacheLimits/bodyBytes`` is read from below each time.
    ///   - coherence: 100 ms unless told otherwise.
    ///   - writeDelay: 50 ms unless told otherwise.
    public init(
        over below: any CacheStore, limits: CacheLimits = .memory, coherence: Duration = .milliseconds(100),
        writeDelay: Duration = .milliseconds(50), time: TimeSource = .system
    ) {
        self.below = below
        self.limits = limits
        self.coherence = coherence
        self.writeDelay = writeDelay
        self.time = time
        shared = below as? any SharedCacheStore
        punctual = below as? any PunctualCacheStore
        state = Locked(
            State(
                table: MemoryCacheTable(limits: limits), seenChanges: shared?.foreignChanges ?? 0,
                seenRemovals: shared?.foreignRemovals ?? 0, looks: ForeignLooks(coherence, since: time.now())))
    }

    public func responsesAtHand(for key: CacheKey) -> [StoredResponse]? {
        guard isUpToDate() else { return nil }
        let (found, uses) = state.withLock { $0.use(key) }
        if !uses.isEmpty { below.touch(uses) }
        guard let found, let times = limits.validTimes(at: time.date()) else { return found }
        guard !found.allSatisfy({ times.contains($0.response.responseTime) }) else { return found }
        state.withLock { $0.table.remove(key) { _ in true } }
        return nil
    }

    /// What the store below has, with what it is about to get. Whoever wants what is at hand first asks for that first.
    public func responses(for key: CacheKey) async -> [StoredResponse] {
        let (ticket, unwritten, pending) = state.withLock {
            ($0.invalidations.ticket(for: key), $0.unwritten[key], $0.pending)
        }
        let known = pending.applied(to: await below.responses(for: key))
        let found = WriteBehindQueue.overlay(state.withLock { $0.withMemory(known, of: key) }, with: unwritten)
        guard let times = limits.validTimes(at: time.date()) else {
            state.withLock { $0.fill(key, with: found, ticket) }
            return found
        }
        let valid = found.filter { times.contains($0.response.responseTime) }
        state.withLock { $0.fill(key, with: valid, ticket) }
        return valid
    }

    /// They are kept in memory alone, unless the store below may hold them.
    public var holdsSealedReplies: Bool { true }

    /// Whether the store below may be told of a response.
    func mayWrite(_ response: CachedResponse) -> Bool {
        !response.key.partition.isSealed || below.holdsSealedReplies
    }

    /// The digest key of the store below.
    public func digestKey() async -> Data? { await below.digestKey() }

    public func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        guard let body = state.withLock({ $0.table.peek($0.written(entry) ?? entry)?.body }) else {
            if entry.row < 0 { await writeUnwritten() }
            guard let written = state.withLock({ $0.written(entry) }) else { return nil }
            return await below.bytes(of: written, from: offset)
        }
        return offset >= 0 && offset < body.count ? body.dropFirst(offset) : nil
    }

    public func body(of stored: StoredResponse) async -> Data? {
        if let body = stored.body { return body }
        let ticket = state.withLock { $0.invalidations.ticket(for: stored.response.key) }
        if stored.entry.row < 0 { await writeUnwritten() }
        guard let entry = state.withLock({ $0.written(stored.entry) }) else { return nil }
        let stored = StoredResponse(stored.response, entry: entry, body: nil)
        guard let body = await below.body(of: stored) else { return nil }
        if body.count <= limits.bodyBytes { state.withLock { $0.keep(body, of: stored, ticket) } }
        return body
    }

    package func reader(of entry: CacheEntryID) async -> (any CacheBodyReader)? {
        if let body = state.withLock({ $0.table.peek($0.written(entry) ?? entry)?.body }) { return WholeBody(body) }
        if entry.row < 0 { await writeUnwritten() }
        guard let written = state.withLock({ $0.written(entry) }) else { return nil }
        return await below.bodyReader(of: written)
    }

    /// Asks the store below to look, in time for the next reader. What it has found costs each key one look-up below; what was
    /// not written yet is lost only where others have removed something, and what is older below goes with it.
    ///
    /// - Returns: whether it has looked lately, so that what is in memory may be given out.
    private func isUpToDate() -> Bool {
        guard let shared else { return true }
        let now = time.now()
        let (changes, removals) = (shared.foreignChanges, shared.foreignRemovals)
        let (isRecent, look, isOvertaken) = state.withLock { state in
            if changes != state.seenChanges || removals != state.seenRemovals {
                state.invalidations.begin(nil)
                if removals == state.seenRemovals {
                    state.table.distrust()
                } else {
                    state.pending.overtake(state.untold)
                    state.table.removeAll()
                    // It may have been among what they removed.
                    state.unwritten.removeAll()
                }
                (state.seenChanges, state.seenRemovals) = (changes, removals)
                state.invalidations.end(nil)
            }
            return (state.looks.isRecent(at: now), state.looks.begin(at: now), !state.pending.overtaken.isEmpty)
        }
        if isOvertaken { beginToWrite() }
        if let look { self.look(look, in: shared) }
        return isRecent
    }

    private func look(_ look: ForeignLooks.Look, in shared: any SharedCacheStore) {
        guard let punctual else {
            shared.lookForForeignChanges()
            return state.withLock { $0.looks.end(look) }
        }
        punctual.lookForForeignChanges { [weak self] in self?.state.withLock { $0.looks.end(look) } }
    }
}

extension TieredCacheStore.State {
    /// What is at hand for a key, and the uses that it is time to tell the store below.
    fileprivate mutating func use(_ key: CacheKey) -> (found: [StoredResponse]?, uses: [CacheEntryID]) {
        guard let group = table.use(key), table.trusts(group) else { return (nil, []) }
        guard group.round != round, table.noteUse(of: key, in: round) else { return (group.responses, []) }
        uses += group.responses.map(\.entry)
        return (group.responses, uses.count < 256 ? [] : takeUses())
    }

    mutating func takeUses() -> [CacheEntryID] {
        defer { uses = [] }
        round += 1
        return uses.compactMap(written)
    }

    fileprivate mutating func fill(
        _ key: CacheKey, with found: [StoredResponse], _ ticket: InvalidationLog<CacheKey>.Ticket
    ) {
        if invalidations.isValid(ticket), table.fits(found) { table.set(key, to: found) }
    }

    /// What was found below, with the bodies that are in memory, as an entry never gets another one, and with the responses that
    /// are in memory alone.
    fileprivate func withMemory(_ found: [StoredResponse], of key: CacheKey) -> [StoredResponse] {
        guard let known = table.peek(key)?.responses else { return found }
        let alone = atHand(key)?.filter { written($0.entry) == nil } ?? []
        let others = found.filter { stored in !alone.contains { $0.response.variant == stored.response.variant } }
        return alone
            + others.map { stored in
                guard stored.body == nil, let body = known.first(where: { $0.entry == stored.entry })?.body else {
                    return stored
                }
                return StoredResponse(stored.response, entry: stored.entry, body: body)
            }
    }

    /// All responses of a key, where they are at hand.
    func atHand(_ key: CacheKey) -> [StoredResponse]? {
        table.peek(key).flatMap { table.trusts($0) ? $0.responses : nil }
    }

    /// Keeps a body that was read from below beside the metadata it belongs to.
    fileprivate mutating func keep(_ body: Data, of stored: StoredResponse, _ ticket: InvalidationLog<CacheKey>.Ticket)
    {
        let key = stored.response.key
        guard invalidations.isValid(ticket), let responses = atHand(key) else { return }
        let filled = responses.map { known in
            known.entry == stored.entry ? StoredResponse(known.response, entry: known.entry, body: body) : known
        }
        if table.fits(filled) { table.set(key, to: filled) }
    }
}
