/// The same for the payload itself, as it came: `let page: Payload = try await client.get("/page")`. An output that nobody names
/// is none of these, but nothing.
extension APIClient {
    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` for a ``Payload``: what the envelope holds.
    @_disfavoredOverload
    public func send(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main,
        as type: Payload.Type = Payload.self, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Payload {
        let endpoint = AdHocEndpoint(
            Route(method, path), service: service, parameters: parameters, placement: placement, body: body,
            headers: headers,
            decoding: .payload)
        return try await send(endpoint, options: options, in: scope)
    }

    /// ``start(path:method:parameters:placement:body:headers:service:as:options:in:)`` for a ``Payload``.
    @_disfavoredOverload
    @discardableResult
    public func start(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main,
        as type: Payload.Type = Payload.self, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<Payload> {
        let endpoint = AdHocEndpoint(
            Route(method, path), service: service, parameters: parameters, placement: placement, body: body,
            headers: headers,
            decoding: .payload)
        return start(endpoint, options: options, in: scope)
    }

    /// ``start(path:method:parameters:placement:body:headers:service:as:options:in:completion:)`` for a ``Payload``.
    @_disfavoredOverload
    @discardableResult
    public func start(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Payload.Type = Payload.self, options: CallOptions = .init(),
        in scope: CallScope? = nil, completion: @escaping CallCompletion<Payload>
    ) -> Call<Payload> {
        start(
            path: path, method: method, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service, as: type, options: options, in: scope
        ).onResult(completion)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` of a ``Payload`` by GET.
    @_disfavoredOverload
    public func get(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Payload.Type = Payload.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Payload {
        try await send(
            path: path, method: .get, parameters: parameters, placement: placement, headers: headers, service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` of a ``Payload`` by POST.
    @_disfavoredOverload
    public func post(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Payload.Type = Payload.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Payload {
        try await send(
            path: path, method: .post, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` of a ``Payload`` by PUT.
    @_disfavoredOverload
    public func put(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Payload.Type = Payload.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Payload {
        try await send(
            path: path, method: .put, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` of a ``Payload`` by PATCH.
    @_disfavoredOverload
    public func patch(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Payload.Type = Payload.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Payload {
        try await send(
            path: path, method: .patch, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` of a ``Payload`` by DELETE.
    @_disfavoredOverload
    public func delete(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Payload.Type = Payload.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Payload {
        try await send(
            path: path, method: .delete, parameters: parameters, placement: placement, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }
}
