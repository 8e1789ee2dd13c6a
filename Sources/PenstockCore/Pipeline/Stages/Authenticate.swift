import Foundation

/// Puts the newest credential onto each attempt, and learns from the response whether it was refused.
///
/// A refusal is not mended here but by the replay that the stage's settlement asks for, since the parameters of the request
/// may hold the token as well: the credential is renewed first, and then the whole request made anew.
struct Authenticate: Stage {
    static let name = StageName.authenticate

    let authenticator: any Authenticator
    let service: Service
    let configuration: ClientConfiguration
    /// The client's own, without a reference to the client.
    let state: SharedState
    /// The place of the environment and the identity that were asked for last, which are nearly always the next ones too.
    private let last = Locked<Place?>(nil)

    /// Whom a call of the service speaks to and for.
    struct Place: Sendable {
        let environment: ServerEnvironment
        let identity: String
        /// The base URL as it was written, where it may be another one each time, and was asked for.
        let text: String?
        /// The same with the version, where calls go.
        let base: HTTPURL
        let origin: HTTPURL.Origin
        let keeper: CredentialKeeper
    }

    init(
        _ authenticator: any Authenticator, _ service: Service, _ configuration: ClientConfiguration,
        _ state: SharedState
    ) {
        self.authenticator = authenticator
        self.service = service
        self.configuration = configuration
        self.state = state
    }

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        guard let place = self.place(for: request, call) else { return try await next(request) }
        let begun = call.time.now()
        let credential: Credential?
        if case .use(let ready)? = ready(at: place) {
            credential = ready
        } else {
            credential = try await place.keeper.credential(
                after: .nothing, begun: begun, for: call, by: source(place))
        }
        let attempt = AuthenticatedAttempt(self, place, credential?.version, begun)
        let mayRenew = attempt.mayRenew(for: call, request)
        var exchange = try await send(
            request, credential, call, mayRenew && canRenew(credential) ? discardingRefusals(next) : next)
        exchange.remains.hasCredential = credential != nil
        // A redirect that is followed says nothing about the credential, and its answer is somebody else's.
        if next.discards?(exchange.response) == true { return exchange }
        if mayRenew, authenticator.expiry.matches(exchange.response) {
            exchange.remains.isRefused = true
        }
        exchange.leave(attempt)
        return exchange
    }

    /// The credential, where it can be used at once; `nil` where it has to be asked for, if only to be told that there is none.
    private func ready(at place: Place) -> RefreshCoordinator.Answer? {
        let answer = place.keeper.ready()
        return answer == .use(nil) && authenticator.logsInAhead ? nil : answer
    }

    // MARK: Before the attempt has a place

    /// Waits until the credential of an attempt can be used at once.
    ///
    /// - Throws: what the attempt would fail of.
    func untilReady(_ request: HTTPRequest, _ call: CallContext) async throws(APIError) {
        guard let place = self.place(for: request, call), ready(at: place) == nil else { return }
        _ = try await place.keeper.credential(after: .nothing, begun: call.time.now(), for: call, by: source(place))
    }

    /// Whether an attempt that is sent now would wait for its credential.
    func makesWait(_ request: HTTPRequest, _ call: CallContext) -> Bool {
        guard let place = self.place(for: request, call), ready(at: place) == nil else { return false }
        return place.keeper.makesWait(call, by: source(place))
    }

    // MARK: The attempt

    /// Whether there is something to renew a credential by, so that a refusal of it is not what the call ends with.
    private func canRenew(_ credential: Credential?) -> Bool {
        authenticator.canLogIn || credential.map(authenticator.canRefresh) ?? false
    }

    /// Lets the content of a refusal go unread: nobody reads that of a refusal that the credential is renewed after, so what is wrong with
    /// it does no harm.
    @inline(never)
    private func discardingRefusals(_ next: Next) -> Next {
        next.discarding { [expiry = authenticator.expiry] in expiry.matches($0) }
    }

    private func send(
        _ request: HTTPRequest, _ credential: Credential?, _ call: CallContext, _ next: Next
    ) async throws(APIError) -> Exchange {
        guard let credential else { return try await next(request) }
        let (exchange, isToBeSentAgain) = try await send(
            try applied(credential, to: request, call), for: call, through: next)
        guard isToBeSentAgain, request.body.isReplayable else { return exchange }
        exchange.content?.discard()
        // Counted, so that retries have less to spend, and not refused: without the nonce that the server has just given out, or
        // with the time by a clock that is wrong, no request would ever pass.
        let origin = request.url.origin
        _ = state.origins.withdraw(.replay, for: origin)
        let reason = RetryReason.status(exchange.response.status)
        call.emit(.retried(after: .zero, reason: reason, budgetLeft: state.origins.budgetLeft(for: origin)))
        return try await send(try applied(credential, to: request, call), for: call, through: next).exchange
    }

    /// - Returns: besides the exchange, whether the same attempt is to be made once more by what its response has told.
    private func send(
        _ request: HTTPRequest, for call: CallContext, through next: Next
    ) async throws(APIError) -> (exchange: Exchange, isToBeSentAgain: Bool) {
        guard authenticator.isTimed else {
            let exchange = try await next(request)
            return (exchange, authenticator.shouldSendAgain(after: exchange.response, to: request))
        }
        let origin = request.url.origin
        let sent = call.time.date()
        let dated = call.clocks.date(of: origin, at: sent)
        let exchange = try await next(request)
        _ = call.clocks.learn(from: exchange.response, of: origin, sent: sent, received: call.time.date())
        // What signs below may have learnt from the same response before.
        let error = abs(call.clocks.date(of: origin, at: sent).timeIntervalSince(dated))
        let isRefused = ClockRefusal.isLikely(exchange.response.status, .seconds(error))
        return (exchange, authenticator.shouldSendAgain(after: exchange.response, to: request) || isRefused)
    }

    private func applied(_ credential: Credential, to request: HTTPRequest, _ call: CallContext) throws(APIError)
        -> HTTPRequest
    {
        do {
            return try authenticator.apply(credential, to: request, call: call)
        } catch {
            throw APIError.wrapping(error, of: "\(type(of: authenticator))", stage: Self.name)
        }
    }

    /// The credential is for the service's own origin, and for those that the authenticator trusts.
    private func maySee(_ place: Place, _ origin: HTTPURL.Origin) -> Bool {
        origin == place.origin || authenticator.trustedOrigins.contains(origin)
    }

    // MARK: Whose credential

    /// - Returns: `nil` for an attempt that goes without a credential.
    private func place(for request: HTTPRequest, _ call: CallContext) -> Place? {
        // A service that has no address here has no origin that may see its credential.
        guard call.settings.authentication == .automatic, let place = try? self.place(of: call),
            maySee(place, request.url.origin), call.lane?.renews(place.keeper.key) != true
        else { return nil }
        return place
    }

    func place(of call: CallContext) throws(APIError) -> Place {
        try place(call.environment, call.isolation.identity, at: call.home)
    }

    /// - Parameter home: where a call goes that has begun, whatever base URL the service names by now.
    func place(
        _ environment: ServerEnvironment, _ identity: String, at home: HTTPURL? = nil
    ) throws(APIError) -> Place {
        // What cannot change is not asked again.
        let text = service.baseURLs.isLive && home == nil ? service.baseURLs.text(in: environment) : nil
        if let last = last.withLock({ $0 }), last.environment == environment, last.identity.isWritten(as: identity),
            home.map({ $0 == last.base }) ?? (last.text == text)
        {
            return last
        }
        let base = if let home { home } else { try service.baseURL(in: environment) }
        let origin = base.origin
        let key = CredentialKey(
            service: service.id.name, environment: environment.name, origin: origin.text, account: identity)
        let keeper = state.credentials.keeper(for: key, authenticator.refreshPolicy)
        let new = Place(
            environment: environment, identity: identity, text: text, base: base, origin: origin, keeper: keeper)
        last.withLock { $0 = new }
        return new
    }

    /// What renews the credential of a place stays there, wherever the client and its user are by then.
    func source(_ place: Place) -> CredentialKeeper.Source {
        var configuration = configuration
        configuration.pin(to: place.environment)
        configuration.pin(to: place.identity)
        configuration.pin(service, to: place.base)
        let context = RefreshContext(
            client: APIClient(configuration, sharing: SharedState(renewingFor: state, in: place.environment)),
            key: place.keeper.key,
            environment: place.environment,
            time: configuration.time, connection: service.options.connection)
        return CredentialKeeper.Source(authenticator: authenticator, context: context)
    }
}

