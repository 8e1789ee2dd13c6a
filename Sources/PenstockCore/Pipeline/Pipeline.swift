/// The order of the request path. Every line is one stage; a stage that has nothing to do is left out.
struct Pipeline: Sendable {
    let stages: [any Interceptor]

    init(
        call: [any Interceptor], cache: CacheAccess?, attempt: [any Interceptor], cookies: (any CookieStore)?,
        sealer: (any Sealer)?,
        signer: (any Signer)?, transport: any Transport
    ) {
        var stages: [any Interceptor] = []
        stages += call.map(CallInterception.init)
        stages.append(Redirect())
        if let cache { stages.append(Cache(access: cache, cookies: cookies)) }
        stages += attempt.map(AttemptInterception.init)
        if let cookies { stages.append(Cookies(store: cookies)) }
        if let sealer { stages.append(Seal(sealer: sealer)) }
        if let signer { stages.append(Sign(signer: signer)) }
        stages.append(Transmit(transport: transport))
        self.stages = stages
    }

    @inline(__always)
    func callAsFunction(_ request: HTTPRequest, _ call: CallContext) async throws -> Exchange {
        try await Next(stages: stages, call: call)(request)
    }
}
