/// What becomes of an exchange: the verdict, and the word of it to the stages.
extension ActiveCall: JudgingCall {
    /// The response of the call.
    @inline(__always)
    func response() async throws(APIError) -> APIResponse<E.Output> {
        try await run { () async throws(APIError) in try await self.path(self.judge) }
    }

    /// Makes the call's response of an exchange, and tells those who left something in it. Out of line: a call that waits
    /// for the wire keeps no room for its response.
    @inline(never)
    func judge(_ exchange: Exchange, of request: HTTPRequest) async throws(Rejection) -> APIResponse<E.Output> {
        let response: APIResponse<E.Output>
        do throws(APIError) {
            try refuse(exchange)
            response = try client.deliver(exchange, for: self)  // status → envelope → validate → decode
        } catch {
            throw await rejection(of: exchange, error, request)
        }
        await accept(exchange, request)  // what has passed is stored
        return response
    }

    /// Judges a streamed response by its head. One whose status is no success is collected and thrown.
    @inline(never)
    func judgeHead(_ exchange: Exchange, of request: HTTPRequest) async throws(Rejection) -> Exchange {
        guard !context.settings.status.accepts(exchange.response.status) || exchange.remains.isRefused else {
            await accept(exchange, request)
            return exchange
        }
        var failed = exchange
        do throws(APIError) {
            let reader = ContentReader(exchange, context) { $0 }
            failed.response.body = try await reader.collect(upTo: context.settings.limits.bodyBytes)
            failed.content = nil
            try refuse(failed)
            _ = try client.deliver(failed, for: self)
            return failed
        } catch {
            throw await rejection(of: failed, error, request)
        }
    }

    /// A response that says the credential is out of date is no answer, whatever statuses the call takes for one.
    private func refuse(_ exchange: Exchange) throws(APIError) {
        guard exchange.remains.isRefused else { return }
        throw APIError(
            .httpStatus(exchange.response.status), stage: .authenticate, request: exchange.request,
            response: exchange.response, sendState: .answered)
    }

    @inline(__always)
    private func accept(_ exchange: Exchange, _ request: HTTPRequest) async {
        for left in exchange.remains.settlements where !left.settlement.acceptedAtOnce(by: self, of: request) {
            await left.settlement.accepted(by: self, of: request)
        }
    }

    /// Only the answer itself has a say in a replay: that it was of no use says nothing about the redirects to it.
    func rejection(of exchange: Exchange, _ error: APIError, _ request: HTTPRequest) async -> Rejection {
        var replay: Replay?
        for left in exchange.remains.settlements {
            let offer = await left.settlement.rejected(error, by: self)
            if !left.isOfHop { replay = replay ?? offer }
        }
        let error = error.noting(exchange.retryRefusal)
        guard mayReplay(request), let replay else { return Rejection(error: error, replay: nil) }
        guard var obstacle = replay.obstacle else { return Rejection(error: error, replay: replay) }
        (obstacle.request, obstacle.response, obstacle.sendState) = (error.request, error.response, error.sendState)
        obstacle.judgement = error.judgement
        return Rejection(error: obstacle, replay: nil)
    }

    /// A request is made anew for the same user alone, and only where its body can be sent again.
    private func mayReplay(_ request: HTTPRequest) -> Bool {
        !context.isCancelled && request.body.isReplayable
            && client.configuration.identity().isWritten(as: context.isolation.identity)
    }

    // MARK: For those who settle

    var cacheTags: [String] { endpoint.cacheTags + context.settings.cacheTags }

    var invalidates: [CacheSelection] { endpoint.invalidates }

    func repeatInBackground(_ request: HTTPRequest, didEnd: @escaping @Sendable () -> Void) {
        let terms = CallTerms(own: own, isRefresh: true, origin: context)
        let again = ActiveCall(endpoint, .ready(request), terms, of: client)
        // Looked at only now that a sign-out finds the new one: neither can escape it.
        if context.isCancelled { again.context.end(.requested) }
        Task {
            _ = await Result { () async throws(APIError) in try await again.response() }
            didEnd()
        }
    }
}
