/// Sends endpoints: the one object between an app's business code and the wire.
///
/// ```swift
/// let client = APIClient(.init(services: [shop]), transport: transport)
/// let user = try await client.send(Login(account: "alice", password: "secret"))
/// ```
///
/// Make one and hand it to the module managers that need it; there is no hidden shared one. A module that wants its own
/// interceptors, headers or environment derives a client of its own: ``with(_:)``.
public final class APIClient: Sendable {
    /// How a client is set up.
    public typealias Configuration = ClientConfiguration

    /// What the client was made of. Its ``Configuration/environment`` is that of the beginning; ``environment`` is the
    /// present one.
    public let configuration: Configuration
    /// What its requests go by, and those of the clients derived from it.
    public var transport: any Transport { state.transport }
    let state: SharedState
    let sink: (any EventSink)?
    /// Whether it was derived into an environment that it may not be switched to: none of its calls is made. The runtime of a
    /// service knows whether that one was.
    let isAstray: Bool
    /// The services of those that it was derived from, back to the nearest one that allows switching environments: its own are to
    /// stay where those are.
    private let formerServices: [ServiceRegistry]
    /// The isolation of the call that was begun last.
    private let isolation = Locked<IsolationKey?>(nil)
    private let runtimes = Locked(Runtimes())

    /// The services that were called.
    private struct Runtimes: Sendable {
        private var all: [ServiceID: ServiceRuntime] = [:]
        /// What was called last is mostly called next.
        private var last: (id: ServiceID, runtime: ServiceRuntime)?
        /// The runtime of requests which belong to no service.
        var raw: ServiceRuntime?

        mutating func find(_ id: ServiceID) -> ServiceRuntime? {
            if let last, last.id == id { return last.runtime }
            guard let known = all[id] else { return nil }
            last = (id, known)
            return known
        }

        mutating func add(_ runtime: ServiceRuntime, for id: ServiceID) {
            all[id] = runtime
        }
    }

    /// A client that shares nothing with any other but what is an object in both of their configurations, and the
    /// transport.
    ///
    /// - Parameters:
    ///   - configuration: copied; changing it later changes no client.
    ///   - transport: kept as long as the client. Its connections are kept apart by user and environment, so that
    ///     several clients may share one.
    public init(_ configuration: Configuration, transport: any Transport) {
        self.configuration = configuration
        state = SharedState(configuration, transport: transport)
        isAstray = false
        formerServices = []
        sink = EventFork.of(configuration.sinks)
    }

    /// A client with one service, ``ServiceID/main``, over a transport of the caller's choice.
    ///
    /// ```swift
    /// let client = APIClient("https://api.example.com", transport: stub)
    /// ```
    public convenience init(_ baseURLs: BaseURLs, options: CallOptions = .init(), transport: any Transport) {
        self.init(Configuration(baseURLs, options: options), transport: transport)
    }

    private init(_ configuration: Configuration, of client: APIClient) {
        self.configuration = configuration
        state = SharedState(configuration, derivedFrom: client.state, client.configuration)
        let moves =
            state.lineage.environment != client.environment
            || configuration.options.environment != client.configuration.options.environment
        isAstray = !configuration.allowsEnvironmentSwitch && (moves || client.isAstray)
        let isFree = client.configuration.allowsEnvironmentSwitch
        formerServices = [client.configuration.services] + (isFree ? [] : client.formerServices)
        sink = EventFork.of(configuration.sinks)
    }

    /// A client that is not derived from another one but has all in common with it: what a stage sends by itself.
    init(_ configuration: Configuration, sharing state: SharedState) {
        self.configuration = configuration
        self.state = state
        isAstray = false
        formerServices = []
        sink = EventFork.of(configuration.sinks)
    }

