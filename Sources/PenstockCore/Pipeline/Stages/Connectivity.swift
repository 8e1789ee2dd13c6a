/// Lets a call that found no way to its server wait until the machine has a way to other networks, where the call says so.
///
/// Every call is sent first: only the attempt shows whether there is a way. It waits when nothing of it was sent, the way was
/// missing, and the machine knows that it has none (``ConnectivityRule``).
struct Connectivity: Stage {
    static let name = StageName.connectivity

    let reachability: Reachability
    let origins: OriginTable

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        let wait = call.settings.waitsForConnectivity
        // Others wait for what renews a credential, and each of them waits for the way by itself.
        guard wait.isWaiting, !call.renewsCredential else { return try await next(request) }
        let end = wait.limit.map { call.time.now() + $0 }
        while true {
            do throws(APIError) {
                return try await next(request)
            } catch {
                let cause = error.withoutCredential
                guard case .unreachable(let way) = cause.kind,
                    ConnectivityRule.waits(after: cause.kind, cause.sendState, given: reachability.status)
                else { throw error }
                let began = call.time.now()
                guard await waitUntilReachable(before: end, call) else { throw ended(call, with: error) }
                call.state.withLock { [now = call.time.now()] in $0.foundWay = now }
                // Counted, so that retries have less to spend, and not refused: the server has seen nothing of it, and an app that
                // comes out of a tunnel must not lose the calls that waited for that.
                let reason = RetryReason.unreachable(way)
                let origin = request.url.origin
                _ = origins.withdraw(reason.cost(isHinted: false), for: origin)
                let waited = call.time.now() - began
                call.emit(.retried(after: waited, reason: reason, budgetLeft: origins.budgetLeft(for: origin)))
            }
        }
    }

    /// Waits for a way, no longer than the call goes on.
    ///
    /// - Returns: whether there is one, and the call goes on.
    private func waitUntilReachable(before end: Duration?, _ call: CallContext) async -> Bool {
        while true {
            let waiting = Task { [changes = reachability.changes] in
                for await status in changes where status.isReachable { return }
            }
            let left = end.map { $0 - call.time.now() }
            await call.patiently(upTo: left) { await waiting.value }
            waiting.cancel()
            guard !call.isCancelled, !Task.isCancelled else { return false }
            if reachability.status?.isReachable != false { return true }
            // A way that came and went at once was none.
            let last = [end, call.deadline].compactMap(\.self).min()
            if let last, call.time.now() >= last { return false }
        }
    }

    /// The error that the call ends with when it has waited in vain.
    private func ended(_ call: CallContext, with error: APIError) -> APIError {
        if Task.isCancelled { return APIError(.cancelled, stage: Self.name) }
        guard let deadline = call.deadline, call.time.now() >= deadline else { return error }
        var error = error
        error.kind = .timeout(.total)
        return error
    }
}
