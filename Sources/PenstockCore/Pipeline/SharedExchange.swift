/// One exchange that any number of calls wait for (single flight). It has a task of its own, so that it goes on when the
/// call that started it is cancelled; when nobody waits any more it ends.
final class SharedExchange<Key: Hashable & Sendable, Note: Sendable>: UrgentWork {
    typealias Outcome = Result<Exchange, APIError>

    private struct State: Sendable {
        /// How many wait, or are about to.
        var count = 1
        var waiting: [ObjectIdentifier: Promise<Outcome>] = [:]
        /// The seats of those among them that are suspended.
        var suspended: Set<ObjectIdentifier> = []
        /// The seats that are taken. One is empty from the moment at which its call ends, and not only when the task of that goes on.
        var seats: Set<ObjectIdentifier> = []
        var outcome: Outcome?
        var isAbandoned = false
        /// Whether somebody has taken what is to be settled.
        var isTaken = false

        /// Whether nobody wants it to go on for now.
        var isHeld: Bool { outcome == nil && !suspended.isEmpty && suspended.count >= count }
    }

    /// Calls that ask for the same key may share.
    let key: Key
    /// What its owner has to know of the call that started it.
    let note: Note
    /// The request it sends.
    let request: HTTPRequest
    /// The call that started it.
    var leader: CallID { context.id }
    private let context: CallContext
    private let relay: RelayedEvents
    /// `nil` where nothing comes before the outcome.
    private let news: SharedNews?
    private let state = Locked(State())
    /// How urgent it is to those who wait, also to the one that started it. Held while the exchange is told, so that the last word
    /// is the last.
    private let urgencies: Locked<Urgencies>

    /// - Parameters:
    ///   - call: starts it, and hears of what happens in it.
    ///   - tellsNews: whether all who wait are told what comes before the outcome.
    init(_ key: Key, _ request: HTTPRequest, for call: CallContext, _ note: Note, tellsNews: Bool = false) {
        self.key = key
        self.request = request
        self.note = note
        relay = RelayedEvents(to: call)
        context = call.detached(relay)
        news = tellsNews ? SharedNews(of: context) : nil
        var urgencies = Urgencies()
        urgencies[call.id] = call.priority
        self.urgencies = Locked(urgencies)
    }

    /// Enters one more that will wait; `false` when it is too late.
    func join() -> Bool {
        let isJoined = state.withLock { state in
            guard !state.isAbandoned, state.outcome == nil else { return false }
            state.count += 1
            return true
        }
        if isJoined { hold() }
        return isJoined
    }

    /// Makes it as urgent as a call that has joined, for as long as that waits for it.
    func raise(for call: CallContext) {
        urgencies.withLock { urgencies in
            urgencies[call.id] = call.priority
            prioritise(by: urgencies)
        }
    }

    /// Makes it as urgent as a call has become that waits for it.
    func follow(_ call: CallContext) {
        urgencies.withLock { urgencies in
            guard urgencies[call.id] != nil else { return }
            urgencies[call.id] = call.priority
            prioritise(by: urgencies)
        }
    }

    private func lower(for call: CallContext) {
        urgencies.withLock { urgencies in
            guard urgencies[call.id] != nil else { return }
            urgencies[call.id] = nil
            prioritise(by: urgencies)
        }
    }

    private func prioritise(by urgencies: Urgencies) {
        // Where nobody waits any more it is about to end.
        if let most = urgencies.most { context.prioritise(as: most) }
    }

    /// Sends the request through what is left of the path.
    func start(_ next: Next, in table: SharedExchanges<Key, Note>) {
        let task = Task {
            let outcome = await Result { () async throws(APIError) in try await next.on(context)(request) }
            table.remove(self)
            land(outcome)
        }
        context.endsWithCall(task)
    }

