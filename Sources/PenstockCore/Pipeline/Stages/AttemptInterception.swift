/// Runs one of the app's interceptors around each attempt, and holds it to calling `next` exactly once.
struct AttemptInterception: Interceptor {
    let interceptor: any Interceptor

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await call.stage(.interceptor) {
            let gate = Gate()
            let guarded = Next(stages: [OneTime(gate: gate, next: next)], call: call)
            var exchange = try await call.appCode(interceptor) {
                try await interceptor.intercept(request, call: call, next: guarded)
            }
            guard gate.uses == 1 else { throw misuse("called next \(gate.uses) times; once is the rule") }
            // An interceptor may make a new exchange; what went to the wire stays what it was.
            if let sent = gate.sent { exchange.sentRequest = sent }
            return exchange
        }
    }

    private func misuse(_ what: String) -> APIError {
        APIError(.blocked(reason: "the attempt interceptor \(type(of: interceptor)) \(what)"), stage: .interceptor)
    }

    private final class Gate: Sendable {
        private let count = Locked(0)
        private let request = Locked<HTTPRequest?>(nil)

        var uses: Int { count.withLock { $0 } }
        /// The request as it went to the wire.
        var sent: HTTPRequest? { request.withLock { $0 } }

        func note(sent: HTTPRequest) { request.withLock { $0 = sent } }

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
            let exchange = try await next(request)
            gate.note(sent: exchange.sentRequest)
            return exchange
        }
    }
}
