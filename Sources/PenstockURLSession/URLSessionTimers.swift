import PenstockCore

/// The times of one exchange, and which of its limits is reached next.
struct URLSessionTimers: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The time for content that is read past: waiting longer costs more than another connection.
    private static let haste = Duration.milliseconds(500)
    private var limits: Timeouts
    private let throughput: ResponseLimits.Throughput?
    private let start: Instant
    private var lastSign: Instant
    /// When the span began within which so many bytes of content must come, and how many have.
    private var span: (start: Instant, bytes: Int)?
    private var isAnswered = false
    private var isPaused = false
    /// The reader of the content has enough for now.
    private var isHeld = false

    init(_ limits: Timeouts, _ throughput: ResponseLimits.Throughput?, at now: Instant = .now) {
        self.limits = limits
        self.throughput = throughput
        start = now
        lastSign = now
    }

    func elapsed(at now: Instant = .now) -> Duration { start.duration(to: now) }

    /// Bytes moved.
    mutating func touch(at now: Instant = .now) {
        lastSign = now
    }

    /// Bytes of content came.
    mutating func received(_ count: Int, at now: Instant = .now) {
        touch(at: now)
        span?.bytes += count
    }

    /// The head of the response came.
    mutating func answered(at now: Instant = .now) {
        isAnswered = true
        touch(at: now)
        span = (now, 0)
    }

    /// Ends the total time-out: from here on the reader decides how long it takes.
    mutating func endTotal() {
        limits.total = nil
    }

    /// Little more time is given from here on.
    mutating func hurry(at now: Instant = .now) {
        limits.total = elapsed(at: now) + Self.haste
    }

    /// Only the total time goes on.
    mutating func pause() {
        isPaused = true
    }

    mutating func resume(at now: Instant = .now) {
        isPaused = false
        touch(at: now)
        restartSpan(at: now)
    }

    /// Nobody asks for content: what does not come is not the server's fault.
    mutating func hold() {
        isHeld = true
    }

    /// Content is asked for again.
    mutating func release(at now: Instant = .now) {
        isHeld = false
        restartSpan(at: now)
    }

    /// The limit that ends the exchange unless something happens before; `nil` when there is none. A span that has brought
    /// enough ends here, and the next begins.
    mutating func next(at now: Instant = .now) -> (deadline: Instant, end: TransportError.Kind)? {
        var limits = [(deadline(limits.total, after: start), TransportError.Kind.timeout(.total))]
        if !isPaused {
            limits.append((deadline(self.limits.idle, after: lastSign), .timeout(.idle)))
            if !isAnswered { limits.append((deadline(firstByte, after: lastSign), .timeout(.firstByte))) }
            limits.append((endOfSpan(at: now), .limitExceeded(.minimumThroughput)))
        }
        return limits.compactMap { limit in limit.0.map { (deadline: $0, end: limit.1) } }
            .min { $0.deadline < $1.deadline }
    }

    private mutating func endOfSpan(at now: Instant) -> Instant? {
        guard let throughput, let current = span, !isHeld else { return nil }
        let end = current.start.advanced(by: throughput.span)
        guard end <= now, current.bytes >= throughput.bytes else { return end }
        span = (now, 0)
        return now.advanced(by: throughput.span)
    }

    private mutating func restartSpan(at now: Instant) {
        if span != nil { span = (now, 0) }
    }

    /// The time-out of the first byte with the time to connect, which the session does not report.
    private var firstByte: Duration? {
        limits.firstByte.map { $0 + (limits.connect ?? .zero) }
    }

    private func deadline(_ limit: Duration?, after instant: Instant) -> Instant? {
        limit.map { instant.advanced(by: $0) }
    }
}
