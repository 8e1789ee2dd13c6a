/// What carries one request to a server and its response back.
///
/// A transport performs; a stage decorates. It follows no redirect, keeps no cookie and no cache, and retries nothing.
/// It keeps the limits and time-outs of the exchange, applies its trust policy, tells how far a failed request got, and
/// closes the wire when the exchange is cancelled. Connections are shared only within one ``ConnectionPartition``.
public protocol Transport: Sendable {
    /// What this transport can enforce. Asked for anything else, it refuses before it sends, with
    /// ``TransportError/Kind/unsupported(_:)``.
    var capabilities: TransportCapabilities { get }

    /// Performs one exchange and returns its complete response, whatever the status.
    ///
    /// Cancellation comes through ``TransportRequest/control`` alone: the transport attaches itself to it before it does
    /// anything, and throws ``TransportError/Kind/cancelled`` once it is told to stop.
    func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse

    /// Ends every exchange with ``TransportError/Kind/cancelled``, closes every connection and stops any thread. The
    /// transport refuses exchanges afterwards. Returns when all is closed.
    func shutdown() async
}

/// What a transport can enforce.
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
    public static let connectTimeout = TransportCapabilities(rawValue: 1 << 2)
    /// Request bodies that are streams.
    public static let streamedRequests = TransportCapabilities(rawValue: 1 << 3)
    /// HTTP/2, negotiated by ALPN.
    public static let http2 = TransportCapabilities(rawValue: 1 << 4)
    /// ``ExchangeControl/suspend()`` stops the bytes of an exchange that is under way.
    public static let suspension = TransportCapabilities(rawValue: 1 << 5)
    /// Separate connections for each ``ConnectionPartition``.
    public static let partitions = TransportCapabilities(rawValue: 1 << 6)
    /// Header lines of one name stay apart, and lines in their order, in both directions. Without it they are joined
    /// with commas, which makes several `Set-Cookie` lines hard to tell apart, and come in an order of no meaning.
    public static let separateFieldLines = TransportCapabilities(rawValue: 1 << 7)

    public static let all: TransportCapabilities = [
        .trustPolicy, .timings, .connectTimeout, .streamedRequests, .http2, .suspension, .partitions,
        .separateFieldLines,
    ]
}

/// One request with all that a transport must know to perform it.
public struct TransportRequest: Sendable {
    /// Already validated: method, target and fields can be written as they are. The transport adds `Host`, the framing
    /// fields, and `Accept-Encoding` for the codings it removes where the request names none.
    public var request: HTTPRequest
    public var timeouts: Timeouts
    public var limits: ResponseLimits
    public var trust: TrustPolicy
    public var partition: ConnectionPartition
    /// How the exchange is cancelled, suspended and resumed, and where it reports its progress.
    public let control: ExchangeControl

    public init(
        _ request: HTTPRequest, timeouts: Timeouts = .init(), limits: ResponseLimits = .init(),
        trust: TrustPolicy = .system, partition: ConnectionPartition = .init(), control: ExchangeControl = .init()
    ) {
        self.request = request
        self.timeouts = timeouts
        self.limits = limits
        self.trust = trust
        self.partition = partition
        self.control = control
    }
}

/// A response and how it came.
public struct TransportResponse: Sendable {
    public var response: HTTPResponse
    public var timings: Timings
    public var connection: ConnectionInfo

    public init(_ response: HTTPResponse, timings: Timings = .init(), connection: ConnectionInfo = .init()) {
        self.response = response
        self.timings = timings
        self.connection = connection
    }
}
