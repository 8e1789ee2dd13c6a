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
    ///
    /// - Returns: whether there is a connection now. `false` also where the transport cannot
    ///   (``TransportCapabilities/preconnection``).
    @discardableResult
    public func preconnect(to service: ServiceID) async -> Bool {
        guard transport.capabilities.contains(.preconnection), let exchange = preconnection(to: service) else {
            return false
        }
        do {
            try await withTaskCancellationHandler {
                try await transport.preconnect(exchange)
            } onCancel: {
                exchange.control.cancel()
            }
            return true
        } catch {
            return false
        }
    }

    /// `nil` where a call could not be sent either.
    private func preconnection(to id: ServiceID) -> TransportRequest? {
        guard let runtime = try? runtime(for: id) else { return nil }
        let settings = runtime.resolved.settings
        let environment = settings.environment ?? environment
        guard let url = try? baseURL(settings, runtime, environment) else { return nil }
        guard settings.cleartext.allows(url), settings.trust.refusal(by: transport.capabilities) == nil,
            settings.resolver.refusal(by: transport.capabilities) == nil
        else { return nil }
        return TransportRequest(
            HTTPRequest(method: .get, url: url), timeouts: settings.timeouts,
            isolation: isolation(in: environment, settings))
    }

    private func baseURL(
        _ settings: CallSettings, _ runtime: ServiceRuntime, _ environment: ServerEnvironment
    ) throws(APIError) -> HTTPURL {
        guard let base = settings.baseURL else { return try runtime.baseURL(in: environment) }
        return try runtime.service.parse(base.text, for: "the service")
    }
}
