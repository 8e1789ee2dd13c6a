import Foundation

/// Where Penstock takes the time from. Tests give one that stands still until it is told to move.
public struct TimeSource: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var now: @Sendable () -> Duration
        var date: @Sendable () -> Date
        var sleep: @Sendable (Duration) async throws -> Void
        /// Returns at a moment; `nil` where only durations can be slept.
        var sleepUntil: (@Sendable (Duration) async throws -> Void)?
    }

    /// A source of three parts that should agree with one another.
    ///
    /// - Parameters:
    ///   - now: monotonic time since a fixed moment of its choice. Called often, from any thread.
    ///   - date: the date by the wall clock. Called from any thread.
    ///   - sleep: returns after the duration, or throws `CancellationError` as soon as the task is cancelled.
    public init(
        now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        parts = Boxed(Parts(now: now, date: date, sleep: sleep))
    }

    /// A source of four parts.
    ///
    /// - Parameter sleepUntil: returns at a moment of `now`, or throws `CancellationError` as soon as the task is cancelled.
    package init(
        now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        sleepUntil: @escaping @Sendable (Duration) async throws -> Void
    ) {
        parts = Boxed(Parts(now: now, date: date, sleep: sleep, sleepUntil: sleepUntil))
    }

    /// Monotonic time since a fixed moment: for time-outs and durations.
    public var now: @Sendable () -> Duration {
        get { parts.now }
        set { (parts.now, parts.sleepUntil) = (newValue, nil) }
    }

    /// The date: for what outlives the process or comes from a server.
    public var date: @Sendable () -> Date {
        get { parts.date }
        set { parts.date = newValue }
    }

    /// Returns after a duration, or throws `CancellationError` as soon as the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void {
        get { parts.sleep }
        set { (parts.sleep, parts.sleepUntil) = (newValue, nil) }
    }

    /// Returns at a moment on the clock of ``now``, at once where it has passed, or throws `CancellationError` as soon as the task is
    /// cancelled.
    ///
    /// What a task waits for on somebody's behalf begins before that task does. Measured within the task, it would end as much
    /// later as the task came to run.
    package func sleep(until moment: Duration) async throws {
        if let sleepUntil = parts.sleepUntil { return try await sleepUntil(moment) }
        let rest = moment - now()
        if rest > .zero { try await sleep(rest) }
    }

    /// The machine's clocks.
    public static let system: TimeSource = {
        let start = ContinuousClock.now
        return TimeSource(
            now: { ContinuousClock.now - start },
            date: { Date() },
            // A time-out of `.seconds(.max)` means for ever, and the clock has no moment that far ahead.
            sleep: { try await Task.sleep(for: min($0, Duration.seconds(Int64(1) << 32)), clock: .continuous) })
    }()
}
