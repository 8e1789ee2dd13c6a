/// Adds the cookies that belong to a request's origin and keeps those its response sets (RFC 6265).
struct Cookies: Interceptor {
    let store: any CookieStore

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await call.stage(.cookies) {
            var request = request
            if let field = store.field(for: request.url, in: call.partition) {
                request.fields.append(field, for: .cookie)
            }
            let exchange = try await next(request)
            let set = exchange.response.fields.values(of: .setCookie)
            if !set.isEmpty { store.receive(set, from: request.url, in: call.partition) }
            return exchange
        }
    }
}
