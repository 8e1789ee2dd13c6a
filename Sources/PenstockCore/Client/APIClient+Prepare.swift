import Foundation

extension APIClient {
    /// Makes the request of a call: validate → common parameters → encode → URL, headers, body.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` where the app has got another user since the call began: common headers and parameters
    ///   are the present user's, and must not go with the credential and the cookies of the call's own.
    func prepare<E: Endpoint>(_ call: ActiveCall<E>) throws(APIError) -> HTTPRequest {
        let context = call.context
        try context.checkGoesOn(at: .prepare)
        try state.signOuts.check(context.isolation.identity)
        try checkEnvironment(of: call)
        let request: HTTPRequest
        switch call.making {
        case .endpoint: request = try assembled(call)
        case .raw(let raw): request = try completed(raw, for: call)
        // Everything in it was the user's own when it was made.
        case .ready(let request): return request
        case .frozen(let write): request = try thawed(write, for: call)
        }
        // Asked last, when nothing more is read of the present user.
        guard configuration.identity().isWritten(as: context.isolation.identity) else {
            throw APIError(
                .cancelled, stage: .prepare, debugMessage: "the user has changed since the call began",
                sendState: .unsent)
        }
        return request
    }

    private func assembled<E: Endpoint>(_ call: ActiveCall<E>) throws(APIError) -> HTTPRequest {
        let context = call.context
        let runtime = try call.runtime.get()
        if configuration.checksEndpoints { try EndpointCheck.check(call.endpoint, of: runtime.service) }
        try context.stage(.parameters) { () throws(APIError) in try E.parameterRules.check(call.endpoint) }
        let parameters = try context.stage(.commonParameters) { () throws(APIError) in
            try merged(call, runtime)
        }
        return try context.stage(.prepare) { () throws(APIError) in try made(call, runtime, parameters) }
    }

    /// The parameters of every level; `nil` when there are none.
    private func merged<E: Endpoint>(
        _ call: ActiveCall<E>, _ runtime: ServiceRuntime
    ) throws(APIError) -> ParameterValue? {
        do throws(ParameterEncodingError) {
            let called = call.resolved.settings.parameters
            let service = runtime.parameters.service.merging(over: runtime.service.parameters.read())
            let client = runtime.parameters.client.merging(over: configuration.parameters.read())
            let own = isInLink(call) ? nil : try ownParameters(of: call.endpoint)
            // Most calls that have no parameters of their own have none at all.
            if case Optional.none = own, called.isEmpty, service.isEmpty, client.isEmpty { return nil }
            return try ParameterLayers(call: called, endpoint: own, service: service, client: client).merged()
        } catch {
            throw APIError(error, stage: .parameters)
        }
    }

    /// Whether the URL that the call is sent to has the endpoint's own parameters already.
    private func isInLink<E: Endpoint>(_ call: ActiveCall<E>) -> Bool {
        guard let link = call.resolved.settings.link else { return false }
        if link.isPage { return true }
        let endpoint = call.endpoint
        return !endpoint.body.isNone || endpoint.placement.resolved(for: endpoint.route.method) == .query
    }

    private func ownParameters<E: Endpoint>(of endpoint: E) throws(ParameterEncodingError) -> ParameterValue? {
        if E.Parameters.self == NoParameters.self { return nil }
        let value = try ParameterEncoder().encode(endpoint.parameters)
        // Not `? nil : value`: there `nil` would be the literal for `.null`.
        if value.isNull { return nil }
        return value
    }

    private func made<E: Endpoint>(
        _ call: ActiveCall<E>, _ runtime: ServiceRuntime, _ parameters: ParameterValue?
    ) throws(APIError) -> HTTPRequest {
        let endpoint = call.endpoint
        let route = endpoint.route
        let isPage = call.resolved.settings.link?.isPage ?? false
        let method = isPage ? .get : route.method
        let content = try RequestContent(
            parameters, placement: isPage ? .query : endpoint.placement, method: method,
            body: isPage ? .none : endpoint.body, for: call.context)
        let url = try url(of: call, route.path, runtime, content.query)
        var fields = try commonFields(
            accepting: call.context.streams ? .anything : call.decoding.accepts(under: envelope(of: call)),
            for: call.context.settings.modelFormat.decoder)
        fields.merge(runtime.service.headers.read())
        if let contentType = content.type { fields[.contentType] = contentType }
        call.resolved.settings.headers.apply(to: &fields)
        return HTTPRequest(method: method, url: url, fields: fields, body: content.body)
    }

    /// What every request of this client carries until something closer to the call changes it.
    func commonFields(accepting media: AcceptedMedia = .anything, for decoder: (any ModelDecoder)? = nil) -> HTTPFields
    {
        var fields =
            switch media {
            case .json: Self.jsonFields
            case .text: Self.textFields
            case .anything: Self.anyFields
            }
        if media == .json, let decoder { fields[.accept] = decoder.mediaTypes }
        fields.merge(configuration.headers.read())
        return fields
    }

    // Made once each, since every call begins with one of them.
    private static let jsonFields = ownFields(.json)
    private static let textFields = ownFields(.text)
    private static let anyFields = ownFields(.anything)

    private static func ownFields(_ media: AcceptedMedia) -> HTTPFields {
        [.accept: media.value, .userAgent: UserAgent.standard]
    }

    /// Where the calls of a service go.
    func baseURL(
        of runtime: ServiceRuntime, _ options: ResolvedOptions, in environment: ServerEnvironment
    ) throws(APIError) -> HTTPURL {
        guard let base = options.settings.baseURL else { return try runtime.baseURL(in: environment) }
        return try runtime.service.parse(base.text, for: "this call")
    }

