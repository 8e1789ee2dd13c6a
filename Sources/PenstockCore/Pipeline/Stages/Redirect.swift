/// Follows redirects, so that every hop passes the stages below for its own origin (RFC 9110 §15.4).
struct Redirect: Stage {
    static let name = StageName.redirect

    let cookies: (any CookieStore)?

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        guard call.settings.redirects.isFollowing else { return try await next(request) }
        let next = next.discarding(RedirectPolicy.leadsOn)
        let exchange = try await next(request)
        guard (300..<400).contains(exchange.response.status) else { return exchange }
        return try await follow(exchange, of: request, call, next)
    }

    private func follow(
        _ first: Exchange, of request: HTTPRequest, _ call: CallContext, _ next: Next
    ) async throws(APIError) -> Exchange {
        let policy = call.settings.redirects
        var exchange = first
        var current = request
        // What the first response set is in the store by now; what went with its request stands in the request.
        var visited = [RedirectHop(request.method, request.url, cookies: exchange.request.fields.values(of: .cookie))]
        while true {
            if call.settings.keepsMethod, RedirectPolicy.makesGet(of: current, status: exchange.response.status) {
                return exchange
            }
            let decision = policy.decide(on: exchange.response, to: current, visited: visited) { url in
                cookies?.field(for: CookieQuery(url, initiator: request.url), in: call.isolation)
            }
            switch decision {
            case .answer:
                return exchange
            case .refuse(let reason):
                exchange.content?.discard()
                throw APIError(
                    .blocked(reason: "the redirect is refused: \(reason)"), stage: .redirect, request: exchange.request,
                    response: exchange.response)
            case .follow(let hop):
                exchange.content?.discard()
                call.redirected(status: exchange.response.status, from: current.url, to: hop.url)
                call.initiate(by: request.url)
                let query = CookieQuery(hop.url, initiator: request.url)
                visited.append(RedirectHop(hop, cookies: cookies?.field(for: query, in: call.isolation)))
                current = hop
                exchange = try await next(hop).after(exchange)
            }
        }
    }
}

extension Exchange {
    /// The exchange with what is to be settled of the redirect that led to it.
    fileprivate func after(_ redirect: Exchange) -> Exchange {
        var exchange = self
        let left = redirect.remains.settlements.map { Left(settlement: $0.settlement, isOfHop: true) }
        exchange.remains.settlements.insert(contentsOf: left, at: 0)
        return exchange
    }
}
