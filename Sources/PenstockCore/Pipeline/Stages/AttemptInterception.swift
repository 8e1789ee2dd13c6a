/// Runs one of the app's interceptors around each attempt, and holds it to calling `next` exactly once.
struct AttemptInterception: Interceptor {
    let interceptor: any Interceptor

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await call.stage(.interceptor) {
            let gate = Gate()
            let guarded = Next(stages: [OneTime(gate: gate, next: next)], call: call)
            let exchange = try await call.appCode(interceptor) {
                try await interceptor.intercept(request, call: call, next: guarded)
            }
            guard gate.uses == 1 else { throw misuse("called next \(gate.uses) times; once is the rule") }
            return exchange
        }
    }

    private func misuse(_ what: String) -> APIError {
        APIError(.blocked(reason: "the attempt interceptor \(type(of: interceptor)) \(what)"), stage: .interceptor)
    }

    private final class Gate: Sendable {
        private let count = Locked(0)

        var uses: Int { count.withLock { $0 } }

        func use() -> Int {
            count.withLock { value in
                value += 1
                return value
            }
        }
    }

    /// Lets the first call through and keeps the others off the wire.
    private struct OneTime: Interceptor {
        let gate: Gate
        let next: Next

        func intercept(_ request: HTTPRequest, call: CallContext, next _: Next) async throws -> Exchange {
            guard gate.use() == 1 else {
                throw APIError(.blocked(reason: "an attempt may be sent only once"), stage: .interceptor)
            }
            return try await next(request)
        }
    }
}
