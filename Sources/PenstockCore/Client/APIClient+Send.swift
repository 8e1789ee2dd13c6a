extension APIClient {
    /// Sends an endpoint and gives its output. Cancelling the task closes the wire.
    ///
    /// However it waits, it ends at once when its task or its scope ends it, on ``cancelAll()``, and when its total time-out
    /// runs out.
    ///
    /// - Parameters:
    ///   - options: what this one call wants different.
    ///   - scope: ends the call when it goes.
    public func send<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> E.Output {
        try await response(for: endpoint, options: options, in: scope).value
    }

    /// Sends an endpoint and gives its output with everything it was made from.
    public func response<E: Endpoint>(
        for endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> APIResponse<E.Output> {
        try await begin(endpoint, .init(own: options, scope: scope)).response()
    }

    /// Gives a call its number and its settings, and enters it in the table.
    func begin<E: Endpoint>(_ endpoint: E, _ terms: ActiveCall<E>.Terms) -> ActiveCall<E> {
        ActiveCall(endpoint, .endpoint, terms, of: self)
    }
}
