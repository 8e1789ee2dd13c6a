/// The calls under way. Each has a place of its own, so that neither its coming nor its going looks anything up.
final class CallTable: Sendable {
    /// Where a call is in the table.
    struct Place: Sendable {
        fileprivate let index: Int
    }

    private struct State: Sendable {
        var calls: [CallContext?] = []
        var free: [Int] = []
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.calls.count - $0.free.count } }

    func add(_ call: CallContext) -> Place {
        state.withLock { state in
            guard let index = state.free.popLast() else {
                state.calls.append(call)
                return Place(index: state.calls.count - 1)
            }
            state.calls[index] = call
            return Place(index: index)
        }
    }

    /// Nothing where the call has gone already.
    func remove(_ call: CallContext, at place: Place) {
        state.withLock { state in
            guard place.index < state.calls.count, state.calls[place.index] === call else { return }
            state.calls[place.index] = nil
            state.free.append(place.index)
            // What a crowd took is given back when it has gone.
            if state.free.count == state.calls.count, state.calls.count > 1_024 { state = State() }
        }
    }

    /// Ends those that match: outside the lock, since that reaches into transports.
    func end(_ reason: CallContext.Ending = .requested, where matches: @Sendable (CallContext) -> Bool) {
        let calls = state.withLock { $0.calls.compactMap(\.self) }
        for call in calls where matches(call) { call.end(reason) }
    }
}
