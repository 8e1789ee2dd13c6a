import Foundation

/// One request at the cache: what is stored for it, and what has been decided about it. A class, so that what waits for
/// the server holds one reference.
final class CacheHop: Sendable {
    private let stage: Cache
    let call: CallContext
    let next: Next
    let query: CacheQuery
    let stored: [StoredResponse]
    /// Where ``stored`` came from.
    let source: ResponseSource
    let ticket: CacheChanges.Ticket

    private init(
        _ stage: Cache, _ call: CallContext, _ next: Next, _ query: CacheQuery, _ stored: [StoredResponse],
        _ source: ResponseSource, _ ticket: CacheChanges.Ticket
    ) {
        self.stage = stage
        self.call = call
        self.next = next
        self.query = query
        self.stored = stored
        self.source = source
        self.ticket = ticket
    }

    var access: CacheAccess { stage.access }
    var lane: CacheLane { stage.lane }

    /// `nil` when the request is none of the cache's business.
    @inline(__always)
    static func find(
        _ request: HTTPRequest, _ call: CallContext, _ next: Next, _ stage: Cache
    ) async -> CacheHop? {
        let policy = call.settings.cache
        if policy.mode == .networkOnly, request.method.isSafe, !request.fields.contains(.cacheControl) { return nil }
        guard let key = CacheKey(request, partition: call.partition, policy: policy) else { return nil }
        let access = stage.access
        let ticket = access.ticket(for: key)
        let isRead = request.method == .get || request.method == .head || policy.isRead
        var source = ResponseSource.memory
        var stored: [StoredResponse] = []
        if isRead, !policy.isOff {
            if let atHand = access.store.responsesAtHand(for: key) {
                stored = atHand
            } else {
                stored = await access.store.responses(for: key)
                source = .disk
            }
        }
        let query = CacheQuery(request, key: key, candidates: stored.map(\.response), policy: policy)
        return CacheHop(stage, call, next, query, stored, source, ticket)
    }

    /// The same with nothing stored.
    func withoutHits() -> CacheHop {
        let query = CacheQuery(query.request, key: query.key, candidates: [], policy: query.policy)
        return CacheHop(stage, call, next, query, [], source, ticket)
    }

    func plan() -> CachePlan {
        let plan = query.plan(now: call.time.date())
        if let first = plan.steps.first { call.emit(.cacheDecided(plan.reason, CacheStatus(of: first))) }
        return plan
    }

    func refuse(_ reason: CacheReason) throws(APIError) -> Exchange {
        guard reason == .onlyIfCached else {
            throw APIError(.cacheMiss, stage: .cache, request: query.request)
        }
        // RFC 9111 §5.2.1.7.
        let response = HTTPResponse(status: 504, fields: [.contentLength: "0"])
        var exchange = Exchange(request: query.request, response: response, source: .memory)
        exchange.cache = Boxed(CacheRecord(status: CacheStatus(.refuse(reason))))
        return exchange
    }

    /// Where a stored response is in the store.
    func place(of response: CachedResponse) -> StoredResponse? {
        stored.first { $0.response.variant == response.variant }
    }
}

extension CacheStatus {
    /// How the first step of a plan is told.
    fileprivate init(of step: CachePlan.Step) {
        switch step {
        case .deliver(let hit): self.init(hit)
        case .send(let exchange), .refresh(let exchange): self.init(exchange)
        case .refuse(let reason): self.init(.refuse(reason))
        }
    }
}
