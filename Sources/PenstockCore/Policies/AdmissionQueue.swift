/// How urgent a call is. Of those that wait for a place, the more urgent ones go first; who waits long becomes urgent.
public enum CallPriority: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// What nobody waits for: reports, prefetching.
    case background
    /// What may be needed soon: the next page.
    case low
    /// The default.
    case normal
    /// What somebody looks at a spinner for.
    case high
    /// Waits for no place and takes none, whatever the caps, the rates and the pauses: for what other calls wait for, such as
    /// the refresh of the credential that they lack.
    case immediate

    public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}

/// How many attempts may be under way, and how fast they may follow one another. No limits by default: the transport bounds its
/// connections already, and a server that has published no limits needs none.
public struct AdmissionPolicy: Hashable, Sendable {
    /// Attempts under way at a time; `nil` for any number.
    public var total: Int?
    /// Attempts under way at a time for each origin (scheme, host and port); `nil` for any number.
    public var perHost: Int?
    /// How fast attempts may follow one another, for each origin (scheme, host and port); `nil` for as fast as they come.
    public var rate: RateLimiter.Policy?
    /// Whether `Retry-After` (in a 429 or 503) and `RateLimit` hold back all that comes after them for the same origin (scheme, host
    /// and port), and not only what was refused. Off by default, since one busy path of an origin says nothing about its others;
    /// switch it on for a server that counts all requests together. An origin is left alone for at most ten minutes by one answer, and a call
    /// that would have to wait for longer than ``RetryPolicy/longestHint`` (a minute) fails at once, as ``APIError/Kind/unavailable(reason:)``.
    public var heedsServer: Bool
    /// How long a call waits before it counts as one step more urgent. 5 s by default: with three steps from `background` to
    /// `high`, nobody is overtaken for longer than 15 s.
    public var ageing: Duration

    /// The defaults, but for what is given.
    public init(
        total: Int? = nil, perHost: Int? = nil, rate: RateLimiter.Policy? = nil, heedsServer: Bool = false,
        ageing: Duration = .seconds(5)
    ) {
        self.total = total
        self.perHost = perHost
        self.rate = rate
        self.heedsServer = heedsServer
        self.ageing = ageing
    }

    /// Whether there is anything to wait for.
    var isUnlimited: Bool { total == nil && perHost == nil && rate == nil && !heedsServer }

    /// Whether who has a place takes it from others.
    var hasPlaces: Bool { total != nil || perHost != nil }
}

/// The requests that wait for leave to send, and those that have it: a state machine without a clock, a task or a lock.
///
/// ```swift
/// var queue = AdmissionQueue(.init(perHost: 4))
/// switch queue.enter(1, host: url.origin.text, priority: .high, at: clock.now) { … }
/// let admitted = queue.leave(0, at: clock.now)      // who may send now
/// ```
public struct AdmissionQueue: Sendable {
    /// Names a request in the queue; the smaller one came earlier.
    public typealias Ticket = UInt64

    /// Whether an attempt may be sent.
    @nonexhaustive
    public enum Verdict: Hashable, Sendable {
        /// The request may be sent now; it holds a place until it has ended.
        case admitted
        /// The request waits, for this reason.
        case waits(WaitReason)
        /// It cannot be admitted in the time that it has, or that a server may have it wait: the wait would be at least this long.
        case refused(wait: Duration)
    }

    /// What a request waits for.
    @nonexhaustive
    public enum WaitReason: Hashable, Sendable {
        /// No more may be under way in all.
        case total
        /// No more may be under way for its origin (scheme, host and port).
        case host
        /// The rate is used up, or the server wants to be left alone.
        case rate
        /// Its group is paused.
        case paused
        /// Others came before it.
        case turn
    }

    private struct Entry: Sendable {
        let host: String
        var priority: CallPriority
        let entered: Duration
        /// When it must have been admitted; `nil` where it has all the time.
        let deadline: Duration?
        /// How long a server may have it wait; `nil` for as long as it likes.
        let longestPause: Duration?
        var isHeld: Bool

        /// How long its server wants to be left alone, where that is longer than it waits. What is held back waits for something else.
        func overlongPause(by limiter: RateLimiter, at now: Duration) -> Duration? {
            guard !isHeld, let longestPause, let pause = limiter.pause(at: now), pause > longestPause else {
                return nil
            }
            return pause
        }
    }

    private struct Host: Sendable {
        var running = 0
        /// How many wait and are held back, which are in no lane.
        var held = 0
        /// One queue for each priority, in the order of the tickets.
        var lanes = [Lane](repeating: Lane(), count: CallPriority.allCases.count)
        var limiter: RateLimiter

