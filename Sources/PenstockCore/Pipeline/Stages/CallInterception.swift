/// Runs one of the app's interceptors around the whole call.
struct CallInterception: Stage {
    static let name = StageName.callInterception

    let interceptor: any Interceptor

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        if call.settings.skippedInterceptors.contains(interceptor) { return try await next(request) }
        let passage = Passage()
        let exchange = try await call.appCode(interceptor, stage: Self.name) {
            try await interceptor.intercept(request, call: call, next: next.through(passage))
        }
        return passage.out(exchange)
    }
}
