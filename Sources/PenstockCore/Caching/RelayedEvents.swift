/// Tells a call of what happens in its flight, for as long as it waits there.
final class RelayedEvents: EventSink {
    private struct State: Sendable {
        var call: CallContext?
        var stages: [APIError.Stage] = []
    }

    private let state: Locked<State>

    init(to call: CallContext) {
        state = Locked(State(call: call))
    }

    func receive(_ event: Event, _ context: EventContext) {
        let call = state.withLock { state in
            switch event {
            case .stageStarted(let stage): state.stages.append(stage)
            case .stageEnded: _ = state.stages.popLast()
            default: break
            }
            return state.call
        }
        call?.emit(event)
    }

    /// The call waits no longer: the stages it was in end for it.
    func leave(attempts: [APIError.Attempt]) {
        let (call, stages) = state.withLock { state in
            defer { state.call = nil }
            return (state.call, state.stages)
        }
        for attempt in attempts { call?.record(attempt) }
        for stage in stages.reversed() { call?.emit(.stageEnded(stage, .cancelled)) }
    }
}
