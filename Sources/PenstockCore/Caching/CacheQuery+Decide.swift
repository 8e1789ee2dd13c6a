import Foundation

/// Whether a stored response answers the request, by HTTP's rules and the app's lifetimes (RFC 9111 §4).
extension CacheQuery {
    /// What is to be done at `now`, whatever the policy's mode; ``plan(now:)`` puts the mode on top.
    package func decide(now: Date) -> [CacheStep] {
        if let reason = bypass { return send(nil, reason) }
        guard !candidates.isEmpty else { return send(nil, .uriMiss) }
        guard let stored = selected else { return send(validation(of: nil, .varyMismatch), .varyMismatch) }
        switch shape(of: stored) {
        case .impossible(let reason): return send(completion(of: stored), reason)
        case .answer(let shape): return decide(on: stored, shape, now)
        }
    }

    /// Why stored responses do not come into question.
    var bypass: CacheReason? {
        if !isReadable { return .method }
        if control.noStore { return .noStoreRequest }
        return preconditions.isForOrigin ? .originCondition : nil
    }

    private func decide(on stored: CachedResponse, _ shape: Shape, _ now: Date) -> [CacheStep] {
        let freshness = freshness(of: stored, now: now)
        switch use(stored, freshness) {
        case .allowed(let reason):
            return [.deliver(hit(stored, shape, freshness, reason))]
        case .whileRevalidating:
            let hit = hit(stored, shape, freshness, .staleWhileRevalidate)
            return control.onlyIfCached
                ? [.deliver(hit)] : [.deliver(hit), .refresh(refresh(stored, .staleWhileRevalidate))]
        case .validate(let reason):
            return send(validation(of: stored, reason), reason)
        }
    }

    enum Use: Equatable {
        case allowed(CacheReason)
        case whileRevalidating
        case validate(CacheReason)
    }

    /// Whether the response may be used without asking the server.
    func use(_ stored: CachedResponse, _ freshness: Freshness) -> Use {
        let terms = stored.terms.control
        if stored.isInvalidated { return .validate(.invalidated) }
        if !freshness.isAppOwned, terms.noCache { return .validate(.noCache) }
        if let reason = objection(to: stored, freshness) { return .validate(reason) }
        if freshness.isFresh { return .allowed(.fresh) }
        if !freshness.isAgeKnown { return .validate(.clockMovedBack) }
        // §5.2.2.2: once stale, never without validation.
        if !freshness.isAppOwned, terms.mustRevalidate { return .validate(.expired) }
        if isWithinMaxStale(freshness.staleness) { return .allowed(.maxStale) }
        let window = TimeInterval(terms.staleWhileRevalidate)
        let isWithinWindow = window > 0 && freshness.staleness <= window
        return isWithinWindow && !isStaleRuledOut(for: stored) ? .whileRevalidating : .validate(.expired)
    }

    /// Whether the app wants nothing stale. Where it allows none, the server cannot allow more.
    private func isStaleRuledOut(for stored: CachedResponse) -> Bool {
        (policy.maxStale ?? stored.appMaxStale).map { $0 <= .zero } ?? false
    }

    /// What the request's directives have against it (§5.2.1).
    func objection(to stored: CachedResponse, _ freshness: Freshness) -> CacheReason? {
        if control.noCache { return .requestNoCache }
        if let maxAge = control.maxAge, freshness.age > TimeInterval(maxAge) || maxAge == 0 {
            // RFC 8246 §2: a reload, which is a max-age of 0, asks in vain for what cannot change.
            let isReloadOfImmutable = maxAge == 0 && stored.terms.control.isImmutable && freshness.isFresh
            if !isReloadOfImmutable { return .requestMaxAge }
        }
        let isShort = control.minFresh > 0 && freshness.remaining < TimeInterval(control.minFresh)
        return isShort ? .requestMinFresh : nil
    }

    private func isWithinMaxStale(_ staleness: TimeInterval) -> Bool {
        switch control.maxStale {
        case .none: false
        case .any: true
        case .seconds(let seconds): staleness <= TimeInterval(seconds)
        }
    }

    // MARK: Sending

    /// Sends what asks about stored responses, or the request as it is, where the request may be sent at all.
    private func send(_ exchange: @autoclosure () -> CacheExchange?, _ reason: CacheReason) -> [CacheStep] {
        control.onlyIfCached ? [.refuse(.onlyIfCached)] : [.send(exchange() ?? load(reason))]
    }

    /// The request as it is.
    func load(_ reason: CacheReason) -> CacheExchange {
        CacheExchange(loading: request, reason)
    }
}
