/// A store as calls use it: what was decided on before a removal cannot be stored after it.
final class CacheAccess: Sendable {
    private struct State: Sendable {
        var changes = CacheChanges()
        var lastFill: UInt64 = 0
        var fills: Set<UInt64> = []
    }

    let store: any CacheStore
    /// The exchanges under way that calls may share.
    let exchanges = SharedExchanges<CachePurpose, CacheLoad>()
    /// What is being refreshed.
    private let refreshes = Locked<Set<CacheKey>>([])
    private let state = Monitor(State())

    /// Whether the store never waits.
    let isPrompt: Bool

    init(_ store: any CacheStore) {
        self.store = store
        isPrompt = store is any PromptCacheStore
    }

    /// - Returns: `false` when the response is being refreshed already.
    func beginRefresh(of key: CacheKey) -> Bool {
        refreshes.withLock { $0.insert(key).inserted }
    }

    func endRefresh(of key: CacheKey) {
        refreshes.withLock { _ = $0.remove(key) }
    }

    /// To be taken before the store is read.
    func ticket(for key: CacheKey) -> CacheChanges.Ticket {
        state.withLock { $0.changes.ticket(for: key) }
    }

    func isValid(_ ticket: CacheChanges.Ticket) -> Bool {
        state.withLock { $0.changes.isValid(ticket) }
    }

    /// Stores something, unless what the ticket speaks of was changed in the meantime.
    func fill(_ ticket: CacheChanges.Ticket, _ store: () async -> Void) async {
        guard let fill = begin(ticket) else { return }
        await store()
        end(fill)
    }

    /// Changes what is stored: of some keys, or of any while they are `nil`.
    func change<Result>(_ keys: [CacheKey]?, _ body: () async -> Result) async -> Result {
        state.withLock { $0.changes.begin(keys) }
        await untilFilled()
        let result = await body()
        state.withLock { $0.changes.end(keys) }
        return result
    }

    /// What writes at some URLs do to everything that is stored of them (RFC 9111 §4.4).
    func invalidate(_ urls: [HTTPURL], in partition: ConnectionPartition) async {
        let keys = urls.map { CacheKey(url: $0, partition: partition) }
        _ = await change(keys) { await store.invalidate(urls.map { .url($0, in: partition) }) }
    }

    private func begin(_ ticket: CacheChanges.Ticket) -> UInt64? {
        state.withLock { state in
            guard state.changes.isValid(ticket) else { return nil }
            state.lastFill += 1
            state.fills.insert(state.lastFill)
            return state.lastFill
        }
    }

    private func end(_ fill: UInt64) {
        state.withLock { _ = $0.fills.remove(fill) }
    }

    /// Returns when the fills that were let through before it have ended.
    private func untilFilled() async {
        let fills = state.withLock(\.fills)
        await state.wait { $0.fills.isDisjoint(with: fills) }
    }
}
