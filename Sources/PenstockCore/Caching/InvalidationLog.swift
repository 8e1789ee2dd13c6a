/// Says whether what was read at some time may still be stored, or has been changed since.
///
/// A fill that began before a change is refused after it: whoever reads takes a ticket first and shows it when there is
/// something to store. Changes are remembered by subject up to a number; past it every ticket from before counts as out of
/// date, which costs a load and nothing else.
///
/// A call stores by ``CacheResource``, since a write changes everything that is there of a URL. A tiered store keeps by
/// ``CacheKey``, since to store one response changes no other one.
struct InvalidationLog<Subject: InvalidationSubject>: Sendable {
    /// Given before the store is read. The subject is made of the key where it is needed alone.
    struct Ticket: Equatable, Sendable {
        fileprivate let key: CacheKey
        fileprivate let time: UInt64
    }

    private let limit: Int
    /// Counts the beginnings and the ends of changes.
    private(set) var time: UInt64 = 0
    /// Tickets from before are out of date.
    private var horizon: UInt64 = 0
    private var latest: [Subject: UInt64] = [:]
    private var active: [Subject: Int] = [:]
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

    /// Whether the ticket's subject has not been changed since it was given, and is not being changed now.
    func isValid(_ ticket: Ticket) -> Bool {
        guard activeForAll == 0, ticket.time >= horizon else { return false }
        if latest.isEmpty, active.isEmpty { return true }
        let subject = Subject(ticket.key)
        return active[subject] == nil && latest[subject] ?? 0 <= ticket.time
    }

    /// A change of some subjects begins, or of any while they are `nil`.
    mutating func begin(_ subjects: [Subject]?) {
        note(subjects)
        guard let subjects else { return activeForAll += 1 }
        for subject in subjects { active[subject, default: 0] += 1 }
    }

    /// What began has ended. A ticket from in between is out of date too.
    mutating func end(_ subjects: [Subject]?) {
        note(subjects)
        guard let subjects else { return activeForAll -= 1 }
        for subject in subjects {
            if let count = active[subject] { active[subject] = count == 1 ? nil : count - 1 }
        }
    }

    /// A change that begins and ends at one moment.
    mutating func note(_ subject: Subject) {
        time += 1
        if latest.count >= limit { forget() }
        latest[subject] = time
    }

    private mutating func note(_ subjects: [Subject]?) {
        time += 1
        if subjects == nil || latest.count >= limit { forget() }
        for subject in subjects ?? [] { latest[subject] = time }
    }

    private mutating func forget() {
        latest.removeAll()
        horizon = time
    }
}

/// What a change is remembered by.
protocol InvalidationSubject: Hashable, Sendable {
    /// The subject that the response of a key belongs to.
    init(_ key: CacheKey)
}

/// All that is stored of one URL for one user: a write changes it for every method, content and credential.
struct CacheResource: InvalidationSubject {
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

extension CacheKey: InvalidationSubject {
    init(_ key: CacheKey) {
        self = key
    }
}
