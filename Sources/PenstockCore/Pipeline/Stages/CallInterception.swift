/// Runs one of the app's interceptors around the whole call.
struct CallInterception: Interceptor {
    let interceptor: any Interceptor

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await call.stage(.interceptor) {
            try await call.appCode(interceptor) { try await interceptor.intercept(request, call: call, next: next) }
        }
    }
}