    /// Where a call goes: the same each time, also where the service names another base URL by then.
    func baseURL<E: Endpoint>(
        of call: ActiveCall<E>, _ runtime: ServiceRuntime
    ) throws(APIError) -> HTTPURL {
        let (options, environment) = (call.resolved, call.context.environment)
        guard runtime.service.baseURLs.isLive, options.settings.baseURL == nil else {
            return try baseURL(of: runtime, options, in: environment)
        }
        return try call.context.home { () throws(APIError) in try runtime.baseURL(in: environment) }
    }

    private func url<E: Endpoint>(
        of call: ActiveCall<E>, _ path: RoutePath, _ runtime: ServiceRuntime, _ query: String?
    ) throws(APIError) -> HTTPURL {
        let base = try baseURL(of: call, runtime)
        if let link = call.resolved.settings.link { return try link.url(of: runtime.service, at: base, query) }
        do throws(RoutePath.Invalid) {
            return try base.appending(path, query: query)
        } catch {
            throw APIError(error)
        }
    }
}

/// Parameters as text: the query, the body, and the body's media type.
struct RequestContent {
    private(set) var query: String?
    private(set) var body: HTTPBody
    private(set) var type: String?

    init(
        _ parameters: ParameterValue?, placement: ParameterPlacement, method: HTTPMethod, body: HTTPBody,
        for call: CallContext
    ) throws(APIError) {
        self.body = body
        type = body.contentType
        guard let parameters else { return }
        let place = body.isNone ? placement.resolved(for: method) : .query
        do throws(ParameterEncodingError) {
            switch try call.settings.encoding(place).encode(parameters) {
            case .query(let text):
                query = text.isEmpty ? nil : text
            case .body(let data, let contentType):
                self.body = .bytes(data)
                type = contentType
            }
        } catch {
            throw APIError(error, stage: .prepare)
        }
    }
}

extension ParameterPlacement {
    fileprivate func resolved(for method: HTTPMethod) -> ParameterPlacement {
        guard self == .automatic else { return self }
        return method.isSafe || method == .delete ? .query : .json
    }
}

extension CallSettings {
    fileprivate func encoding(_ placement: ParameterPlacement) -> ParameterEncoding {
        switch placement {
        case .json: .json(jsonFormat)
        case .form: .form(formFormat)
        case .query, .automatic: .query(formFormat)
        }
    }
}

extension APIError {
    fileprivate init(_ error: ParameterEncodingError, stage: StageName) {
        let field = error.path.isEmpty ? "parameters" : error.path.joined(separator: ".")
        self.init(.invalidParameter(field: field, reason: error.explanation), stage: stage, underlying: error)
    }

    fileprivate init(_ error: RoutePath.Invalid) {
        self.init(.invalidParameter(field: "path", reason: "\(error)"), stage: .prepare, underlying: error)
    }
}

/// A request that was made long ago, and for whom.
struct FrozenWrite: Sendable {
    let request: HTTPRequest
    /// Whether a call with this key is for the same user in the same environment.
    let isFor: @Sendable (IsolationKey) -> Bool
}

extension APIClient {
    /// A request that was kept, with what every request carries.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` where the call is made for another user or environment than the write.
    func thawed<E: Endpoint>(_ write: FrozenWrite, for call: ActiveCall<E>) throws(APIError) -> HTTPRequest {
        let runtime = try call.runtime.get()
        return try call.context.stage(.prepare) { () throws(APIError) in
            let isolation = call.context.isolation
            guard write.isFor(isolation) else {
                throw APIError(.cancelled, stage: .prepare, sendState: .unsent)
            }
            var fields = try commonFields(accepting: call.decoding.accepts(under: envelope(of: call)))
            fields.merge(runtime.service.headers.read())
            call.resolved.settings.headers.apply(to: &fields)
            fields.merge(write.request.fields)
            var request = write.request
            request.fields = fields
            return request
        }
    }
}

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
    /// parameters, ``CallOptions/parameters`` and ``CallOptions/baseURL`` are left out, since the URL is given, and
    /// ``CallOptions/at(_:)-swift.type.method-(HTTPURL)`` is refused. Every status is an answer unless ``CallOptions/status`` of
    /// `options` says otherwise.
    ///
    /// - Parameters:
    ///   - request: its fields replace the client's of the same names.
    ///   - options: what this one call wants different; its headers are applied last.
    ///   - scope: ends the call by ``CallScope/cancelAll()``. It cannot go meanwhile, since whoever waits holds it.
    public func send(
        _ request: HTTPRequest, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> APIResponse<Data> {
        let terms = CallTerms(own: options, scope: scope)
        return try await ActiveCall(RawRequest(method: request.method), .raw(request), terms, of: self).response()
    }

    /// A raw request with what every request of this client carries.
    func completed<E: Endpoint>(_ request: HTTPRequest, for call: ActiveCall<E>) throws(APIError) -> HTTPRequest {
        try call.context.stage(.prepare) { () throws(APIError) in
            guard call.resolved.settings.link == nil else {
                let reason = "the option .at(url) is for endpoints; a request of no service names its URL itself"
                throw APIError(.invalidConfiguration(reason: reason), stage: .prepare, sendState: .unsent)
            }
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
struct RawRequest: UntypedEndpoint {
    typealias Output = Data

    let method: HTTPMethod
    var route: Route { Route(method, "/") }
    var service: ServiceID { .unnamed }
    var envelope: EnvelopeChoice { .none }
    var options: CallOptions { .with { $0.status = .any } }
}

extension ServiceID {
    /// The ID of calls that belong to no service.
    static let unnamed: ServiceID = "none"
}
