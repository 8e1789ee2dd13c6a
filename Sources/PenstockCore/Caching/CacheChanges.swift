/// Says whether what was decided on at some time may still be stored, or has been changed since.
///
/// Changes are remembered by key up to a number; past it every ticket from before counts as out of date, which costs a
/// load and nothing else.
struct CacheChanges: Sendable {
    /// Given before the store is read.
    struct Ticket: Equatable, Sendable {
        fileprivate let key: CacheKey
        fileprivate let time: UInt64
    }

    private let limit: Int
    private var time: UInt64 = 0
    /// Tickets from before are out of date.
    private var horizon: UInt64 = 0
    private var latest: [CacheKey: UInt64] = [:]
    private var active: [CacheKey: Int] = [:]
    private var activeForAll = 0

    init(limit: Int = 1_024) {
        self.limit = limit
    }

    func ticket(for key: CacheKey) -> Ticket {
        Ticket(key: key, time: time)
    }

    /// Whether the ticket's key has not been changed since it was given, and is not being changed now.
    func isValid(_ ticket: Ticket) -> Bool {
        guard activeForAll == 0, ticket.time >= horizon else { return false }
        if latest.isEmpty, active.isEmpty { return true }
        return active[ticket.key] == nil && latest[ticket.key] ?? 0 <= ticket.time
    }

    /// A change of some keys begins, or of any while they are `nil`.
    mutating func begin(_ keys: [CacheKey]?) {
        note(keys)
        guard let keys else { return activeForAll += 1 }
        for key in keys { active[key, default: 0] += 1 }
    }

    /// What began has ended. A ticket from in between is out of date too.
    mutating func end(_ keys: [CacheKey]?) {
        note(keys)
        guard let keys else { return activeForAll -= 1 }
        for key in keys {
            let count = active[key, default: 1] - 1
            active[key] = count == 0 ? nil : count
        }
    }

    private mutating func note(_ keys: [CacheKey]?) {
        time += 1
        if keys == nil || latest.count >= limit {
            latest.removeAll()
            horizon = time
        }
        for key in keys ?? [] { latest[key] = time }
    }
}
