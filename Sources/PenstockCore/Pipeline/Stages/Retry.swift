/// Repeats attempts that failed in a way that another one may mend: below the cache, which sees one outcome, and above all that is
/// new for each attempt. What is repeated, when, and why is decided by ``RetryPolicy``; whether anything may be sent again, by the
/// budget and the circuit breaker of the origin. A class, since every attempt holds it.
final class Retry: Stage {
    static let name = StageName.retry

    let origins: OriginTable
    let random: RandomSource

    init(origins: OriginTable, random: RandomSource) {
        (self.origins, self.random) = (origins, random)
    }

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        var attempt = try RetryAttempt(1, of: prepared(request, call), call, self)
        var earlier: APIError?
        while true {
            let wait: Duration
            do throws(APIError) {
                var exchange = try await attempt.send(through: next)
                guard let pause = attempt.pause(after: &exchange) else { return exchange }
                (wait, earlier) = (pause, attempt.dropped(exchange))
            } catch {
                do throws(APIError) {
                    wait = try attempt.pause(after: error)
                } catch {
                    throw error.following(earlier)
                }
                earlier = error
            }
            if wait > .zero { try await call.sleep(for: wait, at: Self.name) }
            do throws(APIError) {
                attempt = try attempt.next()
            } catch {
                throw error.following(earlier)
            }
        }
    }

    /// The request with the key that the server knows it by, where it has one.
    @inline(never)
    private func prepared(_ request: HTTPRequest, _ call: CallContext) -> HTTPRequest {
        // What only reads has no effect that a server could take for the second.
        guard !request.method.isSafe, !request.fields.contains(IdempotencyKey.field) else { return request }
        let key: IdempotencyKey
        switch call.settings.idempotency {
        case .byMethod, .declared: return request
        case .key: key = call.idempotencyKey(using: random)
        case .keyed(let own): key = own
        }
        var request = request
        request.fields[IdempotencyKey.field] = key.fieldValue
        return request
    }
}

/// One attempt, from the leave to send it to the decision about the next one.
final class RetryAttempt: Sendable {
    private let number: Int
    private let request: HTTPRequest
    private let call: CallContext
    private let stage: Retry
    private let leave: OriginTable.Leave
    /// `nil` where it is no probe.
    private let probe: Probe?
    private let started: Duration

    /// - Throws: ``APIError/Kind/unavailable(reason:)`` where the origin is to be left alone.
    @inline(never)
    init(_ number: Int, of request: HTTPRequest, _ call: CallContext, _ stage: Retry) throws(APIError) {
        switch stage.origins.admit(to: request.url.origin, drawing: stage.random.next) {
        case .allowed(let leave): self.leave = leave
        case .refused(let reason): throw APIError(.unavailable(reason: reason), stage: .retry, request: request)
        }
        self.number = number
        self.request = request
        self.call = call
        self.stage = stage
        started = call.time.now()
        probe = Probe.of(leave, to: request.url.origin, stage)
        if let probe { call.state.withLock { $0.probe = probe } }
    }

    /// The one that follows.
    func next() throws(APIError) -> RetryAttempt {
        try RetryAttempt(number + 1, of: request, call, stage)
    }

    @inline(__always)
    func send(through next: Next) async throws(APIError) -> Exchange {
        if let hedged = hedged(next) { return try await hedged.send() }
        return try await discarding(next)(request)
    }

    /// `nil` where there is never to be another one beside it.
    @inline(never)
    private func hedged(_ next: Next) -> HedgedAttempt? {
        let policy = call.settings.retry
        guard let hedging = policy.hedging, hedging.limit > 0, !call.streams, !call.renewsCredential else { return nil }
        let isIdempotent = request.method.isIdempotent || isDeclaredIdempotent
        return HedgedAttempt(request, call, next, stage, hedging, isIdempotent: isIdempotent, note: notePause)
    }

    /// A policy that repeats nothing throws no content away.
    @inline(never)
    private func discarding(_ next: Next) -> Next {
        call.settings.retry.limit > 0 ? next.discarding { [self] in decideToDiscard($0) } : next
    }

    /// What is told of an answer that another attempt was to follow, where that is not sent: its content is gone.
    @inline(never)
    func dropped(_ exchange: Exchange) -> APIError {
        let head = HTTPResponse(
            status: exchange.response.status, fields: exchange.response.fields, version: exchange.response.version)
        return APIError(
            .httpStatus(head.status), stage: .retry, request: exchange.request, response: head, sendState: .answered)
    }

    // MARK: What is decided

    /// Decides about the next attempt at the head of the response, and charges the budget for it, once however often it is asked
    /// for.
    ///
    /// - Returns: whether the content of the response is of no use, as there will be another attempt.
    private func decideToDiscard(_ response: HTTPResponse) -> Bool {
        let known = call.state.withLock { $0.verdicts[ObjectIdentifier(self)] }
        if let known, known.status == response.status { return known.decision.isRetry }
        let decision = decide(on: .answered(status: response.status), response.fields)
        call.state.withLock { $0.verdicts[ObjectIdentifier(self)] = (response.status, decision) }
        return decision.isRetry
    }

    /// What was decided at the head of the response, where that was asked for.
    private func decided() -> RetryDecision? {
        call.state.withLock {
            $0.verdicts.isEmpty ? nil : $0.verdicts.removeValue(forKey: ObjectIdentifier(self))?.decision
        }
    }

