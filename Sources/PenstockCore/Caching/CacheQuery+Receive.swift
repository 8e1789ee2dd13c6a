import Foundation

/// What a response does to the cache and to the caller (RFC 9111 §3, §4.3.3, §4.4).
extension CacheQuery {
    /// Decides on the response to what was sent for the request.
    package func receive(_ arrival: CacheArrival, to exchange: CacheExchange) -> CacheReception {
        var reception = answer(arrival, exchange)
        reception.invalidations = invalidations(by: arrival)
        if request.method == .head, arrival.status == 200 { reception.updates += headUpdates(by: arrival) }
        reception.updates += refusalUpdates(by: arrival)
        return reception
    }

    private func answer(_ arrival: CacheArrival, _ exchange: CacheExchange) -> CacheReception {
        if arrival.status == 304 { return receiveNotModified(arrival, exchange) }
        if exchange.purpose == .complete, [206, 416].contains(arrival.status) {
            return receiveMissing(arrival, exchange)
        }
        // §4.3.3: a server error during validation may be taken as no answer. One that the call takes for a success is its
        // answer, and takes the place of nothing either.
        if let hit = fallback(for: .status(arrival.status), now: arrival.responseTime) {
            let stepsIn = exchange.mayFallBack && (!arrival.isAccepted || isAskedFor(hit.stored, inPlaceOf: arrival))
            return CacheReception(answer: stepsIn ? .stored(hit) : .response, refusal: .error)
        }
        return store(arrival)
    }

    private func store(_ arrival: CacheArrival) -> CacheReception {
        if let refusal = storageRefusal(of: arrival) { return CacheReception(answer: .response, refusal: refusal) }
        guard let insertion = insertion(of: arrival) else { return CacheReception(answer: .response, refusal: .part) }
        return CacheReception(answer: .response, insertion: insertion)
    }

    // MARK: 304 (§4.3.3, §4.3.4)

    private func receiveNotModified(_ arrival: CacheArrival, _ exchange: CacheExchange) -> CacheReception {
        guard exchange.purpose != .load else { return CacheReception(answer: .response, refusal: .status) }
        let identified = NotModified.identify(arrival.fields, in: exchange, of: self)
        guard let chosen = identified.chosen(preferring: exchange.selected) else {
            return CacheReception(answer: isCallers(arrival) ? .response : .sendAgain, refusal: .status)
        }
        let updates = identified.responses.map { stored in
            let isChosen = stored.variant == chosen.variant
            return CacheUpdate(stored: stored, updated: freshened(stored, by: arrival, isChosen: isChosen))
        }
        guard let updated = updates.first(where: { $0.stored.variant == chosen.variant })?.updated,
            var hit = hit(updated, .validated, now: arrival.responseTime)
        else { return CacheReception(answer: .sendAgain, refusal: .status) }
        hit.original = chosen
        hit.fields.merge(StoredFields.withheld(from: arrival, besides: updated.fields))
        let mayUpdate = identified.mayUpdate && !ResponseControl(arrival.fields).noStore
        return CacheReception(answer: .stored(hit), updates: mayUpdate ? updates : [])
    }

    /// §4.3.2: the 304 names a representation that the caller holds and the cache does not.
    private func isCallers(_ arrival: CacheArrival) -> Bool {
        guard let tag = EntityTag.of(arrival.fields) else { return false }
        return preconditions.noneMatch?.contains { $0.matchesWeakly(tag) } ?? false
    }

    func freshened(_ stored: CachedResponse, by arrival: CacheArrival, isChosen: Bool) -> CachedResponse {
        let fields = StoredFields.merged(stored.fields, with: arrival)
        // What the request selects once more keeps its place; what it selects now for the first time gets one.
        let isKnown =
            stored.variant.matches(request.fields, digests)
            && fields.combined(.vary).map(ExactText.init) == stored.fields.combined(.vary).map(ExactText.init)
        let variant =
            isChosen && !isKnown
            ? CacheVariant(response: fields, request: request.fields, digests) : stored.variant
        return CachedResponse(
            key: stored.key, variant: variant, status: stored.status, fields: fields, version: stored.version,
            requestTime: arrival.requestTime, responseTime: arrival.responseTime, bodyLength: stored.bodyLength,
            part: stored.part, tags: stored.tags, appTTL: policy.ttl ?? stored.appTTL,
            appMaxStale: policy.maxStale ?? stored.appMaxStale)
    }

    // MARK: The missing part (§3.4)

    private func receiveMissing(_ arrival: CacheArrival, _ exchange: CacheExchange) -> CacheReception {
        guard arrival.status == 206, let stored = exchange.selected, storageRefusal(of: arrival) == nil,
            let insertion = joined(stored, with: arrival), insertion.response.part == nil,
            var hit = hit(insertion.response, .completed, now: arrival.responseTime)
        else { return CacheReception(answer: .sendAgain, refusal: .part) }
        hit.fields.merge(StoredFields.withheld(from: arrival, besides: insertion.response.fields))
        return CacheReception(answer: .stored(hit), insertion: insertion)
    }
}
