/// How long the phases of an exchange may take; `nil` means for ever.
public struct Timeouts: Hashable, Sendable {
    /// Name look-up, connection and TLS handshake. 10 s by default. The wait for one of a limited number of connections to
    /// a host is not counted.
    public var connect: Duration?
    /// From the whole request sent to the whole head of the response, so that a head that drips is ended as well. 30 s by
    /// default.
    public var firstByte: Duration?
    /// Without one byte in either direction. 30 s by default.
    public var idle: Duration?
    /// The whole call: every redirect and every attempt. `nil` by default, because how long a call may take depends on how
    /// much it moves: a call that does not move ends by the other time-outs, and content that comes too slowly by
    /// ``ResponseLimits/minimumThroughput``.
    public var total: Duration?

    public init(
        connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(30), idle: Duration? = .seconds(30),
        total: Duration? = nil
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// Only the whole call is limited.
    public static func total(_ duration: Duration) -> Timeouts {
        Timeouts(connect: nil, firstByte: nil, idle: nil, total: duration)
    }
}

/// Which time-out ended an exchange.
@nonexhaustive
public enum TimeoutPhase: String, Hashable, Sendable {
    case connect
    case firstByte
    case idle
    case total
}
