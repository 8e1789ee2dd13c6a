/// Hands one attempt to the transport, after a last look at what must never be sent.
///
/// What does not wait is kept out of line: a call that waits keeps room for all that the functions it is in may need.
struct TransportStage: Stage {
    static let name = StageName.transport

    let transport: any Transport
    /// Whether code of the app's stands above, so that the call watches over its own deadline.
    let isBelowAppCode: Bool

    /// The transport's own: set by anyone else, they could make two parsers see two messages (RFC 9112 §6.3).
    private static let framingFields: HTTPFieldNames = [
        .host, .contentLength, .transferEncoding, "Connection", "Upgrade", "TE", "Trailer", "Keep-Alive",
    ]

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        if call.control.isSuspended { try await call.untilResumed() }
        let exchange = try makeExchange(request, call, next.discards)
        return call.streams ? try await open(exchange, call) : try await perform(exchange, call)
    }

    @inline(__always)
    private func perform(_ exchange: TransportRequest, _ call: CallContext) async throws(APIError) -> Exchange {
        do throws(TransportError) {
            return answered(exchange.request, try await transport.perform(exchange), call)
        } catch {
            throw failed(error, exchange.request, call)
        }
    }

    @inline(never)
    private func open(_ exchange: TransportRequest, _ call: CallContext) async throws(APIError) -> Exchange {
        do throws(TransportError) {
            return answered(exchange.request, try await transport.open(exchange), call)
        } catch {
            throw failed(error, exchange.request, call)
        }
    }

    private func check(_ request: HTTPRequest, _ call: CallContext) throws(APIError) {
        if let name = request.fields.rejected.first {
            throw invalidField(name, "its name or its value breaks HTTP's grammar")
        }
        if let name = request.fields.first(of: Self.framingFields) {
            throw invalidField(name.text, "is set by the transport")
        }
        guard call.settings.cleartext.allows(request.url) else {
            throw APIError(
                .blocked(reason: "plain http to \(request.url.host) is not allowed"), stage: .transport,
                request: request)
        }
    }

    /// Without this look a body that has been read would go out empty, and its request would seem to succeed.
    private func alreadySent(_ request: HTTPRequest) -> APIError {
        let reason = "the request is sent again, but its body can be read only once"
        return APIError(.blocked(reason: reason), stage: .transport, request: request)
    }

    private func invalidField(_ name: String, _ reason: String) -> APIError {
        APIError(.invalidParameter(field: name, reason: reason), stage: .prepare)
    }

    @inline(never)
    private func makeExchange(
        _ request: HTTPRequest, _ call: CallContext, _ discards: Next.Discards?
    ) throws(APIError) -> TransportRequest {
        try check(request, call)
        try call.checkGoesOn()
        var timeouts = call.settings.timeouts
        if let deadline = call.deadline {
            let left = deadline - call.time.now()
            guard left > .zero else { throw APIError(.timeout(.total), stage: .transport, request: request) }
            timeouts.total = left
        }
        var exchange = TransportRequest(
            request, timeouts: timeouts, limits: call.settings.limits, trust: call.settings.trust,
            proxy: call.settings.proxy, partition: call.partition, control: call.control)
        exchange.skipsContent = discards
        if let reading = request.body.reading, !reading.claim() { throw alreadySent(request) }
        call.emit(.requestSent(request))
        return exchange
    }

    @inline(never)
    private func answered(_ request: HTTPRequest, _ stream: TransportStream, _ call: CallContext) -> Exchange {
        let head = TransportResponse(stream.response, timings: stream.timings, connection: stream.connection)
        var exchange = answered(request, head, call)
        exchange.content = stream.content
        return exchange
    }

    @inline(never)
    private func answered(_ request: HTTPRequest, _ reply: TransportResponse, _ call: CallContext) -> Exchange {
        let status = reply.response.status
        if isBelowAppCode { call.noteReply() }
        call.emit(.responseReceived(status: status, timings: reply.timings, connection: reply.connection))
        record(request, status: status, reply.timings, reply.connection, call)
        return Exchange(
            request: request, response: reply.response, timings: reply.timings, connection: reply.connection,
            source: .network)
    }

    @inline(never)
    private func failed(_ error: TransportError, _ request: HTTPRequest, _ call: CallContext) -> APIError {
        if isBelowAppCode { call.noteReply() }
        record(request, status: error.partialResponse?.status, error.timings, error.connection, call)
        if error.sendState == .unsent { request.body.reading?.release() }
        return APIError(error, request: request)
    }

    /// What the transport sent again by itself was attempted before without an answer.
    private func record(
        _ request: HTTPRequest, status: Int?, _ timings: Timings, _ connection: ConnectionInfo, _ call: CallContext
    ) {
        for _ in 0..<connection.resends { call.record(.init(method: request.method, url: request.url)) }
        call.record(
            .init(method: request.method, url: request.url, status: status, timings: timings, connection: connection))
    }
}

extension APIError {
    /// What a transport's failure is to the caller.
    init(_ error: TransportError, request: HTTPRequest) {
        self.init(
            Kind(error.kind), stage: .transport, debugMessage: error.message, request: request,
            response: error.partialResponse, sendState: error.sendState, underlying: error)
    }
}

extension APIError.Kind {
    init(_ kind: TransportError.Kind) {
        self =
            switch kind {
            case .unreachable(let reason): .unreachable(reason)
            case .timeout(let phase): .timeout(phase)
            case .cancelled: .cancelled
            case .tls(let failure): .tls(failure)
            case .limitExceeded(let limit): .limitExceeded(limit)
            case .unsupported(let feature): .unsupported(feature: feature)
            case .connectionLost: .transport(.connectionLost)
            case .protocolViolation: .transport(.protocolViolation)
            case .requestBody: .transport(.requestBody)
            case .other: .transport(.other)
            }
    }
}