    /// How long to wait for the next attempt; `nil` when this one is the last, whose response then tells why.
    @inline(never)
    func pause(after exchange: inout Exchange) -> Duration? {
        let (status, fields) = (exchange.response.status, exchange.response.fields)
        record(.answered(CircuitBreaker.Outcome(status: status)), exchange.timings.responseStart)
        notePause(status, fields)
        // What is no failure may be worth another attempt all the same: 202, while the work is not done.
        let isFailure = status >= 400
        guard isFailure || call.settings.retry.statuses.contains(status) else { return nil }
        switch decided() ?? decide(on: .answered(status: status), fields) {
        case .retry(let wait, let reason):
            exchange.content?.discard()
            tell(wait, reason)
            return wait
        case .stop(let refusal):
            if isFailure { exchange.retryRefusal = told(refusal) }
            return nil
        }
    }

    /// Notes how long the server wants to be left alone, where it says so.
    private func notePause(_ status: Int, _ fields: HTTPFields) {
        guard status == 429 || status == 503, let hint = hint(fields) else { return }
        stage.origins.pause(request.url.origin, for: hint)
    }

    /// How long to wait for the next attempt.
    ///
    /// - Throws: the error, when this attempt is the last.
    @inline(never)
    func pause(after error: APIError) throws(APIError) -> Duration {
        record(Self.outcome(of: error), (error.underlying as? TransportError)?.timings.responseStart)
        let known = decided()
        // What did not come from the transport was refused on this side, and would be again.
        guard error.stage == .transport, let state = error.sendState, !call.isCancelled else { throw error }
        switch known ?? decide(on: .failed(error.kind, state), error.response?.fields ?? [:]) {
        case .retry(let wait, let reason):
            tell(wait, reason)
            return wait
        case .stop(let refusal):
            throw error.noting(told(refusal))
        }
    }

    /// What an attempt that failed says of the server. Where it was given up on this side after an answer had begun to come, the status of
    /// that says it; where that is not known, nothing does.
    static func outcome(of error: APIError) -> OriginTable.Outcome {
        let health = error.stage == .transport ? CircuitBreaker.Outcome(error.kind) : .unknown
        guard error.sendState == .answered else { return .failed(health) }
        if health != .unknown { return .answered(health) }
        if case .httpStatus(let status) = error.kind { return .answered(.init(status: status)) }
        return error.response.map { .answered(.init(status: $0.status)) } ?? .failed(.unknown)
    }

    private func tell(_ wait: Duration, _ reason: RetryReason) {
        call.emit(
            .retried(after: wait, reason: reason, budgetLeft: stage.origins.budgetLeft(for: request.url.origin)))
    }

    /// - Parameter head: when the head of the response came, after the request had left this side's queues. A transport that does
    ///   not measure it has the whole attempt taken for it.
    private func record(_ outcome: OriginTable.Outcome, _ head: Duration?) {
        let origin = request.url.origin
        let took = head ?? call.time.now() - started
        if probe != nil { call.state.withLock { $0.probe = nil } }
        guard let leave = probe.map({ $0.ended() }) ?? leave else { return }
        let change = stage.origins.record(outcome, of: leave, to: origin, took: took, drawing: stage.random.next)
        if let change { call.emit(.circuitChanged(origin, change)) }
    }

    /// Decides, and pays for what is decided. A refresh token is good for one use, whatever the method that it is used with.
    private func decide(on outcome: FinishedAttempt.Outcome, _ fields: HTTPFields) -> RetryDecision {
        let attempt = FinishedAttempt(
            outcome, method: call.renewsCredential ? .post : request.method,
            isDeclaredIdempotent: isDeclaredIdempotent && !call.renewsCredential, number: number,
            isBodyReplayable: request.body.isUnread, timeLeft: call.deadline.map { $0 - call.time.now() },
            retryAfter: hint(fields))
        var random = stage.random
        let decision = call.settings.retry.decide(on: attempt, using: &random)
        guard case .retry(let wait, let reason) = decision else { return decision }
        let origin = request.url.origin
        if stage.origins.isOpen(origin, in: wait) { return .stop(.circuitOpen) }
        let cost = reason.cost(isHinted: attempt.retryAfter != nil)
        return stage.origins.withdraw(cost, for: origin) ? decision : .stop(.budgetUsedUp)
    }

    private func hint(_ fields: HTTPFields) -> Duration? {
        RetryAfter.delay(in: fields, at: call.time.date())
    }

    private var isDeclaredIdempotent: Bool {
        call.settings.idempotency == .declared || request.fields.contains(IdempotencyKey.field)
    }

    /// What is worth telling: where no other attempt was wanted, that there is none is no news.
    private func told(_ refusal: RetryRefusal) -> RetryRefusal? {
        guard refusal != .final, call.settings.retry.limit > 0 else { return nil }
        call.emit(.notRetried(refusal))
        return refusal
    }
}

extension RetryDecision {
    fileprivate var isRetry: Bool {
        if case .retry = self { true } else { false }
    }
}

extension APIError {
    /// This error as it follows an earlier one. That a server is left alone is no news of a request which was sent before: what became of
    /// that is told, and why it was not sent again.
    fileprivate func following(_ earlier: APIError?) -> APIError {
        guard let earlier, case .unavailable(let reason) = kind else { return self }
        guard earlier.sendState == .answered, earlier.stage == .retry else {
            var error = earlier
            let note = "not retried: \(reason)"
            error.debugMessage = error.debugMessage.isEmpty ? note : "\(error.debugMessage); \(note)"
            return error
        }
        var error = self
        (error.response, error.sendState) = (earlier.response, .answered)
        return error
    }

    /// The error with the reason why it is the last one.
    func noting(_ refusal: RetryRefusal?) -> APIError {
        guard let refusal else { return self }
        var error = self
        let note = "not retried: \(refusal)"
        error.debugMessage = debugMessage.isEmpty ? note : "\(debugMessage); \(note)"
        return error
    }
}
