import Foundation

extension APIClient {
    /// A WebSocket at an endpoint, whose route is a GET of the service. Nothing is sent before it is used.
    ///
    /// ```swift
    /// let socket = client.webSocket(Chat(room: 7))
    /// for try await message in socket.messages { print(message.text ?? "") }
    /// ```
    ///
    /// The request of each connection goes the way of all requests: with the credential, the cookies and the signature. What asks
    /// for the change of the protocol (`Connection`, `Upgrade`, `Sec-WebSocket-…`) is added behind the signature, as ``Signer`` tells.
    ///
    /// Time-outs: that of the connection and the first byte count for the upgrade, and the total one with them; the idle one for
    /// what is written. ``WebSocketOptions/pingInterval`` finds a server that is gone.
    ///
    /// - Parameters:
    ///   - endpoint: where the socket is; of its members those of the request count. An upgrade is a GET without content, so one
    ///     with another verb, a body, or parameters that go into one fails as ``APIError/Kind/invalidConfiguration(reason:)``.
    ///   - options: what this one socket wants different of the request.
    ///   - settings: how it is asked for and kept.
    ///   - scope: ends it when it goes.
    public func webSocket<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), _ settings: WebSocketOptions = .init(),
        in scope: CallScope? = nil
    ) -> WebSocket {
        let agreement = Locked(WebSocketHandshake.Agreement())
        let closure = Locked<WebSocketClosure?>(nil)
        let terms = ChannelTerms(
            reconnection: settings.reconnection, pingInterval: settings.pingInterval,
            pongTimeout: settings.pongTimeout, bufferedBytes: settings.bufferedBytes)
        let engine = ChannelEngine<WebSocketChannel>(terms, random: configuration.random) {
            [wasGiven = scope != nil, weak scope] in
            if wasGiven, scope == nil { return nil }
            return self.channelSession(endpoint, options, in: scope)
        } connect: { session throws(APIError) in
            guard settings.subprotocols.allSatisfy(HTTPSyntax.isToken) else {
                throw APIError(
                    .invalidParameter(field: "subprotocols", reason: "has a name that is no token"), stage: .prepare)
            }
            try endpoint.checkUpgrade()
            let upgrade = self.upgrade(settings)
            let made = try await self.upgraded(endpoint, options, upgrade, session)
            do throws(WebSocketFailure) {
                let agreed = try WebSocketHandshake.check(
                    made.exchange.response, key: made.exchange.request.fields[WebSocketHandshake.keyField] ?? "",
                    subprotocols: settings.subprotocols, deflate: self.deflate(settings))
                agreement.withLock { $0 = agreed }
                let machine = try WebSocketMachine(
                    .client, limits: settings.limits, deflate: agreed.deflate,
                    compression: self.transport.messageCompression, random: self.configuration.random)
                let (wire, rest) = made.wire.take()
                return ChannelConnection(
                    wire: wire, machine: WebSocketChannel(machine, closure), rest: rest, ended: made.ended)
            } catch {
                made.wire.discard()
                let error = APIError(
                    .transport(.protocolViolation), stage: .transport, debugMessage: error.reason,
                    request: made.exchange.request, response: made.exchange.response, sendState: .answered,
                    underlying: error)
                made.ended(error)
                throw error
            }
        }
        return WebSocket(engine, agreement, closure)
    }

    /// A WebSocket at a path of a service.
    ///
    /// - Parameters:
    ///   - path: below the service's base URL.
    ///   - service: ``ServiceID/main`` by default.
    public func webSocket(
        _ path: RoutePath, service: ServiceID = .main, options: CallOptions = .init(),
        _ settings: WebSocketOptions = .init(), in scope: CallScope? = nil
    ) -> WebSocket {
        webSocket(ChannelEndpoint(route: .get(path), service: service), options: options, settings, in: scope)
    }

    private func deflate(_ settings: WebSocketOptions) -> WebSocketDeflate? {
        transport.messageCompression == nil ? nil : settings.deflate
    }

    private func upgrade(_ settings: WebSocketOptions) -> HTTPUpgrade {
        HTTPUpgrade(name: "websocket") { [random = configuration.random, deflate = deflate(settings)] in
            var random = random
            return WebSocketHandshake.request(
                key: WebSocketHandshake.key(using: &random), subprotocols: settings.subprotocols, deflate: deflate)
        }
    }

    // MARK: What channels have in common

    /// The call that a channel is.
    func channelSession<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions, in scope: CallScope?
    ) -> ChannelSession? {
        let call = begin(endpoint, .init(own: options, scope: scope, isSilent: true, isEndless: true))
        return ChannelSession(context: call.context) { call.finish($0) }
    }

    struct Upgraded: Sendable {
        let exchange: Exchange
        let wire: UpgradedWire
        let ended: @Sendable (APIError?) -> Void
    }

    /// Sends an endpoint as a request to change the protocol, through all stages.
    private func upgraded<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions, _ upgrade: HTTPUpgrade, _ session: ChannelSession
    ) async throws(APIError) -> Upgraded {
        guard configuration.identity().isWritten(as: session.context.isolation.identity) else {
            throw APIError(.cancelled, stage: .prepare)
        }
        let options = options.with {
            $0.headers = $0.headers.over(["Cache-Control": "no-store"])
            $0.status = StatusRule.codes(101..<102)
            $0.redirects = RedirectPolicy.never
            $0.retry = RetryPolicy.none
        }
        let terms = CallTerms(
            own: options, streams: true, origin: session.context, isAdopted: true, upgrade: upgrade)
        let call = begin(endpoint, terms)
        let exchange = try await call.run { () async throws(APIError) in try await call.path(call.judgeHead) }
        guard let wire = exchange.content as? UpgradedWire else {
            let error = APIError(
                .unsupported(feature: "interceptors that replace the content of an upgrade"), stage: .transport)
            throw call.finish(error) ?? error
        }
        return Upgraded(exchange: exchange, wire: wire) { call.finish($0) }
    }
}

extension Endpoint {
    /// - Throws: what of the endpoint an upgrade would leave out, or send and no server would understand (RFC 6455 §4.1).
    fileprivate func checkUpgrade() throws(APIError) {
        let flaw: String
        if route.method != .get {
            flaw = "its route is no GET"
        } else if !body.isNone {
            flaw = "it has a body"
        } else if placement == .json || placement == .form, Parameters.self != NoParameters.self {
            flaw = "its parameters go into a body"
        } else {
            return
        }
        throw APIError(
            .invalidConfiguration(reason: "\(Self.self) cannot be a WebSocket: \(flaw)"), stage: .prepare,
            sendState: .unsent)
    }
}

/// What events and interceptors see as the endpoint of a channel that has none.
struct ChannelEndpoint: Endpoint {
    typealias Output = Data

    var route: Route
    var service: ServiceID
    var envelope: EnvelopeChoice { .none }
}
