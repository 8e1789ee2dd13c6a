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
    /// How much the server accepts and remembers.
    public struct Configuration: Sendable {
        /// Of a request's line and header lines. 64 KiB by default; more is answered with 414 or 431.
        public var maximumHeadBytes = 64 << 10
        /// Of a request's content. 64 MiB by default; more is answered with 413.
        public var maximumBodyBytes = 64 << 20
        /// How many requests, from the first on, are kept in ``LoopbackServer/requests``. 10,000 by default.
        public var recordedRequests = 10_000

        /// The limits given at each property.
        public init() {}
    }

    /// `http://127.0.0.1:port/`
    public let url: HTTPURL

    let ledger: LoopbackLedger
    private let engine: LoopbackEngine

    /// Starts the server.
    ///
    /// - Parameter handler: called for each request that was read completely, on its connection's thread; may block, but
    ///   must return before ``stop()`` can.
    /// - Throws: `POSIXError` when the system gives no socket.
    public init(
        _ configuration: Configuration = .init(), handler: @escaping @Sendable (Request) -> Response
    ) throws {
        ledger = LoopbackLedger(limit: configuration.recordedRequests)
        let listener = try Listener()
        url = try HTTPURL("http://127.0.0.1:\(listener.port)/")
        engine = LoopbackEngine(listener: listener, ledger: ledger, configuration: configuration, handler: handler)
        engine.start()
    }

    deinit {
        engine.stop()
    }

    /// Closes every connection and the port, and returns when every thread has ended. Not to be called by the handler.
    public func stop() {
        engine.stop()
    }

    /// Answers without a socket.
    func answer(_ request: Request) -> Response {
        ledger.record(request)
        return engine.handler(request)
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
    /// How many connections the client closed while a request was under way: before all of it was read, or before all of
    /// the reply was sent.
    public var abortCount: Int { ledger.counts.aborts }
    /// How many requests were refused as malformed or too large.
    public var refusalCount: Int { ledger.counts.refusals }
}
