/// What outlives the calls of a client, and those of the clients derived from it.
///
/// A stage is a value that is made anew wherever a path is: what it must remember between calls is here, one property for
/// each kind. Whatever belongs to a user is kept apart by the call's isolation, whatever belongs to a service by its id.
final class SharedState: Sendable {
    let transport: any Transport
    /// Whether the transport may not return when it is told to.
    let hasAppTransport: Bool
    /// Where the client stands among those derived from one another, and the environment of its calls that begin now.
    let lineage: ClientLineage
    /// The calls under way.
    let calls: CallTable
    /// The users who have signed out and are named still.
    let signOuts: SignOuts
    /// All that is kept of users, here and in the clients that are derived from one another with this one.
    let holdings: Holdings
    /// `nil` for a client without cookies.
    private let cookies: SharedCookies?
    /// Wakes the calls that wait for something that does not keep their time-outs.
    let deadlines: Deadlines
    /// The stored responses, and the exchanges that several calls wait for; `nil` for a client without a cache.
    let cache: CacheAccess?
    /// What is known of the servers: retry budgets and circuit breakers.
    let origins: OriginTable
    /// What is known of the servers' clocks.
    let clocks: ServerClocks
    /// The queue of calls that wait for leave to send.
    let admissions: Admissions
    /// The credentials, and who waits for new ones.
    let credentials: CredentialTable
    /// The calls under way that others of their kind are held against.
    let flights: Flights
    /// The codings of requests that origins will not have.
    let refusedCodings: RefusedCodings

    init(_ configuration: ClientConfiguration, transport: any Transport) {
        self.transport = transport
        hasAppTransport = transport.isAppCode
        lineage = ClientLineage(configuration.environment)
        calls = CallTable()
        signOuts = SignOuts()
        deadlines = Deadlines(configuration.time)
        cache = CacheAccess.of(configuration.cache)
        origins = OriginTable(configuration)
        clocks = ServerClocks()
        admissions = Admissions(configuration.admission, configuration.time, deadlines)
        credentials = CredentialTable(
            configuration.vault ?? MemoryVault(), configuration.time, configuration.random,
            ClientWork(calls: calls, client: lineage))
        flights = Flights()
        refusedCodings = RefusedCodings()
        cookies = configuration.cookies.map(SharedCookies.init)
        holdings = Holdings()
        holdings.add(Holding(credentials, cookies, cache))
    }

    /// All of another one, for what renews a credential in one environment: a switch of the client does not move it. It goes on where a
    /// client ends that was derived from the one whose credentials they are, since the others wait for it as well.
    init(renewingFor other: SharedState, in environment: ServerEnvironment) {
        (transport, hasAppTransport) = (other.transport, other.hasAppTransport)
        lineage = ClientLineage(derivedFrom: other.credentials.owner, environment: environment)
        calls = other.calls
        signOuts = other.signOuts
        holdings = other.holdings
        cookies = other.cookies
        deadlines = other.deadlines
        cache = other.cache
        origins = other.origins
        clocks = other.clocks
        admissions = other.admissions
        credentials = other.credentials
        flights = other.flights
        refusedCodings = other.refusedCodings
    }

    /// The state of a client which is derived from one with `other` and the `former` configuration.
    init(_ configuration: ClientConfiguration, derivedFrom other: SharedState, _ former: ClientConfiguration) {
        (transport, hasAppTransport) = (other.transport, other.hasAppTransport)
        let environment = configuration.setsEnvironment ? configuration.environment : nil
        lineage = ClientLineage(derivedFrom: other.lineage, environment: environment)
        calls = other.calls
        signOuts = other.signOuts
        deadlines = Deadlines(configuration.time)
        cache = CacheAccess.of(configuration.cache, reusing: other.cache, madeBy: former.cache)
        origins = OriginTable.of(configuration, reusing: other.origins)
        clocks = other.clocks
        admissions = Admissions.of(configuration, reusing: other.admissions, deadlines)
        flights = other.flights
        refusedCodings = other.refusedCodings
        let known = other.credentials
        credentials =
            if let vault = configuration.vault, vault !== known.vault {
                CredentialTable(
                    vault, configuration.time, configuration.random, ClientWork(calls: calls, client: lineage))
            } else {
                known
            }
        cookies = SharedCookies.of(configuration.cookies, reusing: other.cookies)
        holdings = other.holdings
        if credentials !== known || cookies !== other.cookies || cache !== other.cache {
            holdings.add(Holding(credentials, cookies, cache))
        }
    }
}

/// The users who have signed out and whom the app still names as its user.
final class SignOuts: Sendable {
    private let identities = Locked<[ExactText: @Sendable () -> String]>([:])

    /// - Parameter present: the app's user at any moment.
    func begin(_ identity: String, asLongAs present: @escaping @Sendable () -> String) {
        guard !identity.isEmpty, present().isWritten(as: identity) else { return }
        identities.withLock { $0[ExactText(identity)] = present }
    }

    /// Lets a user in again who has signed in.
    func end(_ identity: String) {
        identities.withLock { _ = $0.removeValue(forKey: ExactText(identity)) }
    }

    /// Lets those in again whom the app has ceased to name.
    func review() {
        let all = identities.withLock { $0 }
        for (identity, present) in all where ExactText(present()) != identity {
            identities.withLock { $0[identity] = nil }
        }
    }

    /// - Throws: ``APIError/Kind/blocked(reason:)`` for a call of a user who has signed out.
    func check(_ identity: String) throws(APIError) {
        guard let present = identities.withLock({ $0.isEmpty ? nil : $0[ExactText(identity)] }) else { return }
        guard present().isWritten(as: identity) else { return review() }
        throw APIError(
            .blocked(reason: "this user has signed out, and the client's identity still names them"), stage: .prepare)
    }
}
