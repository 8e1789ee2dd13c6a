/// When the phases of an exchange ended, each counted from its start; `nil` for a phase that did not happen or that
/// the platform does not tell.
public struct Timings: Hashable, Sendable {
    /// The name was looked up.
    public var nameLookup: Duration?
    /// The connection was there (for a reused one: at once).
    public var connected: Duration?
    /// TLS was agreed.
    public var secured: Duration?
    /// The request was about to be sent.
    public var requestStart: Duration?
    /// The first byte of the response came.
    public var responseStart: Duration?
    /// The exchange was over.
    public var total: Duration?

    /// Times of an exchange, each counted from its start; `nil`, the default, for a phase that did not happen or is not
    /// told.
    public init(
        nameLookup: Duration? = nil, connected: Duration? = nil, secured: Duration? = nil,
        requestStart: Duration? = nil, responseStart: Duration? = nil, total: Duration? = nil
    ) {
        self.nameLookup = nameLookup
        self.connected = connected
        self.secured = secured
        self.requestStart = requestStart
        self.responseStart = responseStart
        self.total = total
    }
}

/// The connection an exchange went over.
public struct ConnectionInfo: Hashable, Sendable {
    /// Whether it had served an exchange before; `nil` where the platform does not tell.
    public var isReused: Bool?
    /// The peer's numeric address.
    public var remoteAddress: String?
    /// The peer's port: that of the proxy where there is one.
    public var remotePort: Int?
    /// Bytes of the request body that were handed to the wire.
    public var bytesSent: Int
    /// Bytes of the response body as they came, before codings were removed.
    public var bytesReceived: Int
    /// One for each time that the transport itself sent the request again, in order; none by default. It does so on another
    /// connection, because the one before turned out to be dead or the server had refused the request unseen, and only where
    /// that cannot do a thing twice (RFC 9110 §9.2.2). Attempts that sent nothing do not count.
    ///
    /// Each says how far the attempt before it had come: ``SendState/unprocessed`` where the server provably left it out (RFC
    /// 9113 §8.7), ``SendState/maybeProcessed`` where the connection was lost after something of it was sent.
    public var resends: [SendState]
    /// Whether content without a length ended in a way that does not tell whether it is whole: the transport cannot see whether the
    /// server has ended it or broken it off. Said with the head already, and of content whose coding was removed, which ends where
    /// it says, only where there was not a byte of it.
    package var mayBeCutOff = false

    /// The facts of a connection.
    ///
    /// - Parameters:
    ///   - isReused: whether it had served an exchange before; `nil` where the platform does not tell.
    ///   - remoteAddress: the peer's numeric address.
    ///   - remotePort: the peer's port.
    ///   - bytesSent: bytes of the request body that were handed to the wire.
    ///   - bytesReceived: bytes of the response body as they came.
    ///   - resends: how far each attempt had come after which the transport itself sent the request again.
    public init(
        isReused: Bool? = nil, remoteAddress: String? = nil, remotePort: Int? = nil, bytesSent: Int = 0,
        bytesReceived: Int = 0, resends: [SendState] = []
    ) {
        self.isReused = isReused
        self.remoteAddress = remoteAddress
        self.remotePort = remotePort
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.resends = resends
    }
}
