/// Answers from what is stored, asks the server about it, and notes what may be stored (RFC 9111).
struct Cache: Interceptor {
    let access: CacheAccess
    let lane = CacheLane()

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        guard var hop = await CacheHop.find(request, call, next, self) else { return try await next(request) }
        while true {
            if let answer = try await carryOut(hop.plan(), hop) { return answer }
            // What was found is no longer there to be read.
            hop = hop.withoutHits()
        }
    }

    /// - Returns: `nil` when a stored body could not be read.
    @inline(__always)
    private func carryOut(_ plan: CachePlan, _ hop: CacheHop) async throws -> Exchange? {
        var answer: Exchange?
        for step in plan.steps {
            switch step {
            case .deliver(let hit):
                guard let stored = try await hop.exchange(for: hit) else { return nil }
                answer = stored
            case .refresh(let exchange):
                // Nobody decodes what is streamed, so that it cannot be refreshed apart from its reader.
                if hop.call.isRefresh || hop.call.streams { return try await hop.send(exchange) }
                answer?.cache?.wantsRefresh = true
            case .send(let exchange):
                if let answer { hop.call.cached(answer) }
                return try await hop.send(exchange)
            case .refuse(let reason):
                return try hop.refuse(reason)
            }
        }
        return answer
    }
}
