/// The calls of a client and the clients derived from it that wait for leave to send: ``AdmissionQueue`` with a clock, and with what
/// holds calls back: a pause of their group, or a suspension of their own.
final class Admissions: Sendable {
    fileprivate struct Waiter: Sendable {
        let call: CallContext
        let promise: Promise<End>
        var isSuspended: Bool

        func isHeld(by pauses: CallPauses) -> Bool { isSuspended || pauses.holds(call) }
    }

    /// How a wait ends.
    enum End: Sendable {
        case admitted
        /// - Parameter wait: how long nothing is sent, which is longer than the call goes on or has a server have it wait.
        case refused(wait: Duration)
    }

    fileprivate struct State: Sendable {
        var queue: AdmissionQueue
        var lastTicket: AdmissionQueue.Ticket = 0
        var waiters: [AdmissionQueue.Ticket: Waiter] = [:]
        /// When the queue is to be told that time has gone on.
        var alarm: (ticket: Deadlines.Ticket, moment: Duration)?

        mutating func take(_ tickets: [AdmissionQueue.Ticket]) -> [Promise<End>] {
            tickets.compactMap { waiters.removeValue(forKey: $0)?.promise }
        }
    }

    /// What came of asking.
    enum Answer: Sendable {
        /// There is nothing to wait for, and nothing to give back.
        case unlimited
        case admitted(AdmissionQueue.Ticket)
        case waits(AdmissionQueue.Ticket, Promise<End>, AdmissionQueue.WaitReason)
        case refused(wait: Duration)
    }

    let policy: AdmissionPolicy
    /// The pauses of the client and all of its family, also of those with other limits.
    let pauses: CallPauses
    private let time: TimeSource
    private let deadlines: Deadlines
    private let state: Locked<State>

    init(_ policy: AdmissionPolicy, _ time: TimeSource, _ deadlines: Deadlines, _ pauses: CallPauses = .init()) {
        self.policy = policy
        self.pauses = pauses
        self.time = time
        self.deadlines = deadlines
        state = Locked(State(queue: AdmissionQueue(policy)))
        pauses.add(self)
    }

    /// The admissions of the client which another one is derived from, where both have the same limits.
    static func of(
        _ configuration: ClientConfiguration, reusing other: Admissions, _ deadlines: Deadlines
    ) -> Admissions {
        if configuration.admission == other.policy { return other }
        return Admissions(configuration.admission, configuration.time, deadlines, other.pauses)
    }

    // MARK: Coming and going

    /// Whether there is anything that may hold a call back.
    func mayHold(_ call: CallContext) -> Bool {
        call.priority != .immediate && !(policy.isUnlimited && pauses.isEmpty)
    }

    /// Whether a call that has been let go takes a place from others until it is over.
    var hasPlaces: Bool { policy.hasPlaces }

    func enter(_ call: CallContext, to origin: HTTPURL.Origin) -> Answer {
        let priority = call.priority
        if priority == .immediate { return .unlimited }
        if policy.isUnlimited, pauses.isEmpty { return .unlimited }
        let now = time.now()
        let left = call.deadline.map { $0 - now }
        let host = origin.text
        return change { state in
            state.lastTicket += 1
            let ticket = state.lastTicket
            let isSuspended = call.control.isSuspended
            let verdict = state.queue.enter(
                ticket, host: host, priority: priority, isHeld: isSuspended || pauses.holds(call), timeLeft: left,
                longestPause: call.settings.retry.longestHint, at: now)
            switch verdict {
            case .admitted: return (.admitted(ticket), [])
            case .refused(let wait): return (.refused(wait: wait), [])
            case .waits(let reason):
                let promise = Promise<End>()
                state.waiters[ticket] = Waiter(call: call, promise: promise, isSuspended: isSuspended)
                return (.waits(ticket, promise, reason), [])
            }
        }
    }

    func leave(_ ticket: AdmissionQueue.Ticket) {
        let now = time.now()
        change { state in
            state.waiters[ticket] = nil
            return ((), state.queue.leave(ticket, at: now))
        }
    }

    /// Takes one that waits out of the line, before it leaves: nobody is let go for that yet.
    func withdraw(_ ticket: AdmissionQueue.Ticket) {
        state.withLock { state in
            state.waiters[ticket] = nil
            state.queue.withdraw(ticket)
        }
    }

    /// Makes what waits as urgent as its call has become. The call is asked here, so that the last word is the last.
    func prioritise(_ ticket: AdmissionQueue.Ticket) {
        let now = time.now()
        change { state in
            guard let priority = state.waiters[ticket]?.call.priority else { return ((), []) }
            state.queue.lower(ticket, to: priority)
            return ((), state.queue.raise(ticket, to: priority, at: now))
        }
    }

    /// A server has said how long it wants to be left alone.
    func heed(_ response: HTTPResponse, from origin: HTTPURL.Origin, _ time: TimeSource) {
        guard policy.heedsServer else { return }
        let isRefusal = response.status == 429 || response.status == 503
        let hint = isRefusal ? RetryAfter.delay(in: response.fields, at: time.date()) : nil
        let limits = ServerRateLimit.pause(by: ServerRateLimit.all(in: response.fields))
        guard let pause = [hint, limits].compactMap(\.self).max(), pause > .zero else { return }
        let now = time.now()
        let refused = change { state in
            let refused = state.queue.pause(host: origin.text, for: pause, at: now)
            return (state.take(refused), [])
        }
        for promise in refused { promise.keep(.refused(wait: min(pause, RateLimiter.longestPause))) }
    }

