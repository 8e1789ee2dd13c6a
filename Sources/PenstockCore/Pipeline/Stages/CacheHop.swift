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
    let ticket: CacheAccess.Ticket
    /// Whose the request is, as far as it can be seen above the stages that send it.
    let owner: CacheOwner

    /// Whether the store has said what it has.
    let isFound: Bool

    private init(
        _ hop: CacheHop, _ query: CacheQuery, _ stored: [StoredResponse], _ source: ResponseSource
    ) {
        (stage, call, next, ticket, owner) = (hop.stage, hop.call, hop.next, hop.ticket, hop.owner)
        (self.query, self.stored, self.source) = (query, stored, source)
        isFound = true
    }

    /// A hop with what the store has at hand. `nil` when the request is none of the cache's business.
    init?(_ request: HTTPRequest, _ call: CallContext, _ next: Next, _ stage: Cache, _ owner: CacheOwner) {
        let policy = call.settings.cache
        if policy.mode == .networkOnly, request.method.isSafe, !request.fields.contains(.cacheControl) { return nil }
        var partition = call.isolation.partition
        partition.isSealed = call.settings.sealing.seals(byDefault: stage.seals)
        guard
            let key = CacheKey(
                request, partition: partition, policy: policy, credentialDigest: owner.credentialDigest)
        else { return nil }
        (self.stage, self.call, self.next, self.owner) = (stage, call, next, owner)
        ticket = stage.access.ticket(for: key)
        let isRead = request.method == .get || request.method == .head || policy.isRead
        let atHand = isRead && !policy.isOff ? stage.access.store.responsesAtHand(for: key) : []
        isFound = atHand != nil
        stored = atHand ?? []
        source = .memory
        query = CacheQuery(
            request, key: key, candidates: stored.map(\.response), policy: policy, discards: next.discards,
            stage.access.digests)
    }

    var access: CacheAccess { stage.access }
    var lane: CacheLane { stage.lane }

    /// Whether something was found that was chosen by a credential, while the key of the digests is not known.
    var isLocked: Bool { query.candidates.contains { $0.variant.holdsDigest } && !access.digests.isUnlocked }

    /// Asks for the key of the digests where it is needed to tell which variant a response is.
    @inline(__always)
    func unlockDigests(for response: HTTPFields) async {
        guard CacheVariant.needsKey(response, query.request.fields), !access.digests.isUnlocked else { return }
        await access.unlockDigests(behind: call)
    }

    /// The same with what the store finds.
    @inline(never)
    func find() async throws(APIError) -> CacheHop {
        let stored = try await access.responses(for: query.key, call)
        return CacheHop(self, query.among(stored.map(\.response)), stored, .disk)
    }

    /// The same with nothing stored.
    func withoutHits() -> CacheHop {
        CacheHop(self, query.among([]), [], source)
    }

    func plan() -> [CacheStep] {
        let steps = query.plan(now: call.time.date())
        if call.interest >= .calls, let first = steps.first {
            call.emit(.cacheDecided(first.reason, CacheStatus(first)))
        }
        return steps
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
