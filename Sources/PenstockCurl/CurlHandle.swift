#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// An easy handle, used for one exchange after the other within its pool.
    final class CurlHandle {
        let easy: UnsafeMutableRawPointer
        /// The loop outlives its handles.
        unowned(unsafe) let loop: CurlLoop
        @exclusivity(unchecked) var exchange: CurlExchange?
        /// Where it stands among those of its pool that are in use.
        @exclusivity(unchecked) var place = 0
        @exclusivity(unchecked) var headers = CurlHeaderList()
        /// Sockets that were opened for a connection, of which one will carry it.
        @exclusivity(unchecked) private var opened: [Int32] = []
        /// The socket of the exchange, where it is known.
        @exclusivity(unchecked) private(set) var socket: Int32?
        /// Whether the options of the last exchange are such that the next must begin from nothing.
        @exclusivity(unchecked) private var needsReset = false
        private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        /// The pool outlives its handles.
        private unowned(unsafe) let pool: CurlPool
        /// Large content in few, large pieces; a collected response is mostly smaller than libcurl's own 16 KiB.
        private static let streamBuffer = 128 << 10

        init?(loop: CurlLoop, pool: CurlPool) {
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            self.loop = loop
            self.pool = pool
            errorText.pointee = 0
            setConstants()
        }

        deinit {
            curl_easy_cleanup(easy)
            headers.free()
            errorText.deallocate()
        }

        var message: String { String(cString: errorText) }

        /// Ends what would close the connection when the transfer is taken away.
        func letGo() {
            if exchange?.connectsOnly ?? false { set(CURLOPT_CONNECT_ONLY, 0) }
        }

        /// The connection was made as any other, so it is kept as any other, but nothing is to be sent: libcurl does not
        /// keep one that was asked for alone from the beginning.
        func endConnected() {
            set(CURLOPT_CONNECT_ONLY, 1)
        }

        /// Makes it ready for another exchange. The connections, names and sessions it has used are the pool's and stay.
        func clear() {
            exchange = nil
            socket = nil
            opened.removeAll(keepingCapacity: true)
            errorText.pointee = 0
            guard needsReset else { return }
            curl_easy_reset(easy)
            setConstants()
            needsReset = false
        }

        // MARK: The connection

        func hasOpened(_ descriptor: Int32) {
            opened.append(descriptor)
        }

        /// Learns which socket the request is about to go over. One that something has come on while it rested is shut,
        /// which makes libcurl connect anew: the bytes were for no request, and would be taken for the answer to this one.
        func look(at localPort: UInt16) {
            let sockets = loop.poller.sockets
            let isNew = !opened.isEmpty && sockets.learn(localPort, from: opened)
            opened.removeAll(keepingCapacity: true)
            socket = sockets.socket(at: localPort)
            guard !isNew, let socket, sockets.hasNews(socket, isPlain: isPlain) else { return }
            needsReset = true
            set(CURLOPT_FRESH_CONNECT, 1)
            shutdown(socket, Int32(SHUT_RDWR))
        }

        /// Over TLS, whether the socket carries one exchange at a time is known when it has carried one.
        func noteUse(isMultiplexed: Bool) {
            guard !isPlain, !isMultiplexed, exchange?.head.isComplete == true, let socket else { return }
            loop.poller.sockets.carriesOneByOne(socket)
        }

        private var isPlain: Bool { exchange?.order.request.url.scheme == .http }

        // MARK: What every exchange has in common

        private func setConstants() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            ccurl_set_pointer(easy, CURLOPT_PRIVATE, context)
            ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
            set(CURLOPT_NOSIGNAL, 1)
            setSafety()
            setCallbacks(context)
            set(CURLOPT_TCP_NODELAY, 1)
            set(CURLOPT_TCP_KEEPALIVE, 1)
            // libcurl ends connecting after five minutes unless told; the exchange has its own clock.
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            set(CURLOPT_MAXAGE_CONN, loop.idleSeconds)
            set(CURLOPT_HTTPGET, 1)
        }

        /// Nothing that the environment, a file or a server could turn against the request.
        private func setSafety() {
            ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
            pool.proxy.apply(to: easy)
            set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
            set(CURLOPT_FOLLOWLOCATION, 0)
            set(CURLOPT_HTTP09_ALLOWED, 0)
            set(CURLOPT_PATH_AS_IS, 1)
            set(CURLOPT_SSL_VERIFYPEER, 1)
            set(CURLOPT_SSL_VERIFYHOST, 2)
            guard let authorities = pool.authorities else { return }
            ccurl_set_text(easy, CURLOPT_CAINFO, authorities)
            ccurl_set_text(easy, CURLOPT_CAPATH, nil)
        }

        private func setCallbacks(_ context: UnsafeMutableRawPointer) {
            ccurl_set_data_callback(easy, CURLOPT_HEADERFUNCTION, CurlCallbacks.header)
            ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context)
            ccurl_set_data_callback(easy, CURLOPT_WRITEFUNCTION, CurlCallbacks.body)
            ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context)
            ccurl_set_prereq_callback(easy, CurlCallbacks.prereq)
            ccurl_set_pointer(easy, CURLOPT_PREREQDATA, context)
            ccurl_set_resolver_callback(easy, CurlCallbacks.resolver)
            ccurl_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, context)
            ccurl_set_open_callback(easy, CurlCallbacks.open)
            ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
            // A connection keeps this pointer beyond the handle that made it.
            ccurl_set_close_callback(easy, CurlCallbacks.close)
            ccurl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop.poller).toOpaque())
        }

        // MARK: What differs

        func prepare(for exchange: CurlExchange) {
            self.exchange = exchange
            let request = exchange.order.request
            ccurl_set_text(easy, CURLOPT_URL, request.url.absoluteString)
            setVersion(request.url.scheme)
            setMethodAndBody(request, exchange.source)
            headers.build(request.fields, hasBody: needsReset)
            ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headers.head)
            guard exchange.pipe != nil else { return }
            needsReset = true
            set(CURLOPT_BUFFERSIZE, Self.streamBuffer)
        }

        /// Over TLS an exchange waits for a connection under way, which may turn out to carry many. In the clear there
        /// is nothing to wait for: only the first response would tell.
        private func setVersion(_ scheme: HTTPURL.Scheme) {
            let isShared = scheme == .https && pool.key.isShared
            set(CURLOPT_HTTP_VERSION, isShared ? Int(CURL_HTTP_VERSION_2TLS) : Int(CURL_HTTP_VERSION_1_1))
            set(CURLOPT_PIPEWAIT, isShared ? 1 : 0)
        }

        private func setMethodAndBody(_ request: HTTPRequest, _ source: (any CurlBodySource)?) {
            guard request.method != .get || !request.body.isNone else { return }
            needsReset = true
            if request.method == .head {
                set(CURLOPT_NOBODY, 1)
                return
            }
            setBody(request, source)
            ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }

        private func setBody(_ request: HTTPRequest, _ source: (any CurlBodySource)?) {
            if let source { return setUpload(source) }
            switch request.body.source {
            case .bytes(let data): setInline(data)
            default: if [.post, .put, .patch].contains(request.method) { setInline(Data()) }
            }
        }

        private func setUpload(_ source: any CurlBodySource) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            set(CURLOPT_UPLOAD, 1)
            ccurl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(source.length ?? -1))
            ccurl_set_data_callback(easy, CURLOPT_READFUNCTION, CurlCallbacks.read)
            ccurl_set_pointer(easy, CURLOPT_READDATA, context)
            ccurl_set_seek_callback(easy, CurlCallbacks.seek)
            ccurl_set_pointer(easy, CURLOPT_SEEKDATA, context)
        }

        /// A small body leaves together with the head, in one packet, from libcurl's own copy.
        private func setInline(_ data: Data) {
            ccurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(data.count))
            guard !data.isEmpty else {
                ccurl_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
                return
            }
            data.withUnsafeBytes { bytes in
                _ = ccurl_set_text(easy, CURLOPT_COPYPOSTFIELDS, bytes.bindMemory(to: CChar.self).baseAddress)
            }
        }

        private func set(_ option: CURLoption, _ value: Int) {
            ccurl_set_long(easy, option, value)
        }
    }
#endif