    /// Waits for the outcome. What the stages below have left to be settled goes to the first who asks.
    ///
    /// - Parameter leads: whether the call is the one that started it.
    /// - Returns: `nil` when the call ended first, or its task was cancelled.
    func outcome(for call: CallContext, leads: Bool, in table: SharedExchanges<Key, Note>) async -> Outcome? {
        let seat = Seat(self, in: table)
        state.withLock { _ = $0.seats.insert(ObjectIdentifier(seat)) }
        news?.add(call)
        defer { news?.remove(call) }
        call.leads(self)
        let outcome = call.control.attach(seat) ? await wait(seat, call) : nil
        call.control.detach(seat)
        call.noteReply()
        call.doesNotLead(self)
        lower(for: call)
        leave(seat, leads: leads, table)
        guard let outcome, await isWanted(by: call) else { return nil }
        return outcome.map(taken)
    }

    /// What comes to a suspended call, whose exchange went on for others, waits until it is resumed.
    ///
    /// - Returns: `false` when the call ended first.
    private func isWanted(by call: CallContext) async -> Bool {
        guard call.control.isSuspended else { return true }
        do throws(APIError) {
            try await call.untilResumed()
            return true
        } catch {
            return false
        }
    }

    private func taken(_ exchange: Exchange) -> Exchange {
        let isFirst = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        guard !isFirst else { return exchange }
        var exchange = exchange
        exchange.remains.settlements.removeAll { !$0.settlement.isForEach }
        return exchange
    }

    private func wait(_ seat: Seat, _ call: CallContext) async -> Outcome? {
        let promise = seat.promise
        call.endsWithCall(seat)
        defer { call.doesNotEnd(seat) }
        let known = state.withLock { state -> Outcome? in
            if state.outcome == nil { state.waiting[ObjectIdentifier(promise)] = promise }
            return state.outcome
        }
        if let known { return known }
        defer { state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(promise)) } }
        return await call.wait(for: promise)
    }

    private func leave(_ seat: Seat, leads: Bool, _ table: SharedExchanges<Key, Note>) {
        vacate(seat, table)?.carryOut()
        if leads { relay.leave(attempts: context.attemptsLeft) }
    }

    /// One waits no more, of which it may be told twice. When nobody is left, the exchange is marked as ended.
    ///
    /// - Returns: what is left to be done for an exchange that has ended by it.
    private func vacate(_ seat: Seat, _ table: SharedExchanges<Key, Note>) -> CallContext.EarlyEnd? {
        let (isAbandoned, isHeld) = state.withLock { state in
            guard state.seats.remove(ObjectIdentifier(seat)) != nil else { return (false, false) }
            state.count -= 1
            state.suspended.remove(ObjectIdentifier(seat))
            guard state.count == 0, state.outcome == nil else { return (false, state.isHeld) }
            state.isAbandoned = true
            return (true, false)
        }
        if isHeld { hold() }
        guard isAbandoned else { return nil }
        table.remove(self)
        return context.markEnded(.requested)
    }

    private func note(_ seat: Seat, isSuspended: Bool) {
        state.withLock { state in
            guard state.seats.contains(ObjectIdentifier(seat)) else { return }
            if isSuspended {
                state.suspended.insert(ObjectIdentifier(seat))
            } else {
                state.suspended.remove(ObjectIdentifier(seat))
            }
        }
        hold()
    }

    /// Stops the bytes while all who wait are suspended. Any of them may be suspended and resumed at any moment, and the last word
    /// counts.
    private func hold() {
        while true {
            let isHeld = state.withLock { $0.isHeld }
            if isHeld { context.control.suspend() } else { context.control.resume() }
            if state.withLock({ $0.isHeld }) == isHeld { return }
        }
    }

    private func land(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for promise in waiting { promise.keep(outcome) }
        _ = context.close()
    }

    /// One call that waits, as its control sees it.
    private final class Seat: CallWait, SharedWork {
        let promise = Promise<Outcome>()
        private let exchange: SharedExchange
        private let table: SharedExchanges<Key, Note>

        init(_ exchange: SharedExchange, in table: SharedExchanges<Key, Note>) {
            (self.exchange, self.table) = (exchange, table)
        }

        var isOnWire: Bool { exchange.context.control.isBusy }

        func markEnded() -> [CallContext.EarlyEnd] { exchange.vacate(self, table).map { [$0] } ?? [] }

        func abandon() { promise.abandon() }

        func cancel() { promise.abandon() }

        func suspend() {
            exchange.note(self, isSuspended: true)
        }

        func resume() {
            exchange.note(self, isSuspended: false)
        }
    }
}

