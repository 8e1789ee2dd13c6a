/// The order of the request path. Every line is one stage; a stage that has nothing to do is left out.
struct Pipeline: Sendable {
    let stages: [any Stage]
    /// Whether code of the app's runs in it, which may not return when it is told to.
    let runsAppCode: Bool
    /// The stage that has the service's credentials; `nil` where it has none.
    let authenticate: Authenticate?

    /// - Parameters:
    ///   - endpoint: brings interceptors of its own, which are innermost; `nil` for the path that all endpoints without any
    ///     share.
    ///   - isHeld: whether calls are held against others of their kind.
    ///   - compresses: whether the content of requests may have to be compressed.
    init(
        service: Service, endpoint: (any Endpoint)?, configuration: ClientConfiguration, state: SharedState,
        isHeld: Bool = false, compresses: Bool = false
    ) {
        let call = configuration.callInterceptors + service.callInterceptors + (endpoint?.callInterceptors ?? [])
        let attempt =
            configuration.attemptInterceptors + service.attemptInterceptors + (endpoint?.attemptInterceptors ?? [])
        runsAppCode =
            !call.isEmpty || !attempt.isEmpty || service.sealer != nil || service.signer != nil || state.hasAppTransport
        var stages: [any Stage] = []
        stages += call.map(CallInterception.init)
        if isHeld { stages.append(InFlight(flights: state.flights, credentials: state.credentials)) }
        stages.append(Redirect(cookies: configuration.cookies))
        if let cache = state.cache {
            stages.append(Cache(access: cache, cookies: configuration.cookies, seals: service.sealer != nil))
        }
        stages.append(Retry(origins: state.origins, random: configuration.random))
        if let reachability = configuration.reachability {
            stages.append(Connectivity(reachability: reachability, origins: state.origins))
        }
        authenticate = service.authenticator.map { Authenticate($0, service, configuration, state) }
        stages.append(Admission(admissions: state.admissions, origins: state.origins, authenticate: authenticate))
        if let authenticate { stages.append(authenticate) }
        stages += attempt.map(AttemptInterception.init)
        if let cookies = configuration.cookies { stages.append(Cookies(store: cookies)) }
        if let sealer = service.sealer { stages.append(Seal(sealer: sealer)) }
        if compresses {
            stages.append(Compress(transport: state.transport, refused: state.refusedCodings, origins: state.origins))
        }
        if let signer = service.signer { stages.append(Sign(signer: signer, service: service, clocks: state.clocks)) }
        stages.append(
            TransportStage(
                transport: state.transport, isAppTransport: state.hasAppTransport, isWatched: runsAppCode,
                seals: service.sealer != nil, reachability: configuration.reachability))
        self.stages = stages
    }

    @inline(__always)
    func callAsFunction(_ request: HTTPRequest, _ call: CallContext) async throws(APIError) -> Exchange {
        try await Next(stages: stages, call: call)(request)
    }
}