        func isIdle(at now: Duration) -> Bool {
            running == 0 && held == 0 && lanes.allSatisfy(\.isEmpty) && limiter.isFull(at: now)
        }
    }

    /// The limits it goes by.
    public let policy: AdmissionPolicy
    private var hosts: [String: Host] = [:]
    /// The requests that wait.
    private var waiting: [Ticket: Entry] = [:]
    /// The requests that have leave, and for which host.
    private var running: [Ticket: String] = [:]

    /// A queue in which nobody waits.
    public init(_ policy: AdmissionPolicy) {
        self.policy = policy
    }

    /// How many wait.
    public var waitingCount: Int { waiting.count }
    /// How many have leave.
    public var runningCount: Int { running.count }

    // MARK: Coming and going

    /// Asks for leave to send one request.
    ///
    /// - Parameters:
    ///   - ticket: larger than all before.
    ///   - host: whose caps and rate it is held by. A client says the origin here (``HTTPURL/Origin/text``): servers on two ports of a
    ///     host have nothing to do with one another.
    ///   - isHeld: whether its group is paused.
    ///   - timeLeft: how long it may wait; `nil` for as long as it takes.
    ///   - longestPause: how long a server that wants to be left alone may have it wait; `nil` for as long as the server likes.
    public mutating func enter(
        _ ticket: Ticket, host: String, priority: CallPriority, isHeld: Bool = false, timeLeft: Duration? = nil,
        longestPause: Duration? = nil, at now: Duration
    ) -> Verdict {
        if priority == .immediate { return .admitted }
        if hosts[host] == nil { prune(at: now) }
        var place = hosts[host] ?? Host(limiter: RateLimiter(policy.rate, at: now))
        let deadline = timeLeft.map { now + $0 }
        let entry = Entry(
            host: host, priority: priority, entered: now, deadline: deadline, longestPause: longestPause, isHeld: isHeld
        )
        if let pause = entry.overlongPause(by: place.limiter, at: now) { return .refused(wait: pause) }
        if let timeLeft, !isHeld,
            let wait = place.limiter.wait(at: now, behind: count(in: place, before: entry, at: now)),
            wait >= timeLeft
        {
            return .refused(wait: wait)
        }
        waiting[ticket] = entry
        if isHeld { place.held += 1 } else { place.lanes[priority.rawValue].insert(ticket) }
        hosts[host] = place
        guard !isHeld else { return .waits(.paused) }
        // Only for itself: others whose time has come are for ``advance(to:)`` to tell of.
        guard hasRoom, next(at: now) == ticket else { return .waits(reason(host, at: now)) }
        admit(ticket, at: now)
        return .admitted
    }

    /// A request is over, or is waited for no more.
    ///
    /// - Returns: those that may be sent now.
    public mutating func leave(_ ticket: Ticket, at now: Duration) -> [Ticket] {
        if let host = running.removeValue(forKey: ticket) {
            hosts[host]?.running -= 1
        } else {
            withdraw(ticket)
        }
        return admit(at: now)
    }

    /// A request that waits is waited for no more, and nobody is admitted yet. Nothing happens to one that has leave. What comes next
    /// is ``leave(_:at:)``.
    package mutating func withdraw(_ ticket: Ticket) {
        if let entry = waiting.removeValue(forKey: ticket) { withdraw(ticket, entry) }
    }

    /// Time has gone on.
    ///
    /// - Returns: those that may be sent now.
    public mutating func advance(to now: Duration) -> [Ticket] { admit(at: now) }

    /// When to call ``advance(to:)`` at the latest; `nil` while nobody waits for time to go on.
    public func nextMoment(after now: Duration) -> Duration? {
        guard hasRoom else { return nil }
        let waits = hosts.values.lazy.filter { host in hasRoom(host) && host.lanes.contains { !$0.isEmpty } }
        return waits.map { $0.limiter.wait(at: now) ?? .zero }.min().map { now + $0 }
    }

    // MARK: Changes while it waits

    /// Holds a request back, or lets it wait for its turn again; it keeps its place in the order.
    ///
    /// - Returns: those that may be sent now.
    public mutating func hold(_ ticket: Ticket, _ isHeld: Bool, at now: Duration) -> [Ticket] {
        hold([ticket: isHeld], at: now)
    }

    /// Holds requests back, or lets them wait for their turn again, all at one moment: who is let go does not depend on which of
    /// them is told of first.
    ///
    /// - Parameter held: whether each of them is held back from now on.
    /// - Returns: those that may be sent now.
    public mutating func hold(_ held: [Ticket: Bool], at now: Duration) -> [Ticket] {
        for (ticket, isHeld) in held { mark(ticket, isHeld) }
        return admit(at: now)
    }

