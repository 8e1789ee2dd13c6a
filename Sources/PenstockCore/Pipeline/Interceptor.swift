/// Code of the app's that stands around a call or around each of its attempts.
///
/// ```swift
/// struct Traced: Interceptor {
///     func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
///         var request = request
///         request.fields["X-Trace"] = "\(call.id.rawValue)"
///         return try await next(request)
///     }
/// }
/// ```
///
/// There are two positions. A *call* interceptor sees one logical call: it may call `next` any number of times, also
/// none. An *attempt* interceptor sees each exchange as it goes to the wire: it calls `next` exactly once, or it vetoes
/// by throwing; anything else fails the call. In both, those listed first are outermost: client, service, endpoint.
///
/// A call never waits for an interceptor past its own end: once it is cancelled, its scope goes, or its total time-out runs
/// out, the caller is told at once. The interceptor's task is cancelled, and what it returns later is dropped. One that
/// waits uses ``CallContext/sleep(for:)`` or another wait that ends when its task is cancelled.
public protocol Interceptor: Sendable {
    /// Handles one call or one attempt, whichever position it was put at. An implementation hands the request, changed
    /// or not, to `next` and returns the exchange that comes back, changed or not; or it answers with one of its own,
    /// where its position allows that. It is called from several tasks at once.
    ///
    /// - Throws: an ``APIError`` reaches the caller as it is; any other error as ``APIError/Kind/blocked(reason:)``
    ///   with that error underneath.
    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange
}

/// An interceptor that is a closure; see ``Interceptor/closure(_:)``.
public struct ClosureInterceptor: Interceptor {
    /// What an interceptor does; see ``Interceptor/intercept(_:call:next:)``.
    public typealias Body =
        @Sendable (_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws -> Exchange

    private let body: Body

    /// - Parameter body: called for each call, or for each attempt, by where the interceptor stands.
    public init(_ body: @escaping Body) {
        self.body = body
    }

    /// Calls the closure.
    public func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await body(request, call, next)
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// An interceptor for which a type of its own would be too much.
    ///
    /// ```swift
    /// configuration.callInterceptors.append(.closure { request, call, next in
    ///     var request = request
    ///     request.fields["X-Trace"] = "\(call.id.rawValue)"
    ///     return try await next(request)
    /// })
    /// ```
    public static func closure(_ body: @escaping ClosureInterceptor.Body) -> ClosureInterceptor {
        ClosureInterceptor(body)
    }
}

/// A request as it was sent and the response to it.
public struct Exchange: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var request: HTTPRequest
        var response: HTTPResponse
        var content: (any TransportContent)?
        var timings: Timings
        var connection: ConnectionInfo
        var source: ResponseSource
        /// `nil` while ``request`` is what was sent.
        var sent: HTTPRequest?
        /// Why it was the last attempt, although it failed.
        var refusal: RetryRefusal?
    }

    /// What the stages it passed have left in it. Beside the rest, which others hold as well when it is changed.
    var remains = Remains()

    /// What stages leave in an exchange.
    struct Remains: Sendable {
        /// What the cache had to do with it; `nil` where it took no part.
        var cache: Boxed<CacheRecord>?
        var settlements: [Left] = []
        /// Whether the credential was refused and can be renewed: whatever the call makes of the response, it is replayed.
        var isRefused = false
        /// Whether it is the exchange of another call that asked for the same.
        var isJoined = false

        var isEmpty: Bool { cache == nil && settlements.isEmpty }
    }

    /// A settlement, and where it was left.
    struct Left: Sendable {
        let settlement: any Settlement
        /// Whether it speaks of a redirect that was followed on the way, and not of the answer.
        var isOfHop = false
    }

    /// An exchange of an interceptor's own making.
    ///
    /// - Parameter source: an interceptor unless told otherwise, since that is who makes exchanges besides Penstock itself.
    public init(
        request: HTTPRequest, response: HTTPResponse, content: (any TransportContent)? = nil,
        timings: Timings = .init(), connection: ConnectionInfo = .init(), source: ResponseSource = .interceptor
    ) {
        parts = Boxed(
            Parts(
                request: request, response: response, content: content, timings: timings, connection: connection,
                source: source))
    }

    /// The request that was answered. What came from the network has it as it was sent: with cookies, sealed and
    /// signed.
    public var request: HTTPRequest {
        get { parts.request }
        _modify {
            if parts.sent == nil { parts.sent = parts.request }
            yield &parts.request
        }
    }

    /// The request as it went to the wire, whatever an interceptor has put in its place since.
    var sentRequest: HTTPRequest {
        get { parts.sent ?? parts.request }
        set { parts.sent = newValue }
    }

    /// Why it was the last attempt, although it failed; `nil` where there is nothing to tell.
    var retryRefusal: RetryRefusal? {
        get { parts.refusal }
        set { parts.refusal = newValue }
    }

    /// Of a streamed call, only the head.
    public var response: HTTPResponse {
        get { parts.response }
        _modify { yield &parts.response }
    }

    /// Of a streamed call, what follows the head; `nil` where the content is in ``response``.
    public var content: (any TransportContent)? {
        get { parts.content }
        set { parts.content = newValue }
    }

    /// When the phases of the exchange ended; all `nil` where nothing was sent.
    public var timings: Timings {
        get { parts.timings }
        set { parts.timings = newValue }
    }

    /// What it went over; all default values where nothing was sent.
    public var connection: ConnectionInfo {
        get { parts.connection }
        set { parts.connection = newValue }
    }

    /// Where the response came from.
    public var source: ResponseSource {
        get { parts.source }
        set { parts.source = newValue }
    }

    /// What the cache had to do with it; `nil` where it took no part.
    var cache: Boxed<CacheRecord>? {
        get { remains.cache }
        set { remains.cache = newValue }
    }

    /// Leaves a settlement.
    mutating func leave(_ settlement: any Settlement) {
        remains.settlements.append(Left(settlement: settlement))
    }
}

