import PenstockCore

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = TestClock()
/// async let slept: Void = clock.sleep(for: .seconds(30))
/// await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(30))
/// try await slept
/// ```
///
/// Sleepers resume in the order of their deadlines; those of one deadline in the order they began. A sleeper whose task
/// is cancelled throws `CancellationError` at once.
public final class TestClock: Clock, Sendable {
    /// Time since the clock was made.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// An instant of the clock; by default the one at which it was made.
        ///
        /// - Parameter offset: since the clock was made.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The instant so much later; a negative duration gives an earlier one.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// How much later the other one is; negative for an earlier one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant()
        var nextID = 0
        var sleepers: [Sleeper] = []
        /// Sleepers whose cancellation came before they were stored.
        var cancelled: Set<Int> = []
    }

    private let state = Monitor(State())

    /// Makes a clock that stands at zero.
    public init() {}

    /// Where the test has moved it.
    public var now: Instant { state.withLock(\.now) }
    /// Any duration is exact.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep at this moment.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// Returns when the clock has reached `deadline`; `tolerance` means nothing here.
    ///
    /// - Throws: `CancellationError` once the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { add(Sleeper(id: id, deadline: deadline, continuation: $0)) }
        } onCancel: {
            cancel(id)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        guard isDue else { throw CancellationError() }
    }

    /// Moves time on in one step, and wakes those who sleep and whose deadline has come with it. All of them find the clock where it
    /// has got to. One call wakes each task once: who sleeps again sleeps from there.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = max(state.now, state.now.advanced(by: duration))
            let now = state.now
            defer { state.sleepers.removeAll { $0.deadline <= now } }
            return state.sleepers.filter { $0.deadline <= now }
        }
        let inOrder = due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        for sleeper in inOrder { sleeper.continuation.resume(returning: true) }
    }

    /// Returns when at least `count` tasks sleep, or the task is cancelled. It waits for ever if neither comes: give the test a
    /// time limit, which cancels it.
    public func waitForSleepers(count: Int) async {
        await state.waitUnlessCancelled { $0.sleepers.count >= count }
    }

    /// Returns when a task sleeps until exactly that moment, or the task is cancelled. It waits for ever if neither comes: give the
    /// test a time limit, which cancels it.
    ///
    /// A client sleeps for other things too, so that a number of sleepers tells little of what they wait for.
    public func waitForSleeper(until deadline: Instant) async {
        await state.waitUnlessCancelled { $0.sleepers.contains { $0.deadline == deadline } }
    }

    private func add(_ sleeper: Sleeper) {
        let outcome = state.withLock { state -> Bool? in
            if state.cancelled.remove(sleeper.id) != nil { return false }
            if sleeper.deadline <= state.now { return true }
            state.sleepers.append(sleeper)
            return nil
        }
        if let outcome { sleeper.continuation.resume(returning: outcome) }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(returning: false)
    }
}
