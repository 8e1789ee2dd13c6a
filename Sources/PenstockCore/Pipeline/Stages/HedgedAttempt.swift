/// An attempt, and others that are sent beside it while it is slow; the first answer that is worth having is that of all, and the
/// others are given up. When another one is sent, and whether, is decided by ``HedgingPolicy``.
///
/// Each has a context of its own, so that it can be ended alone, and ends with its call.
final class HedgedAttempt: CallWait, SharedWork, UrgentWork {
    typealias Outcome = Result<Exchange, APIError>

    private struct State: Sendable {
        /// The runners under way.
        var runners: [Runner] = []
        var started = 0
        /// The number of the last one that was handed to the transport.
        var sent = 0
        /// When the last one was first handed to the transport; `nil` while none has been. What is held back before that, by a
        /// queue or for a credential, is not slow.
        var lastSent: Duration?
        var isOver = false
        /// Whether the call is suspended: nothing more is sent meanwhile, and what is sent next waits with it.
        var isSuspended = false
        var alarm: Deadlines.Ticket?
    }

    private struct Runner: Sendable {
        let context: CallContext
        let relay: RelayedEvents
    }

    private let request: HTTPRequest
    private let call: CallContext
    private let next: Next
    private let stage: Retry
    private let policy: HedgingPolicy
    private let isIdempotent: Bool
    /// Notes how long the server wants to be left alone, where an answer with this status and these fields says so.
    private let note: @Sendable (Int, HTTPFields) -> Void
    private let outcome = Promise<Outcome>()
    private let state = Locked(State())

    init(
        _ request: HTTPRequest, _ call: CallContext, _ next: Next, _ stage: Retry, _ policy: HedgingPolicy,
        isIdempotent: Bool, note: @escaping @Sendable (Int, HTTPFields) -> Void
    ) {
        self.request = request
        self.call = call
        self.next = next
        self.stage = stage
        self.policy = policy
        self.isIdempotent = isIdempotent
        self.note = note
    }

    /// The answer, or the failure of the last one when none brings an answer.
    func send() async throws(APIError) -> Exchange {
        guard call.control.attach(self) else { throw APIError(.cancelled, stage: .retry) }
        call.endsWithCall(self)
        start()
        call.leads(self)
        let result = await call.wait(for: outcome)
        call.doesNotLead(self)
        call.doesNotEnd(self)
        call.control.detach(self)
        call.noteReply()
        end()
        guard let result else {
            try call.checkGoesOn(at: .retry)
            throw APIError(.cancelled, stage: .retry)
        }
        return try result.get()
    }

    /// Sends one more.
    private func start() {
        let number = state.withLock { state in
            state.started += 1
            return state.started
        }
        let relay = RelayedEvents(to: call, tellsStages: number == 1)
        let context = call.detached(relay) { [weak self] in self?.noteSent(number) }
        // What the call was to find out is for the first one: where that is held back, it is for another call.
        if number == 1 {
            let probe = call.state.withLock { $0.probe }
            context.state.withLock { $0.probe = probe }
        }
        let runner = Runner(context: context, relay: relay)
        let isOn = state.withLock { state in
            guard !state.isOver else { return false }
            if state.isSuspended { context.control.suspend() }
            state.runners.append(runner)
            return true
        }
        guard isOn else { return }
        // The call may have become more urgent before it was known here.
        follow(call)
        let task = Task { [next, request] in
            let outcome = await Result { () async throws(APIError) in try await next.on(context)(request) }
            land(outcome, of: runner)
        }
        context.endsWithCall(task)
    }

    // MARK: The next one

    /// One was handed to the transport: from now on it may be slow. Where it is redirected, or sent again, it goes on being so.
    private func noteSent(_ number: Int) {
        let now = call.time.now()
        let isFirst = state.withLock { state in
            guard !state.isOver, number > state.sent else { return false }
            (state.sent, state.lastSent) = (number, now)
            return true
        }
        if isFirst { setAlarm() }
    }