    /// A client derived from this one, for a module that wants its own interceptors, headers or options.
    ///
    /// ```swift
    /// let traced = client.with { $0.callInterceptors.append(Traced()) }
    /// ```
    ///
    /// One rule says what the two have in common: **what is done to a client reaches it and the clients derived from it, and
    /// never the client it was derived from.**
    ///
    /// - Its configuration is a copy with your changes. What is an object in it (the cookie store, the cache, the event sink)
    ///   is the same object in both, and so is the transport with its connections.
    /// - ``cancelAll()``, ``cancel(_:)-(CallID)``, ``callCount``, ``calls`` and ``call(_:)`` are about its own calls and those
    ///   of its descendants. A parent's are therefore about the derived client's calls as well.
    /// - Its environment follows the parent's, also when that is switched later, until it has one of its own: set in
    ///   `change`, or by ``switchEnvironment(to:)``, which moves its descendants with it. In a release build that must be allowed
    ///   (``Configuration/allowsEnvironmentSwitch``), or every call of the derived client fails as
    ///   ``APIError/Kind/blocked(reason:)``; where a service is registered anew with another environment in its options, every
    ///   call of that service.
    ///
    /// ``signOut(_:)`` alone is for everyone: a user who has signed out has done so in every module.
    ///
    /// - Throws: what `change` throws, and there is no client then.
    public func with<Failure: Error>(
        _ change: (inout Configuration) throws(Failure) -> Void
    ) throws(Failure) -> APIClient {
        var changed = configuration
        changed.beginsDerivation(in: environment)
        try change(&changed)
        return APIClient(changed, of: self)
    }

    /// The service as this client calls it, made once.
    func runtime(for id: ServiceID) throws(APIError) -> ServiceRuntime {
        if let known = runtimes.withLock({ $0.find(id) }) { return known }
        let service = try configuration.services.service(id)
        let new = ServiceRuntime(service, configuration, state, isAstray: isAstray || hasMoved(service))
        return runtimes.withLock { runtimes in
            if let other = runtimes.find(id) { return other }
            runtimes.add(new, for: id)
            return new
        }
    }

    /// Whether a service was given another environment when the client was derived, and may not be.
    private func hasMoved(_ service: Service) -> Bool {
        guard !configuration.allowsEnvironmentSwitch else { return false }
        return formerServices.contains { former in
            // What is the same is not made for this.
            guard !former.hasSame(service.id, as: configuration.services), let known = try? former.service(service.id)
            else { return false }
            return known.options.environment != service.options.environment
        }
    }

    /// The service of an endpoint; of a raw request, one that has nothing of its own.
    func runtime<E: Endpoint>(for endpoint: E) -> Result<ServiceRuntime, APIError> {
        if E.self == RawRequest.self { return .success(rawRuntime) }
        do throws(APIError) {
            return .success(try runtime(for: endpoint.service))
        } catch {
            return .failure(error)
        }
    }

    private var rawRuntime: ServiceRuntime {
        runtimes.withLock { runtimes in
            if let known = runtimes.raw { return known }
            let new = ServiceRuntime(Service(.unnamed, [:]), configuration, state, isAstray: isAstray)
            runtimes.raw = new
            return new
        }
    }

    /// The key of a call that begins now. Most calls have that of the call before.
    func isolation(in environment: ServerEnvironment, _ options: ResolvedOptions) -> IsolationKey {
        let identity = configuration.identity()
        let known: IsolationKey? = isolation.withLock { last in
            guard let last, last.identity.isWritten(as: identity), last.environment.isWritten(as: environment.name),
                last.trust == options.settings.trust, last.proxy == options.settings.proxy,
                last.resolver == options.settings.resolver
            else { return nil }
            return last
        }
        if let known { return known }
        state.signOuts.review()
        let new = IsolationKey(
            environment: environment.name, identity: identity, trust: options.settings.trust,
            proxy: options.settings.proxy, resolver: options.settings.resolver)
        isolation.withLock { $0 = new }
        return new
    }

    /// What the contexts of calls have of their client.
    func surroundings(isSilent: Bool) -> CallContext.Surroundings {
        CallContext.Surroundings(
            time: configuration.time, deadlines: state.deadlines, lineage: state.lineage, clocks: state.clocks,
            sink: isSilent ? nil : sink)
    }

    /// All levels of options in one.
    ///
    /// - Parameter lane: what is sent to renew a credential has the time of the ``RefreshPolicy``, unless its endpoint or the call
    ///   itself says otherwise: were it given up sooner, a refresh token would be lost that can be used only once.
    func resolve(
        _ call: CallOptions, _ endpoint: some Endpoint, _ runtime: ServiceRuntime?, in lane: RefreshLane? = nil
    ) -> ResolvedOptions {
        var wider = runtime?.resolved ?? ResolvedOptions(CallSettings(configuration.options))
        if let lane, lane.isTimed { wider = wider.withoutTotalTimeout }
        let (own, headers) = (endpoint.options, endpoint.headers)
        if call.isEmpty, own.isEmpty, headers.isEmpty { return wider }
        var settings = wider.settings
        own.apply(to: &settings)
        if !headers.isEmpty { settings.headers = headers.over(settings.headers) }
        call.apply(to: &settings)
        return ResolvedOptions(settings)
    }
}

