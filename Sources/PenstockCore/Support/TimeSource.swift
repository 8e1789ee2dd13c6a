import Foundation

/// Where Penstock takes the time from. Tests give one that stands still until it is told to move.
public struct TimeSource: Sendable {
    /// Monotonic time since a fixed moment: for time-outs and durations.
    public var now: @Sendable () -> Duration
    /// The date: for what outlives the process or comes from a server.
    public var date: @Sendable () -> Date
    /// Returns after a duration, or throws `CancellationError` as soon as the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.date = date
        self.sleep = sleep
    }

    /// The machine's clocks.
    public static let system: TimeSource = {
        let start = ContinuousClock.now
        return TimeSource(
            now: { ContinuousClock.now - start },
            date: { Date() },
            sleep: { try await Task.sleep(for: $0, clock: .continuous) })
    }()
}