    private func decide() -> HedgingPolicy.Decision {
        let (started, sent, last) = state.withLock { ($0.started, $0.sent, $0.isOver ? nil : $0.lastSent) }
        // Behind one that is held back another one would be held back too.
        guard let last, sent == started else { return .never }
        return policy.decide(
            .init(
                isIdempotent: isIdempotent, isBodyReplayable: request.body.isReplayable, isStreamed: call.streams,
                sent: started - 1, elapsed: call.time.now() - last,
                serverPause: stage.origins.pause(of: request.url.origin)))
    }

    private func setAlarm() {
        let wait: Duration
        switch decide() {
        case .wait(let left): wait = left
        // As much time has passed since the last one was sent, where the policy waits for nothing or this thread had to wait.
        case .send: wait = .zero
        case .never: return
        }
        let ticket = call.deadlines.add(call.time.now() + wait) { [weak self] in self?.ring() }
        let useless = state.withLock { state in
            guard !state.isOver else { return Deadlines.Ticket?.some(ticket) }
            defer { state.alarm = ticket }
            return state.alarm
        }
        if let useless { call.deadlines.remove(useless) }
    }

    private func ring() {
        // The time begins anew when the call is resumed.
        guard !state.withLock({ $0.isSuspended }) else { return }
        guard case .send = decide() else { return setAlarm() }
        guard !stage.origins.isOpen(request.url.origin, in: .zero) else { return call.emit(.notRetried(.circuitOpen)) }
        guard stage.origins.withdraw(.hedge, for: request.url.origin) else {
            return call.emit(.notRetried(.budgetUsedUp))
        }
        call.emit(.hedged)
        start()
    }

    // MARK: The end

    /// An answer that would be repeated, or a failure, is that of all only when nothing else is under way.
    private func land(_ result: Outcome, of runner: Runner) {
        let isLast = state.withLock { state in
            state.runners.removeAll { $0.context === runner.context }
            return state.runners.isEmpty
        }
        runner.relay.leave(attempts: runner.context.attemptsLeft)
        _ = runner.context.close()
        if isLast || isGood(result) { return outcome.keep(result) }
        guard case .success(let exchange) = result else { return }
        // Nobody else sees what the server says in it of itself.
        note(exchange.response.status, exchange.response.fields)
        exchange.content?.discard()
    }

    private func isGood(_ result: Outcome) -> Bool {
        guard case .success(let exchange) = result else { return false }
        return !call.settings.retry.statuses.contains(exchange.response.status)
    }

    /// Gives up what is still under way.
    private func end() {
        let (runners, alarm) = state.withLock { state in
            state.isOver = true
            defer { state.runners = [] }
            return (state.runners, state.alarm)
        }
        if let alarm { call.deadlines.remove(alarm) }
        for runner in runners {
            runner.context.end(.requested)
            runner.relay.leave(attempts: runner.context.attemptsLeft)
        }
    }

    /// The call has ended. What is under way is still there for ``end()``.
    func markEnded() -> [CallContext.EarlyEnd] {
        let runners = state.withLock { state in
            state.isOver = true
            return state.runners
        }
        return runners.compactMap { $0.context.markEnded(.requested) }
    }

    func abandon() { outcome.abandon() }

    // MARK: What the call's control does

    private var contexts: [CallContext] { state.withLock { $0.runners.map(\.context) } }

    var isOnWire: Bool { contexts.contains { $0.control.isBusy } }

    func cancel() { outcome.abandon() }

    func follow(_ call: CallContext) {
        while true {
            let priority = call.priority
            for context in contexts { context.prioritise(as: priority) }
            // It may change at any moment, and the last word counts.
            if call.priority == priority { return }
        }
    }

    func suspend() {
        state.withLock { $0.isSuspended = true }
        for context in contexts { context.control.suspend() }
    }

    /// What stood still was not slow, so that the time until another one is sent begins anew.
    func resume() {
        let now = call.time.now()
        let hasWaited = state.withLock { state in
            guard state.isSuspended else { return false }
            state.isSuspended = false
            guard state.lastSent != nil else { return false }
            state.lastSent = now
            return true
        }
        for context in contexts { context.control.resume() }
        if hasWaited { setAlarm() }
    }
}
