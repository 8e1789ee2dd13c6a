import PenstockCore

/// The times of one exchange, and which of its limits is reached next.
struct URLSessionTimers: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// For content that is read past: waiting longer costs more than another connection.
    private static let haste = Duration.milliseconds(500)
    private var limits: Timeouts
    private let start = Instant.now
    private var lastSign = Instant.now
    private var isAnswered = false
    private var isPaused = false

    init(_ limits: Timeouts) {
        self.limits = limits
    }

    var elapsed: Duration { start.duration(to: .now) }

    /// Bytes moved.
    mutating func touch() {
        lastSign = .now
    }

    mutating func answered() {
        isAnswered = true
        touch()
    }

    /// From here on the reader decides how long it takes.
    mutating func endTotal() {
        limits.total = nil
    }

    /// Little more time is given from here on.
    mutating func hurry() {
        limits.total = elapsed + Self.haste
    }

    /// Only the total time goes on.
    mutating func pause() {
        isPaused = true
    }

    mutating func resume() {
        isPaused = false
        touch()
    }

    /// The limit that ends the exchange unless something happens before; `nil` when there is none.
    var next: (deadline: Instant, phase: TimeoutPhase)? {
        var limits = [(deadline(limits.total, after: start), TimeoutPhase.total)]
        if !isPaused {
            limits.append((deadline(self.limits.idle, after: lastSign), .idle))
            if !isAnswered { limits.append((deadline(firstByte, after: lastSign), .firstByte)) }
        }
        return limits.compactMap { limit in limit.0.map { (deadline: $0, phase: limit.1) } }
            .min { $0.deadline < $1.deadline }
    }

    /// With the time to connect, which the session does not report.
    private var firstByte: Duration? {
        limits.firstByte.map { $0 + (limits.connect ?? .zero) }
    }

    private func deadline(_ limit: Duration?, after instant: Instant) -> Instant? {
        limit.map { instant.advanced(by: $0) }
    }
}
