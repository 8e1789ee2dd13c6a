extension APIClient {
    /// Makes the connection that the next call to a service will need, while the user still types: looks the name up,
    /// connects and agrees on TLS. Sends no request.
    ///
    /// ```swift
    /// await client.preconnect(to: .shop)
    /// ```
    ///
    /// The connection is the one that a call of the present identity in the present environment takes, by the options of
    /// the service and the client. Nothing but time is lost where it does not come about: the call itself will tell why.
    /// ``cancelAll()``, the end of its scope and the sign-out of its user end it as they end calls.
    ///
    /// - Parameter scope: owns it, as it would own a call; nobody does by default.
    /// - Returns: whether there is a connection now. `false` also where the transport cannot
    ///   (``TransportCapabilities/preconnection``).
    @discardableResult
    public func preconnect(to service: ServiceID, in scope: CallScope? = nil) async -> Bool {
        guard transport.capabilities.contains(.preconnection), let (exchange, call) = preconnection(to: service) else {
            return false
        }
        let place = state.calls.add(call, of: state.lineage)
        let scoped = scope.map { WeakScope($0, call) }
        defer {
            state.calls.remove(call, at: place)
            scoped?.remove(call)
            _ = call.close()
        }
        do {
            // After it is in the table, where a sign-out that begins now will find it.
            try state.signOuts.check(call.isolation.identity)
            guard !state.lineage.isShutDown else { return false }
            try await withTaskCancellationHandler {
                try await state.preconnect(exchange, call)
            } onCancel: {
                call.end(.requested)
            }
            return true
        } catch {
            return false
        }
    }

    /// What stands in the table of calls for a connection that is made before any.
    private struct Preconnection: Endpoint {
        typealias Output = Void
        let service: ServiceID
        var route: Route { .get("/") }
    }

    /// `nil` where a call could not be sent either.
    private func preconnection(to id: ServiceID) -> (TransportRequest, CallContext)? {
        guard let runtime = try? runtime(for: id), !runtime.isAstray else { return nil }
        let settings = runtime.resolved.settings
        let environment = environment(of: runtime)
        guard let url = try? baseURL(settings, runtime, environment) else { return nil }
        guard settings.cleartext.allows(url, by: settings.proxy),
            settings.trust.refusal(by: transport.capabilities) == nil,
            settings.resolver.refusal(by: transport.capabilities) == nil
        else { return nil }
        let call = CallContext(
            id: .next(), endpoint: Preconnection.self, service: id, environment: environment,
            isolation: isolation(in: environment, runtime.resolved), options: runtime.resolved,
            control: ExchangeControl(),
            in: surroundings(isSilent: true), deadline: .some(nil))
        let exchange = TransportRequest(
            HTTPRequest(method: .get, url: url), timeouts: settings.timeouts, isolation: call.isolation,
            control: call.control)
        return (exchange, call)
    }

    private func baseURL(
        _ settings: CallSettings, _ runtime: ServiceRuntime, _ environment: ServerEnvironment
    ) throws(APIError) -> HTTPURL {
        guard let base = settings.baseURL else { return try runtime.baseURL(in: environment) }
        return try runtime.service.parse(base.text, for: "the service")
    }
}

extension SharedState {
    /// A transport of the app's may not return when it is told to, and is not waited for then.
    fileprivate func preconnect(_ exchange: TransportRequest, _ call: CallContext) async throws {
        guard hasAppTransport else { return try await transport.preconnect(exchange) }
        try await call.interruptible(at: .transport) { [transport] () async throws(APIError) in
            do throws(TransportError) {
                try await transport.preconnect(exchange)
            } catch {
                throw APIError(error, request: exchange.request)
            }
        }
    }
}
