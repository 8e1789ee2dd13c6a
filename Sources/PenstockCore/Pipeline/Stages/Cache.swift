import Foundation

/// Answers from what is stored, asks the server about it, and notes what may be stored (RFC 9111).
struct Cache: Stage {
    static let name = StageName.cache

    let access: CacheAccess
    /// What the stage `Cookies` will add to a request, as cookies are credentials.
    let cookies: (any CookieStore)?
    /// Whether the service has a sealer.
    let seals: Bool
    let lane = CacheLane()

    /// What there is to do next.
    private enum Move: Sendable {
        case pass
        case answer(Exchange)
        case send(CacheHop, Boxed<CacheExchange>)
        /// The request has credentials, and the store has not given the key of their digests yet.
        case unlock(Boxed<Waiting>)
        /// Nothing is decided before the store has been asked.
        case find(CacheHop)
        /// The answer needs a body that is not at hand.
        case read(CacheReading)

        var readsStore: Bool {
            switch self {
            case .pass, .answer, .send: false
            case .unlock, .find, .read: true
            }
        }
    }

    /// What is needed to begin once the key of the digests is there.
    private struct Waiting: Sendable {
        let request: HTTPRequest
        let call: CallContext
        let next: Next
    }

    /// Only what waits is asynchronous, and what waits for the store is a function of its own: a call that waits for the
    /// server keeps no room for what was looked at before.
    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        var move = try begin(request, call, next)
        while move.readsStore { move = try await read(move) }
        switch move {
        case .answer(let exchange): return exchange
        case .send(let hop, let exchange): return try await hop.send(exchange)
        default: return passed(try await next(request), call)
        }
    }

    private func field(for request: HTTPRequest, _ call: CallContext) -> String? {
        cookies?.field(for: call.cookieQuery(for: request), in: call.isolation)
    }

    /// What is none of the cache's business may still make stored responses out of date.
    @inline(never)
    private func passed(_ exchange: Exchange, _ call: CallContext) -> Exchange {
        var exchange = exchange
        exchange.leave(CacheSettlement(access, call.isolation.partition))
        return exchange
    }

    @inline(never)
    private func read(_ move: Move) async throws(APIError) -> Move {
        switch move {
        case .unlock(let waiting): try await begin(waiting)
        case .find(let hop): try follow(try await hop.find())
        case .read(let reading): try goOn(reading, await reading.body())
        default: move
        }
    }

    @inline(never)
    private func begin(_ request: HTTPRequest, _ call: CallContext, _ next: Next) throws(APIError) -> Move {
        let owner = access.owner(of: request, in: call.isolation, field(for: request, call))
        if owner.isLocked { return .unlock(Boxed(Waiting(request: request, call: call, next: next))) }
        return try begin(request, call, next, owner)
    }

    private func begin(_ waiting: Boxed<Waiting>) async throws(APIError) -> Move {
        let (request, call) = (waiting.value.request, waiting.value.call)
        try await access.unlockDigests(call)
        let owner = access.owner(of: request, in: call.isolation, field(for: request, call))
        return try begin(request, call, waiting.value.next, owner)
    }

    private func begin(
        _ request: HTTPRequest, _ call: CallContext, _ next: Next, _ owner: CacheOwner
    ) throws(APIError) -> Move {
        guard let hop = CacheHop(request, call, next, self, owner) else { return .pass }
        return hop.isFound ? try follow(hop) : .find(hop)
    }

    @inline(never)
    private func follow(_ hop: CacheHop) throws(APIError) -> Move {
        let plan = hop.plan()
        guard case .deliver(let hit)? = plan.steps.first else { return try carryOut(plan, hop, nil) }
        guard let stored = hop.place(of: hit.stored) else { return try follow(hop.withoutHits()) }
        guard let body = try hop.bodyAtHand(for: hit, at: stored) else {
            return .read(CacheReading(hit, stored, plan, hop))
        }
        return try carryOut(plan, hop, hop.exchange(for: hit, at: stored, with: body, isRefreshed: plan.refreshes))
    }

    @inline(never)
    private func goOn(_ reading: CacheReading, _ body: Data?) throws(APIError) -> Move {
        let hop = reading.hop
        // What was found is no longer there to be read.
        guard let body else { return try follow(hop.withoutHits()) }
        let (plan, hit) = (reading.plan, reading.hit)
        let answer = hop.exchange(for: hit, at: reading.stored, with: body, isRefreshed: plan.refreshes)
        return try carryOut(plan, hop, answer)
    }

    /// - Parameter stored: the answer that the plan begins with, where it begins with one.
    private func carryOut(_ plan: CachePlan, _ hop: CacheHop, _ stored: Exchange?) throws(APIError) -> Move {
        for step in plan.steps {
            switch step {
            case .deliver:
                continue
            case .refresh(let exchange):
                // Nobody decodes what is streamed, so that it cannot be refreshed apart from its reader.
                if hop.call.isRefresh || hop.call.streams { return .send(hop, Boxed(exchange)) }
            case .send(let exchange):
                if let stored { hop.call.cached(stored) }
                return .send(hop, Boxed(exchange))
            case .refuse(let reason):
                return .answer(try hop.refuse(reason))
            }
        }
        guard let answer = stored else { return .pass }
        return .answer(answer)
    }
}

/// A stored response that is the answer once its body has been read. A class, so that the stage keeps one reference while
/// it waits.
final class CacheReading: Sendable {
    let hit: CacheHit
    let stored: StoredResponse
    let plan: CachePlan
    let hop: CacheHop

    init(_ hit: CacheHit, _ stored: StoredResponse, _ plan: CachePlan, _ hop: CacheHop) {
        (self.hit, self.stored, self.plan, self.hop) = (hit, stored, plan, hop)
    }

    func body() async throws(APIError) -> Data? {
        try await hop.body(for: hit, at: stored)
    }
}

extension CachePlan {
    /// Whether the answer is to be refreshed behind the caller's back.
    fileprivate var refreshes: Bool {
        steps.contains { if case .refresh = $0 { true } else { false } }
    }
}
