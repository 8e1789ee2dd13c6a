import PenstockCore

/// An HTTP/1.1 server on real sockets at 127.0.0.1, on a port of its own: for tests, and for programs that show
/// something without a network.
///
/// ```swift
/// let server = try LoopbackServer { request in
///     request.path == "/login" ? .json(#"{"retcode":0}"#) : .init(status: 404)
/// }
/// defer { server.stop() }
/// let url = try server.url.resolving("/login")
/// ```
///
/// Each connection has a thread of its own, so the handler may block. Beside good answers it gives bad ones: see
/// ``Response``.
public final class LoopbackServer: Sendable {
    /// `http://127.0.0.1:port/`, or with TLS `https://127.0.0.1:port/`.
    public let url: HTTPURL

    let ledger: LoopbackLedger
    private let engine: LoopbackEngine

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - onConnect: asked for each connection, by its number counted from 1, what goes wrong with it before its first
    ///     request. Nothing by default.
    ///   - onHead: asked for each request whose head was read, before its content is. On the thread of the connection.
    ///   - handler: called for each request that was read completely, on its connection's thread (with HTTP/2: its
    ///     stream's); may block, but must return before ``stop()`` can.
    /// - Throws: `POSIXError` when the system gives no socket; ``TLSFailure`` when it cannot serve the TLS that is asked for.
    public init(
        _ configuration: Configuration = .init(),
        onConnect: @escaping @Sendable (Int) -> ConnectionFault? = { _ in nil },
        onHead: @escaping @Sendable (Request) -> HeadDecision = { _ in .proceed },
        handler: @escaping @Sendable (Request) -> Response
    ) throws {
        ledger = LoopbackLedger(limit: configuration.recordedRequests)
        let service = try LoopbackService(
            configuration, ledger, onConnect: onConnect, onHead: onHead, handler: handler)
        let listener = try Listener(
            receiveBuffer: configuration.receiving.map { Int32(clamping: $0.bytes) })
        url = try HTTPURL(
            "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(listener.port)/")
        engine = LoopbackEngine(listener: listener, service: service)
        engine.start()
    }

    /// Starts a server with a script of faults.
    ///
    /// - Parameter faults: one for each request, in the order that heads come; `nil` for a request that goes well, as do
    ///   those after the end of the list.
    /// - Throws: as ``init(_:onConnect:onHead:handler:)``.
    public convenience init(
        _ configuration: Configuration = .init(), faults: [Fault?],
        handler: @escaping @Sendable (Request) -> Response
    ) throws {
        try self.init(
            configuration,
            onHead: { request in
                guard let fault = faults.dropFirst(request.number - 1).first ?? nil else { return .proceed }
                return .fault(fault.effect, at: fault.trigger)
            }, handler: handler)
    }

    /// Starts a server of another protocol than HTTP.
    ///
    /// - Parameter serve: called for each connection on its thread, with its number counted from 1; the connection is closed when
    ///   it returns.
    /// - Throws: as ``init(_:onConnect:onHead:handler:)``.
    public static func serving(
        _ configuration: Configuration = .init(), _ serve: @escaping @Sendable (LoopbackWire, Int) -> Void
    ) throws -> LoopbackServer {
        var configuration = configuration
        configuration.serve = serve
        return try LoopbackServer(configuration) { _ in .close }
    }

    deinit {
        engine.stop()
    }

    /// Closes every connection and the port, and returns when every thread has ended. Not to be called by the handler.
    public func stop() {
        engine.stop()
    }

    /// Answers without a socket; a fault of the head's is in the response.
    func answer(_ request: Request) -> Response {
        var request = request
        request.number = ledger.recordHead()
        let decision = engine.service.onHead(request)
        if case .respond(let response) = decision { return response }
        ledger.record(request)
        var response = engine.service.handler(request)
        if case .fault(let effect, let trigger) = decision {
            response.fault = .init(effect, at: trigger)
        }
        return response
    }

    // MARK: What it saw

    /// The requests that were read completely, in the order they came, up to ``Configuration/recordedRequests``.
    public var requests: [Request] { ledger.requests }
    /// How many requests were read completely.
    public var requestCount: Int { ledger.counts.requests }
    /// How many connections were ever made.
    public var connectionCount: Int { ledger.counts.connections }
    /// How many connections are open now.
    public var openConnectionCount: Int { ledger.counts.open }
    /// How many connections the client closed, or streams of HTTP/2 it reset, while a request was under way: before all of
    /// it was read, or before all of the reply was sent. Content of HTTP/2 that has the length it was to have is all of it.
    public var abortCount: Int { ledger.counts.aborts }
    /// How many requests were refused as malformed or too large.
    public var refusalCount: Int { ledger.counts.refusals }
    /// How many TLS handshakes succeeded.
    public var handshakeCount: Int { ledger.counts.handshakes }
    /// How many TLS handshakes failed, or were broken off by the client.
    public var failedHandshakeCount: Int { ledger.counts.failedHandshakes }
    /// The connections in the order they were accepted, up to ``Configuration/recordedRequests``.
    public var connections: [ConnectionRecord] { ledger.connections }
    /// The faults that fired, in order, up to ``Configuration/recordedRequests``.
    public var faults: [FiredFault] { ledger.faults }
}
