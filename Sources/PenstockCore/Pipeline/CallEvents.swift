import Foundation

/// Tells a sink of one call, in order, and keeps the grammar of ``Event`` whatever happens to the call: when it ends, the
/// stages that are open end with it, and nothing is told afterwards, also not by code of the app's that goes on.
///
/// Events come from any thread; the sink is called by one at a time, with no lock held.
final class CallEvents: Sendable {
    private struct State: Sendable {
        var open: [StageName] = []
        var isOver = false
        /// How many requests were sent.
        var attempts = 0
        /// What the sink has not been told yet.
        var untold: [(Event, EventContext)] = []
        /// Whether a thread is telling the sink.
        var isTelling = false
    }

    private let call: CallID
    private let sink: any EventSink
    private let time: TimeSource
    private let started: Duration
    private let state = Locked(State())

    init(of call: CallID, to sink: any EventSink, _ time: TimeSource) {
        self.call = call
        self.sink = sink
        self.time = time
        started = time.now()
    }

    func tell(_ event: Event) {
        note(event)
        tellNoted()
    }

    /// Tells of the end of the call, and before it of the ends of the stages that it was in.
    func end(_ outcome: Event.Outcome) {
        let (date, now) = (time.date(), time.now())
        state.withLock { state in
            guard !state.isOver else { return }
            let context = context(state, date, now)
            let ends = state.open.reversed().map { Event.stageEnded($0, outcome) }
            for event in ends + [.callEnded(outcome)] { state.untold.append((event, context)) }
            state.open = []
            state.isOver = true
        }
        tellNoted()
    }

    /// Puts an event in its place among the others. The sink hears of it with ``tellNoted()``.
    func note(_ event: Event) {
        let (date, now) = (time.date(), time.now())
        state.withLock { state in
            guard !state.isOver else { return }
            switch event {
            case .requestSent: state.attempts += 1
            case .stageStarted(let stage): state.open.append(stage)
            case .stageEnded(let stage, _):
                if let index = state.open.lastIndex(of: stage) { state.open.remove(at: index) }
            default: break
            }
            state.untold.append((event, context(state, date, now)))
        }
    }

    func tellNoted() {
        while let events = take() {
            for (event, context) in events { sink.receive(event, context) }
            state.withLock { $0.isTelling = false }
        }
    }

    /// `nil` when there is nothing to tell, or another thread is telling, which then finds what is there.
    private func take() -> [(Event, EventContext)]? {
        state.withLock { state in
            guard !state.isTelling, !state.untold.isEmpty else { return nil }
            state.isTelling = true
            defer { state.untold = [] }
            return state.untold
        }
    }

    private func context(_ state: State, _ date: Date, _ now: Duration) -> EventContext {
        EventContext(call: call, attempt: state.attempts, date: date, elapsed: now - started)
    }
}

/// Tells a call of what happens in the exchange that it shares with others, for as long as it waits there.
final class RelayedEvents: EventSink {
    private struct State: Sendable {
        var call: CallContext?
        /// Of those that the exchange is in.
        var open: [StageName] = []
    }

    private let state: Locked<State>
    /// Whether the stages that the exchange passes are told of: where several go on side by side they would not nest.
    private let tellsStages: Bool

    init(to call: CallContext, tellsStages: Bool = true) {
        self.tellsStages = tellsStages
        state = Locked(State(call: call))
    }

    func receive(_ event: Event, _ context: EventContext) {
        // The event gets its place while the lock is held, so that none comes after the call has left.
        let events = state.withLock { state -> CallEvents? in
            switch event {
            case .stageStarted where !tellsStages, .stageEnded where !tellsStages: return nil
            case .stageStarted(let stage): state.open.append(stage)
            case .stageEnded: _ = state.open.popLast()
            default: break
            }
            state.call?.events?.note(event)
            return state.call?.events
        }
        events?.tellNoted()
    }

    /// The call waits no longer: the stages it was in end for it.
    func leave(attempts: [APIError.Attempt]) {
        let (call, open) = state.withLock { state in
            defer { state.call = nil }
            return (state.call, state.open)
        }
        for attempt in attempts { call?.record(attempt) }
        for stage in open.reversed() { call?.emit(.stageEnded(stage, .cancelled)) }
    }
}
