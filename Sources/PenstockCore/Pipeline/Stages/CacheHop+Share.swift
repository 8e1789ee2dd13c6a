/// Lets calls that ask for the same wait for one exchange.
extension CacheHop {
    /// Validations, and what is loaded because nothing fresh was stored. A policy that always asks the server wants an
    /// answer of its own.
    @inline(never)
    func isShareable(_ sent: Boxed<CacheExchange>) -> Bool {
        guard query.request.method == .get, query.request.body.isNone, !call.streams, !call.control.isSuspended,
            query.policy.mode != .reload
        else { return false }
        guard let validation = sent.value.validation else { return query.policy.mode == .http && query.bypass == nil }
        return validation.purpose == .validate
    }

    /// - Returns: `nil` when the call must send a request of its own.
    @inline(never)
    func shared(_ sent: Boxed<CacheExchange>) async throws -> Exchange? {
        let purpose = CacheFlight.Purpose(query.key, sent.value.request.fields, lane)
        let (flight, leads) = access.flights.flight(for: purpose, where: isUsable) {
            CacheFlight(purpose, sent.value.request, call, ticket)
        }
        if leads { flight.start(next, in: access.flights) } else { tellOfJoining(sent) }
        guard let outcome = await flight.outcome(for: call, leads: leads) else {
            throw APIError(.cancelled, stage: .transport)
        }
        switch outcome {
        case .success(let exchange):
            let answer = CacheAnswer(exchange, to: sent, at: flight.time, ticket, in: flight, leads: leads)
            return leads || fits(answer, flight) ? try await receive(answer) : nil
        case .failure(let error):
            return leads || isOurs(error) ? try await failed(error, sent) : nil
        }
    }

    private func tellOfJoining(_ sent: Boxed<CacheExchange>) {
        var status = CacheStatus(sent.value)
        status.isCollapsed = true
        call.emit(.cacheDecided(sent.value.reason, status))
    }

    /// What was asked before a change must not answer what is asked after it.
    private func isUsable(_ flight: CacheFlight) -> Bool {
        let (ours, theirs) = (call.settings, flight.settings)
        return access.isValid(flight.ticket) && ours.timeouts == theirs.timeouts && ours.limits == theirs.limits
            && ours.trust == theirs.trust && ours.proxy == theirs.proxy && ours.cleartext == theirs.cleartext
    }

    /// A response to another call is of use when it may be stored, and would be found for this one (RFC 9111 §4).
    private func fits(_ answer: CacheAnswer, _ flight: CacheFlight) -> Bool {
        guard isOwned(answer.exchange) else { return false }
        let arrival = arrival(of: answer)
        guard arrival.status == 304 || query.storageRefusal(of: arrival) == nil else { return false }
        let variant = CacheVariant(response: arrival.fields, request: flight.request.fields)
        return variant.matches(answer.sent.value.request.fields)
    }

    /// Another call's patience is not this one's.
    private func isOurs(_ error: any Error) -> Bool {
        switch (error as? APIError)?.kind {
        case .timeout, .cancelled, nil: false
        default: true
        }
    }
}
