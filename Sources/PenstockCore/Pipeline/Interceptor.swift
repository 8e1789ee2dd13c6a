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
public protocol Interceptor: Sendable {
    /// - Throws: an ``APIError`` reaches the caller as it is; any other error as ``APIError/Kind/blocked(reason:)``
    ///   with that error underneath.
    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange
}

/// What is left of the request path below an interceptor.
public struct Next: Sendable {
    private let stages: [any Interceptor]
    private let index: Int
    private let call: CallContext

    init(stages: [any Interceptor], index: Int = 0, call: CallContext) {
        self.stages = stages
        self.index = index
        self.call = call
    }

    public func callAsFunction(_ request: HTTPRequest) async throws -> Exchange {
        try call.checkNotCancelled()
        let next = Next(stages: stages, index: index + 1, call: call)
        return try await stages[index].intercept(request, call: call, next: next)
    }
}

/// A request as it was sent and the response to it.
public struct Exchange: Sendable {
    public var request: HTTPRequest
    public var response: HTTPResponse
    public var timings: Timings
    public var connection: ConnectionInfo
    public var source: ResponseSource

    public init(
        request: HTTPRequest, response: HTTPResponse, timings: Timings = .init(), connection: ConnectionInfo = .init(),
        source: ResponseSource = .network
    ) {
        self.request = request
        self.response = response
        self.timings = timings
        self.connection = connection
        self.source = source
    }
}

/// Where a response came from.
@nonexhaustive
public enum ResponseSource: String, Hashable, Sendable {
    case network
    /// An interceptor answered.
    case interceptor
}

/// Signs the bytes of a request after all else is done to it; asked anew for every attempt.
public protocol Signer: Sendable {
    func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest
}

/// Encrypts what is sent and decrypts what comes back.
public protocol Sealer: Sendable {
    func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest
    func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse
}
