/// Adds the cookies that belong to a request's origin and keeps those its response sets (RFC 6265).
struct Cookies: Stage {
    static let name = StageName.cookies

    let store: any CookieStore

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        let request = withCookies(request, call)
        let exchange = try await next(request)
        keepCookies(of: exchange, request, call)
        return exchange
    }

    @inline(never)
    private func withCookies(_ request: HTTPRequest, _ call: CallContext) -> HTTPRequest {
        guard let field = store.field(for: request.url, in: call.partition) else { return request }
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
        let set = exchange.response.fields.values(of: .setCookie)
        if !set.isEmpty { store.receive(set, from: request.url, in: call.partition) }
    }
}
