/// A value behind a lock, and the tasks that wait until the value satisfies a condition: what is called a monitor, with
/// continuations in place of threads. Copies are the same value.
///
/// ```swift
/// let exchanges = Monitor(0)
/// exchanges.withLock { $0 += 1 }          // wakes those whose condition is met now
/// await exchanges.wait { $0 >= 10 }
/// ```
package struct Monitor<State: Sendable>: Sendable {
    /// A task that waits.
    private struct Waiter: Sendable {
        /// Looks at the state, and takes from it what the task waits for.
        ///
        /// - Returns: what wakes the task, to be called once the lock is free; `nil` while it must wait.
        let attempt: @Sendable (inout State) -> (@Sendable () -> Void)?
    }

    private struct Guarded: Sendable {
        var state: State
        var waiters: [Waiter] = []

        /// Asks those that wait, in the order in which they came.
        mutating func satisfied() -> [@Sendable () -> Void] {
            var ready: [@Sendable () -> Void] = []
            waiters.removeAll { waiter in
                guard let wake = waiter.attempt(&state) else { return false }
                ready.append(wake)
                return true
            }
            return ready
        }
    }

    private let guarded: Locked<Guarded>

    package init(_ state: State) {
        guarded = Locked(Guarded(state: state))
    }

    /// Reads or changes the value, and wakes the tasks that waited for what it is now.
    package func withLock<Output: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        let (output, ready) = try guarded.withLock { guarded throws(Failure) -> (Output, [@Sendable () -> Void]) in
            let output = try body(&guarded.state)
            return (output, guarded.waiters.isEmpty ? [] : guarded.satisfied())
        }
        for wake in ready { wake() }
        return output
    }

    /// Returns once the value satisfies the condition. Cancelling the task does not end the wait.
    package func wait(until isSatisfied: @escaping @Sendable (State) -> Bool) async {
        await wait { isSatisfied($0) ? () : nil }
    }

    /// Returns what `take` finds in the value, which it may change as it takes: now or after any change to come. Of several
    /// tasks the one that has waited the longest is asked first. Cancelling the task does not end the wait.
    ///
    /// - Parameter take: called with the lock held; `nil` to go on waiting.
    package func wait<Value: Sendable>(for take: @escaping @Sendable (inout State) -> Value?) async -> Value {
        await withCheckedContinuation { continuation in
            let taken = guarded.withLock { guarded -> Value? in
                if let taken = take(&guarded.state) { return taken }
                guarded.waiters.append(
                    Waiter { state in
                        guard let taken = take(&state) else { return nil }
                        return { continuation.resume(returning: taken) }
                    })
                return nil
            }
            if let taken { continuation.resume(returning: taken) }
        }
    }
}
