import Foundation

/// What carries one request to a server and its response back.
///
/// A transport performs; a stage decorates. It follows no redirect, keeps no cookie and no cache, and retries nothing.
/// It keeps the limits and time-outs of the exchange, applies its trust policy, tells how far a failed request got, and
/// closes the wire when the exchange is cancelled. Connections are shared only within one ``IsolationKey``.
public protocol Transport: Sendable {
    /// What this transport can enforce. Asked for anything else, it refuses before it sends, with
    /// ``TransportError/Kind/unsupported(_:)``.
    var capabilities: TransportCapabilities { get }

    /// Performs one exchange and returns its complete response, whatever the status.
    ///
    /// Cancellation comes through ``TransportRequest/control`` alone: the transport attaches itself to it before it does
    /// anything, and throws ``TransportError/Kind/cancelled`` once it is told to stop.
    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse

    /// Performs one exchange as far as the head of its response, whatever the status. The content is then received as
    /// ``TransportStream/content`` is asked for it: what nobody asks for stays on the wire.
    ///
    /// The request's control reaches the exchange until its content has ended. ``Timeouts/total`` and
    /// ``ResponseLimits/bodyBytes`` end with the head: they are for responses that are collected.
    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream

    /// Makes the connection that an exchange would go over, unless there is one, and sends no request. The exchange that
    /// comes next finds it, if it comes before the connection is given up.
    func preconnect(_ request: TransportRequest) async throws(TransportError)

    /// Makes a connection for bytes that are no exchange, which nothing else uses. Of the request the URL alone counts: its
    /// host and port, and its scheme, which says whether TLS is spoken.
    ///
    /// - Parameters:
    ///   - request: ``Timeouts/connect`` and ``Timeouts/total`` count until there is a connection. Its control reaches the wire
    ///     until that is closed.
    ///   - speaking: what TLS says of the bytes.
    func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire

    /// Opens a socket for datagrams to a host and port.
    ///
    /// - Parameter request: of it the URL's host and port count, and ``Timeouts/connect`` for the look-up of the name.
    ///   Its control reaches the socket until that is closed.
    func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire

    /// What compresses the messages of WebSockets; `nil` where they are sent as they are.
    var messageCompression: (any WebSocketCompression)? { get }

    /// The content of a request in a coding (RFC 9110 §8.4.1), all of it at once: for ``RequestCompression``.
    ///
    /// - Returns: `nil` where the transport does not write the coding, as by default.
    func encoded(_ content: Data, in coding: String) -> Data?

    /// Closes the connections that were made for an identity, in whatever environment: whoever they were made for has signed out.
    /// Idle ones are closed at once, those that an exchange still uses when it has ended, and no new exchange uses any of them.
    /// It does not wait. Nothing by default, for transports that keep no connections.
    func closeConnections(of identity: String)

    /// Ends every exchange with ``TransportError/Kind/cancelled``, closes every connection and stops any thread. The
    /// transport refuses exchanges afterwards. Returns when all is closed.
    func shutdown() async
}

