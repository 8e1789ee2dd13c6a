import Foundation

/// A chain that had none of the pins of its host. It holds no secret.
public struct PinReport: Hashable, Sendable {
    /// The host that was asked for.
    public let host: String
    /// The pins of that host.
    public let set: PinSet
    /// The pins of the certificates of the chain that was validated, the server's own first.
    public let chain: [PublicKeyPin]
    /// When that was.
    public let date: Date
    /// Whether the connection was refused. `false` where the set has expired, or is there only to be reported on.
    public let isRefused: Bool

    /// A report made by hand, to try a receiver with.
    public init(host: String, set: PinSet, chain: [PublicKeyPin], date: Date, isRefused: Bool) {
        self.host = host
        self.set = set
        self.chain = chain
        self.date = date
        self.isRefused = isRefused
    }
}

/// Which reports are handed on: one for each host in an interval, so that a network that breaks every connection does not
/// bring a flood of them (RFC 7469 §2.1.4).
public struct PinReportLimiter: Hashable, Sendable {
    /// The time between two reports of one host.
    public let interval: Duration
    /// How many hosts it remembers. While there are more, those that come late are not reported.
    public let maxHosts: Int
    private var last: [String: Duration] = [:]

    /// A limiter that has handed nothing on yet.
    ///
    /// - Parameters:
    ///   - interval: between two reports of one host.
    ///   - maxHosts: how many hosts are remembered; 64 by default, more than an app pins.
    public init(interval: Duration, maxHosts: Int = 64) {
        self.interval = interval
        self.maxHosts = maxHosts
    }

    /// Whether a report is handed on.
    ///
    /// - Parameter now: monotonic.
    public mutating func admits(_ host: String, at now: Duration) -> Bool {
        last = last.filter { now - $0.value < interval }
        guard last[host] == nil, last.count < maxHosts else { return false }
        last[host] = now
        return true
    }
}

/// Hands reports of pins on to the app, at a limited rate.
///
/// ```swift
/// let reporter = PinReporter { report in log.warning("\(report.host) showed \(report.chain)") }
/// let trust = try TrustPolicy.system.pinned([pins], reporter: reporter)
/// ```
///
/// Make one and keep it: two policies with different reporters are two policies, which share no connection.
public final class PinReporter: Sendable {
    private let limiter: Locked<PinReportLimiter>
    private let time: TimeSource
    private let receive: @Sendable (PinReport) -> Void

    /// A reporter.
    ///
    /// - Parameters:
    ///   - interval: between two reports of one host. An hour by default: often enough to notice, seldom enough for a server
    ///     that collects them.
    ///   - time: the machine's clocks unless a test gives others.
    ///   - receive: called on the thread that makes the connection, which waits for it; it must return soon.
    public init(
        every interval: Duration = .seconds(3_600), time: TimeSource = .system,
        _ receive: @escaping @Sendable (PinReport) -> Void
    ) {
        limiter = Locked(PinReportLimiter(interval: interval))
        self.time = time
        self.receive = receive
    }

    /// Hands a report on, unless there was one of the same host lately; for transports.
    public func report(_ report: PinReport) {
        let now = time.now()
        if limiter.withLock({ $0.admits(report.host, at: now) }) { receive(report) }
    }
}

extension PinReporter: Hashable {
    public static func == (left: PinReporter, right: PinReporter) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