    /// How long a server still wants to be left alone; `nil` when it does not, or that is not heeded.
    func pause(of origin: HTTPURL.Origin) -> Duration? {
        state.withLock { $0.queue.pause(of: origin.text, at: time.now()) }
    }

    /// Refuses those that were held back, and are let go to wait for a server for longer than they may.
    private func refuseLate() {
        guard policy.heedsServer else { return }
        let now = time.now()
        let refused = change { state in
            let late = state.queue.refuseLate(at: now)
            return (late.map { (state.take([$0.ticket]), $0.wait) }, [])
        }
        for (promises, wait) in refused { for promise in promises { promise.keep(.refused(wait: wait)) } }
    }

    // MARK: Pauses

    /// Asks anew of all that wait whether they are paused.
    func holdAnew() {
        let now = time.now()
        let held = change { state in
            (state.waiters.values.filter { $0.isHeld(by: pauses) }.map(\.call), state.holdAnew(pauses, at: now))
        }
        for call in held { call.giveProbeBack() }
        refuseLate()
    }

    /// Holds one that waits back for as long as its call is suspended.
    func suspend(_ ticket: AdmissionQueue.Ticket, _ isSuspended: Bool) {
        let now = time.now()
        let hasChanged = change { state in
            guard var waiter = state.waiters[ticket], waiter.isSuspended != isSuspended else { return (false, []) }
            waiter.isSuspended = isSuspended
            state.waiters[ticket] = waiter
            return (true, state.queue.hold(ticket, waiter.isHeld(by: pauses), at: now))
        }
        // Every call that waits comes by here, mostly as it was: nobody looks at the others for that.
        if hasChanged, !isSuspended { refuseLate(ticket) }
    }

    /// Refuses one that was held back, and is let go to wait for a server for longer than it may.
    private func refuseLate(_ ticket: AdmissionQueue.Ticket) {
        guard policy.heedsServer else { return }
        let now = time.now()
        let refused = change { state in
            let wait = state.queue.refuseLate(ticket, at: now)
            return (wait.map { (state.take([ticket]), $0) }, [])
        }
        if let (promises, wait) = refused { for promise in promises { promise.keep(.refused(wait: wait)) } }
    }

    /// Whether anything is paused.
    var hasPauses: Bool { !pauses.isEmpty }

    /// Whether a call that begins now would wait until a group is resumed.
    func isPaused(_ call: CallContext) -> Bool { call.priority != .immediate && pauses.holds(call) }

    /// The calls that wait to be sent, and whose group is paused.
    var paused: [CallContext] {
        pauses.isEmpty ? [] : state.withLock { $0.waiters.values.map(\.call) }.filter(pauses.holds)
    }

    // MARK: Carrying out

    /// Changes the queue, sets the alarm for its next moment, and wakes those that may be sent now.
    @discardableResult
    private func change<Output: Sendable>(
        _ body: (inout State) -> (Output, admitted: [AdmissionQueue.Ticket])
    ) -> Output {
        let now = time.now()
        let (output, woken) = state.withLock { state in
            let (output, admitted) = body(&state)
            setAlarm(&state, at: now)
            return (output, state.take(admitted))
        }
        for promise in woken { promise.keep(.admitted) }
        return output
    }

    private func setAlarm(_ state: inout State, at now: Duration) {
        let moment = state.queue.nextMoment(after: now)
        guard moment != state.alarm?.moment else { return }
        if let old = state.alarm { deadlines.remove(old.ticket) }
        state.alarm = moment.map { moment in
            (deadlines.add(moment) { [weak self] in self?.ring(moment) }, moment)
        }
    }

    private func ring(_ moment: Duration) {
        let now = time.now()
        change { state in
            if state.alarm?.moment == moment { state.alarm = nil }
            return ((), state.queue.advance(to: now))
        }
    }
}

extension Admissions.State {
    fileprivate mutating func holdAnew(_ pauses: CallPauses, at now: Duration) -> [AdmissionQueue.Ticket] {
        queue.hold(waiters.mapValues { $0.isHeld(by: pauses) }, at: now)
    }
}

/// Calls that are paused and resumed together.
public struct CallSelection: Hashable, Sendable {
    private enum Members: Hashable, Sendable {
        case all
        case service(ServiceID)
        case endpoint(ObjectIdentifier)
        case tag(String)
    }

    private let members: Members

    /// Every call.
    public static let all = CallSelection(members: .all)

    /// The calls to one service.
    public static func service(_ id: ServiceID) -> CallSelection { CallSelection(members: .service(id)) }

    /// The calls of one API.
    public static func endpoint<E: Endpoint>(_ type: E.Type) -> CallSelection {
        CallSelection(members: .endpoint(ObjectIdentifier(type)))
    }

    /// The calls that have a tag: ``CallOptions/tags``.
    public static func tag(_ tag: String) -> CallSelection { CallSelection(members: .tag(tag)) }

    func contains(_ call: CallContext) -> Bool {
        switch members {
        case .all: true
        case .service(let id): call.service == id
        case .endpoint(let type): ObjectIdentifier(call.endpointType) == type
        case .tag(let tag): call.settings.tags.contains(tag)
        }
    }
}