/// What a transport can enforce, of what can be asked of it.
///
/// Among ``all`` are, besides those that are named here, the rules of HTTP that a platform's own code may break whatever is
/// asked; the conformance suite leaves out the tests of those that a transport lacks.
public struct TransportCapabilities: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A trust policy other than ``TrustPolicy/system``.
    public static let trustPolicy = TransportCapabilities(rawValue: 1 << 0)
    /// Phases in ``Timings`` and the facts of the connection.
    public static let timings = TransportCapabilities(rawValue: 1 << 1)
    /// A time-out of its own for the connection set-up.
    package static let connectTimeout = TransportCapabilities(rawValue: 1 << 2)
    /// Request bodies that are streams, and files that are read as they are sent.
    public static let streamedRequests = TransportCapabilities(rawValue: 1 << 3)
    /// HTTP/2, negotiated by ALPN.
    public static let http2 = TransportCapabilities(rawValue: 1 << 4)
    /// ``ExchangeControl/suspend()`` stops the bytes of an exchange that is under way.
    public static let suspension = TransportCapabilities(rawValue: 1 << 5)
    /// Separate connections for each ``IsolationKey``.
    package static let partitions = TransportCapabilities(rawValue: 1 << 6)
    /// Header lines of one name stay apart, and lines in their order, in both directions. Without it they are joined
    /// with commas and come in an order of no meaning; several `Set-Cookie` lines stay apart all the same.
    package static let separateFieldLines = TransportCapabilities(rawValue: 1 << 7)

    /// ``Transport/open(_:)``, with content that is received only as it is asked for.
    public static let streamedResponses = TransportCapabilities(rawValue: 1 << 8)
    /// A proxy policy other than ``ProxyPolicy/none``.
    public static let proxies = TransportCapabilities(rawValue: 1 << 9)
    /// ``Transport/preconnect(_:)``.
    public static let preconnection = TransportCapabilities(rawValue: 1 << 10)

    /// The head of each response is judged as it came, line by line: all that HTTP's grammar allows is read, what breaks it
    /// is refused, and its connection closed (RFC 9112 §4 to §6). So are chunks (§7.1). Without it the platform reads both by
    /// rules of its own.
    package static let exactHeads = TransportCapabilities(rawValue: 1 << 11)
    /// Content that ``TransportRequest/skipsContent`` is said of is not decoded. Without it the platform decodes what comes.
    package static let skipsContent = TransportCapabilities(rawValue: 1 << 12)
    /// Every reply, however broken, ends in a failure of its exchange. Without it there are replies at which the
    /// platform's own code ends the process.
    package static let brokenReplies = TransportCapabilities(rawValue: 1 << 13)
    /// ``HTTPResponse/trailers``, and limits on them. Without it they are left out, or **the platform's own code ends the
    /// process** at a response that has any, as Foundation's does on Linux.
    package static let trailers = TransportCapabilities(rawValue: 1 << 14)
    /// ``ResponseLimits/interimResponses``.
    package static let interimLimit = TransportCapabilities(rawValue: 1 << 15)
    /// A connection on which bytes, or its end, came while nothing was asked for is not used again (RFC 9112 §9.2).
    package static let idleChecks = TransportCapabilities(rawValue: 1 << 16)
    /// A request that is not idempotent is never sent again by itself (RFC 9110 §9.2.2). Without it the platform may do so
    /// when a connection that was used again turns out to be dead, or end the process.
    package static let sendsOnce = TransportCapabilities(rawValue: 1 << 17)
    /// Whatever comes on a connection is noticed. Without it the platform now and then misses something, and the exchange
    /// ends by its time-out although its response has come.
    package static let noticesAll = TransportCapabilities(rawValue: 1 << 18)

    /// ``ResponseLimits/expansionRatio`` is kept for every response. Without it for those that have a `Content-Length`
    /// alone, since the platform does not tell how much of other content came over the wire; ``ResponseLimits/bodyBytes``
    /// holds for them all.
    package static let expansionRatio = TransportCapabilities(rawValue: 1 << 19)

    /// ``TrustPolicy/pins``: a chain without the pins of its host is reported, and refused where they are enforced.
    public static let pinning = TransportCapabilities(rawValue: 1 << 20)
    /// ``TrustPolicy/identity``, in PKCS#12.
    public static let clientCertificates = TransportCapabilities(rawValue: 1 << 21)
    /// ``TrustPolicy/identity``, in PEM as well.
    public static let pemIdentities = TransportCapabilities(rawValue: 1 << 22)
    /// ``TrustPolicy/revocation``, other than the platform's own.
    public static let revocation = TransportCapabilities(rawValue: 1 << 23)

    /// A ``HostResolver`` other than ``HostResolver/system``.
    public static let hostResolvers = TransportCapabilities(rawValue: 1 << 24)

    /// ``Transport/connect(_:speaking:)`` and ``Transport/datagrams(_:)``.
    public static let channels = TransportCapabilities(rawValue: 1 << 25)

    /// Every capability that there is in this version.
    public static let all: TransportCapabilities = [
        .trustPolicy, .timings, .connectTimeout, .streamedRequests, .http2, .suspension, .partitions,
        .separateFieldLines, .streamedResponses, .proxies, .preconnection, .exactHeads, .skipsContent, .brokenReplies,
        .trailers, .interimLimit, .idleChecks, .sendsOnce, .noticesAll,
        .expansionRatio, .pinning, .clientCertificates, .pemIdentities, .revocation,
        .hostResolvers, .channels,
    ]
}

extension TransportCapabilities: CustomStringConvertible {
    private static let named: [(TransportCapabilities, String)] = [
        (.trustPolicy, "trustPolicy"), (.timings, "timings"), (.connectTimeout, "connectTimeout"),
        (.streamedRequests, "streamedRequests"), (.http2, "http2"), (.suspension, "suspension"),
        (.partitions, "partitions"), (.separateFieldLines, "separateFieldLines"),
        (.streamedResponses, "streamedResponses"), (.proxies, "proxies"), (.preconnection, "preconnection"),
        (.exactHeads, "exactHeads"), (.skipsContent, "skipsContent"), (.brokenReplies, "brokenReplies"),
        (.trailers, "trailers"), (.interimLimit, "interimLimit"), (.idleChecks, "idleChecks"),
        (.sendsOnce, "sendsOnce"), (.noticesAll, "noticesAll"),
        (.expansionRatio, "expansionRatio"), (.pinning, "pinning"), (.clientCertificates, "clientCertificates"),
        (.pemIdentities, "pemIdentities"), (.revocation, "revocation"),
        (.hostResolvers, "hostResolvers"),
        (.channels, "channels"),
    ]

    /// The names of those that are there, in the order they are declared.
    public var names: [String] {
        Self.named.filter { contains($0.0) }.map(\.1)
    }

