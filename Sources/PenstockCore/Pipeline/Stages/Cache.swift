import Foundation

/// Answers from what is stored, asks the server about it, and notes what may be stored (RFC 9111). A class, since every request
/// at the cache holds it.
final class Cache: Stage {
    static let name = StageName.cache

    let access: CacheAccess
    /// What the stage `Cookies` will add to a request, as cookies are credentials.
    let cookies: (any CookieStore)?
    /// Whether the service has a sealer.
    let seals: Bool
    let lane = CacheLane()

    init(access: CacheAccess, cookies: (any CookieStore)?, seals: Bool) {
        (self.access, self.cookies, self.seals) = (access, cookies, seals)
    }

    /// What becomes of a request.
    private enum Verdict: Sendable {
        /// It is none of the cache's business.
        case pass
        case answer(Exchange)
        case send(CacheHop, Boxed<CacheExchange>)
    }

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        switch try await decide(request, call, next) {
        case .pass: passed(try await next(sendable(request, call)), call)
        case .answer(let exchange): exchange
        case .send(let hop, let exchange): try await hop.send(exchange)
        }
    }

    /// Asks the store, and decides. A function of its own, so that a call that waits for the server keeps no room for what was
    /// looked at before.
    @inline(never)
    private func decide(
        _ request: HTTPRequest, _ call: CallContext, _ next: Next
    ) async throws(APIError) -> Verdict {
        // A new credential is for the one who has asked, and for now, by whatever method it is asked for.
        if call.renewsCredential { return .pass }
        var owner = owner(of: request, call)
        if owner.isLocked {
            try await access.unlockDigests(call)
            owner = self.owner(of: request, call)
        }
        guard var hop = CacheHop(request, call, next, self, owner) else { return .pass }
        if !hop.isFound { hop = try await hop.find() }
        if hop.isLocked { try await access.unlockDigests(call) }
        let steps = hop.plan()
        guard let hit = steps.first?.hit else { return try carryOut(steps, hop) }
        guard let stored = hop.place(of: hit.stored), let body = try await hop.body(for: hit, at: stored) else {
            // What was found is no longer there to be read.
            hop = hop.withoutHits()
            return try carryOut(hop.plan(), hop)
        }
        let isRefreshed = steps.contains { if case .refresh = $0 { true } else { false } }
        return try carryOut(steps, hop, hop.exchange(for: hit, at: stored, with: body, isRefreshed: isRefreshed))
    }

    private func owner(of request: HTTPRequest, _ call: CallContext) -> CacheOwner {
        access.owner(
            of: request, in: call.isolation, cookies?.field(for: call.cookieQuery(for: request), in: call.isolation))
    }

    /// - Parameter stored: the answer that the steps begin with, where they begin with one.
    private func carryOut(_ steps: [CacheStep], _ hop: CacheHop, _ stored: Exchange? = nil) throws(APIError) -> Verdict
    {
        for step in steps {
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
        return stored.map(Verdict.answer) ?? .pass
    }

    /// - Throws: ``APIError/Kind/cacheMiss`` for what is none of the cache's business, of a call that never sends.
    private func sendable(_ request: HTTPRequest, _ call: CallContext) throws(APIError) -> HTTPRequest {
        guard call.settings.cache.mode == .cacheOnly, !call.renewsCredential else { return request }
        throw APIError(.cacheMiss, stage: .cache, request: request, sendState: .unsent)
    }

    /// What is none of the cache's business may still make stored responses out of date.
    private func passed(_ exchange: Exchange, _ call: CallContext) -> Exchange {
        var exchange = exchange
        let hasWritten = !exchange.request.method.isSafe && (200...399).contains(exchange.response.status)
        exchange.leave(CacheSettlement(access, call.isolation.partition, hasWritten: hasWritten))
        return exchange
    }
}
