/// Says whether what was decided on at some time may still be stored, or has been changed since.
///
/// Changes are remembered by resource up to a number; past it every ticket from before counts as out of date, which costs
/// a load and nothing else.
struct CacheChanges: Sendable {
    /// All that is stored of one URL for one user: a write changes it for every method, content and credential.
    struct Resource: Hashable, Sendable {
        private let url: String
        private var partition: CachePartition

        init(_ key: CacheKey) {
            (url, partition) = (key.url, key.partition)
            // What changes for a user changes by whatever way it came.
            partition.way = ""
        }

        init(_ url: HTTPURL, in partition: CachePartition) {
            self.init(CacheKey(url: url, partition: partition))
        }
    }

    /// Given before the store is read.
    struct Ticket: Equatable, Sendable {
        fileprivate let key: CacheKey
        fileprivate let time: UInt64
    }

    private let limit: Int
    /// Counts the beginnings and the ends of changes.
    private(set) var time: UInt64 = 0
    /// Tickets from before are out of date.
    private var horizon: UInt64 = 0
    private var latest: [Resource: UInt64] = [:]
    private var active: [Resource: Int] = [:]
    private var activeForAll = 0

    init(limit: Int = 1_024) {
        self.limit = limit
    }

    func ticket(for key: CacheKey) -> Ticket {
        Ticket(key: key, time: time)
    }

    /// The same as of now.
    func renewed(_ ticket: Ticket) -> Ticket {
        Ticket(key: ticket.key, time: time)
    }

    /// Whether the ticket's resource has not been changed since it was given, and is not being changed now.
    func isValid(_ ticket: Ticket) -> Bool {
        guard activeForAll == 0, ticket.time >= horizon else { return false }
        if latest.isEmpty, active.isEmpty { return true }
        let resource = Resource(ticket.key)
        return active[resource] == nil && latest[resource] ?? 0 <= ticket.time
    }

    /// A change of some resources begins, or of any while they are `nil`.
    mutating func begin(_ resources: [Resource]?) {
        note(resources)
        guard let resources else { return activeForAll += 1 }
        for resource in resources { active[resource, default: 0] += 1 }
    }

    /// What began has ended. A ticket from in between is out of date too.
    mutating func end(_ resources: [Resource]?) {
        note(resources)
        guard let resources else { return activeForAll -= 1 }
        for resource in resources {
            let count = active[resource, default: 1] - 1
            active[resource] = count == 0 ? nil : count
        }
    }

    private mutating func note(_ resources: [Resource]?) {
        time += 1
        if resources == nil || latest.count >= limit {
            latest.removeAll()
            horizon = time
        }
        for resource in resources ?? [] { latest[resource] = time }
    }
}
