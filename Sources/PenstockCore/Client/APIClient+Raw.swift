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
        _ request: HTTPRequest, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> APIResponse<Data> {
        let terms = ActiveCall<RawRequest>.Terms(own: options, scope: scope)
        return try await ActiveCall(RawRequest(method: request.method), .raw(request), terms, of: self).response()
    }

    /// A raw request with what every request of this client carries.
    func completed<E: Endpoint>(_ request: HTTPRequest, for call: ActiveCall<E>) throws(APIError) -> HTTPRequest {
        try call.context.stage(.prepare) { () throws(APIError) in
            var fields = commonFields()
            configuration.options.headers.apply(to: &fields)
            if let contentType = request.body.contentType { fields[.contentType] = contentType }
            fields.merge(request.fields)
            call.own.headers.apply(to: &fields)
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
    var options: CallOptions { .with { $0.status = .any } }
}

extension ServiceID {
    /// Of calls that belong to no service.
    static let unnamed: ServiceID = "none"
}
