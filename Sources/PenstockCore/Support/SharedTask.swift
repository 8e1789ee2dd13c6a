/// One piece of work that any number of tasks wait for. Each may leave when it is cancelled; the work goes on for the others,
/// and ends when the last one has left.
///
/// ``SharedExchange`` is the same for exchanges of calls; this is for what is made of whole calls.
package final class SharedTask<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var seats = 0
        var waiting: [ObjectIdentifier: Promise<Value>] = [:]
        var outcome: Value?
        var isAbandoned = false
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    package init() {}

    /// Enters one more that will wait.
    ///
    /// - Returns: `false` when all had left already, so that the work has been ended.
    package func join() -> Bool {
        state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.seats += 1
            return true
        }
    }

    /// How many wait.
    package var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Begins the work, in a task of its own. To be called once, after the first has joined.
    package func start(_ body: @escaping @Sendable () async -> Value) {
        let task = Task { land(await body()) }
        let isAbandoned = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// Ends the work, whoever waits: its body is to give its outcome soon.
    package func cancel() {
        state.withLock { $0.task }?.cancel()
    }

    /// Waits for the outcome; to be called once by each that has joined.
    ///
    /// - Returns: `nil` as soon as the waiting task is cancelled.
    package func value() async -> Value? {
        let promise = Promise<Value>()
        let known = state.withLock { state -> Value? in
            if state.outcome == nil { state.waiting[ObjectIdentifier(promise)] = promise }
            return state.outcome
        }
        if let known { promise.keep(known) }
        let value = await promise.valueUnlessCancelled()
        leave(promise)
        return value
    }

    private func leave(_ promise: Promise<Value>) {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.waiting[ObjectIdentifier(promise)] = nil
            state.seats -= 1
            guard state.seats == 0, state.outcome == nil else { return nil }
            state.isAbandoned = true
            return state.task
        }
        task?.cancel()
    }

    private func land(_ outcome: Value) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            state.task = nil
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for promise in waiting { promise.keep(outcome) }
    }
}
