/// The calls that are paused, of a client and of those derived from it, whatever queues they wait in.
final class CallPauses: Sendable {
    /// A group, of the calls of one client and of those derived from it.
    private struct Pause: Sendable {
        let group: CallSelection
        let client: ClientLineage

        func holds(_ call: CallContext) -> Bool {
            call.lineage.descends(from: client) && group.contains(call)
        }
    }

    private struct Queue: Sendable {
        weak let admissions: Admissions?
    }

    private struct State: Sendable {
        var pauses: [Pause] = []
        var queues: [Queue] = []
    }

    private let state = Locked(State())

    /// Whether nothing is paused.
    var isEmpty: Bool { state.withLock { $0.pauses.isEmpty } }

    func holds(_ call: CallContext) -> Bool {
        let pauses = state.withLock { $0.pauses }
        return pauses.contains { $0.holds(call) }
    }

    /// Tells a queue of every change from now on, for as long as it is there.
    func add(_ queue: Admissions) {
        state.withLock { state in
            state.queues.removeAll { $0.admissions == nil }
            state.queues.append(Queue(admissions: queue))
        }
    }

    func pause(_ group: CallSelection, of client: ClientLineage) {
        change { $0.append(Pause(group: group, client: client)) }
    }

    func resume(_ group: CallSelection, of client: ClientLineage) {
        change { pauses in pauses.removeAll { $0.group == group && $0.client === client } }
    }

    private func change(_ body: (inout [Pause]) -> Void) {
        let queues = state.withLock { state in
            body(&state.pauses)
            return state.queues
        }
        for queue in queues { queue.admissions?.holdAnew() }
    }
}
