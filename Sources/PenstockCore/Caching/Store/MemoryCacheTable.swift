import Foundation

/// Responses in memory, all variants of a key together: found by key, by path and by tag, within limits.
///
/// Variants of one key are used and go together, so that a key is found with one look-up.
struct MemoryCacheTable: Sendable {
    struct Group: Sendable {
        var responses: [StoredResponse]
        /// The last round in which a use was noted: see ``MemoryCacheTable/noteUse(of:in:)``.
        var round: UInt64 = 0
        /// See ``MemoryCacheTable/distrust()``.
        fileprivate let generation: UInt64
    }

    private let limits: CacheLimits
    private var groups = LRUTable<CacheKey, Group>()
    private var places: [Substring: Set<CacheKey>] = [:]
    private var tags: [String: Set<CacheKey>] = [:]
    private var rows: [Int64: CacheKey] = [:]
    private var generation: UInt64 = 0

    init(limits: CacheLimits) {
        self.limits = limits
    }

    var statistics: CacheStatistics { CacheStatistics(entries: rows.count, bytes: groups.totalCost) }

    /// What is stored for a key, which is now the most recently used.
    mutating func use(_ key: CacheKey) -> Group? {
        groups.use(key)
    }

    func peek(_ key: CacheKey) -> Group? {
        groups.peek(key)
    }

    /// Leaves everything in place but doubts it: what is here may no longer be what a store below has.
    mutating func distrust() { generation &+= 1 }

    /// Whether a group was set since that was last doubted.
    func trusts(_ group: Group) -> Bool { group.generation == generation }

    /// - Returns: whether it is the first use of the key in this round.
    mutating func noteUse(of key: CacheKey, in round: UInt64) -> Bool {
        guard groups.peek(key)?.round != round else { return false }
        groups.modify(key) { $0.round = round }
        return true
    }

    /// The key of an entry.
    func key(of entry: CacheEntryID) -> CacheKey? {
        rows[entry.row]
    }

    /// One entry, without counting as a use.
    func peek(_ entry: CacheEntryID) -> StoredResponse? {
        rows[entry.row].flatMap { peek($0) }?.responses.first { $0.entry == entry }
    }

    mutating func removeAll() {
        self = MemoryCacheTable(limits: limits)
    }

    /// Everything, in no order.
    var all: [StoredResponse] { groups.keys.flatMap { groups.peek($0)?.responses ?? [] } }

    /// Stores a response in the place of the one with its key and variant, as the latest of the key.
    mutating func put(_ stored: StoredResponse) {
        let key = stored.response.key
        if replacesOnly(stored, at: key) { return makeRoom() }
        let others = groups.peek(key)?.responses.filter { $0.response.variant != stored.response.variant } ?? []
        set(key, to: others + [stored])
    }

    /// Puts a response in the place of the only one that a key has, where that is like it.
    private mutating func replacesOnly(_ stored: StoredResponse, at key: CacheKey) -> Bool {
        let cost = Self.cost(of: stored)
        guard cost <= limits.bytes else { return false }
        var row = stored.entry.row
        let generation = generation
        let isDone = groups.replace(key) { group in
            guard group.responses.count == 1, Self.isLike(group.responses[0], stored) else { return nil }
            row = group.responses[0].entry.row
            group = Group(responses: [stored], generation: generation)
            return cost
        }
        if row != stored.entry.row {
            rows[row] = nil
            rows[stored.entry.row] = key
        }
        return isDone
    }

    /// Whether one can take the other's place in every index. A response is most often stored anew as it was.
    private static func isLike(_ old: StoredResponse, _ new: StoredResponse) -> Bool {
        old.response.variant == new.response.variant && old.response.tags == new.response.tags
    }

