/// How long the phases of an exchange may take; `nil` means for ever.
///
/// A field that is not set has its default, unless a wider level of options has set it.
///
/// ```swift
/// Timeouts(connect: .seconds(2))      // the other fields are not set
/// Timeouts(idle: nil)                 // no limit for that one
/// ```
public struct Timeouts: Sendable {
    private struct Fields: Sendable {
        var connect: Duration??
        var firstByte: Duration??
        var idle: Duration??
        var total: Duration??
    }

    private var fields = Fields()

    /// Name look-up, connection and TLS handshake. 10 s by default. The wait for one of a limited number of connections to
    /// a host is not counted.
    public var connect: Duration? {
        get { fields.connect ?? .seconds(10) }
        set { fields.connect = .some(newValue) }
    }
    /// The time from the whole request sent to the whole head of the response, so that a head that drips is ended as well. 30 s by
    /// default.
    public var firstByte: Duration? {
        get { fields.firstByte ?? .seconds(30) }
        set { fields.firstByte = .some(newValue) }
    }
    /// The time without one byte in either direction. 30 s by default.
    public var idle: Duration? {
        get { fields.idle ?? .seconds(30) }
        set { fields.idle = .some(newValue) }
    }
    /// The whole call: every redirect and every attempt. `nil` by default, because how long a call may take depends on how
    /// much it moves: a call that does not move ends by the other time-outs, and content that comes too slowly by
    /// ``ResponseLimits/minimumThroughput``. Calls are held to it to their end, and streams (``APIClient/stream(_:options:in:)``,
    /// ``APIClient/lines(of:options:in:)``) until their head has come; downloads, channels and streams of events are not, whose
    /// length nobody knows beforehand.
    public var total: Duration? {
        get { fields.total ?? nil }
        set { fields.total = .some(newValue) }
    }

    /// Sets the fields that are named.
    public init(
        connect: Duration? = unset, firstByte: Duration? = unset, idle: Duration? = unset, total: Duration? = unset
    ) {
        if connect != Self.unset { self.connect = connect }
        if firstByte != Self.unset { self.firstByte = firstByte }
        if idle != Self.unset { self.idle = idle }
        if total != Self.unset { self.total = total }
    }

    /// Stands for an argument that is left out: no time-out that anybody means, so that `nil` can be said.
    @usableFromInline static var unset: Duration? { .seconds(Int64.min) }

    /// Only the whole call is limited.
    public static func total(_ duration: Duration) -> Timeouts {
        Timeouts(connect: nil, firstByte: nil, idle: nil, total: duration)
    }
}

extension Timeouts: LayeredOption {
    /// The fields that are set here, and those of `wider` that are not.
    public func over(_ wider: Timeouts) -> Timeouts {
        var merged = self
        merged.fields.connect = fields.connect ?? wider.fields.connect
        merged.fields.firstByte = fields.firstByte ?? wider.fields.firstByte
        merged.fields.idle = fields.idle ?? wider.fields.idle
        merged.fields.total = fields.total ?? wider.fields.total
        return merged
    }
}

extension Timeouts: Hashable {
    /// Whether both allow the same, by whatever was set.
    public static func == (left: Timeouts, right: Timeouts) -> Bool {
        left.connect == right.connect && left.firstByte == right.firstByte && left.idle == right.idle
            && left.total == right.total
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine([connect, firstByte, idle, total])
    }
}

/// Which time-out ended an exchange.
@nonexhaustive
public enum TimeoutPhase: String, Hashable, Sendable {
    /// ``Timeouts/connect``: no connection was ready in time. Nothing was sent.
    case connect
    /// ``Timeouts/firstByte``: the head of the response did not come in time after the whole request was sent.
    case firstByte
    /// ``Timeouts/idle``: for so long no byte moved in either direction.
    case idle
    /// ``Timeouts/total``: the whole call took too long, whatever it was doing.
    case total
}
