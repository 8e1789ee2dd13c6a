extension APIClient {
    /// Sends an endpoint and gives its output. Cancelling the task closes the wire.
    ///
    /// - Parameters:
    ///   - options: what this one call wants different.
    ///   - scope: ends the call when it goes.
    public func send<E: Endpoint>(
        _ endpoint: E, options: CallOptions? = nil, in scope: CallScope? = nil
    ) async throws(APIError) -> E.Output {
        try await response(for: endpoint, options: options, in: scope).value
    }

    /// Sends an endpoint and gives its output with everything it was made from.
    public func response<E: Endpoint>(
        for endpoint: E, options: CallOptions? = nil, in scope: CallScope? = nil
    ) async throws(APIError) -> APIResponse<E.Output> {
        let call = begin(endpoint, options, in: scope)
        defer { call.leaveScope() }
        return try await perform(call)
    }

    /// The request path, from the business layer to the wire and back.
    @inline(__always)
    func path<E: Endpoint>(_ call: ActiveCall<E>) async throws(APIError) -> APIResponse<E.Output> {
        let request = try prepare(call)  // validate → common parameters → encode → URL, headers, body
        let exchange = try await exchange(request, for: call)  // the stages in Pipeline.swift, then the transport
        return try await conclude(call, with: exchange, of: request)
    }

    /// The last part of it. Out of line: a call that waits for the wire keeps no room for its response.
    @inline(never)
    func conclude<E: Endpoint>(
        _ call: ActiveCall<E>, with exchange: Exchange, of request: HTTPRequest
    ) async throws(APIError) -> APIResponse<E.Output> {
        let response = try await deliver(exchange, of: request, for: call)  // status → envelope → validate → decode
        await keep(response, of: call, request: request)  // what has passed is stored
        try succeed(call)
        return response
    }
}
