extension APIClient {
    /// Sends an API that is named where it is called: the one central entry, for those who work that way.
    ///
    /// ```swift
    /// let user: User = try await client.send(path: "/user/login", method: .post, parameters: ["account": "alice"])
    /// let image: Data = try await client.send(path: "/users/7/image")
    /// let text: String = try await client.send(path: "/terms")
    /// ```
    ///
    /// As for an ``Endpoint``, `Data` is the bytes, `String` the text, and ``Payload`` what the envelope holds as it came, and every other output
    /// a model from JSON.
    public func send<Output: Decodable & Sendable>(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main,
        as type: Output.Type = Output.self, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        let endpoint = AdHocEndpoint(
            Route(method, path), service: service, parameters: parameters, placement: placement, body: body,
            headers: headers,
            decoding: ResponseDecoding<Output>.standard)
        return try await send(endpoint, options: options, in: scope)
    }

    /// The same for an API that gives nothing back: the call succeeds or throws.
    public func send(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) {
        let endpoint = AdHocEndpoint(
            Route(method, path), service: service, parameters: parameters, placement: placement, body: body,
            headers: headers,
            decoding: ResponseDecoding<Void>.nothing)
        try await send(endpoint, options: options, in: scope)
    }

    /// Starts a call of an API that is named where it is called, and gives its handle at once.
    ///
    /// ```swift
    /// client.start(path: "/users/7", as: User.self, in: page).onResult { result in show(result) }
    /// ```
    @discardableResult
    public func start<Output: Decodable & Sendable>(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main,
        as type: Output.Type = Output.self, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<Output> {
        let endpoint = AdHocEndpoint(
            Route(method, path), service: service, parameters: parameters, placement: placement, body: body,
            headers: headers,
            decoding: ResponseDecoding<Output>.standard)
        return start(endpoint, options: options, in: scope)
    }

    /// The same for an API that gives nothing back.
    @discardableResult
    public func start(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<Void> {
        let endpoint = AdHocEndpoint(
            Route(method, path), service: service, parameters: parameters, placement: placement, body: body,
            headers: headers,
            decoding: ResponseDecoding<Void>.nothing)
        return start(endpoint, options: options, in: scope)
    }
}

extension APIClient {
    /// Starts a call of an API that is named where it is called, and delivers its result to a closure on the main actor, as
    /// ``start(_:options:in:completion:)`` does.
    ///
    /// ```swift
    /// client.start(path: "/users/7", as: User.self, in: page) { result in show(result) }
    /// ```
    @discardableResult
    public func start<Output: Decodable & Sendable>(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil, completion: @escaping CallCompletion<Output>
    ) -> Call<Output> {
        start(
            path: path, method: method, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service, as: type, options: options, in: scope
        ).onResult(completion)
    }

    /// The same for an API that gives nothing back.
    @discardableResult
    public func start(
        path: RoutePath, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping CallCompletion<Void>
    ) -> Call<Void> {
        start(
            path: path, method: method, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service, options: options, in: scope
        ).onResult(completion)
    }
}

// MARK: Verbs

extension APIClient {
    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` by GET.
    public func get<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Output.Type = Output.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try await send(
            path: path, method: .get, parameters: parameters, placement: placement, headers: headers, service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:options:in:)`` by GET.
    public func get(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:], service: ServiceID = .main, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) {
        try await send(
            path: path, method: .get, parameters: parameters, placement: placement, headers: headers, service: service,
            options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` by POST.
    public func post<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Output.Type = Output.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try await send(
            path: path, method: .post, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:options:in:)`` by POST.
    public func post(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) {
        try await send(
            path: path, method: .post, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` by PUT.
    public func put<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Output.Type = Output.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try await send(
            path: path, method: .put, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:options:in:)`` by PUT.
    public func put(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) {
        try await send(
            path: path, method: .put, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` by PATCH.
    public func patch<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Output.Type = Output.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try await send(
            path: path, method: .patch, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:options:in:)`` by PATCH.
    public func patch(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none,
        headers: HeaderEdits = [:], service: ServiceID = .main, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) {
        try await send(
            path: path, method: .patch, parameters: parameters, placement: placement, body: body, headers: headers,
            service: service,
            options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:as:options:in:)`` by DELETE.
    public func delete<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:], service: ServiceID = .main, as type: Output.Type = Output.self,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try await send(
            path: path, method: .delete, parameters: parameters, placement: placement, headers: headers,
            service: service,
            as: type, options: options, in: scope)
    }

    /// ``send(path:method:parameters:placement:body:headers:service:options:in:)`` by DELETE.
    public func delete(
        _ path: RoutePath, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:], service: ServiceID = .main, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) {
        try await send(
            path: path, method: .delete, parameters: parameters, placement: placement, headers: headers,
            service: service,
            options: options, in: scope)
    }
}
