/// A service joined with the client that calls it: what is the same for all its calls, worked out once.
final class ServiceRuntime: Sendable {
    let service: Service
    /// The service's options over the client's.
    let resolved: ResolvedOptions
    private let configuration: APIClient.Configuration
    private let transport: any Transport
    private let cache: CacheAccess?
    private let pipeline: Pipeline
    /// Of the environment that was asked for last, which is nearly always the next one too.
    private let baseURL = Locked<(environment: ServerEnvironment, url: HTTPURL)?>(nil)

    init(
        _ service: Service, _ configuration: APIClient.Configuration, _ transport: any Transport, _ cache: CacheAccess?
    ) {
        self.service = service
        self.configuration = configuration
        self.transport = transport
        self.cache = cache
        resolved = ResolvedOptions(service.options.over(configuration.options))
        pipeline = Self.pipeline(service, configuration, transport, cache, call: [], attempt: [])
    }

    var options: CallOptions { resolved.options }

    /// The request path of an endpoint: its own interceptors are innermost.
    func pipeline(for endpoint: some Endpoint) -> Pipeline {
        let call = endpoint.callInterceptors
        let attempt = endpoint.attemptInterceptors
        if call.isEmpty, attempt.isEmpty { return pipeline }
        return Self.pipeline(service, configuration, transport, cache, call: call, attempt: attempt)
    }

    func baseURL(in environment: ServerEnvironment) throws(APIError) -> HTTPURL {
        if let known = baseURL.withLock({ $0?.environment == environment ? $0?.url : nil }) { return known }
        let url = try service.baseURL(in: environment)
        baseURL.withLock { $0 = (environment, url) }
        return url
    }

    private static func pipeline(
        _ service: Service, _ configuration: APIClient.Configuration, _ transport: any Transport, _ cache: CacheAccess?,
        call: [any Interceptor], attempt: [any Interceptor]
    ) -> Pipeline {
        Pipeline(
            call: configuration.callInterceptors + service.callInterceptors + call, cache: cache,
            attempt: configuration.attemptInterceptors + service.attemptInterceptors + attempt,
            cookies: configuration.cookies, sealer: service.sealer, signer: service.signer, transport: transport)
    }
}
