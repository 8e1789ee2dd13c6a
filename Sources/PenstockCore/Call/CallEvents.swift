import Foundation

/// Tells a sink of one call, in order, and keeps the grammar of ``Event`` whatever happens to the call: when it ends, the
/// stages that are open end with it, and nothing but the end of its delivery is told afterwards, also not by code of the app's
/// that goes on.
///
/// Events come from any thread; the sink is called by one at a time, with no lock held.
final class CallEvents: Sendable {
    private struct State: Sendable {
        var open: [StageName] = []
        var isOver = false
        /// How a delivery that lasts beyond the end of the call ends where nothing is refused; `nil` where none is under way.
        var delivery: Event.Outcome?
        /// How many requests were sent.
        var attempts = 0
        /// What is known of the call, also by events that the sink does not want.
        var progress: CallProgress
        /// What the sink has not been told yet.
        var untold: [(Event, EventContext)] = []
        /// Whether a thread is telling the sink.
        var isTelling = false

        mutating func take(_ event: Event) {
            progress.note(event)
            switch event {
            case .requestSent: attempts += 1
            case .stageStarted(let stage): open.append(stage)
            case .stageEnded(let stage, _):
                if let index = open.lastIndex(of: stage) { open.remove(at: index) }
            default: break
            }
        }
    }

    /// How much is told.
    let interest: EventInterest
    private let call: CallID
    private let sink: any EventSink
    private let time: TimeSource
    private let started: Duration
    private let state: Locked<State>

    /// Nothing, where the sink wants to hear nothing.
    ///
    /// - Parameter started: when the call began; now unless given.
    init?(
        of call: CallID, _ endpoint: any Endpoint.Type, to sink: any EventSink, _ time: TimeSource,
        started: Duration? = nil
    ) {
        interest = sink.interest
        guard interest > .nothing else { return nil }
        state = Locked(State(progress: CallProgress(endpointType: endpoint)))
        self.call = call
        self.sink = sink
        self.time = time
        self.started = started ?? time.now()
    }

    /// Whether starts and ends of stages are told of.
    var tellsStages: Bool { interest == .stages }

    func tell(_ event: Event) {
        guard interest.covers(event) else { return state.withLock { $0.take(event) } }
        let (date, now) = (time.date(), time.now())
        let only = state.withLock { state -> EventContext? in
            guard !state.isOver else { return nil }
            state.take(event)
            let context = context(state, date, now)
            guard !state.isTelling, state.untold.isEmpty else {
                state.untold.append((event, context))
                return nil
            }
            // It is told at once, without a place among others, for it is the only one, as nearly every event is.
            state.isTelling = true
            return context
        }
        guard let only else { return tellNoted() }
        sink.receive(event, only)
        tellRest()
    }

    // Of the three events that every call has, none is made for a sink that is told of outcomes alone.

    /// An attempt begins: the request is handed to the transport.
    func sent(_ request: HTTPRequest) {
        guard interest < .calls else { return tell(.requestSent(request)) }
        state.withLock { state in
            state.attempts += 1
            state.progress.noteSent(request)
        }
    }

    /// The attempt has a response.
    func received(_ reply: TransportResponse) {
        guard interest < .calls else {
            return tell(.responseReceived(reply.response, timings: reply.timings, connection: reply.connection))
        }
        state.withLock { $0.progress.status = reply.response.status }
    }

    /// The stages have brought an answer.
    func answered(_ exchange: Exchange) {
        guard interest < .calls else { return tell(.answered(Event.Answer(exchange))) }
        state.withLock { state in
            state.progress.noteAnswer(
                exchange.request, exchange.response.status, exchange.source, isJoined: exchange.remains.isJoined,
                isStale: exchange.cache?.isStale ?? false)
        }
    }

