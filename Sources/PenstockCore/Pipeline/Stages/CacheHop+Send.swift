import Foundation

/// Sends what the cache wants to be sent, and makes of the response what HTTP says.
extension CacheHop {
    @inline(__always)
    func send(_ exchange: Boxed<CacheExchange>) async throws(APIError) -> Exchange {
        let sent = toSend(exchange)
        if isShareable(sent), let answer = try await shared(sent) { return answer }
        let time = call.time.date()
        let answer: Exchange
        do throws(APIError) {
            answer = try await next(sent.request)
        } catch {
            return try await failed(error, sent)
        }
        await unlockDigests(for: answer.response.fields)
        return try await receive(CacheAnswer(answer, to: sent, at: time, ticket))
    }

    /// The missing part alone is of no use to a reader of a stream.
    @inline(never)
    private func toSend(_ exchange: Boxed<CacheExchange>) -> Boxed<CacheExchange> {
        call.streams && exchange.value.purpose == .complete ? plain(exchange.value.reason) : exchange
    }

    private func plain(_ reason: CacheReason) -> Boxed<CacheExchange> {
        Boxed(query.load(reason).withoutFallback)
    }

    // MARK: No response

    @inline(never)
    func failed(_ error: APIError, _ sent: Boxed<CacheExchange>) async throws(APIError) -> Exchange {
        guard sent.value.mayFallBack, error.isDisconnection, !call.isCancelled, !Task.isCancelled,
            let hit = query.fallback(for: .disconnected, now: call.time.date())
        else { throw error }
        call.emit(.cacheDecided(hit.reason, CacheStatus(hit)))
        guard let place = place(of: hit.stored), let body = try await body(for: hit, at: place) else { throw error }
        // RFC 9211 §2.1: a hit is what nothing was sent for.
        var status = CacheStatus(sent.value)
        status.reason = hit.reason
        return exchange(for: hit, at: place, with: body, status: status)
    }

    // MARK: A response

    func arrival(of answer: CacheAnswer) -> CacheArrival {
        let response = answer.exchange.response
        let isWhole = answer.exchange.content == nil
        let length = isWhole ? response.body.count : ByteOffset.parse(response.fields[.contentLength] ?? "") ?? 0
        return CacheArrival(
            response: response, bodyLength: length, requestTime: answer.time, responseTime: call.time.date(),
            mayBeCutOff: answer.exchange.connection.mayBeCutOff,
            isAccepted: call.settings.status.accepts(response.status))
    }

    @inline(never)
    func receive(_ answer: CacheAnswer) async throws(APIError) -> Exchange {
        var answer = answer
        let reception = query.receive(arrival(of: answer), to: answer.sent.value)
        if !reception.invalidations.isEmpty {
            answer.ticket = await invalidate(reception.invalidations, by: answer.ticket)
        }
        switch reception.answer {
        case .response: return try await passed(answer, reception)
        case .stored(let hit): return try await stored(hit, in: answer, reception)
        case .sendAgain: return try await sendAgain(answer)
        }
    }

    /// A second answer that is no answer either is the caller's.
    @inline(never)
    private func sendAgain(_ answer: CacheAnswer) async throws(APIError) -> Exchange {
        answer.exchange.content?.discard()
        return try await withoutHits().send(plain(answer.sent.value.reason))
    }

    @inline(__always)
    private func passed(_ answer: CacheAnswer, _ reception: CacheReception) async throws(APIError) -> Exchange {
        if !reception.updates.isEmpty { await apply(reception.updates, by: answer) }
        var exchange = answer.exchange
        let fill = try await fill(reception.insertion, answer)
        var record = CacheRecord(status: answer.status)
        record.status.isStored = fill != nil
        exchange.cache = Boxed(record)
        var tee: TeedContent?
        if let fill, fill.body == nil, let content = exchange.content {
            tee = TeedContent(content, ticket: fill.ticket, access)
            exchange.content = tee
        }
        exchange.leave(
            CacheSettlement(
                access, call.isolation.partition, fill: fill, tee: tee, hasWritten: !reception.invalidations.isEmpty))
        return exchange
    }

