/// Why an exchange failed, and how far its request got.
public struct TransportError: Error, Sendable {
    /// What went wrong; how far the request got is ``TransportError/sendState``.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// No connection could be made.
        case unreachable(Reachability)
        /// The phase took longer than the exchange's ``Timeouts`` allow.
        case timeout(TimeoutPhase)
        /// The exchange was ended through the control, or because the transport was shut down.
        case cancelled
        /// The handshake failed or the peer's certificate was refused.
        case tls(TLSFailure)
        /// A connection that was made broke: reset, closed early, or shorter than its length.
        case connectionLost
        /// The peer broke the protocol.
        case protocolViolation
        /// The response broke one of the exchange's ``ResponseLimits``; the wire was closed.
        case limitExceeded(ResponseLimits.Limit)
        /// The request's own body could not be read.
        case requestBody
        /// The transport cannot enforce what was asked; names it. Nothing was sent.
        case unsupported(String)
        /// A rule below the app refuses the exchange, and is named. Nothing was sent.
        case blocked(reason: String)
        /// None of the others; the message tells.
        case other
    }

    /// Why no connection could be made.
    @nonexhaustive
    public enum Reachability: String, Hashable, Sendable {
        /// The machine has no route to any network.
        case offline
        /// The host's name has no address, or the name servers do not answer.
        case nameNotResolved
        /// The host is there and takes no connection at that port (`ECONNREFUSED`). Foundation's URLSession tells other
        /// failures to connect by this one as well.
        case connectionRefused
        /// The machine has a network, and none that leads to the host (`EHOSTUNREACH`, `EHOSTDOWN`, `EADDRNOTAVAIL`).
        case noRoute
        /// The proxy cannot be reached, or will not or cannot connect to the origin.
        case proxy
        /// The proxy wants credentials, or others than it was given.
        case proxyAuthentication
        /// The process, or the whole system, has no file descriptor left for a connection (`EMFILE`, `ENFILE`), and none
        /// became free while the time-outs of the exchange ran. Nothing was sent. More descriptors (`ulimit -n`) or fewer
        /// exchanges at once help.
        case noDescriptors
    }

    /// Why TLS could not be agreed on.
    @nonexhaustive
    public enum TLSFailure: String, Hashable, Sendable {
        /// The chain ends in no trusted authority, or the certificate is self-signed.
        case untrusted
        /// A certificate of the chain is past its dates, or not valid yet. Foundation's URLSession on Linux tells the
        /// latter as ``untrusted``.
        case expired
        /// The chain is good, and its certificate is for another name or address than was asked for.
        case wrongHost
        /// The handshake itself failed.
        case handshake
        /// The chain is good, and has none of the keys that its host is pinned to (``TrustPolicy/pins``).
        case pinMismatch
        /// The authority has taken the certificate back.
        case revoked
        /// The policy asks for the authority's word on whether the certificate was taken back, and there is none that holds.
        case revocationUnknown
        /// The trust policy's own material cannot be read.
        case trustMaterial
        /// The client's certificate or its key cannot be read, or do not belong together.
        case clientCertificate
    }

    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var kind: Kind
        var sendState: SendState
        var message: String
        var timings: Timings
        var connection: ConnectionInfo
        var partialResponse: HTTPResponse?
        var underlying: (any Error)?
    }

    /// A failure.
    ///
    /// - Parameters:
    ///   - kind: why the exchange failed.
    ///   - sendState: how far its request got.
    ///   - message: for people; holds no header value and no body. Empty by default.
    ///   - timings: of the phases that ended. None by default.
    ///   - connection: what it went over, as far as there was one.
    ///   - partialResponse: the head of a response that began before the failure. None by default.
    ///   - underlying: what the request's own content threw. None by default.
    public init(
        _ kind: Kind, sendState: SendState, message: String = "", timings: Timings = .init(),
        connection: ConnectionInfo = .init(), partialResponse: HTTPResponse? = nil, underlying: (any Error)? = nil
    ) {
        parts = Boxed(
            Parts(
                kind: kind, sendState: sendState, message: message, timings: timings, connection: connection,
                partialResponse: partialResponse, underlying: underlying))
    }

    /// What went wrong.
    public var kind: Kind {
        get { parts.kind }
        set { parts.kind = newValue }
    }

    /// How far the request got. A transport that does not know says ``SendState/maybeProcessed``, so that nothing is
    /// done twice.
    public var sendState: SendState {
        get { parts.sendState }
        set { parts.sendState = newValue }
    }

    /// What happened, for people; holds no header value and no body.
    public var message: String {
        get { parts.message }
        set { parts.message = newValue }
    }

    /// The timings of the phases that ended before the failure.
    public var timings: Timings {
        get { parts.timings }
        set { parts.timings = newValue }
    }

    /// What the exchange went over; all of its default values where no connection was made, or the platform does not tell.
    public var connection: ConnectionInfo {
        get { parts.connection }
        set { parts.connection = newValue }
    }

    /// The head of a response that began before the failure, without its body.
    public var partialResponse: HTTPResponse? {
        get { parts.partialResponse }
        set { parts.partialResponse = newValue }
    }

    /// What the stream of the content threw, where it did, of ``Kind/requestBody``.
    public var underlying: (any Error)? {
        get { parts.underlying }
        set { parts.underlying = newValue }
    }
}

/// How far a request got: what decides whether it may be sent again (RFC 9110 §9.2.2).
public enum SendState: String, Hashable, Sendable, Comparable {
    /// No byte of it left the machine.
    case unsent
    /// The server said that it did not process it (RFC 9113 §8.7).
    case unprocessed
    /// Some of it left, and no answer came.
    case maybeProcessed
    /// A response began.
    case answered

    private var rank: Int {
        switch self {
        case .unsent: 0
        case .unprocessed: 1
        case .maybeProcessed: 2
        case .answered: 3
        }
    }

    public static func < (left: SendState, right: SendState) -> Bool {
        left.rank < right.rank
    }
}

extension TransportError: CustomReflectable {
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "kind": kind, "sendState": sendState, "message": message, "timings": timings,
            "partialResponse": partialResponse as Any,
        ]
        return Redaction.mirror(of: self, children)
    }
}