    /// Tells of the end of the call, and before it of the ends of the stages that it was in. The delivery of the result is the
    /// last of them, unless it has begun already, as that of streamed content has.
    ///
    /// - Parameters:
    ///   - delivery: how the delivery ends.
    ///   - isDeliveredLater: whether ``endDelivery(_:)`` tells when it ends.
    func end(_ outcome: Event.Outcome, delivery: Event.Outcome, isDeliveredLater: Bool) {
        let (date, now) = (time.date(), time.now())
        let only = state.withLock { state -> EventContext? in
            guard !state.isOver else { return nil }
            // Where no stages are told of none is open, and mostly nothing is left to be told before the end.
            if !tellsStages, !state.isTelling, state.untold.isEmpty {
                state.isOver = true
                state.isTelling = true
                return context(state, date, now)
            }
            var events = state.open.reversed().map { Event.stageEnded($0, outcome) }
            if tellsStages, !state.open.contains(.delivery) {
                events.append(.stageStarted(.delivery))
                if isDeliveredLater {
                    state.delivery = delivery
                } else {
                    events.append(.stageEnded(.delivery, delivery))
                }
            }
            let context = context(state, date, now)
            for event in events + [.callEnded(outcome)] { state.untold.append((event, context)) }
            state.open = []
            state.isOver = true
            return nil
        }
        guard let only else { return tellNoted() }
        sink.receive(.callEnded(outcome), only)
        tellRest()
    }

    /// Tells of the end of a delivery that has lasted beyond the end of the call, once.
    ///
    /// - Parameter refusal: how it ends where something was not delivered as it was; `nil` where all of it was.
    func endDelivery(_ refusal: Event.Outcome?) {
        let (date, now) = (time.date(), time.now())
        state.withLock { state in
            guard let outcome = state.delivery else { return }
            state.untold.append((.stageEnded(.delivery, refusal ?? outcome), context(state, date, now)))
            state.delivery = nil
        }
        tellNoted()
    }

    /// Puts an event in its place among the others. The sink hears of it with ``tellNoted()``.
    ///
    /// - Parameter attempt: which attempt it belongs to, where that is not the last one.
    /// - Returns: the number of the attempt that it belongs to.
    @discardableResult
    func note(_ event: Event, of attempt: Int? = nil) -> Int {
        let (date, now) = (time.date(), time.now())
        return state.withLock { state in
            guard !state.isOver else { return state.attempts }
            state.take(event)
            let number = attempt ?? state.attempts
            guard interest.covers(event) else { return number }
            state.untold.append((event, context(state, date, now, attempt: number)))
            return number
        }
    }

    /// Tells of a whole call at its end, of which nothing was told before: those that worked for it were told of, and none of them
    /// has failed.
    func tell(_ summary: Event.CallSummary, of failure: APIError) {
        state.withLock { state in
            state.attempts = failure.attempts.count
            if let request = failure.request { state.progress.noteSent(request) }
            state.progress.status = failure.response?.status
        }
        tell(.callStarted(summary))
        end(Event.Outcome(failure), delivery: .success, isDeliveredLater: false)
    }

    func tellNoted() {
        // A thread that is telling already finds what is there.
        let begins = state.withLock { state in
            guard !state.isTelling, !state.untold.isEmpty else { return false }
            state.isTelling = true
            return true
        }
        if begins { tellRest() }
    }

    /// Tells, as the one thread that does, until there is nothing more to tell.
    private func tellRest() {
        while true {
            let events = state.withLock { state in
                defer { state.untold = [] }
                state.isTelling = !state.untold.isEmpty
                return state.untold
            }
            guard !events.isEmpty else { return }
            for (event, context) in events { sink.receive(event, context) }
        }
    }

    private func context(_ state: State, _ date: Date, _ now: Duration, attempt: Int? = nil) -> EventContext {
        EventContext(
            call: call, attempt: attempt ?? state.attempts, date: date, elapsed: now - started, progress: state.progress
        )
    }
}

/// Tells a call of what happens in the exchange that it shares with others, for as long as it waits there.
final class RelayedEvents: EventSink {
    private struct State: Sendable {
        var call: CallContext?
        /// The names of the stages that the exchange is in.
        var open: [StageName] = []
        /// The call's number of each attempt of the exchange: the exchange counts its own, and others may go on beside it.
        var attempts: [Int: Int] = [:]
    }

    private let state: Locked<State>
    /// Whether the stages that the exchange passes are told of: where several go on side by side they would not nest.
    private let tellsStages: Bool
    let interest: EventInterest

    init(to call: CallContext, tellsStages: Bool = true) {
        self.tellsStages = tellsStages && call.tellsStages
        interest = self.tellsStages ? .stages : .calls
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
            guard let events = state.call?.events else { return nil }
            switch event {
            case .requestSent: state.attempts[context.attempt] = events.note(event)
            case .responseReceived, .responseBrokeOff, .requestFailed:
                events.note(event, of: state.attempts[context.attempt])
            default: events.note(event)
            }
            return events
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
