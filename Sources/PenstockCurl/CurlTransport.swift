#if os(Linux)
    import PenstockCore

    /// The transport on libcurl: one thread, one epoll, any number of exchanges.
    ///
    /// Connections are kept alive and shared by the exchanges of one ``IsolationKey``, which holds their ``TrustPolicy`` and
    /// their ``ProxyPolicy``, and by no others. HTTP/2 is used over TLS where ALPN agrees on it; with libcurl before 8.14
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
    /// Exchanges one at a time that are answered within a millisecond are driven by the caller's own thread
    /// (``Configuration/drivesOnCallersThreads``).
    ///
    /// ```swift
    /// let transport = CurlTransport()
    /// let answer = try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: url)))
    /// ```
    public final class CurlTransport: Transport, PromptTransport {
        private let loop: CurlLoop
        private let isRunning: Bool
        private let fallback = CurlFallbackLoop()
        /// Serves the connections that are no exchanges.
        let wires: CurlWirePoller
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
            wires = CurlWirePoller(readersMayWait: configuration.drivesOnCallersThreads)
            isRunning = loop.start()
        }

        deinit {
            wires.stop()
            loop.mailbox.post(.stop)
        }

        /// All that there is, where libcurl speaks TLS by OpenSSL. By another library it knows of no pins and no client
        /// certificates.
        public var capabilities: TransportCapabilities {
            CurlLibrary.usesOpenSSL ? .all : .all.subtracting([.pinning, .clientCertificates, .pemIdentities])
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
        public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            let (transfer, loop) = try begin(request)
            await transfer.run(on: loop)
            return try response(of: transfer)
        }

        /// Performs one exchange as far as the head of its response.
        ///
        /// - Throws: as ``perform(_:)`` does.
        public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
            let (transfer, loop) = try begin(request, streams: true)
            await transfer.run(on: loop)
            return try stream(of: transfer)
        }

        /// Makes the connection that an exchange would go over, and keeps it for the exchange.
        ///
        /// - Throws: what the exchange would, as far as its connection goes; nothing was sent.
        public func preconnect(_ request: TransportRequest) async throws(TransportError) {
            let (transfer, loop) = try begin(request, connectsOnly: true)
            await transfer.run(on: loop)
            request.control.detach(transfer)
            _ = try transfer.outcome()
        }

        public func closeConnections(of identity: String) {
            loop.mailbox.post(.forget(identity))
            fallback.forget(identity)
        }

        public func shutdown() async {
            wires.stop()
            await loop.stop()
            await fallback.stop()
        }

        // MARK: What does not wait
        // Each is out of line: a call that waits keeps room for all that the functions it is in may need.

        @inline(never)
        private func begin(
            _ request: TransportRequest, streams: Bool = false, connectsOnly: Bool = false
        ) throws(TransportError) -> (CurlTransfer, CurlLoop) {
            let loop = isRunning ? loop : try fallback.loop(like: loop)
            try CurlRefusal.check(request.request)
            try CurlProxy.check(request.proxy)
            if request.trust != .system { try CurlTrust.check(request.trust, capabilities) }
            let transfer = CurlTransfer(request, loop: loop, streams: streams, connectsOnly: connectsOnly)
            guard request.control.attach(transfer) else { throw TransportError(.cancelled, sendState: .unsent) }
            return (transfer, loop)
        }

        @inline(never)
        private func response(of transfer: CurlTransfer) throws(TransportError) -> TransportResponse {
            transfer.request.control.detach(transfer)
            return try CurlContent.decoded(try transfer.outcome(), of: transfer.request)
        }

        @inline(never)
        private func stream(of transfer: CurlTransfer) throws(TransportError) -> TransportStream {
            do throws(TransportError) {
                let head = try transfer.outcome()
                let content = try CurlContent(of: transfer, head.response)
                return TransportStream(
                    head.response, timings: head.timings, connection: head.connection, content: content)
            } catch {
                transfer.request.control.detach(transfer)
                transfer.cancel()
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

    extension CurlTransport {
        /// How connections are kept.
        public struct Configuration: Sendable {
            /// Connections to one host and port within one partition; `.max` means no limit. With `nil`, the default, as many
            /// as a quarter of the file descriptors that the process may open (`ulimit -n`) when the transport is made, and
            /// 16 at least: 256 of the usual 1,024.
            ///
            /// Exchanges beyond it wait for a connection to be free, in order, and only their total time-out runs
            /// meanwhile. An HTTP/2 connection carries a hundred exchanges, or as many as its server takes, so this is a
            /// limit of connections and not of exchanges there. Uploads that have HTTP/1.1 connections of their own are
            /// counted apart; and where a host speaks HTTP/2 on some connections and HTTP/1.1 on others, those that rest are not
            /// counted: there may be as many of each.
            public var maxConnectionsPerHost: Int?
            /// Connections of one partition to all hosts together, counted as those to one host are; `nil`, the default,
            /// means no limit. An idle one is closed for a new one before anything waits.
            public var maxConnections: Int?
            /// Connections of one partition that are kept while nothing uses them, at the very most: 1,024 by default.
            /// Below that, as many are kept as were in use at once lately, and never fewer than 32.
            public var maxIdleConnections: Int
            /// How long a connection that nothing uses may still be used again, in whole seconds. 90 s by default.
            public var idleConnectionLifetime: Duration
            /// Whether the thread of a caller may drive the event loop in place of the loop's own thread, while next to nothing
            /// is under way. `true` by default.
            ///
            /// A call to a peer on the same machine or in the same rack is answered sooner than two threads can hand it to each
            /// other and back, so this is what makes one call after the other fast: over HTTP/1.1 0.93 of what a loop in C makes,
            /// and 0.58 without, with less CPU for each call (80 µs to 95). For that the caller's thread, which is one of those
            /// that run Swift's tasks, is held for up to 1 ms, and where sixteen answers in a row came within 0.2 ms it polls for
            /// as long, with a processor at full load meanwhile. A reader of a stream also fetches its next content itself,
            /// and that of a channel waits for up to 0.2 ms where the last four messages came sooner.
            ///
            /// `false` suits a process that has few threads for its tasks and whose calls are answered late anyway.
            public var drivesOnCallersThreads: Bool

            /// The defaults, but for what is named.
            ///
            /// - Parameters:
            ///   - maxConnectionsPerHost: `nil`, the default, for a quarter of the file descriptors that the process
            ///     may open, and 16 at least; `.max` for no limit.
            ///   - maxConnections: `nil`, the default, for no limit.
            ///   - maxIdleConnections: 1,024 by default.
            ///   - idleConnectionLifetime: in whole seconds. 90 s by default.
            ///   - drivesOnCallersThreads: `true` by default.
            public init(
                maxConnectionsPerHost: Int? = nil, maxConnections: Int? = nil, maxIdleConnections: Int = 1_024,
                idleConnectionLifetime: Duration = .seconds(90), drivesOnCallersThreads: Bool = true
            ) {
                self.maxConnectionsPerHost = maxConnectionsPerHost
                self.maxConnections = maxConnections
                self.maxIdleConnections = maxIdleConnections
                self.idleConnectionLifetime = idleConnectionLifetime
                self.drivesOnCallersThreads = drivesOnCallersThreads
            }
        }
    }
#endif
