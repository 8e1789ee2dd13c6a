#if os(Linux)
    import PenstockCore

    /// The transport on libcurl: one thread, one epoll, any number of exchanges.
    ///
    /// Connections are kept alive and shared by the exchanges of one ``ConnectionPartition`` and one ``TrustPolicy``, and
    /// by no others. HTTP/2 is used over TLS where ALPN agrees on it. Proxies, cookies, redirects, `.netrc`, HSTS and
    /// Alt-Svc are off, whatever the environment says.
    ///
    /// ```swift
    /// let transport = CurlTransport()
    /// let answer = try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: url)))
    /// ```
    public final class CurlTransport: Transport {
        private let loop: CurlLoop

        /// Starts the thread that serves every exchange. It ends with ``shutdown()`` or with the transport itself.
        public init(configuration: Configuration = .init()) {
            loop = CurlLoop(configuration)
            loop.start()
        }

        deinit {
            loop.inbox.post(.stop)
        }

        public var capabilities: TransportCapabilities { .all }

        /// Performs one exchange.
        ///
        /// libcurl sends a request a second time by itself when a kept-alive connection turns out to be dead; here it may
        /// do so only where that cannot do a thing twice: nothing of the request had left, the method is idempotent and
        /// its body can be read again, or the server refused the stream before it looked at it.
        ///
        /// - Throws: the failure and how far the request got; after ``shutdown()``, `cancelled` with nothing sent.
        public func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
            try CurlRefusal.check(exchange.request)
            let work = CurlExchange(exchange, inbox: loop.inbox)
            guard exchange.control.attach(work) else { throw TransportError(.cancelled, sendState: .unsent) }
            defer { exchange.control.detach() }
            return try await work.outcome()
        }

        public func shutdown() async {
            await loop.stop()
        }
    }

    /// What is refused before it gets near the wire.
    enum CurlRefusal {
        static func check(_ request: HTTPRequest) throws(TransportError) {
            if let name = request.fields.rejected.first {
                throw TransportError(.other, sendState: .unsent, message: "the field \(name) cannot be sent")
            }
            if request.method == .connect {
                throw TransportError(.unsupported("the method CONNECT"), sendState: .unsent)
            }
            if request.method == .head, !request.body.isNone {
                throw TransportError(.unsupported("a body on HEAD"), sendState: .unsent)
            }
        }
    }
#endif
