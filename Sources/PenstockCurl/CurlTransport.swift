#if os(Linux)
    import PenstockCore

    /// The transport on libcurl: one thread, one epoll, any number of exchanges.
    ///
    /// Connections are kept alive and shared by the exchanges of one ``IsolationKey``, one ``TrustPolicy`` and
    /// one ``ProxyPolicy``, and by no others. HTTP/2 is used over TLS where ALPN agrees on it; with libcurl before 8.14
    /// requests with a body over 65,535 bytes, or one that is a stream, go over HTTP/1.1 all the same. Cookies, redirects,
    /// `.netrc`, HSTS and Alt-Svc are off, and no proxy is used but a request's own, whatever the environment says.
    ///
    /// TLS is 1.2 at least, a host is never looked for in a certificate's common name, and content that only the end of its
    /// connection delimits is lost where TLS does not announce that end (RFC 9112 §9.8). An exchange that is cancelled, or
    /// fails, closes an HTTP/2 connection that no other uses, since libcurl would not tell the server otherwise.
    ///
    /// Pins are compared while the chain is verified, so that a handshake without them ends before any of the request is sent.
    /// Files that a ``TrustPolicy`` names are looked at before each exchange: when one has changed, the connections made under
    /// the old one are used no more.
    ///
    /// Names are looked up as the system is set up to, on threads that nobody waits for: an exchange whose name is not answered
    /// ends by its time to connect, or at once when it is cancelled, and no other notices. The process looks up 32 names
    /// that somebody waits for at a time, on 64 threads at most. What was found is used for a minute.
    ///
    /// Where the process has no file descriptor left, connections that nothing uses are closed, the oldest first. Without
    /// any, an exchange waits until its time to connect is over, and fails as ``TransportError/Reachability/noDescriptors``.
    ///
    /// Through a proxy, the times and the address of the connection are those of the way to the proxy, and the name that
    /// was looked up is the proxy's; ``Timings/secured`` is the origin's TLS, within the tunnel.
    ///
    /// Exchanges one at a time that are answered within a millisecond are driven by the caller's own thread. Where sixteen
    /// in a row took less than 0.2 ms, as with a peer on the same machine, it looks for the answer again and again for as
    /// long before it sleeps, if there is more than one processor; a slower one ends that.
    ///
    /// ```swift
    /// let transport = CurlTransport()
    /// let answer = try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: url)))
    /// ```
    public final class CurlTransport: Transport {
        private let loop: CurlLoop
        private let isRunning: Bool
        private let substitute = CurlSubstitute()
        /// Serves the connections that are no exchanges.
        let wires = CurlWirePoller()
        var finder: any HostFinder { loop.finder }

        /// Starts the thread that serves every exchange. It ends with ``shutdown()`` or with the transport itself. Where
        /// the system has no thread or no descriptors left, each exchange asks for them again, and fails until they are
        /// given.
        public convenience init(configuration: Configuration = .init()) {
            self.init(configuration, finder: SystemResolver.shared)
        }

        /// - Parameter finder: finds the addresses of the hosts of all exchanges.
        init(_ configuration: Configuration, finder: any HostFinder) {
            loop = CurlLoop(configuration, finder: finder)
            isRunning = loop.start()
        }

        deinit {
            wires.stop()
            loop.inbox.post(.stop)
        }

        /// All that there is, where libcurl speaks TLS by OpenSSL. By another library it knows of no pins and no client
        /// certificates.
        public var capabilities: TransportCapabilities {
            CurlSecureName.isRequired ? .all : .all.subtracting([.pinning, .clientCertificates, .pemIdentities])
        }

        /// Performs one exchange.
        ///
        /// libcurl sends a request a second time by itself when a kept-alive connection turns out to be dead; here it may
        /// do so only where that cannot do a thing twice: nothing of the request had left, the method is idempotent and
        /// its body can be read again, or the server refused the stream before it looked at it. Who is refused on two
        /// connections of its own is told so, with the send state `unprocessed`. Of a stream that was refused on a connection
        /// which others used as well libcurl does not tell, so that counts as `maybeProcessed`. How often a request was sent
        /// again is in ``ConnectionInfo/resends``.
        ///
        /// A response that is complete before the request is sent is the outcome all the same (RFC 9112 §9.3). Content from a
        /// stream then has half a second left, other content goes on for as long as it moves; the connection is closed.
        ///
        /// - Throws: the failure and how far the request got; after ``shutdown()``, `cancelled` with nothing sent.
        public func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
            let (work, loop) = try begin(exchange)
            await work.run(on: loop)
            return try response(of: work)
        }

        /// Performs one exchange as far as the head of its response.
        ///
        /// - Throws: as ``perform(_:)`` does.
        public func open(_ exchange: TransportRequest) async throws(TransportError) -> TransportStream {
            let (work, loop) = try begin(exchange, streams: true)
            await work.run(on: loop)
            return try stream(of: work)
        }

        /// Makes the connection that an exchange would go over, and keeps it for the exchange.
        ///
        /// - Throws: what the exchange would, as far as its connection goes; nothing was sent.
        public func preconnect(_ exchange: TransportRequest) async throws(TransportError) {
            let (work, loop) = try begin(exchange, connectsOnly: true)
            await work.run(on: loop)
            exchange.control.detach()
            _ = try work.outcome()
        }

        public func shutdown() async {
            wires.stop()
            await loop.stop()
            await substitute.stop()
        }

        // MARK: What does not wait
        // Each is out of line: a call that waits keeps room for all that the functions it is in may need.

        @inline(never)
        private func begin(
            _ exchange: TransportRequest, streams: Bool = false, connectsOnly: Bool = false
        ) throws(TransportError) -> (CurlExchange, CurlLoop) {
            let loop = isRunning ? loop : try substitute.loop(like: loop)
            try CurlRefusal.check(exchange.request)
            try CurlProxy.check(exchange.proxy)
            if exchange.trust != .system { try CurlTrust.check(exchange.trust, capabilities) }
            let work = CurlExchange(exchange, loop: loop, streams: streams, connectsOnly: connectsOnly)
            guard exchange.control.attach(work) else { throw TransportError(.cancelled, sendState: .unsent) }
            return (work, loop)
        }

        @inline(never)
        private func response(of work: CurlExchange) throws(TransportError) -> TransportResponse {
            work.order.control.detach()
            return try CurlContent.decoded(try work.outcome(), of: work.order)
        }

        @inline(never)
        private func stream(of work: CurlExchange) throws(TransportError) -> TransportStream {
            do throws(TransportError) {
                let head = try work.outcome()
                let content = try CurlContent(of: work, head.response)
                return TransportStream(
                    head.response, timings: head.timings, connection: head.connection, content: content)
            } catch {
                work.order.control.detach()
                work.cancel()
                throw error
            }
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