    private mutating func mark(_ ticket: Ticket, _ isHeld: Bool) {
        guard let entry = waiting[ticket], entry.isHeld != isHeld else { return }
        waiting[ticket]?.isHeld = isHeld
        if isHeld {
            hosts[entry.host]?.lanes[entry.priority.rawValue].remove(ticket)
            hosts[entry.host]?.held += 1
        } else {
            hosts[entry.host]?.held -= 1
            hosts[entry.host]?.lanes[entry.priority.rawValue].insert(ticket)
        }
    }

    /// Makes a request that waits more urgent, never less.
    ///
    /// - Returns: those that may be sent now.
    public mutating func raise(_ ticket: Ticket, to priority: CallPriority, at now: Duration) -> [Ticket] {
        guard let entry = waiting[ticket], entry.priority < priority else { return [] }
        if priority == .immediate {
            waiting[ticket] = nil
            withdraw(ticket, entry)
            return [ticket] + admit(at: now)
        }
        waiting[ticket]?.priority = priority
        guard !entry.isHeld else { return admit(at: now) }
        hosts[entry.host]?.lanes[entry.priority.rawValue].remove(ticket)
        hosts[entry.host]?.lanes[priority.rawValue].insert(ticket)
        return admit(at: now)
    }

    /// Makes a request that waits less urgent, never more: those who were in a hurry wait for it no longer. It keeps its place by
    /// the order of coming.
    package mutating func lower(_ ticket: Ticket, to priority: CallPriority) {
        guard let entry = waiting[ticket], entry.priority > priority else { return }
        waiting[ticket]?.priority = priority
        guard !entry.isHeld else { return }
        hosts[entry.host]?.lanes[entry.priority.rawValue].remove(ticket)
        hosts[entry.host]?.lanes[priority.rawValue].insert(ticket)
    }

    /// A server wants to be left alone; ten minutes at most.
    ///
    /// - Parameter host: as it was given to ``enter(_:host:priority:isHeld:timeLeft:longestPause:at:)``.
    /// - Returns: those that cannot be sent in the time that they have, or that the server may have them wait, which wait no more; the
    ///   smallest first.
    @discardableResult
    public mutating func pause(host: String, for duration: Duration, at now: Duration) -> [Ticket] {
        guard policy.heedsServer else { return [] }
        hosts[host, default: Host(limiter: RateLimiter(policy.rate, at: now))].limiter.pause(for: duration, at: now)
        return refuseLate(of: host, at: now).map(\.ticket)
    }

    /// How long a server still wants to be left alone; `nil` when it does not.
    func pause(of host: String, at now: Duration) -> Duration? { hosts[host]?.limiter.pause(at: now) }

    /// Those that cannot be sent in the time that they have, or that their server may have them wait: they wait no more. Where no
    /// server wants to be left alone there are none: the app's own rate is waited for.
    ///
    /// - Parameter name: for which host; `nil` for any.
    /// - Returns: with how long nothing is sent; the smallest first.
    package mutating func refuseLate(of name: String? = nil, at now: Duration) -> [(ticket: Ticket, wait: Duration)] {
        var late: [(ticket: Ticket, wait: Duration)] = []
        for (ticket, entry) in waiting where name == nil || name == entry.host {
            if let wait = lateness(of: entry, at: now) { late.append((ticket, wait)) }
        }
        for (ticket, _) in late { withdraw(ticket) }
        return late.sorted { $0.ticket < $1.ticket }
    }

    /// The same for one alone, without a look at the others.
    ///
    /// - Returns: how long nothing is sent; `nil` where it goes on waiting, or waits no more already.
    package mutating func refuseLate(_ ticket: Ticket, at now: Duration) -> Duration? {
        guard let wait = waiting[ticket].flatMap({ lateness(of: $0, at: now) }) else { return nil }
        withdraw(ticket)
        return wait
    }

    /// How long nothing is sent, where that is too long for one that waits for its server.
    private func lateness(of entry: Entry, at now: Duration) -> Duration? {
        guard let limiter = hosts[entry.host]?.limiter, limiter.pause(at: now) != nil, let wait = limiter.wait(at: now)
        else {
            return nil
        }
        let isPastDeadline = entry.deadline.map { $0 <= now + wait } ?? false
        return isPastDeadline || entry.overlongPause(by: limiter, at: now) != nil ? wait : nil
    }

