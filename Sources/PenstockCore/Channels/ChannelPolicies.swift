/// Whether, and when, a channel connects again by itself after its connection has ended. By default it does not: what was on
/// its way is lost, and only the app knows what that means.
///
/// ```swift
/// WebSocketOptions(reconnection: .init())
/// ```
public struct ChannelReconnection: Hashable, Sendable {
    /// How long to wait before each try. Drawn up to 1 s at first, then up to twice as much each time, 30 s at most, by default:
    /// a server that comes back sees its clients spread over half a minute. One that has refused with a `Retry-After` is left alone
    /// for that long, up to ``RetryPolicy/longestHint``.
    public var backoff: Backoff
    /// How many tries in a row may fail; `nil`, which is the default, for any number.
    public var maxFailures: Int?

    /// The defaults, but for what is named.
    public init(
        backoff: Backoff = Backoff(base: .seconds(1), cap: .seconds(30)), maxFailures: Int? = nil
    ) {
        self.backoff = backoff
        self.maxFailures = maxFailures
    }

    /// How a connection of a channel ended, or why there was none.
    @nonexhaustive
    public enum Ending: Hashable, Sendable {
        /// The connection failed, or could not be made.
        case failed(TransportError.Kind)
        /// The server refused, with this status.
        case status(Int)
        /// Nothing was sent: the server is given a rest by the client's ``CircuitBreaker``, or there is no credential for the moment.
        case unavailable
        /// The other end closed a WebSocket with this code.
        case closed(WebSocketCloseCode)
        /// What came breaks the protocol.
        case broken
    }

    /// Decides what follows an end.
    ///
    /// - Parameters:
    ///   - failures: how many in a row, this one included; 1 after a connection that had worked: over which something had come, be it
    ///     a ping or an answer to one, or that had lasted for 5 s.
    ///   - random: spreads the wait.
    /// - Returns: how long to wait before the next try; `nil` for none.
    public func delay(
        after ending: Ending, failures: Int, using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard Self.mayHelp(ending) else { return nil }
        if let maxFailures, failures > maxFailures { return nil }
        return backoff.delay(before: failures, using: &random)
    }

    /// Whether another try may go better than this.
    private static func mayHelp(_ ending: Ending) -> Bool {
        switch ending {
        case .failed(let kind):
            switch kind {
            case .tls(.handshake), .unreachable, .timeout, .connectionLost, .other: true
            case .cancelled, .tls, .limitExceeded, .requestBody, .unsupported, .protocolViolation, .blocked: false
            }
        case .status(let status): HTTPResponse.isPassing(status)
        case .closed(let code): [1_001, 1_005, 1_006, 1_011, 1_012, 1_013, 1_014].contains(Int(code.rawValue))
        case .unavailable: true
        case .broken: false
        }
    }
}

/// When to ask whether the other end is still there, and when to give it up.
struct KeepAlive: Hashable, Sendable {
    /// How long no byte comes before the other end is asked.
    let interval: Duration
    /// How long no byte comes after that before the other end counts as gone.
    let patience: Duration
    private var lastByte: Duration
    private var asked: Duration?

    enum Step: Hashable, Sendable {
        case wait(Duration)
        case ask
        case giveUp
    }

    init(interval: Duration, patience: Duration, now: Duration) {
        (self.interval, self.patience, lastByte) = (interval, patience, now)
    }

    /// Bytes have come, or nobody was there to take any.
    mutating func heard(_ now: Duration) {
        lastByte = now
        asked = nil
    }

    /// The question is written: the time for the answer counts from here, unless bytes have come since.
    mutating func wasAsked(_ now: Duration) {
        if asked != nil { asked = now }
    }

    mutating func next(_ now: Duration) -> Step {
        if let asked {
            // The answer may come long before the patience is at its end, and the next silence begins with it.
            return now - asked >= patience ? .giveUp : .wait(min(interval, asked + patience - now))
        }
        guard now - lastByte >= interval else { return .wait(lastByte + interval - now) }
        asked = now
        return .ask
    }
}
