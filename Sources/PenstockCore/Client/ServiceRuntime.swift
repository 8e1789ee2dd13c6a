/// A service joined with the client that calls it: what is the same for all its calls, worked out once.
final class ServiceRuntime: Sendable {
    let service: Service
    /// The service's options over the client's, but for the parameters.
    let resolved: ResolvedOptions
    /// The parameters in the options of the service, and in those of the client.
    let parameters: (service: ParameterObject, client: ParameterObject)
    /// Whether it is in an environment that the client may not be switched to: none of its calls is made.
    let isAstray: Bool
    private let configuration: APIClient.Configuration
    private let state: SharedState
    private let pipeline: Pipeline
    /// The path of calls that are held against others of their kind; made for the first of them.
    private let heldPipeline = Once<Pipeline>()
    /// The base URL of the environment that was asked for last, which is nearly always the next one too.
    private let baseURL = Locked<(environment: ServerEnvironment, text: String?, url: HTTPURL)?>(nil)

    init(_ service: Service, _ configuration: APIClient.Configuration, _ state: SharedState, isAstray: Bool) {
        self.service = service
        self.isAstray = isAstray
        self.configuration = configuration
        self.state = state
        var settings = CallSettings(configuration.options)
        service.options.apply(to: &settings)
        settings.parameters = ParameterObject()
        if configuration.isPinned { settings.environment = nil }
        resolved = ResolvedOptions(settings)
        parameters = (service.options.parameters, configuration.options.parameters)
        pipeline = Pipeline(service: service, endpoint: nil, configuration: configuration, state: state)
    }

    /// The stage that has the service's credentials; `nil` where it has none.
    var authenticate: Authenticate? { pipeline.authenticate }

    /// The request path of an endpoint: its own interceptors are innermost.
    func pipeline(for endpoint: some Endpoint, _ options: ResolvedOptions) -> Pipeline {
        let isHeld = options.settings.inFlight.strategy != .independent
        let compresses = options.settings.requestCompression != nil
        if !compresses, endpoint.callInterceptors.isEmpty, endpoint.attemptInterceptors.isEmpty {
            return isHeld ? heldPipeline.value { make(nil, isHeld, compresses: false) } : pipeline
        }
        return make(endpoint, isHeld, compresses: compresses)
    }

    private func make(_ endpoint: (any Endpoint)?, _ isHeld: Bool, compresses: Bool) -> Pipeline {
        Pipeline(
            service: service, endpoint: endpoint, configuration: configuration, state: state, isHeld: isHeld,
            compresses: compresses)
    }

    func baseURL(in environment: ServerEnvironment) throws(APIError) -> HTTPURL {
        // What cannot change is not asked again.
        let text = service.baseURLs.isLive ? service.baseURLs.text(in: environment) : nil
        let known = baseURL.withLock { $0?.environment == environment && $0?.text == text ? $0?.url : nil }
        if let known { return known }
        let url = try service.baseURL(in: environment)
        baseURL.withLock { $0 = (environment, text, url) }
        return url
    }
}