    /// Its host has nothing to do with it any more.
    private mutating func withdraw(_ ticket: Ticket, _ entry: Entry) {
        if entry.isHeld {
            hosts[entry.host]?.held -= 1
        } else {
            hosts[entry.host]?.lanes[entry.priority.rawValue].remove(ticket)
        }
    }

    // MARK: Whose turn it is

    private var hasRoom: Bool { policy.total.map { running.count < max($0, 1) } ?? true }

    private func hasRoom(_ host: Host) -> Bool { policy.perHost.map { host.running < max($0, 1) } ?? true }

    private mutating func admit(at now: Duration) -> [Ticket] {
        var admitted: [Ticket] = []
        while hasRoom, let ticket = next(at: now) {
            admit(ticket, at: now)
            admitted.append(ticket)
        }
        return admitted
    }

    private mutating func admit(_ ticket: Ticket, at now: Duration) {
        guard let entry = waiting.removeValue(forKey: ticket) else { return }
        hosts[entry.host]?.lanes[entry.priority.rawValue].remove(ticket)
        hosts[entry.host]?.running += 1
        _ = hosts[entry.host]?.limiter.take(at: now)
        running[ticket] = entry.host
    }

    /// The most urgent of those that may go; of equally urgent ones the one that came first.
    private func next(at now: Duration) -> Ticket? {
        var best: (urgency: Double, ticket: Ticket)?
        for host in hosts.values where hasRoom(host) && host.limiter.wait(at: now) == nil {
            for lane in host.lanes {
                guard let ticket = lane.first, let entry = waiting[ticket] else { continue }
                let urgency = urgency(of: entry, at: now)
                guard let known = best else {
                    best = (urgency, ticket)
                    continue
                }
                if urgency > known.urgency || urgency == known.urgency && ticket < known.ticket {
                    best = (urgency, ticket)
                }
            }
        }
        return best?.ticket
    }

    /// How many of those that wait for a host go before one that comes now. All become more urgent at the same rate, so that their
    /// order stays.
    private func count(in host: Host, before new: Entry, at now: Duration) -> Int {
        let least = urgency(of: new, at: now)
        return host.lanes.enumerated().reduce(0) { sum, lane in
            if lane.offset >= new.priority.rawValue { return sum + lane.element.count }
            return sum + lane.element.count { waiting[$0].map { urgency(of: $0, at: now) >= least } ?? false }
        }
    }

    private func urgency(of entry: Entry, at now: Duration) -> Double {
        let step = max(policy.ageing, .milliseconds(1))
        return Double(entry.priority.rawValue) + (now - entry.entered) / step
    }

    private func reason(_ name: String, at now: Duration) -> WaitReason {
        guard hasRoom else { return .total }
        guard let host = hosts[name], hasRoom(host) else { return .host }
        return host.limiter.wait(at: now) == nil ? .turn : .rate
    }

    /// More hosts than an app talks to. What is idle is forgotten beyond that.
    private static let mostHosts = 256

    private mutating func prune(at now: Duration) {
        guard hosts.count >= Self.mostHosts else { return }
        hosts = hosts.filter { !$0.value.isIdle(at: now) }
    }
}

/// Tickets in order. What is removed from the middle stays until it comes first or most of what is there was removed, so that
/// neither coming nor going takes a look at all.
private struct Lane: Sendable {
    private var tickets: [AdmissionQueue.Ticket] = []
    private var start = 0
    private var removed: Set<AdmissionQueue.Ticket> = []

    var first: AdmissionQueue.Ticket? { start < tickets.count ? tickets[start] : nil }
    var isEmpty: Bool { first == nil }
    var count: Int { tickets.count - start - removed.count }

    /// How many of the first tickets are as asked for.
    func count(while isCounted: (AdmissionQueue.Ticket) -> Bool) -> Int {
        var count = 0
        for ticket in tickets[start...] where !removed.contains(ticket) {
            guard isCounted(ticket) else { break }
            count += 1
        }
        return count
    }

    mutating func insert(_ ticket: AdmissionQueue.Ticket) {
        if removed.remove(ticket) != nil { return }
        guard let last = tickets.last, last > ticket else { return tickets.append(ticket) }
        let place = tickets[start...].firstIndex { $0 > ticket } ?? tickets.count
        tickets.insert(ticket, at: place)
    }

    mutating func remove(_ ticket: AdmissionQueue.Ticket) {
        removed.insert(ticket)
        while start < tickets.count, removed.remove(tickets[start]) != nil { start += 1 }
        guard start + removed.count > 32, start + removed.count > tickets.count / 2 else { return }
        tickets = tickets[start...].filter { !removed.contains($0) }
        (start, removed) = (0, [])
    }
}
