#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What becomes of a transfer, told while its handle still knows.
    extension CurlTransfer {
        func result(_ code: CURLcode) -> Result<TransportResponse, TransportError> {
            let isOver = code == CURLE_OK || state.isAnswered || (state.toSkip.map { $0 < 0 } ?? false)
            if isOver, state.head.isComplete || connectsOnly, state.failure == nil {
                if isCutOff {
                    return .failure(error(.connectionLost, "the connection ended without TLS having said so"))
                }
                if lacksChunks { return .failure(error(.connectionLost, "the content ended before its last chunk")) }
                return .success(code == CURLE_OK && !state.isAnswered ? response() : responseSoFar())
            }
            return .failure(error(code))
        }

        /// The time is up. What is over but for content that nobody wants, or for the rest of the request, went well.
        func result(expiring kind: TransportError.Kind) -> Result<TransportResponse, TransportError> {
            if state.toSkip != nil, state.head.isComplete { return .success(responseSoFar()) }
            return state.isAnswered ? result(CURLE_OK) : .failure(error(kind))
        }

        /// The response of a transfer that libcurl has ended.
        ///
        /// - Parameter isOver: whether it has ended; its content is yet to come where it has not.
        private func response(isOver: Bool = true) -> TransportResponse {
            guard let handle = state.handle else { return TransportResponse(answer) }
            let facts = ccurl_get_facts(handle.easy)
            var connection = connection(facts)
            // Codings end where they say, but for those that have not begun.
            if mayBeCutOff(isEmpty: isOver && facts.body_received == 0) { connection.mayBeCutOff = true }
            return TransportResponse(answer, timings: Timings(facts, state.detour), connection: connection)
        }

        /// The response as far as it has come.
        func responseSoFar() -> TransportResponse {
            var response = response(isOver: false)
            response.timings.total = max(response.timings.total ?? .zero, elapsed ?? .zero)
            return response
        }

        /// How long it has lasted by its own clock; `nil` for one that no pool has. What libcurl tells of a transfer that it has not
        /// ended itself is only as new as the last byte that moved.
        var elapsed: Duration? {
            state.pool.map { .nanoseconds($0.now - min($0.now, state.clock.started)) }
        }

        var answer: HTTPResponse {
            var response = HTTPResponse(
                status: state.head.status, fields: state.head.fields, body: state.body, version: state.head.version)
            if !state.head.trailers.isEmpty { response.trailers = state.head.trailers }
            return response
        }

        private func error(_ code: CURLcode) -> TransportError {
            guard let handle = state.handle else { return TransportError(.other, sendState: .unsent) }
            if let failure = state.failure { return error(failure.kind, failure.message) }
            let kind =
                CurlProxy.failure(code, handle.easy, request.proxy, isConnected: state.attempts > 0)
                ?? CurlErrors.kind(code, handle.easy, handle.message, isReadingHead: isReadingHead)
            let message =
                code == CURLE_OK ? "the connection ended before the head of the response did" : handle.message
            return error(kind, message.isEmpty ? String(cString: curl_easy_strerror(code)) : message)
        }

        /// A failure that comes from here and not from libcurl.
        func error(_ kind: TransportError.Kind, _ message: String = "") -> TransportError {
            guard let handle = state.handle else { return errorOutside(kind, message) }
            let facts = ccurl_get_facts(handle.easy)
            var timings = Timings(facts, state.detour)
            timings.total = max(timings.total ?? .zero, elapsed ?? .zero)
            return TransportError(
                kind, sendState: sendState(handle), message: message, timings: timings,
                connection: connection(facts), partialResponse: partialResponse,
                underlying: kind == .requestBody ? state.source?.failure : nil)
        }

        private func connection(_ facts: ccurl_facts) -> ConnectionInfo {
            var connection = ConnectionInfo(facts, state.resends)
            // Some versions of libcurl count what is no content of the chunks as well.
            if let count = state.chunks?.contentBytes { connection.bytesReceived = count }
            return connection
        }

        /// libcurl counts the bytes it gave to the socket, also those that were for a proxy alone.
        private func sendState(_ handle: CurlHandle) -> SendState {
            if state.attempts == 0 { return .unsent }
            if isRefusedByProxy || state.isRefused { return .unprocessed }
            if state.head.hasBegun { return .answered }
            if state.isLeftOut, state.wasAlone || state.attempts == 1 { return .unprocessed }
            return hasSent(handle.easy) ? .maybeProcessed : .unsent
        }

        /// Whether any of the request may have been given to a socket, in this try or in an earlier one.
        ///
        /// What was handed over beside other streams of a connection counts as sent (``CurlFault/uncountedHead``).
        func hasSent(_ easy: UnsafeMutableRawPointer) -> Bool {
            state.isAmongOthers && CurlFault.uncountedHead.isPresent || state.detour?.hasSent == true
                || ccurl_get_long(easy, CURLINFO_REQUEST_SIZE) != 0
        }

        private var partialResponse: HTTPResponse? {
            guard state.head.isComplete, !isRefusedByProxy else { return nil }
            return HTTPResponse(status: state.head.status, fields: state.head.fields, version: state.head.version)
        }

        /// A line that never ends has not begun the head, but some of it has come.
        private var isReadingHead: Bool {
            guard !state.head.isComplete, let handle = state.handle else { return false }
            return state.head.hasBegun || ccurl_get_facts(handle.easy).response_start > 0
        }
    }

    extension Timings {
        /// - Parameter detour: what came before libcurl's own clock began.
        init(_ facts: ccurl_facts, _ detour: CurlDetour?) {
            self.init(
                nameLookup: facts.connects > 0 ? Self.phase(facts.name_lookup) : nil,
                connected: Self.phase(facts.connected),
                secured: Self.phase(facts.secured), requestStart: Self.phase(facts.request_start),
                responseStart: Self.phase(facts.response_start), total: Self.phase(facts.total))
            guard let detour else { return }
            let delay = Duration.nanoseconds(detour.delay)
            for phase in [\.connected, \.secured, \.requestStart, \.responseStart, \.total]
                as [WritableKeyPath<Self, _>]
            {
                self[keyPath: phase]? += delay
            }
            nameLookup = detour.foundAfter.map { .nanoseconds($0) } ?? nameLookup.map { $0 + delay }
        }

        private static func phase(_ microseconds: curl_off_t) -> Duration? {
            microseconds > 0 ? .microseconds(microseconds) : nil
        }
    }

    extension ConnectionInfo {
        init(_ facts: ccurl_facts, _ resends: [SendState]) {
            let address = facts.address.map { String(cString: $0) } ?? ""
            self.init(
                isReused: facts.connects == 0, remoteAddress: address.isEmpty ? nil : address,
                remotePort: facts.port > 0 ? facts.port : nil, bytesSent: Int(facts.body_sent),
                bytesReceived: Int(facts.body_received), resends: resends)
        }
    }

    /// What libcurl's error codes mean in Penstock's terms.
    enum CurlErrors {
        /// - Parameter message: libcurl's own, which alone tells broken chunks from a broken connection.
        static func kind(
            _ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ message: String, isReadingHead: Bool
        ) -> TransportError.Kind {
            switch code {
            case CURLE_RECV_ERROR where isTooLong(message): .limitExceeded(.headerBytes)
            case CURLE_HTTP2_STREAM where message.contains("PROTOCOL_ERROR"): .protocolViolation
            case CURLE_HTTP2_STREAM where message.contains("FLOW_CONTROL_ERROR"): .protocolViolation
            case CURLE_RECV_ERROR where message.hasSuffix(" in chunked-encoding"):
                // A trailer longer than its buffer comes as this.
                message.hasPrefix("Out of memory") ? .limitExceeded(.headerBytes) : .protocolViolation
            case CURLE_COULDNT_RESOLVE_HOST: .unreachable(.nameNotResolved)
            case CURLE_COULDNT_CONNECT: unreachable(ccurl_get_long(easy, CURLINFO_OS_ERRNO))
            case CURLE_OPERATION_TIMEDOUT: .timeout(.connect)
            case CURLE_PEER_FAILED_VERIFICATION: .tls(refusal(ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT)))
            case CURLE_SSL_INVALIDCERTSTATUS:
                .tls(message.hasPrefix("SSL certificate revocation reason") ? .revoked : .revocationUnknown)
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
                CURLE_USE_SSL_FAILED:
                .tls(.handshake)
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR: .tls(.trustMaterial)
            case CURLE_RECV_ERROR, CURLE_SEND_ERROR: kindOfLoss(message)
            case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND,
                CURLE_HTTP2_STREAM, CURLE_HTTP2:
                .connectionLost
            // It went well as far as it came: the connection ended in the middle of a head.
            case CURLE_OK: .connectionLost
            // A header line that libcurl cannot make sense of comes as a bad argument.
            case CURLE_BAD_FUNCTION_ARGUMENT, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL,
                CURLE_BAD_CONTENT_ENCODING,
                CURLE_WRITE_ERROR:
                .protocolViolation
            // One header line longer than libcurl's buffer for it comes as this.
            case CURLE_OUT_OF_MEMORY where isReadingHead: .limitExceeded(.headerBytes)
            default: .other
            }
        }

        /// Whether nghttp2 gave up on a block of fields: its numbers for one that libcurl has no room for (it takes 128 KiB),
        /// and for one in too many frames.
        static func isTooLong(_ message: String) -> Bool {
            message.contains("mem_recv() returned -902") || message.contains("mem_recv() returned -905")
        }

        /// What it means that a connection broke while it was read from or written to.
        ///
        /// - Parameter message: libcurl's own.
        static func kindOfLoss(_ message: String) -> TransportError.Kind {
            refusesCertificate(message) ? .tls(.handshake) : .connectionLost
        }

        /// Whether the server has ended TLS for want of a certificate of the client's, or because of it. With TLS 1.3 it says so when
        /// the client has finished the handshake, and libcurl takes it for a broken connection. OpenSSL numbers what it is told
        /// 1,000 and the alert (RFC 8446 §6), in hexadecimal digits at the end of eight.
        static func refusesCertificate(_ message: String) -> Bool {
            guard let mark = message.range(of: "error:0A000") else { return false }
            guard let number = Int(message[mark.upperBound...].prefix(3), radix: 16) else { return false }
            return certificateAlerts.contains(number - 1_000)
        }

        /// `bad_certificate` to `certificate_unknown`, `unknown_ca`, `access_denied`, `certificate_required`.
        private static let certificateAlerts: Set<Int> = [42, 43, 44, 45, 46, 48, 49, 116]

        /// Whether libcurl, which is to follow nothing, has ended a transfer at an answer that it would have followed, and that has
        /// come whole (``CurlFault/followedRefusal``).
        static func endsAnswer(_ code: CURLcode) -> Bool {
            CurlFault.followedRefusal.isPresent && code == CURLE_TOO_MANY_REDIRECTS
        }

        /// What libcurl held back while a transfer was paused may be lost where going on fails. Before there is a
        /// connection there is nothing to pause, which it says by a code of its own.
        static func endsTransfer(pausing code: CURLcode) -> Bool {
            code != CURLE_OK && code != CURLE_BAD_FUNCTION_ARGUMENT
        }

        private static func unreachable(_ number: Int) -> TransportError.Kind {
            switch Int32(truncatingIfNeeded: number) {
            case ECONNREFUSED: .unreachable(.connectionRefused)
            case ENETUNREACH, ENETDOWN: .unreachable(.offline)
            case EHOSTUNREACH, EHOSTDOWN, EADDRNOTAVAIL: .unreachable(.noRoute)
            case ETIMEDOUT: .timeout(.connect)
            // It was there, and was broken before libcurl had looked.
            case ECONNRESET, ECONNABORTED, EPIPE: .connectionLost
            default: .other
            }
        }

        /// OpenSSL's `X509_V_ERR_…` numbers. libcurl compares the host name itself, after OpenSSL found the chain good,
        /// and leaves 0 or 1 where that comparison fails.
        private static func refusal(_ number: Int) -> TransportError.TLSFailure {
            switch number {
            case 9, 10: .expired
            case 0, 1, 62, 63, 64: .wrongHost
            // No list of the authority, one that is not valid yet, no longer, or not signed by it.
            case 3, 8, 11, 12, 33, 44: .revocationUnknown
            case 23: .revoked
            case 50: .pinMismatch
            default: .untrusted
            }
        }
    }
#endif
