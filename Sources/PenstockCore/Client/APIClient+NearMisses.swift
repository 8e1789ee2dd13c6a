/// What does not compile and is likely to be written, with a word on what to write in its place. None of it is considered
/// while there is anything else that fits.
extension APIClient {
    /// JSON of no type of the app's own is a ``JSONValue``.
    @available(*, unavailable, message: "JSON of no type of yours is a JSONValue, which has object, array and string")
    @_disfavoredOverload
    public func get(
        _ path: RoutePath, parameters: ParameterObject? = nil, headers: HeaderEdits = [:], service: ServiceID = .main,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> [String: Any] {
        [:]
    }

    /// JSON of no type of the app's own is a ``JSONValue``.
    @available(*, unavailable, message: "JSON of no type of yours is a JSONValue, which has object, array and string")
    @_disfavoredOverload
    public func post(
        _ path: RoutePath, parameters: ParameterObject? = nil, headers: HeaderEdits = [:], service: ServiceID = .main,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> [String: Any] {
        [:]
    }
}

/// Paths that are texts.
extension APIClient {
    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public func get<Output: Decodable & Sendable>(
        _ path: String, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public func post<Output: Decodable & Sendable>(
        _ path: String, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public func put<Output: Decodable & Sendable>(
        _ path: String, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public func patch<Output: Decodable & Sendable>(
        _ path: String, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public func delete<Output: Decodable & Sendable>(
        _ path: String, parameters: ParameterObject? = nil, placement: ParameterPlacement = .automatic,
        headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public func send<Output: Decodable & Sendable>(
        path: String, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    @discardableResult
    public func start<Output: Decodable & Sendable>(
        path: String, method: HTTPMethod = .get, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) -> Call<Output> {
        start(path: RoutePath(literal: path), as: type)
    }
}

/// Parameters that are dictionaries or models.
extension APIClient {
    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    public func get<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: Any, placement: ParameterPlacement = .automatic, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    public func post<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: Any, placement: ParameterPlacement = .automatic, body: HTTPBody = .none,
        headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    public func put<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: Any, placement: ParameterPlacement = .automatic, body: HTTPBody = .none,
        headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    public func patch<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: Any, placement: ParameterPlacement = .automatic, body: HTTPBody = .none,
        headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    public func delete<Output: Decodable & Sendable>(
        _ path: RoutePath, parameters: Any, placement: ParameterPlacement = .automatic, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    public func send<Output: Decodable & Sendable>(
        path: RoutePath, method: HTTPMethod = .get, parameters: Any, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) async throws(APIError) -> Output {
        try unavailable()
    }

    /// A dictionary is made a ``ParameterObject``, and a model is sent by an endpoint.
    @available(
        *, unavailable,
        message:
            "parameters are a literal, or a ParameterObject(dictionary), and an object in one is [...] as ParameterObject; a model is sent by an endpoint that is Encodable, or as body: .json(encoding: model)"
    )
    @_disfavoredOverload
    @discardableResult
    public func start<Output: Decodable & Sendable>(
        path: RoutePath, method: HTTPMethod = .get, parameters: Any, placement: ParameterPlacement = .automatic,
        body: HTTPBody = .none, headers: HeaderEdits = [:],
        service: ServiceID = .main, as type: Output.Type = Output.self, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) -> Call<Output> {
        start(path: path, as: type)
    }
}

/// What no program gets to, since the compiler refuses whatever would call it.
private func unavailable<Value>() throws(APIError) -> Value {
    throw APIError(.invalidConfiguration(reason: "this call does not compile"), stage: .prepare)
}
