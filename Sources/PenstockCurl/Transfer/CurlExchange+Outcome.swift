#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What becomes of an exchange, told while its handle still knows.
    extension CurlExchange {
        func result(_ code: CURLcode) -> Result<TransportResponse, TransportError> {
            let isOver = code == CURLE_OK || isAnswered || (toSkip.map { $0 < 0 } ?? false)
            if isOver, head.isComplete || connectsOnly, failure == nil {
                guard isCutOff else { return .success(response()) }
                return .failure(error(.connectionLost, "the connection ended without TLS having said so"))
            }
            return .failure(error(code))
        }

        /// The time is up. What is over but for content that nobody wants, or for the rest of the request, went well.
        func result(expiring kind: TransportError.Kind) -> Result<TransportResponse, TransportError> {
            if toSkip != nil, head.isComplete { return .success(response()) }
            return isAnswered ? result(CURLE_OK) : .failure(error(kind))
        }

        /// As far as it has come.
        func response() -> TransportResponse {
            guard let handle else { return TransportResponse(answer) }
            let facts = ccurl_get_facts(handle.easy)
            return TransportResponse(
                answer, timings: Timings(facts, detour), connection: ConnectionInfo(facts, resends))
        }

        var answer: HTTPResponse {
            var response = HTTPResponse(
                status: head.status, fields: head.fields, body: body, version: head.version)
            if !head.trailers.isEmpty { response.trailers = head.trailers }
            return response
        }

        private func error(_ code: CURLcode) -> TransportError {
            guard let handle else { return TransportError(.other, sendState: .unsent) }
            if let failure { return error(failure.kind, failure.message) }
            let kind =
                CurlProxy.failure(code, handle.easy, order.proxy, isConnected: attempts > 0)
                ?? CurlErrors.kind(code, handle.easy, handle.message, isReadingHead: isReadingHead)
            let message =
                code == CURLE_OK ? "the connection ended before the head of the response did" : handle.message
            return error(kind, message.isEmpty ? String(cString: curl_easy_strerror(code)) : message)
        }

        /// A failure that comes from here and not from libcurl.
        func error(_ kind: TransportError.Kind, _ message: String = "") -> TransportError {
            guard let handle else { return errorOutside(kind, message) }
            let facts = ccurl_get_facts(handle.easy)
            return TransportError(
                kind, sendState: sendState(handle), message: message, timings: Timings(facts, detour),
                connection: ConnectionInfo(facts, resends), partialResponse: partialResponse,
                underlying: kind == .requestBody ? source?.failure : nil)
        }

        /// libcurl counts the bytes it gave to the socket, also those that were for a proxy alone.
        private func sendState(_ handle: CurlHandle) -> SendState {
            if attempts == 0 { return .unsent }
            if isRefusedByProxy || isRefused { return .unprocessed }
            if head.hasBegun { return .answered }
            if isLeftOut, wasAlone || attempts == 1 { return .unprocessed }
            return hasSent(handle.easy) ? .maybeProcessed : .unsent
        }

        /// Whether any of the request may have been given to a socket, in this try or in an earlier one.
        ///
        /// Over HTTP/2 libcurl (seen with 7.88) keeps a head that the socket does not take at once, and counts it only when it
        /// is asked again; meanwhile another stream may have sent it. So what was handed over beside others counts as sent.
        func hasSent(_ easy: UnsafeMutableRawPointer) -> Bool {
            isAmongOthers || detour?.hasSent == true || ccurl_get_long(easy, CURLINFO_REQUEST_SIZE) != 0
        }

        private var partialResponse: HTTPResponse? {
            guard head.isComplete, !isRefusedByProxy else { return nil }
            return HTTPResponse(status: head.status, fields: head.fields, version: head.version)
        }

        /// A line that never ends has not begun the head, but some of it has come.
        private var isReadingHead: Bool {
            guard !head.isComplete, let handle else { return false }
            return head.hasBegun || ccurl_get_facts(handle.easy).response_start > 0
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
        init(_ facts: ccurl_facts, _ resends: Int) {
            let address = facts.address.map { String(cString: $0) } ?? ""
            self.init(
                isReused: facts.connects == 0, remoteAddress: address.isEmpty ? nil : address,
                remotePort: facts.port > 0 ? facts.port : nil, bytesSent: Int(facts.body_sent),
                bytesReceived: Int(facts.body_received), resends: resends)
        }
    }
#endif