    /// Stores the responses of a key in place of those before, and makes room for them.
    ///
    /// - Parameter responses: the latest one last.
    mutating func set(_ key: CacheKey, to responses: [StoredResponse]) {
        forget(key)
        var responses = responses.suffix(limits.variants)
        while responses.lazy.map(Self.cost).reduce(0, +) > limits.bytes { responses.removeFirst() }
        guard !responses.isEmpty else { return }
        for stored in responses { rows[stored.entry.row] = key }
        let group = Group(responses: Array(responses), generation: generation)
        groups.set(key, to: group, cost: responses.lazy.map(Self.cost).reduce(0, +))
        places[key.place, default: []].insert(key)
        for tag in Set(responses.lazy.flatMap(\.response.tags)) { tags[tag, default: []].insert(key) }
        makeRoom()
    }

    /// Gives a response of a key the entry that it has now; that does not count as a use.
    mutating func rename(_ entry: CacheEntryID, to new: CacheEntryID, of key: CacheKey) {
        rows[entry.row] = nil
        rows[new.row] = key
        groups.modify(key) { group in
            group.responses = group.responses.map {
                $0.entry == entry ? StoredResponse($0.response, entry: new, body: $0.body) : $0
            }
        }
    }

    /// Removes what a condition holds for, among the responses of a key.
    mutating func remove(_ key: CacheKey, where condition: (StoredResponse) -> Bool) {
        guard let group = groups.peek(key), group.responses.contains(where: condition) else { return }
        set(key, to: group.responses.filter { !condition($0) })
    }

    /// Removes all responses of a key if one of them is selected: a memory over a store has all of a key or nothing.
    mutating func forget(_ key: CacheKey, selectedBy selection: CacheSelection) {
        let responses = peek(key)?.responses ?? []
        if responses.contains(where: { selection.contains($0.response, stored: $0.entry) }) { forget(key) }
    }

    /// Whether these responses of a key can be kept without leaving one out.
    func fits(_ responses: [StoredResponse]) -> Bool {
        responses.count <= limits.variants && responses.lazy.map(Self.cost).reduce(0, +) <= limits.bytes
    }

    /// Removes the responses that came before or after these times, among the few that were used least recently.
    mutating func removeOld(outside times: ClosedRange<Date>) {
        for _ in 1...4 {
            guard let key = groups.oldestKey, let group = groups.peek(key),
                !group.responses.contains(where: { times.contains($0.response.responseTime) })
            else { return }
            forget(key)
        }
    }

    /// The keys under which there may be something that is selected.
    func keys(for selection: CacheSelection) -> [CacheKey] {
        switch selection {
        case .key(let key): [key]
        case .url(let url, _), .path(let url, _): Array(places[CacheSelection.place(url)] ?? [])
        case .tag(let tag, _): Array(tags[tag] ?? [])
        case .entry(let entry): rows[entry.row].map { [$0] } ?? []
        case .all, .partition, .identity, .environment: Array(groups.keys)
        }
    }

    private mutating func makeRoom() {
        while groups.totalCost > limits.bytes || rows.count > limits.entries, let key = groups.oldestKey { forget(key) }
    }

    private mutating func forget(_ key: CacheKey) {
        guard let group = groups.remove(key) else { return }
        for stored in group.responses { rows[stored.entry.row] = nil }
        Self.drop(key, from: &places, at: key.place)
        for tag in Set(group.responses.lazy.flatMap(\.response.tags)) { Self.drop(key, from: &tags, at: tag) }
    }

    private static func drop<Mark: Hashable>(_ key: CacheKey, from index: inout [Mark: Set<CacheKey>], at mark: Mark) {
        index[mark]?.remove(key)
        if index[mark]?.isEmpty == true { index[mark] = nil }
    }

    /// What a response counts for: its bytes, and what the structures around them take.
    static func cost(of stored: StoredResponse) -> Int {
        let response = stored.response
        let fields = response.fields.reduce(0) { $0 + $1.name.text.utf8.count + $1.value.utf8.count + 64 }
        return (stored.body?.count ?? 0) + fields + 2 * response.key.url.utf8.count + 512
    }
}
