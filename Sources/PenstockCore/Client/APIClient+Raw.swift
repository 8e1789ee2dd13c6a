import Foundation

extension APIClient {
    /// Sends a request that is complete already to the URL it names: for tools, links that a server gave, and what no
    /// endpoint describes. It goes through the same stages as every call.
    ///
    /// ```swift
    /// let page = try await client.send(HTTPRequest(method: .get, url: try HTTPURL("https://example.com/")))
    /// print(page.http.status, page.data.count)
    /// ```
    ///
    /// It belongs to no service: the client's headers, options and interceptors apply, a service's do not. Common
    /// parameters, ``CallOptions/parameters`` and ``CallOptions/baseURL`` are left out, since the URL is given. Every status
    /// is an answer unless ``CallOptions/status`` of `options` says otherwise.
    ///
    /// - Parameters:
    ///   - request: its fields replace the client's of the same names.
    ///   - options: what this one call wants different; its headers are applied last.
    ///   - scope: ends the call when it goes.
    public func send(
        _ request: HTTPRequest, options: CallOptions? = nil, in scope: CallScope? = nil
    ) async throws(APIError) -> APIResponse<Data> {
        let runtime = ServiceRuntime(Service(.unnamed, [:]), configuration, transport, cache)
        let call = begin(RawRequest(method: request.method), options, in: scope, runtime: runtime)
        defer { call.leaveScope() }
        return try await perform(call) { () async throws(APIError) in
            let complete = try completed(request, for: call)
            let exchange = try await self.exchange(complete, for: call)
            return try await conclude(call, with: exchange, of: complete)
        }
    }

    private func completed(
        _ request: HTTPRequest, for call: ActiveCall<RawRequest>
    ) throws(APIError) -> HTTPRequest {
        try call.context.checkNotCancelled()
        return try call.context.stage(.prepare) { () throws(APIError) in
            var fields = commonFields()
            configuration.options.headers?.apply(to: &fields)
            fields.merge(request.fields)
            call.own?.headers?.apply(to: &fields)
            var request = request
            request.fields = fields
            return request
        }
    }
}

/// What events and interceptors see as the endpoint of a request that has none.
struct RawRequest: Endpoint {
    typealias Output = Data

    let method: HTTPMethod
    var route: Route { Route(method, "/") }
    var service: ServiceID { .unnamed }
    var envelope: EnvelopeChoice { .none }
    var options: CallOptions? { .with { $0.status = .any } }
}

extension ServiceID {
    /// Of calls that belong to no service.
    fileprivate static let unnamed: ServiceID = "none"
}
