import Foundation

/// What the policy's mode makes of the decision: one table for all modes.
extension CacheQuery {
    /// The steps to take at `now`.
    package func plan(now: Date) -> CachePlan {
        if policy.isOff { return planWithoutCache() }
        if policy.mode == .networkElseCache || policy.mode == .reload, let stored = answer {
            return plan([.send(ask(about: stored, policy.mode == .networkElseCache))], .policy)
        }
        let decision = decide(now: now)
        // A request that forbids itself to be sent is answered alike by every mode.
        if case .refuse(let reason) = decision, policy.mode != .cacheOnly { return plan([.refuse(reason)], reason) }
        switch policy.mode {
        case .http: return plan(steps(decision), decision.reason)
        case .cacheOnly: return planCacheOnly(decision, now)
        case .cacheThenNetwork: return planCacheThenNetwork(decision, now)
        case .networkElseCache: return plan(steps(decision), decision.reason)
        case .reload: return plan(steps(decision, mayFallBack: false), decision.reason)
        case .networkOnly: return planWithoutCache()
        }
    }

    /// The stored response that fits the request, where the server may be asked about it, however fresh it is.
    private var answer: CachedResponse? {
        guard !control.onlyIfCached, bypass == nil, let stored = selected, shape(of: stored).isAnswer else {
            return nil
        }
        return stored
    }

    private func steps(_ decision: CacheDecision, mayFallBack: Bool = true) -> [CachePlan.Step] {
        switch decision {
        case .use(let hit): [.deliver(hit)]
        case .useStaleAndRevalidate(let hit, let validation): [.deliver(hit), .refresh(exchange(validation, false))]
        case .revalidate(let validation): [.send(exchange(validation, mayFallBack))]
        case .load(let reason): [.send(plainExchange(reason, mayFallBack))]
        case .refuse(let reason): [.refuse(reason)]
        }
    }

    private func planCacheOnly(_ decision: CacheDecision, _ now: Date) -> CachePlan {
        guard let hit = decision.hit ?? tolerated(now) else { return plan([.refuse(.cacheOnly)], .cacheOnly) }
        return plan([.deliver(hit)], hit.reason)
    }

    /// What is stale and given although nothing has failed: only where the app has said how stale.
    private func tolerated(_ now: Date) -> CacheHit? {
        guard policy.maxStale != nil, let found = fallback(for: .disconnected, now: now) else { return nil }
        return hit(found.stored, .maxStale, now: now)
    }

    private func planCacheThenNetwork(_ decision: CacheDecision, _ now: Date) -> CachePlan {
        guard let hit = decision.hit ?? tolerated(now) else { return plan(steps(decision), decision.reason) }
        guard !control.onlyIfCached else { return plan([.deliver(hit)], hit.reason) }
        return plan([.deliver(hit), .send(ask(about: hit.stored, false))], hit.reason)
    }

    private func planWithoutCache() -> CachePlan {
        let refusal: CacheReason? =
            policy.mode == .cacheOnly ? .cacheOnly : control.onlyIfCached ? .onlyIfCached : nil
        guard let refusal else { return plan([.send(plainExchange(.policy, false))], .policy) }
        return plan([.refuse(refusal)], refusal)
    }

    private func plan(_ steps: [CachePlan.Step], _ reason: CacheReason) -> CachePlan {
        CachePlan(steps: steps, reason: reason)
    }

    /// A load of what could have been answered from the cache: conditional where it can be.
    private func ask(about stored: CachedResponse, _ mayFallBack: Bool) -> CacheExchange {
        validation(of: stored, .policy).map { exchange($0, mayFallBack) } ?? plainExchange(.policy, mayFallBack)
    }

    private func exchange(_ validation: CacheValidation, _ mayFallBack: Bool) -> CacheExchange {
        CacheExchange(
            request: validation.request, validation: validation, reason: validation.reason, mayFallBack: mayFallBack)
    }

    private func plainExchange(_ reason: CacheReason, _ mayFallBack: Bool) -> CacheExchange {
        CacheExchange(request: request, validation: nil, reason: reason, mayFallBack: mayFallBack)
    }
}

extension CacheDecision {
    /// The stored response that may be delivered without waiting for the server.
    var hit: CacheHit? {
        switch self {
        case .use(let hit), .useStaleAndRevalidate(let hit, _): hit
        case .revalidate, .load, .refuse: nil
        }
    }
}