/// How urgent each of many calls is, of which the most urgent is known without a look at them all.
private struct Urgencies: Sendable {
    private var priorities: [CallID: CallPriority] = [:]
    /// How many are as urgent as each priority says.
    private var counts = [Int](repeating: 0, count: CallPriority.allCases.count)

    /// `nil` where there is none.
    var most: CallPriority? { counts.lastIndex { $0 > 0 }.flatMap(CallPriority.init) }

    subscript(call: CallID) -> CallPriority? {
        get { priorities[call] }
        set {
            if let new = newValue { counts[new.rawValue] += 1 }
            if let old = priorities[call] { counts[old.rawValue] -= 1 }
            priorities[call] = newValue
        }
    }
}

extension APIError {
    /// Whether the error of an exchange is that of each call which waits for it, where all of them have sent the same: how long
    /// another call has left is not what this one has. The other time-outs are the same for all of them, and say of the server that
    /// it does not answer.
    var isOfEqualRequests: Bool {
        switch kind {
        case .timeout(.total), .cancelled, .dropped: false
        default: true
        }
    }

    /// The same where the requests may differ, as those may that wait for one load of the cache: it is what came of the exchange
    /// itself, or of the credential, which is the same for all of them: who has cancelled a login is not asked again for each. What the
    /// request did wrong, and what the app's own code said about it, is its call's own.
    var isOfTheExchange: Bool {
        switch kind {
        case .timeout(.total), .transport(.requestBody): false
        case .unreachable, .timeout, .tls, .transport, .limitExceeded, .unavailable, .httpStatus:
            Self.stagesOfTheExchange.contains(stage)
        case .decryption: stage == .seal
        case .authentication: stage == .authenticate
        default: false
        }
    }

    /// Where it is found out what became of an exchange. An error of an app's interceptor names another one.
    private static let stagesOfTheExchange: Set<StageName> = [.retry, .admission, .transport]
}

/// How many exchanges a call waits for in turn, each of which failed by what is its leader's own, before it sends by itself. One new
/// leader for all who wait, and not an exchange for each; yet none waits for everybody else's mistakes, which may be slow ones: where two have
/// failed of their own, all of them may.
enum SharedLeaders {
    static let most = 2
}

/// The exchanges under way that calls may share.
final class SharedExchanges<Key: Hashable & Sendable, Note: Sendable>: Sendable {
    private let exchanges = Locked<[Key: SharedExchange<Key, Note>]>([:])

    /// The exchange that a call may wait for, and whether it is a new one, which the call must start.
    ///
    /// - Parameter isUsable: whether one that is under way will do.
    func exchange(
        for key: Key, where isUsable: (SharedExchange<Key, Note>) -> Bool, or make: () -> SharedExchange<Key, Note>
    ) -> (exchange: SharedExchange<Key, Note>, isNew: Bool) {
        exchanges.withLock { exchanges in
            if let known = exchanges[key], isUsable(known), known.join() { return (known, false) }
            let new = make()
            exchanges[key] = new
            return (new, true)
        }
    }

    func remove(_ exchange: SharedExchange<Key, Note>) {
        exchanges.withLock { exchanges in
            if exchanges[exchange.key] === exchange { exchanges[exchange.key] = nil }
        }
    }
}