// MARK: Environment

extension APIClient {
    /// The environment of calls that begin now.
    public var environment: ServerEnvironment { state.lineage.environment }

    /// Sends the calls that begin from now on to another environment. Those under way stay where they are. Clients derived
    /// from this one go along unless they have an environment of their own; the one it was derived from stays.
    ///
    /// - Throws: ``APIError/Kind/blocked(reason:)`` unless the configuration allows it: in a release build it must be
    ///   asked for. ``APIError/Kind/invalidConfiguration(reason:)`` where no service has a base URL there, since no call could
    ///   be made any more; a service whose base URLs are read anew, or that was not made yet, may have one.
    public func switchEnvironment(to environment: ServerEnvironment) throws(APIError) {
        guard configuration.allowsEnvironmentSwitch else { throw presented(.environmentSwitch, of: nil) }
        guard configuration.services.mayLive(in: environment) else {
            let reason = "no service has a base URL in the environment \(environment)"
            throw presented(APIError(.invalidConfiguration(reason: reason), stage: .prepare), of: nil)
        }
        state.lineage.environment = environment
    }
}

extension APIClient {
    /// Refuses a call that would leave its environment where that was not allowed: whichever way it was asked for, no call of
    /// a release build reaches the servers of another environment by mistake.
    ///
    /// What a client, its services and their endpoints name from the beginning is no switch, and neither is where an outbox has
    /// kept its write for.
    func checkEnvironment<E: Endpoint>(of call: ActiveCall<E>) throws(APIError) {
        guard !configuration.allowsEnvironmentSwitch else { return }
        let runtime = try? call.runtime.get()
        guard !(runtime?.isAstray ?? isAstray) else { throw .environmentSwitch }
        if case .frozen = call.making { return }
        guard call.own.environment != nil else { return }
        let home = resolve(CallOptions(), call.endpoint, runtime).settings.environment ?? environment
        guard call.context.environment == home else { throw .environmentSwitch }
    }
}

extension APIError {
    /// A release build stays in its environment unless it is told that it need not.
    static let environmentSwitch = APIError(
        .blocked(reason: "this client does not allow switching environments"), stage: .prepare)
}

// MARK: Cancellation

extension APIClient {
    /// Ends every call under way of this client and of those derived from it, but for what is sent to renew a credential: its
    /// answer may hold the only refresh token that still works. ``signOut(_:)`` ends that as well. New calls work as before.
    public func cancelAll() {
        state.lineage.noteCancellation()
        state.calls.end(of: state.lineage) { !$0.renewsCredential }
    }

    /// Ends one call of this client or of one derived from it; nothing where it is over.
    public func cancel(_ id: CallID) {
        state.calls.end(of: state.lineage) { $0.isKnown(as: id) }
    }

    /// Ends every call of one API that is under way in this client or in one derived from it.
    public func cancel<E: Endpoint>(_ endpoint: E.Type) {
        state.calls.end(of: state.lineage) { $0.endpointType == endpoint }
    }
}

// MARK: The record of calls

extension APIClient {
    /// The calls under way of this client and of those derived from it, oldest first.
    public var calls: [CallContext] { state.calls.calls(of: state.lineage).sorted { $0.id < $1.id } }

    /// The call of that id; `nil` once it is over, and for the call of a client that was not derived from this one.
    ///
    /// ```swift
    /// if let call = client.call(id) { print(call.endpoint, call.environment, call.attempts) }
    /// ```
    public func call(_ id: CallID) -> CallContext? {
        state.calls.calls(of: state.lineage).first { $0.isKnown(as: id) }
    }

    /// How many calls are under way in this client and in those derived from it.
    public var callCount: Int { state.calls.calls(of: state.lineage).count }
}

extension APIClient {
    /// Holds back the calls of a group: of this client and of those derived from it, those that wait to be sent and those that
    /// begin from now on. What is on the wire already goes on, and so does the time of each call. A stored response is still
    /// given out.
    ///
    /// ```swift
    /// client.pause(.tag("feed"))       // while the list is being scrolled
    /// client.resume(.tag("feed"))
    /// ```
    ///
    /// Pausing twice is pausing once. A call that belongs to several groups goes on when none of them is paused.
    public func pause(_ group: CallSelection) {
        state.admissions.pauses.pause(group, of: state.lineage)
    }

    /// Lets the calls of a group go on, in their order. Only what was paused by this very client and group ends.
    public func resume(_ group: CallSelection) {
        state.admissions.pauses.resume(group, of: state.lineage)
    }
}
