import Foundation

/// What the policy's mode makes of the decision: one table for all modes.
extension CacheQuery {
    /// The steps to take at `now`.
    package func plan(now: Date) -> [CacheStep] {
        if policy.isOff { return planWithoutCache() }
        if policy.mode == .networkElseCache || policy.mode == .reload, let stored = answer {
            return [.send(ask(about: stored, mayFallBack: policy.mode == .networkElseCache))]
        }
        let steps = decide(now: now)
        // A request that forbids itself to be sent is answered alike by every mode.
        if case .refuse = steps.first, policy.mode != .cacheOnly { return steps }
        switch policy.mode {
        case .http, .networkElseCache: return steps
        case .cacheOnly: return planCacheOnly(steps, now)
        case .cacheThenNetwork: return planCacheThenNetwork(steps, now)
        case .reload:
            return steps.map { if case .send(let exchange) = $0 { .send(exchange.withoutFallback) } else { $0 } }
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

    /// What may be stale only while it is refreshed (RFC 5861 §3) may not be so here, where nothing is sent.
    private func planCacheOnly(_ steps: [CacheStep], _ now: Date) -> [CacheStep] {
        let hit = steps.first?.hit
        let usable = hit?.reason == .staleWhileRevalidate ? nil : hit
        return (usable ?? tolerated(now)).map { [.deliver($0)] } ?? [.refuse(.cacheOnly)]
    }

    /// What is stale and given although nothing has failed: only where the app has said how stale.
    private func tolerated(_ now: Date) -> CacheHit? {
        guard policy.maxStale != nil, let found = fallback(for: .disconnected, now: now) else { return nil }
        return hit(found.stored, .maxStale, now: now)
    }

    private func planCacheThenNetwork(_ steps: [CacheStep], _ now: Date) -> [CacheStep] {
        guard let hit = steps.first?.hit ?? tolerated(now) else { return steps }
        guard !control.onlyIfCached else { return [.deliver(hit)] }
        return [.deliver(hit), .send(ask(about: hit.stored, mayFallBack: false))]
    }

    private func planWithoutCache() -> [CacheStep] {
        if policy.mode == .cacheOnly { return [.refuse(.cacheOnly)] }
        return control.onlyIfCached ? [.refuse(.onlyIfCached)] : [.send(load(.policy).withoutFallback)]
    }

    /// A load of what could have been answered from the cache: conditional where it can be.
    private func ask(about stored: CachedResponse, mayFallBack: Bool) -> CacheExchange {
        let exchange = validation(of: stored, .policy) ?? load(.policy)
        return mayFallBack ? exchange : exchange.withoutFallback
    }
}