/// Where a response came from.
@nonexhaustive
public enum ResponseSource: String, Hashable, Sendable {
    /// The server, which sent all of it for this exchange.
    case network
    /// Stored, and at hand.
    case memory
    /// Stored, and read from where the store keeps what is not at hand.
    case disk
    /// Stored, and the server has just said that it is the current one, or has brought what was missing of it.
    case revalidated
    /// An interceptor answered.
    case interceptor
}

/// Signs the bytes of a request after all else is done to it; asked anew for every attempt and every redirect within the
/// service's own origin. A request that a redirect has led to another origin goes unsigned. A call that ends early does not
/// wait for a signer that has not returned yet.
///
/// Ready made, in PenstockSecurity: `SortedParameterSigner`, `AWSSignatureV4` and `HTTPMessageSigner`.
public protocol Signer: Sendable {
    /// Origins that are signed for besides the service's own; none by default.
    var trustedOrigins: Set<HTTPURL.Origin> { get }

    /// Whether a signature says when it was made. A request that is refused (400, 401 or 403) by a response whose `Date` shows
    /// that the time was wrong by half a minute or more is then signed and sent once more, by the server's clock. `false` by
    /// default.
    var isTimed: Bool { get }

    /// The request with its signature. An implementation adds that, and leaves what it signs as it is. Cookies are in
    /// the request and its content is sealed by now, so what is signed is what is sent, but for the fields that the
    /// transport adds (``TransportRequest/request``). Its body may be a file or a stream (``HTTPBody/source``). The time to
    /// sign by is ``CallContext/serverDate(of:)``.
    ///
    /// - Throws: an ``APIError`` reaches the caller as it is; any other error as ``APIError/Kind/blocked(reason:)``
    ///   with that error underneath. Nothing is sent then.
    func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest
}

extension Signer {
    public var trustedOrigins: Set<HTTPURL.Origin> { [] }
    public var isTimed: Bool { false }
}

/// Encrypts what is sent and decrypts what comes back. The cache, the interceptors and the app see plain content; only
/// the signer and the wire see the sealed one. A call that ends early does not wait for a sealer that has not returned
/// yet.
public protocol Sealer: Sendable {
    /// The request with its content sealed, asked anew for every attempt, that of a redirect included. An
    /// implementation also sets the fields that speak of the content, such as `Content-Type`. It leaves a request
    /// without content as it is, or gives it one.
    ///
    /// - Throws: an ``APIError`` reaches the caller as it is; any other error as ``APIError/Kind/blocked(reason:)``
    ///   with that error underneath. Nothing is sent then.
    func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest
    /// The response with its content in plain. An implementation is asked for every response that may have content (RFC 9110
    /// §6.4.1): also for one that reports a failure, and for one that nobody reads, such as a redirect, whose body may be
    /// empty.
    ///
    /// - Throws: as ``seal(_:call:)`` does; the response is lost then. What does not open is ``APIError/Kind/decryption``, with
    ///   nothing that tells why.
    func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse
}
