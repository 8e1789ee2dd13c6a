#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// An easy handle of libcurl for one connection, which is made by ``connect()`` and used by one thread at a time.
    ///
    /// Unchecked because a C handle cannot say so.
    final class CurlWireHandle: @unchecked Sendable {
        enum Received {
            case bytes(Data)
            case later
            case end
            case failed(String)
        }

        enum Sent {
            case bytes(Int)
            case later
            case failed(String)
        }

        private let easy: UnsafeMutableRawPointer
        private let request: TransportRequest
        private let proxy: CurlProxy
        private let trust: CurlTrust
        private let speaking: WireProtocol
        private var addresses: UnsafeMutablePointer<curl_slist>?
        private let zones: [String: UInt32]
        private var isSound = true
        private(set) var socket: Int32 = -1
        private var tunnel = CurlTunnelWatch()
        /// What ended the connection before there was a tunnel.
        private var refusal: (kind: TransportError.Kind, message: String)?
        /// Sockets that are being connected, which another thread may shut to end that.
        private let sockets = Locked<(open: [Int32], isEnded: Bool)>(([], false))
        private let lookup: Duration?
        /// What becomes of the addresses, where the client's own resolver has chosen them; `nil` where the system has.
        private let choice: Locked<CurlChoice?>
        /// Whether they were tried, and none was connected to.
        private(set) var isUnreached = false
        /// After so many milliseconds an address of the other family is tried as well (RFC 8305 §5).
        private static let attemptDelay = 250
        /// What tells the other end that TLS is over, once this end is to write no more, as far as it is not sent yet.
        private var lastRecord: Data?
        private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

        /// - Parameters:
        ///   - addresses: of the host, or of the proxy; none where libcurl needs no look-up.
        ///   - lookup: how long they took.
        ///   - isChosen: whether the client's own resolver has chosen them, and is to be told what becomes of them.
        /// - Returns: `nil` when libcurl has no memory.
        init?(
            _ request: TransportRequest, _ trust: CurlTrust, _ speaking: WireProtocol, _ addresses: [HostAddress],
            lookup: Duration?, isChosen: Bool
        ) {
            guard let proxy = CurlProxy(request.proxy), let easy = curl_easy_init() else { return nil }
            (self.easy, self.request, self.proxy, self.trust, self.lookup) = (easy, request, proxy, trust, lookup)
            self.speaking = speaking
            choice = Locked(isChosen ? CurlChoice(CurlClock.now()) : nil)
            zones = Dictionary(addresses.filter { $0.zone != 0 }.map { ($0.text, $0.zone) }) { first, _ in first }
            errorText.pointee = 0
            self.addresses = request.known(addresses).flatMap { curl_slist_append(nil, $0) }
            setOptions()
            guard isSound else { return nil }
        }

        deinit {
            curl_easy_cleanup(easy)
            curl_slist_free_all(addresses)
            errorText.deallocate()
        }

        // MARK: Connecting

        /// Makes the connection, on a thread that may wait for it.
        ///
        /// - Parameter limit: how long that may take; `nil` for as long as it likes.
        func connect(within limit: Duration?) throws(TransportError) {
            set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(limit))
            choice.withLock { $0 = $0.map { _ in CurlChoice(CurlClock.now()) } }
            let code = curl_easy_perform(easy)
            tellChoice(code)
            var descriptor: curl_socket_t = -1
            guard code == CURLE_OK, ccurl_get_socket(easy, &descriptor) == CURLE_OK, descriptor >= 0 else {
                throw failure(code)
            }
            socket = descriptor
        }

        /// Tells the resolver which of its addresses were connected to, and which were not.
        private func tellChoice(_ code: CURLcode) {
            guard let choice = choice.withLock({ $0 }) else { return }
            let facts = ccurl_get_facts(easy)
            if facts.connected > 0 {
                choice.tell(
                    request.resolver, facts.address.map { String(cString: $0) } ?? "", connected: Int(facts.connected))
            } else if code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT,
                !sockets.withLock({ $0.isEnded })
            {
                isUnreached = true
                choice.tellFailure(request.resolver, isLate: code == CURLE_OPERATION_TIMEDOUT, CurlClock.now())
            }
        }

        /// Ends ``connect()`` from another thread.
        func abandon() {
            sockets.withLock { sockets in
                sockets.isEnded = true
                for socket in sockets.open { shutdown(socket, Int32(SHUT_RDWR)) }
            }
        }

        /// Has the connection reset when it is closed: where the other end reads nothing, the system would go on with what it
        /// has taken for minutes, and the other end would know of nothing.
        func abort() {
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        }

        private func failure(_ code: CURLcode) -> TransportError {
            let message = refusal?.message ?? String(cString: errorText)
            let facts = ccurl_get_facts(easy)
            let kind =
                refusal?.kind ?? CurlProxy.failure(code, easy, request.proxy, isConnected: false)
                ?? CurlErrors.kind(code, easy, message, isReadingHead: false)
            return TransportError(
                kind, sendState: .unsent,
                message: message.isEmpty ? String(cString: curl_easy_strerror(code)) : message,
                timings: timings, connection: ConnectionInfo(facts, []))
        }

        var timings: Timings {
            let facts = ccurl_get_facts(easy)
            var timings = Timings(facts, nil)
            guard let lookup else { return timings }
            for phase in [\.connected, \.secured, \.requestStart, \.total] as [WritableKeyPath<Timings, Duration?>] {
                timings[keyPath: phase]? += lookup
            }
            timings.nameLookup = lookup
            return timings
        }

        var connection: ConnectionInfo { ConnectionInfo(ccurl_get_facts(easy), []) }

        // MARK: Bytes

        func receive(upTo most: Int) -> Received {
            withUnsafeTemporaryAllocation(byteCount: most, alignment: 16) { buffer in
                var count = 0
                switch curl_easy_recv(easy, buffer.baseAddress, most, &count) {
                case CURLE_OK where count > 0: return .bytes(Data(buffer.prefix(count)))
                case CURLE_OK, CURLE_GOT_NOTHING:
                    return isEndAnnounced ? .end : .failed("the connection ended without TLS having said so")
                case CURLE_AGAIN: return .later
                default: return .failed(String(cString: errorText))
                }
            }
        }

        /// Whether the other end has said that it is done, where TLS is spoken: anybody on the way can end a socket (RFC 8446 §6.1). What
        /// is taken over from HTTP, a WebSocket, has a goodbye of its own, and without that an end is no good one either.
        private var isEndAnnounced: Bool {
            guard isSecure, speaking == .unnamed, let session = ccurl_openssl_session(easy) else { return true }
            return SSL_get_shutdown(OpaquePointer(session)) & SSL_RECEIVED_SHUTDOWN != 0
        }

        func send(_ bytes: Data, from offset: Int) -> Sent {
            // OpenSSL writes to a socket that the other end has closed with a signal, which nobody here can handle. libcurl itself
            // writes without one.
            isSecure ? CurlSignals.withoutPipe { write(bytes, from: offset) } : write(bytes, from: offset)
        }

        private func write(_ bytes: Data, from offset: Int) -> Sent {
            bytes.withUnsafeBytes { buffer in
                var count = 0
                let code = curl_easy_send(easy, buffer.baseAddress.map { $0 + offset }, bytes.count - offset, &count)
                switch code {
                case CURLE_OK: return count > 0 ? .bytes(count) : .later
                case CURLE_AGAIN: return .later
                default: return .failed(String(cString: errorText))
                }
            }
        }

        /// Whether ``endWriting()`` can end TLS, where that is spoken.
        func mayEndWriting() -> Bool {
            if lastRecord == nil { lastRecord = isSecure ? endOfTLS() : Data() }
            return lastRecord != nil
        }

        /// Ends this direction of the connection. To be called again where the system takes no more for now.
        func endWriting() -> Sent {
            while let rest = lastRecord, !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count >= 0 || errno == EINTR else { return errno == EAGAIN ? .later : .failed("send: \(errno)") }
                lastRecord = rest.dropFirst(max(count, 0))
            }
            return shutdown(socket, Int32(SHUT_WR)) == 0 ? .bytes(0) : .failed("shutdown: \(errno)")
        }

        /// The last record of this end (`close_notify`, RFC 8446 §6.1). libcurl has no call that sends it without closing the
        /// connection, and OpenSSL writes to libcurl's own BIO within libcurl's calls alone, so it is written into memory.
        ///
        /// - Returns: `nil` where another library speaks TLS.
        private func endOfTLS() -> Data? {
            guard let session = ccurl_openssl_session(easy).map({ OpaquePointer($0) }), let own = SSL_get_wbio(session),
                let memory = BIO_new(BIO_s_mem())
            else { return nil }
            // A session that is given another BIO lets go of the one before, and is given that back.
            BIO_up_ref(own)
            SSL_set0_wbio(session, memory)
            defer { SSL_set0_wbio(session, own) }
            guard SSL_shutdown(session) >= 0 else {
                ERR_clear_error()
                return nil
            }
            var contents: UnsafeMutablePointer<CChar>?
            let count = copenssl_memory_contents(memory, &contents)
            return contents.map { Data(bytes: $0, count: count) } ?? Data()
        }

        /// Whether the bytes go through OpenSSL. No proxy is reached over TLS.
        private var isSecure: Bool { request.request.url.scheme == .https }

        // MARK: Options

        private func setOptions() {
            let url = request.request.url
            keep(ccurl_set_text(easy, CURLOPT_URL, url.origin.text + "/"))
            keep(ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"))
            set(CURLOPT_CONNECT_ONLY, 1)
            keep(ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText))
            set(CURLOPT_NOSIGNAL, 1)
            set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
            set(CURLOPT_TCP_NODELAY, 1)
            set(CURLOPT_TCP_KEEPALIVE, 1)
            proxy.apply(to: easy, keep)
            // Bytes that are no requests have no other way through a proxy.
            if case .http = request.proxy.route { set(CURLOPT_HTTPPROXYTUNNEL, 1) }
            set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, Self.attemptDelay)
            if let addresses { keep(ccurl_set_pointer(easy, CURLOPT_RESOLVE, addresses)) }
            setTrust()
            let context = Unmanaged.passUnretained(self).toOpaque()
            keep(ccurl_set_open_callback(easy, Self.open))
            keep(ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context))
            keep(ccurl_set_close_callback(easy, Self.close))
            keep(ccurl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, context))
            guard proxy.needsWatch else { return }
            keep(ccurl_set_progress_callback(easy, Self.progress))
            keep(ccurl_set_pointer(easy, CURLOPT_XFERINFODATA, context))
            set(CURLOPT_NOPROGRESS, 0)
        }

        private func setTrust() {
            set(CURLOPT_SSL_VERIFYPEER, 1)
            set(CURLOPT_SSL_VERIFYHOST, 2)
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            if speaking != .http1 { set(CURLOPT_SSL_ENABLE_ALPN, 0) }
            if CurlLibrary.usesOpenSSL {
                keep(ccurl_set_tls_callback(easy, Self.secure))
                keep(ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque()))
            }
            trust.apply(to: easy, keep)
        }

        /// What is left of the time to connect; libcurl takes nothing for its own five minutes.
        private func milliseconds(_ limit: Duration?) -> Int {
            guard let limit else { return Int(Int32.max) }
            // Two weeks are as good as for ever, and libcurl takes no more than 31 bits.
            let left = min(limit, .seconds(1_209_600))
            let milliseconds = max(1, Int(clamping: left.components.seconds) * 1_000 + left.milliseconds)
            // Where the system can be asked behind the resolver's addresses, half of the time is left for that.
            let leavesHalf = choice.withLock { $0 != nil } && request.resolver.fallsBackToSystem
            return leavesHalf ? max(1, milliseconds / 2) : milliseconds
        }

        private func set(_ option: CURLoption, _ value: Int) {
            keep(ccurl_set_long(easy, option, value))
        }

        private func keep(_ code: CURLcode) {
            if code != CURLE_OK { isSound = false }
        }

        // MARK: Callbacks

        private static func handle(_ context: UnsafeMutableRawPointer?) -> CurlWireHandle? {
            context.map { Unmanaged<CurlWireHandle>.fromOpaque($0).takeUnretainedValue() }
        }

        private static let open: curl_opensocket_callback = { context, _, address in
            guard let handle = handle(context), let target = address else { return CURL_SOCKET_BAD }
            HostAddress.restoreZone(of: target, handle.zones)
            if let tried = HostAddress(of: target) { handle.choice.withLock { $0?.tries(tried, CurlClock.now()) } }
            let type = target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            return handle.sockets.withLock { sockets in
                guard !sockets.isEnded else { return CURL_SOCKET_BAD }
                let descriptor = Glibc.socket(target.pointee.family, type, target.pointee.protocol)
                if descriptor >= 0 { sockets.open.append(descriptor) }
                return descriptor
            }
        }

        private static let close: curl_closesocket_callback = { context, descriptor in
            guard let handle = handle(context) else { return Glibc.close(descriptor) }
            return handle.sockets.withLock { sockets in
                sockets.open.removeAll { $0 == descriptor }
                return Glibc.close(descriptor)
            }
        }

        /// libcurl would read a proxy's answer to its end, also where nobody waits for the connection any more.
        private static let progress: curl_xferinfo_callback = { context, _, _, _, _ in
            guard let handle = handle(context), handle.socket < 0, handle.refusal == nil else { return 0 }
            handle.refusal = handle.tunnel.failure(handle.easy)
            return handle.refusal == nil && !handle.sockets.withLock(\.isEnded) ? 0 : 1
        }

        private static let secure: curl_ssl_ctx_callback = { _, context, pointer in
            guard let context, let handle = handle(pointer) else { return CURLE_SSL_CONNECT_ERROR }
            let (connection, host) = (OpaquePointer(context), handle.request.request.url.host)
            let isSet = CurlHostVerification.require(host, of: connection) && handle.trust.apply(to: connection, host)
            return isSet ? CURLE_OK : CURLE_SSL_CONNECT_ERROR
        }
    }

    extension Duration {
        fileprivate var milliseconds: Int { Int(components.attoseconds / 1_000_000_000_000_000) }
    }

    enum CurlSignals {
        /// Runs what may write to a broken pipe: the signal of that is taken back before anybody hears of it.
        static func withoutPipe<Result>(_ body: () -> Result) -> Result {
            var pipe = sigset_t()
            var before = sigset_t()
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, &before)
            let result = body()
            guard sigismember(&before, SIGPIPE) == 0 else { return result }
            var pending = sigset_t()
            sigpending(&pending)
            var none = timespec()
            if sigismember(&pending, SIGPIPE) == 1 { sigtimedwait(&pipe, nil, &none) }
            pthread_sigmask(SIG_SETMASK, &before, nil)
            return result
        }
    }
#endif