    public var description: String { names.joined(separator: ", ") }
}

extension Transport {
    /// Does nothing, for transports that keep no connections.
    public func closeConnections(of identity: String) {}

    /// Refuses before anything is sent, for transports that only collect.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        throw TransportError(.unsupported("streamed responses"), sendState: .unsent)
    }

    /// Returns `nil`, for transports that write no codings.
    public func encoded(_ content: Data, in coding: String) -> Data? { nil }

    /// Refuses, for transports that cannot connect beforehand.
    public func preconnect(_ request: TransportRequest) async throws(TransportError) {
        throw TransportError(.unsupported("connections without a request"), sendState: .unsent)
    }
}

/// One request with all that a transport must know to perform it.
public struct TransportRequest: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var request: HTTPRequest
        var timeouts: Timeouts
        var limits: ResponseLimits
        var isolation: IsolationKey
        var skipsContent: (@Sendable (HTTPResponse) -> Bool)?
        var control: ExchangeControl
    }

    /// An exchange to perform.
    ///
    /// - Parameters:
    ///   - request: validated already, as ``request`` tells.
    ///   - timeouts: the defaults of ``Timeouts`` unless told otherwise.
    ///   - limits: the defaults of ``ResponseLimits`` unless told otherwise.
    ///   - isolation: what it may share a connection with; by default exchanges of nobody in particular, with the
    ///     system's authorities and no proxy.
    ///   - control: how it is cancelled, suspended and resumed. By default one that nobody else has.
    public init(
        _ request: HTTPRequest, timeouts: Timeouts = .init(), limits: ResponseLimits = .init(),
        isolation: IsolationKey = .init(), control: ExchangeControl = .init()
    ) {
        parts = Boxed(
            Parts(
                request: request, timeouts: timeouts, limits: limits, isolation: isolation, control: control))
    }

    /// The request, already validated: method, target and fields can be written as they are. The transport adds `Host`, the framing
    /// fields, and `Accept-Encoding` for the codings it removes where the request names none.
    public var request: HTTPRequest {
        get { parts.request }
        set { parts.request = newValue }
    }

    /// How long its phases may take. ``Timeouts/total`` is what is left of the call's time.
    public var timeouts: Timeouts {
        get { parts.timeouts }
        set { parts.timeouts = newValue }
    }

    /// How much of its response is accepted.
    public var limits: ResponseLimits {
        get { parts.limits }
        set { parts.limits = newValue }
    }

    /// What the exchange may share a connection with: exchanges of the same key alone.
    public var isolation: IsolationKey {
        get { parts.isolation }
        set { parts.isolation = newValue }
    }

    /// Whom TLS trusts: a part of ``isolation``.
    public var trust: TrustPolicy {
        get { parts.isolation.trust }
        set { parts.isolation.trust = newValue }
    }

    /// The way by which the connection is made: a part of ``isolation``.
    public var proxy: ProxyPolicy {
        get { parts.isolation.proxy }
        set { parts.isolation.proxy = newValue }
    }

    /// What is asked once, with the head of a final response that is no success (2xx): whether nobody will look at its content.
    /// Such content is never decoded; the transport reads past it where that is cheap and closes the wire otherwise. `nil`
    /// means that all content is wanted.
    public var skipsContent: (@Sendable (HTTPResponse) -> Bool)? {
        get { parts.skipsContent }
        set { parts.skipsContent = newValue }
    }

    /// Whether nobody will look at the content behind a head.
    package func isContentSkipped(_ status: Int, _ head: @autoclosure () -> HTTPResponse) -> Bool {
        guard !(200...299).contains(status), let skips = parts.skipsContent else { return false }
        return skips(head())
    }

    /// Where the names of hosts lead: a part of ``isolation``.
    public var resolver: HostResolver {
        get { parts.isolation.resolver }
        set { parts.isolation.resolver = newValue }
    }

    /// How the exchange is cancelled, suspended and resumed, and where it reports its progress.
    public var control: ExchangeControl { parts.control }
}

/// A response and how it came.
public struct TransportResponse: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var response: HTTPResponse
        var timings: Timings
        var connection: ConnectionInfo
    }

    /// A complete response.
    ///
    /// - Parameters:
    ///   - timings: none by default.
    ///   - connection: all default values unless told otherwise.
    public init(_ response: HTTPResponse, timings: Timings = .init(), connection: ConnectionInfo = .init()) {
        parts = Boxed(
            Parts(response: response, timings: timings, connection: connection))
    }

    /// Head, content and trailers, with the content codings removed.
    public var response: HTTPResponse {
        get { parts.response }
        _modify { yield &parts.response }
    }

    /// When its phases ended.
    public var timings: Timings {
        get { parts.timings }
        set { parts.timings = newValue }
    }

    /// What it went over.
    public var connection: ConnectionInfo {
        get { parts.connection }
        set { parts.connection = newValue }
    }
}
