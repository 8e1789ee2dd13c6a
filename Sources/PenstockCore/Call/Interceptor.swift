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
    /// transport adds (``TransportRequest/request``). Those are, of a WebSocket, all that asks for the change of the protocol,
    /// `Sec-WebSocket-Key` among them: they are of one connection, whoever passes the request on makes them anew, and so no
    /// signature can cover them. Its body may be a file or a stream (``HTTPBody/source``). The time to
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
