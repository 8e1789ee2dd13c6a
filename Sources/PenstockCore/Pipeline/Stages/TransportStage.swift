import Foundation

/// Hands one attempt to the transport, after a last look at what must never be sent.
///
/// What does not wait is kept out of line: a call that waits keeps room for all that the functions it is in may need.
struct TransportStage: Stage {
    static let name = StageName.transport

    let transport: any Transport
    /// Whether the transport may not return when it is told to.
    let isAppTransport: Bool
    /// Whether code of the app's stands above, or is the transport, so that the call watches over its own end.
    let isWatched: Bool
    /// Whether the service has a sealer, so that what was to be sealed has been.
    let seals: Bool
    /// What is known of the network, which tells why there was no way to a server; `nil` where nobody watches.
    let reachability: Reachability?

    /// The transport's own: set by anyone else, they could make two parsers see two messages (RFC 9112 §6.3).
    private static let framingFields: HTTPFieldNames = [
        .host, .contentLength, .transferEncoding, "Connection", "Upgrade", "TE", "Trailer", "Keep-Alive",
    ]

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        if call.control.isSuspended { try await untilResumed(request, call) }
        let exchange = try makeExchange(request, call, next.discards)
        let started = call.time.date()
        call.open(exchange.request, at: started)
        if isWatched { return try await sendAlone(exchange, call, started) }
        return try await send(exchange, call, started)
    }

    @inline(never)
    private func untilResumed(_ request: HTTPRequest, _ call: CallContext) async throws(APIError) {
        call.giveProbeBack()
        try await call.untilResumed()
        try call.renewProbe(for: request, at: Self.name)
    }

    @inline(__always)
    private func send(
        _ exchange: TransportRequest, _ call: CallContext, _ started: Date
    ) async throws(APIError) -> Exchange {
        if let upgrade = call.upgrade { return try await change(exchange, to: upgrade, call, started) }
        if let carrier = call.carrier { return try await carry(exchange, by: carrier, call, started) }
        if call.streams { return try await open(exchange, call, started) }
        return try await perform(exchange, by: transport, call, started)
    }

    /// The task may be an interceptor's, which ends what it has sent without ending the call: what is cancelled with it is this
    /// exchange alone.
    @inline(never)
    private func sendAlone(
        _ exchange: TransportRequest, _ call: CallContext, _ started: Date
    ) async throws(APIError) -> Exchange {
        let control = exchange.control
        control.join()
        let result = await withTaskCancellationHandler {
            await Result { () async throws(APIError) in try await send(exchange, call, started) }
        } onCancel: {
            control.cancel()
        }
        // Content that is still to come is ended with the call as well.
        if case .success(let answer) = result, answer.content != nil {
            control.leaveWithLast()
        } else {
            control.leave()
        }
        return try result.get()
    }

    @inline(__always)
    private func perform(
        _ exchange: TransportRequest, by transport: any Transport, _ call: CallContext, _ started: Date
    ) async throws(APIError) -> Exchange {
        do throws(TransportError) {
            return answered(exchange.request, try await transport.perform(exchange), call, started)
        } catch {
            throw failed(error, exchange.request, call, started)
        }
    }

    @inline(never)
    private func carry(
        _ exchange: TransportRequest, by carrier: any Transport, _ call: CallContext, _ started: Date
    ) async throws(APIError) -> Exchange {
        try await perform(exchange, by: carrier, call, started)
    }

    @inline(never)
    private func open(
        _ exchange: TransportRequest, _ call: CallContext, _ started: Date
    ) async throws(APIError) -> Exchange {
        do throws(TransportError) {
            return answered(exchange.request, try await transport.open(exchange), call, started)
        } catch {
            throw failed(error, exchange.request, call, started)
        }
    }

    @inline(never)
    private func change(
        _ exchange: TransportRequest, to upgrade: HTTPUpgrade, _ call: CallContext, _ started: Date
    ) async throws(APIError) -> Exchange {
        do throws(TransportError) {
            let (request, stream) = try await upgrade.perform(exchange, by: transport, for: call)
            return answered(request, stream, call, started)
        } catch {
            throw failed(error, exchange.request, call, started)
        }
    }

    /// Names the file by its name alone: where it lies may say who the user is.
    private static func text(of defect: any Error) -> String {
        guard let error = defect as? CocoaError else { return "\(defect)" }
        let name = error.filePath.map { URL(fileURLWithPath: $0).lastPathComponent + ": " } ?? ""
        return name + error.localizedDescription
    }

    private func check(_ request: HTTPRequest, _ call: CallContext) throws(APIError) {
        if let name = request.fields.rejected.first {
            throw invalidField(name, "its name or its value breaks HTTP's grammar")
        }
        if let name = request.fields.first(of: Self.framingFields) {
            throw invalidField(name.text, "is set by the transport")
        }
        guard seals || call.settings.sealing != .sealed else {
            throw APIError(
                .invalidConfiguration(reason: "the service has no sealer"), stage: .seal, request: request,
                sendState: .unsent)
        }
        if let defect = request.body.defect {
            throw APIError(
                .transport(.requestBody), stage: .transport, debugMessage: Self.text(of: defect), request: request,
                sendState: .unsent, underlying: defect)
        }
        let cleartext = call.settings.cleartext
        guard cleartext.allows(request.url, by: call.isolation.proxy) else {
            throw APIError(.blocked(reason: cleartext.refusal(of: request.url)), stage: .transport, request: request)
        }
        let (trust, resolver) = (call.isolation.trust, call.isolation.resolver)
        let capabilities = (call.carrier ?? transport).capabilities
        if let missing = trust.refusal(by: capabilities) ?? resolver.refusal(by: capabilities) {
            throw APIError(.unsupported(feature: missing), stage: .transport, request: request, sendState: .unsent)
        }
        // Its content is a refresh token of somebody who has signed out, or in anew.
        if call.lane?.isRevoked == true {
            let reason = "the credential that it renews was deleted, or another one took its place"
            throw APIError(.blocked(reason: reason), stage: .transport, request: request, sendState: .unsent)
        }
    }

    /// The error of a request that is sent again with a body that can be read only once: the body would go out empty, and the request would
    /// seem to succeed.
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
        try call.checkGoesOn(at: Self.name)
        var timeouts = call.settings.timeouts
        if let deadline = call.deadline {
            let left = deadline - call.time.now()
            guard left > .zero else { throw APIError(.timeout(.total), stage: .transport, request: request) }
            timeouts.total = left
        }
        var exchange = TransportRequest(
            request, timeouts: timeouts, limits: call.settings.limits, isolation: call.isolation(for: request.url),
            control: isWatched ? ExchangeControl(partOf: call.control) : call.control)
        exchange.skipsContent = discards
        if let reading = request.body.reading, !reading.claim() { throw alreadySent(request) }
        call.onSend?()
        call.emitSent(request)
        return exchange
    }

    @inline(never)
    private func answered(
        _ request: HTTPRequest, _ stream: TransportStream, _ call: CallContext, _ started: Date
    ) -> Exchange {
        let head = TransportResponse(stream.response, timings: stream.timings, connection: stream.connection)
        var exchange = answered(request, head, call, started)
        let mayNotEnd = isAppTransport && !(stream.content is UpgradedWire)
        exchange.content = mayNotEnd ? InterruptibleContent(stream.content, of: call) : stream.content
        return exchange
    }

    @inline(never)
    private func answered(
        _ request: HTTPRequest, _ reply: TransportResponse, _ call: CallContext, _ started: Date
    ) -> Exchange {
        if isWatched { call.noteReply() }
        call.emitReceived(reply)
        let attempt = APIError.Attempt(
            method: request.method, url: request.url, started: started, outcome: .success, sendState: .answered,
            status: reply.response.status, timings: reply.timings, connection: reply.connection)
        record(attempt, call)
        var exchange = Exchange(
            request: request, response: reply.response, timings: reply.timings, connection: reply.connection,
            source: .network)
        exchange.sentAt = started
        return exchange
    }

    @inline(never)
    private func failed(
        _ failure: TransportError, _ request: HTTPRequest, _ call: CallContext, _ started: Date
    ) -> APIError {
        if isWatched { call.noteReply() }
        var error = APIError(failure, request: request)
        if case .unreachable(let reason) = error.kind {
            error.kind = .unreachable(ConnectivityRule.reason(reason, given: reachability?.status))
        }
        if let response = failure.partialResponse { call.emit(.responseBrokeOff(response)) }
        call.emit(
            .requestFailed(
                error.kind, sendState: failure.sendState, timings: failure.timings, connection: failure.connection))
        let attempt = APIError.Attempt(
            method: request.method, url: request.url, started: started, outcome: Event.Outcome(error),
            sendState: failure.sendState, status: failure.partialResponse?.status, timings: failure.timings,
            connection: failure.connection)
        record(attempt, call)
        if failure.sendState == .unsent { request.body.reading?.release() }
        return error
    }

    /// What the transport sent again by itself was attempted before without an answer.
    private func record(_ last: APIError.Attempt, _ call: CallContext) {
        for sendState in last.connection.resends {
            call.record(
                APIError.Attempt(
                    method: last.method, url: last.url, started: last.started,
                    outcome: .failure(.transport(.connectionLost)), sendState: sendState))
        }
        call.record(last)
    }
}

extension APIError {
    /// What a transport's failure is to the caller.
    init(_ error: TransportError, request: HTTPRequest) {
        // Content that came from the cache has no connection that could break.
        let isOfCache = error.underlying is StoredContentGone
        self.init(
            isOfCache ? .cacheMiss : Kind(error.kind), stage: isOfCache ? .cache : .transport,
            debugMessage: error.message, request: request, response: error.partialResponse,
            sendState: error.sendState, underlying: error)
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
            case .blocked(let reason): .blocked(reason: reason)
            case .connectionLost: .transport(.connectionLost)
            case .protocolViolation: .transport(.protocolViolation)
            case .requestBody: .transport(.requestBody)
            case .other: .transport(.other)
            }
    }
}
