import Foundation

/// A memory over a slower store, as one: what was read or written lately is at hand, and everything is below.
///
/// What is in memory is what is below, except that what the store below could not write is kept in memory alone. Removals
/// and changes by other processes are noticed within ``coherence`` of their commit.
public final class LayeredCacheStore: CacheStore {
    struct State: Sendable {
        var table: MemoryCacheTable
        var gate = FillGate()
        /// Uses that the store below has not been told of.
        var uses: [CacheEntryID] = []
        var round: UInt64 = 1
        var seenChanges: UInt64
        var nextLook: Duration = .zero
        var lastVersion: UInt64 = 0
    }

    /// The store below.
    public let below: any CacheStore
    /// How long a change by another process may go unnoticed.
    public let coherence: Duration
    let limits: CacheLimits
    let state: Locked<State>
    private let shared: (any SharedCacheStore)?
    private let time: TimeSource

    /// - Parameters:
    ///   - below: where everything is.
    ///   - limits: of the memory; a body that is larger than their ``CacheLimits/bodyBytes`` is read from below each time.
    ///   - coherence: 100 ms unless told otherwise.
    public init(
        over below: any CacheStore, limits: CacheLimits = .memory, coherence: Duration = .milliseconds(100),
        time: TimeSource = .system
    ) {
        self.below = below
        self.limits = limits
        self.coherence = coherence
        self.time = time
        shared = below as? any SharedCacheStore
        state = Locked(
            State(table: MemoryCacheTable(limits: limits), seenChanges: shared?.foreignChanges ?? 0))
    }

    public func responsesAtHand(for key: CacheKey) -> [StoredResponse]? {
        noticeForeignChanges()
        let (found, uses) = state.withLock { $0.use(key) }
        if !uses.isEmpty { below.touch(uses) }
        guard let found, let times = limits.validTimes(at: time.date()) else { return found }
        guard !found.allSatisfy({ times.contains($0.response.responseTime) }) else { return found }
        state.withLock { $0.table.remove(key) { _ in true } }
        return nil
    }

    public func responses(for key: CacheKey) async -> [StoredResponse] {
        if let atHand = responsesAtHand(for: key) { return atHand }
        let ticket = state.withLock { $0.gate.ticket(for: key) }
        let found = await below.responses(for: key)
        guard let times = limits.validTimes(at: time.date()) else {
            if let ticket { state.withLock { $0.fill(key, with: found, ticket) } }
            return found
        }
        let valid = found.filter { times.contains($0.response.responseTime) }
        if let ticket { state.withLock { $0.fill(key, with: valid, ticket) } }
        return valid
    }

    public func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        guard let body = state.withLock({ $0.table.peek(entry)?.body }) else {
            return await below.bytes(of: entry, from: offset)
        }
        return offset >= 0 && offset < body.count ? body.dropFirst(offset) : nil
    }

    public func body(of stored: StoredResponse) async -> Data? {
        if let body = stored.body { return body }
        let ticket = state.withLock { $0.gate.ticket(for: stored.response.key) }
        guard let body = await below.body(of: stored) else { return nil }
        if let ticket, body.count <= limits.bodyBytes { state.withLock { $0.keep(body, of: stored, ticket) } }
        return body
    }

    /// Asks the store below to look, and forgets everything when it has found something.
    private func noticeForeignChanges() {
        guard let shared else { return }
        let now = time.now()
        let changes = shared.foreignChanges
        let mustLook = state.withLock { state in
            if changes != state.seenChanges {
                state.seenChanges = changes
                state.gate.begin(nil)
                state.table.removeAll()
                state.gate.end(nil)
            }
            guard now >= state.nextLook else { return false }
            state.nextLook = now + coherence
            return true
        }
        if mustLook { shared.lookForForeignChanges() }
    }
}

extension LayeredCacheStore.State {
    /// What is at hand for a key, and the uses that it is time to tell the store below.
    fileprivate mutating func use(_ key: CacheKey) -> (found: [StoredResponse]?, uses: [CacheEntryID]) {
        guard let group = table.use(key) else { return (nil, []) }
        guard group.round != round, table.noteUse(of: key, in: round) else { return (group.responses, []) }
        uses += group.responses.map(\.entry)
        return (group.responses, uses.count < 256 ? [] : takeUses())
    }

    mutating func takeUses() -> [CacheEntryID] {
        defer { uses = [] }
        round += 1
        return uses
    }

    fileprivate mutating func fill(_ key: CacheKey, with found: [StoredResponse], _ ticket: FillGate.Ticket) {
        if gate.isValid(ticket), table.fits(found) { table.set(key, to: found) }
    }

    /// Keeps a body that was read from below beside the metadata it belongs to.
    fileprivate mutating func keep(_ body: Data, of stored: StoredResponse, _ ticket: FillGate.Ticket) {
        let key = stored.response.key
        guard gate.isValid(ticket), let group = table.peek(key) else { return }
        let filled = group.responses.map { known in
            known.entry == stored.entry ? StoredResponse(known.response, entry: known.entry, body: body) : known
        }
        if table.fits(filled) { table.set(key, to: filled) }
    }
}