    private func stored(
        _ hit: CacheHit, in answer: CacheAnswer, _ reception: CacheReception
    ) async throws(APIError) -> Exchange {
        answer.exchange.content?.discard()
        call.emit(.cacheDecided(hit.reason, answer.status))
        if let insertion = reception.insertion { return try await completed(hit, insertion, answer) }
        guard let place = place(of: hit.original) else { return try await sendAgain(answer) }
        let source = hit.reason == .validated ? ResponseSource.revalidated : self.source
        // The body first: an update may move it.
        guard let body = try await body(for: hit, at: place) else { return try await sendAgain(answer) }
        var exchange = exchange(for: hit, at: place, with: body, status: answer.status, from: source)
        if answer.load?.claimsUpdate() ?? true { await apply(reception.updates, by: answer) }
        exchange.timings = answer.exchange.timings
        exchange.connection = answer.exchange.connection
        return exchange
    }

    /// A stored part and what was missing of it.
    private func completed(
        _ hit: CacheHit, _ insertion: CacheInsertion, _ answer: CacheAnswer
    ) async throws(APIError) -> Exchange {
        guard let fill = try await fill(insertion, answer), let body = fill.body else {
            return try await sendAgain(answer)
        }
        var whole = answer.exchange
        whole.response = hit.response(body)
        whole.request = query.request
        whole.source = .revalidated
        whole.cache = Boxed(CacheRecord(status: answer.status, age: .seconds(hit.age)))
        whole.cache?.status.isStored = true
        whole.leave(CacheSettlement(access, call.isolation.partition, fill: fill))
        return whole
    }
}

extension APIError {
    /// Whether no response came because of the way there, be it to the server itself or to the one that renews its credential. A
    /// peer that cannot be trusted is another matter, and so is an
    /// exchange that broke the caller's own limits.
    fileprivate var isDisconnection: Bool { withoutCredential.isOfTheWay }

    private var isOfTheWay: Bool {
        if case .unavailable = kind { return true }
        if kind == .timeout(.total) { return Self.stagesOnTheWay.contains(stage) }
        guard stage == .transport else { return false }
        switch kind {
        case .unreachable, .timeout: return true
        case .transport(let fault): return fault != .requestBody
        default: return false
        }
    }

    /// Where a call may find that its time is over while it is on its way to the server. Of the app's own code that did not return
    /// in time a stored response would tell nobody.
    private static let stagesOnTheWay: Set<StageName> = [
        .retry, .connectivity, .admission, .authenticate, .cookies, .compress, .transport,
    ]
}

/// What came of a request that the cache sent.
struct CacheAnswer: Sendable {
    let exchange: Exchange
    let sent: Boxed<CacheExchange>
    /// When the request that was answered was sent, as an age counts from there (RFC 9111 §4.2.3): what came before it, such as the wait
    /// after an attempt that failed, makes nothing old. Where no transport has answered, when the request was made.
    let time: Date
    /// Where other calls got the same.
    let load: CacheLoad?
    /// Whether the request was this call's own.
    let leads: Bool
    /// Says whether it may still be stored.
    var ticket: CacheAccess.Ticket

    /// - Parameter time: when the request was made.
    init(
        _ exchange: Exchange, to sent: Boxed<CacheExchange>, at time: Date, _ ticket: CacheAccess.Ticket,
        in load: CacheLoad? = nil, leads: Bool = true
    ) {
        self.exchange = exchange
        self.sent = sent
        self.time = exchange.sentAt ?? time
        self.load = load
        self.leads = leads
        self.ticket = load?.ticket ?? ticket
    }

    /// How the cache handled it.
    var status: CacheStatus {
        var status = CacheStatus(sent.value)
        status.forwardStatus = exchange.response.status
        status.isCollapsed = !leads
        return status
    }
}