/// What was sent with a credential, until it is known whether the response passes.
final class AuthenticatedAttempt: Settlement {
    private let stage: Authenticate
    private let place: Authenticate.Place
    private let version: CredentialVersion?
    private let begun: Duration
    /// A call that shares the response was refused as well, and is replayed for itself.
    var isForEach: Bool { true }

    init(_ stage: Authenticate, _ place: Authenticate.Place, _ version: CredentialVersion?, _ begun: Duration) {
        (self.stage, self.place, self.version, self.begun) = (stage, place, version, begun)
    }

    /// Whether a refusal could be mended: not a second time for one call, nor where the body is gone.
    func mayRenew(for call: CallContext, _ request: HTTPRequest) -> Bool {
        !call.hasReplayed(for: .authenticate) && request.body.isReplayable
            && (stage.authenticator.canLogIn || version != nil)
    }

    func accepted(by call: any JudgingCall, of request: HTTPRequest) async {}
    func acceptedAtOnce(by call: any JudgingCall, of request: HTTPRequest) -> Bool { true }

    func rejected(_ error: APIError, by call: any JudgingCall) async -> Replay? {
        guard stage.authenticator.expiry.matches(error), !call.context.hasReplayed(for: .authenticate) else {
            return nil
        }
        do throws(APIError) {
            _ = try await place.keeper.credential(
                after: version.map { .version($0) } ?? .anonymous, begun: begun, for: call.context,
                by: stage.source(place))
            // Counted, so that retries have less to spend, and not refused: each call has one replay for each credential, and
            // an app that wakes up with many calls and an old token must not lose most of them.
            _ = stage.state.origins.withdraw(.replay, for: place.origin)
            return Replay(reason: .authenticate)
        } catch {
            // With nothing to renew it by, the server's own answer says more.
            if error.kind == .authentication(.missing) { return nil }
            return Replay(reason: .authenticate, obstacle: error)
        }
    }
}
