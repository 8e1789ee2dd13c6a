/// Answers from what is stored, asks the server about it, and notes what may be stored (RFC 9111).
struct Cache: Interceptor {
    let access: CacheAccess
    let lane = CacheLane()

    /// What there is to do once everything stored has been looked at.
    private enum Step: Sendable {
        case pass
        case answer(Exchange)
        case send(CacheHop, Boxed<CacheExchange>)
    }

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        switch try await look(request, call, next) {
        case .pass: try await next(request)
        case .answer(let exchange): exchange
        case .send(let hop, let exchange): try await hop.send(exchange)
        }
    }

    /// Not inlined: a call that waits for the server keeps no room for what was needed before.
    @inline(never)
    private func look(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws -> Step {
        guard var hop = await CacheHop.find(request, call, next, self) else { return .pass }
        while true {
            if let step = try await carryOut(hop.plan(), hop) { return step }
            // What was found is no longer there to be read.
            hop = hop.withoutHits()
        }
    }

    /// - Returns: `nil` when a stored body could not be read.
    @inline(__always)
    private func carryOut(_ plan: CachePlan, _ hop: CacheHop) async throws -> Step? {
        var answer: Exchange?
        for step in plan.steps {
            switch step {
            case .deliver(let hit):
                guard let stored = try await hop.exchange(for: hit) else { return nil }
                answer = stored
            case .refresh(let exchange):
                // Nobody decodes what is streamed, so that it cannot be refreshed apart from its reader.
                if hop.call.isRefresh || hop.call.streams { return .send(hop, Boxed(exchange)) }
                answer?.cache?.wantsRefresh = true
            case .send(let exchange):
                if let answer { hop.call.cached(answer) }
                return .send(hop, Boxed(exchange))
            case .refuse(let reason):
                return .answer(try hop.refuse(reason))
            }
        }
        return answer.map(Step.answer)
    }
}
