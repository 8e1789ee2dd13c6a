import Foundation

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

    /// The same, or once the task is cancelled: a test's time limit can end nothing that does not heed that.
    package func waitUnlessCancelled(until isSatisfied: @escaping @Sendable (State) -> Bool) async {
        let isCancelled = Locked(false)
        await withTaskCancellationHandler {
            await wait { isSatisfied($0) || isCancelled.withLock { $0 } }
        } onCancel: {
            isCancelled.withLock { $0 = true }
            withLock { _ in }
        }
    }

    /// Returns what `take` finds in the value, which it may change as it takes: now or after any change to come. Of several
    /// tasks the one that has waited the longest is asked first. Cancelling the task does not end the wait.
    ///
    /// - Parameter take: called with the lock held; `nil` to go on waiting.
    package func wait<Value: Sendable>(for take: @escaping @Sendable (inout State) -> Value?) async -> Value {
        if let taken = guarded.withLock({ take(&$0.state) }) { return taken }
        return await withCheckedContinuation { continuation in
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

/// A value that is changed on a queue of its own, in the order in which changes are asked for: for work that waits for the disk,
/// which must not hold a lock or a thread that runs tasks.
///
/// Unchecked because the value is touched on its queue alone.
package final class SerialState<Value>: @unchecked Sendable {
    private let queue: DispatchQueue
    private var value: Value

    /// - Parameter value: touched by nobody else from now on.
    package init(_ value: Value, label: String) {
        self.value = value
        queue = DispatchQueue(label: label)
    }

    /// Returns at once.
    package func run(_ body: @escaping @Sendable (inout Value) -> Void) {
        queue.async { body(&self.value) }
    }

    /// What the work gives back, once it is done, and what was asked for before it. Cancelling the task does not end the work.
    package func result<Output: Sendable>(of body: @escaping @Sendable (inout Value) -> Output) async -> Output {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: body(&$0)) }
        }
    }

    /// Returns when it is done, and what was asked for before it: for one that must wait because too much has been asked for.
    package func runAndWait(_ body: (inout Value) -> Void) {
        queue.sync { body(&value) }
    }
}

/// A value that one task waits for. The first that is given counts; whoever gives a later one gives it to nobody.
final class Promise<Value: Sendable>: Sendable {
    private enum Outcome: Sendable {
        case kept(Value)
        case broken
    }

    private let outcome = Monitor<Outcome?>(nil)

    /// Gives the value.
    func keep(_ value: Value) {
        settle(.kept(value))
    }

    /// Ends the wait without a value.
    func abandon() {
        settle(.broken)
    }

    /// The value; `nil` where the wait was ended first. To be asked for once.
    func value() async -> Value? {
        switch await outcome.wait(for: { $0 }) {
        case .kept(let value): value
        case .broken: nil
        }
    }

    /// The same; `nil` also as soon as the waiting task is cancelled.
    func valueUnlessCancelled() async -> Value? {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            abandon()
        }
    }

    private func settle(_ new: Outcome) {
        outcome.withLock { if $0 == nil { $0 = new } }
    }
}
