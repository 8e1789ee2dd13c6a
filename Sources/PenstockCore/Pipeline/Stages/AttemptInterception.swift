/// Runs one of the app's interceptors around each attempt, and holds it to calling `next` exactly once.
struct AttemptInterception: Stage {
    static let name = StageName.attemptInterception

    let interceptor: any Interceptor

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        if call.settings.skippedInterceptors.contains(interceptor) { return try await next(request) }
        let passage = Passage(limit: 1)
        let exchange = try await call.appCode(interceptor, stage: Self.name) {
            try await interceptor.intercept(request, call: call, next: next.through(passage))
        }
        guard passage.uses == 1 else { throw misuse("called next \(passage.uses) times; once is the rule") }
        return passage.out(exchange)
    }

    private func misuse(_ what: String) -> APIError {
        APIError(.blocked(reason: "the attempt interceptor \(type(of: interceptor)) \(what)"), stage: Self.name)
    }
}
