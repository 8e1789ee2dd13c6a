/// Adds the cookies that belong to a request's host, and keeps those that its response sets (RFC 6265bis §5.6 to §5.8).
struct Cookies: Stage {
    static let name = StageName.cookies
    /// How many cookies the redirects of one call may set in all.
    static let redirectLimit = 20

    let store: any CookieStore

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        let request = withCookies(request, call)
        let exchange = try await next(request)
        keepCookies(of: exchange, request, call)
        return exchange
    }

    @inline(never)
    private func withCookies(_ request: HTTPRequest, _ call: CallContext) -> HTTPRequest {
        guard let field = store.field(for: call.cookieQuery(for: request), in: call.isolation) else { return request }
        var request = request
        // One field in all (RFC 6265 §5.4): the app's own cookies stand in it too.
        let own = request.fields.values(of: .cookie)
        request.fields[.cookie] = (own + [field]).joined(separator: "; ")
        return request
    }

    @inline(never)
    private func keepCookies(of exchange: Exchange, _ request: HTTPRequest, _ call: CallContext) {
        // A call that was cancelled meanwhile may be that of a user who has signed out.
        guard !call.isCancelled else { return }
        var set = exchange.response.fields.values(of: .setCookie)
        if call.settings.redirects.isFollowing, RedirectPolicy.leadsOn(exchange.response) {
            set = admitted(set, request.url, call)
        }
        if !set.isEmpty { store.receive(set, from: request.url, in: call.isolation) }
    }

    /// The lines of a redirect that the call has room for, in their order, and all that delete something.
    private func admitted(_ lines: [String], _ url: HTTPURL, _ call: CallContext) -> [String] {
        let now = call.time.date()
        return lines.filter { line in
            guard let cookie = Cookie(setCookie: line, from: url, at: now) else { return false }
            return cookie.isExpired(at: now) || call.countCookie(upTo: Self.redirectLimit)
        }
    }
}
