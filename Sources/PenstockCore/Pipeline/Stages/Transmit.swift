/// Hands one attempt to the transport, after a last look at what must never be sent.
struct Transmit: Interceptor {
    let transport: any Transport

    /// The transport's own: set by anyone else, they could make two parsers see two messages (RFC 9112 §6.3).
    private static let framingFields: [HTTPFieldName] = [
        .host, .contentLength, .transferEncoding, "Connection", "Upgrade", "TE", "Trailer", "Keep-Alive",
    ]

    func intercept(_ request: HTTPRequest, call: CallContext, next _: Next) async throws -> Exchange {
        try await call.stage(.transport) {
            try check(request, call)
            await call.control.untilResumed()
            try call.checkNotCancelled()
            let exchange = try makeExchange(request, call)
            call.emit(.requestSent(request))
            do throws(TransportError) {
                let reply = try await transport.perform(exchange)
                return answered(request, reply, call)
            } catch {
                call.record(attempt(request, status: error.partialResponse?.status, error.timings))
                throw APIError(error, request: request)
            }
        }
    }

    private func check(_ request: HTTPRequest, _ call: CallContext) throws(APIError) {
        if let name = request.fields.rejected.first {
            throw invalidField(name, "its name or its value breaks HTTP's grammar")
        }
        if let name = Self.framingFields.first(where: request.fields.contains) {
            throw invalidField(name.text, "is set by the transport")
        }
        guard call.settings.cleartext.allows(request.url) else {
            throw APIError(
                .blocked(reason: "plain http to \(request.url.host) is not allowed"), stage: .transport,
                request: request)
        }
    }

    private func invalidField(_ name: String, _ reason: String) -> APIError {
        APIError(.invalidParameter(field: name, reason: reason), stage: .prepare)
    }

    private func makeExchange(_ request: HTTPRequest, _ call: CallContext) throws(APIError) -> TransportRequest {
        var timeouts = call.settings.timeouts
        if let deadline = call.deadline {
            let left = deadline - call.time.now()
            guard left > .zero else { throw APIError(.timeout(.total), stage: .transport, request: request) }
            timeouts.total = left
        }
        return TransportRequest(
            request, timeouts: timeouts, limits: call.settings.limits, trust: call.settings.trust,
            partition: call.partition, control: call.control)
    }

    private func answered(_ request: HTTPRequest, _ reply: TransportResponse, _ call: CallContext) -> Exchange {
        let status = reply.response.status
        call.emit(.responseReceived(status: status, timings: reply.timings, connection: reply.connection))
        call.record(attempt(request, status: status, reply.timings, reply.connection))
        return Exchange(
            request: request, response: reply.response, timings: reply.timings, connection: reply.connection)
    }

    private func attempt(
        _ request: HTTPRequest, status: Int?, _ timings: Timings, _ connection: ConnectionInfo = .init()
    ) -> APIError.Attempt {
        APIError.Attempt(
            method: request.method, url: request.url, status: status, timings: timings, connection: connection)
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
