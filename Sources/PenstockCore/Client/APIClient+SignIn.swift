extension APIClient {
    /// Keeps a credential for a user, with which their calls to a service are made from now on.
    ///
    /// ```swift
    /// let pair = try await client.send(LogIn(account: "alice", password: "secret"), options: .anonymous)
    /// try await client.signIn(Credential(pair.access, refreshToken: pair.refresh, expiresIn: .seconds(3600)), as: pair.userID)
    /// session.userID = pair.userID     // what `identity` gives from now on
    /// ```
    ///
    /// Calls that wait for a credential go on with it. A user who has signed out (``signOut(_:)``) may make calls again.
    ///
    /// - Throws: ``APIError/Kind/authentication(_:)`` with ``AuthenticationFailure/vault(_:)`` when it could not be kept; it is
    ///   used in this process all the same. It is not where that is ``VaultError/invalid``: for one that has no token, or dates
    ///   that are none. ``APIError/Kind/invalidConfiguration(reason:)`` for a service that has no
    ///   authenticator, or no base URL here. ``APIError/Kind/cancelled`` when the task was cancelled before the vault had kept it:
    ///   it is used all the same, and the vault still keeps it when it can.
    /// - Parameter identity: what ``Configuration/identity`` gives for the user, where it does not yet. By default the user of the
    ///   moment: what is signed in while nobody is named is nobody's.
    public func signIn(
        _ credential: Credential, to service: ServiceID = .main, as identity: String? = nil
    ) async throws(APIError) {
        try await presenting(of: service) { () throws(APIError) in
            let place = try authentication(of: service, for: identity).place
            state.credentials.beginSession()
            if credential.isValid { state.signOuts.end(place.identity) }
            let writing = try Self.told { () throws(VaultError) in
                try place.keeper.signingIn(credential, in: state.lineage)
            }
            try await Self.keeping(writing)
        }
    }

    /// Deletes the credential of a service for the user of the moment. Calls that wait for a new one fail with
    /// ``AuthenticationFailure/signedOut``. A renewal that is under way is cancelled, and its refresh token is sent no more; a credential
    /// that arrives later is thrown away.
    ///
    /// - Throws: ``APIError/Kind/authentication(_:)`` with ``AuthenticationFailure/vault(_:)`` when it could not be deleted from
    ///   the vault; it is not used in this process any more. ``APIError/Kind/cancelled`` when the task was cancelled before that: it
    ///   is deleted all the same when the vault can.
    public func signOut(of service: ServiceID = .main) async throws(APIError) {
        try await presenting(of: service) { () throws(APIError) in
            let keeper = try authentication(of: service).place.keeper
            state.credentials.beginSession()
            try await Self.keeping(keeper.signingOut(in: state.lineage))
        }
    }

    /// The credential of a service for the user of the moment; `nil` when there is none.
    public func credential(of service: ServiceID = .main) async throws(APIError) -> Credential? {
        try await presenting(of: service) { () throws(APIError) in
            let keeper = try authentication(of: service).place.keeper
            return try await Self.keeping { () throws(VaultError) in try await keeper.current() }
        }
    }

    /// Renews the credential of a service now, whatever became of the last attempt: also after
    /// ``AuthenticationFailure/lost``, when the server may take it for a theft and end the session.
    ///
    /// - Throws: ``APIError/Kind/authentication(_:)``.
    public func refreshCredential(of service: ServiceID = .main) async throws(APIError) {
        try await presenting(of: service) { () throws(APIError) in
            let (stage, place) = try authentication(of: service)
            try await place.keeper.insist(stage.source(place), for: state.lineage)
        }
    }

    /// The accounts that a service has credentials of in the environment that its calls go to at the moment, in alphabetical order. Each is the
    /// ``Configuration/identity`` of a client.
    public func accounts(of service: ServiceID = .main) async throws(APIError) -> [String] {
        try await presenting(of: service) { () throws(APIError) in
            let key = try authentication(of: service).place.keeper.key
            let keys = try await Self.keeping { [vault = state.credentials.vault] () throws(VaultError) in
                try await vault.keys()
            }
            return keys.filter {
                $0.service == key.service && $0.environment == key.environment && $0.origin == key.origin
            }
            .map(\.account).sorted()
        }
    }

    private func authentication(
        of service: ServiceID, for identity: String? = nil
    ) throws(APIError) -> (stage: Authenticate, place: Authenticate.Place) {
        guard !isAstray else { throw .environmentSwitch }
        let runtime = try runtime(for: service)
        guard !runtime.isAstray else { throw .environmentSwitch }
        guard let stage = runtime.authenticate else {
            throw APIError(
                .invalidConfiguration(reason: "the service \(service) has no authenticator"), stage: .authenticate)
        }
        return (stage, try stage.place(environment(of: runtime), identity ?? configuration.identity()))
    }

    /// Where the calls of a service go that name no environment of their own.
    func environment(of runtime: ServiceRuntime) -> ServerEnvironment {
        runtime.resolved.settings.environment ?? environment
    }

    /// Waits for a vault, as long as the task is not cancelled: a key of the app's own may never come. What was begun goes on then,
    /// since a login or a logout is not half done.
    private static func keeping<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(VaultError) -> Value
    ) async throws(APIError) -> Value {
        let promise = Promise<Result<Value, VaultError>>()
        Task {
            do throws(VaultError) {
                promise.keep(.success(try await body()))
            } catch {
                promise.keep(.failure(error))
            }
        }
        guard let result = await promise.valueUnlessCancelled() else {
            throw APIError(.cancelled, stage: .authenticate)
        }
        return try told { () throws(VaultError) in try result.get() }
    }

    private static func told<Value>(_ body: () throws(VaultError) -> Value) throws(APIError) -> Value {
        do throws(VaultError) {
            return try body()
        } catch {
            throw APIError(.authentication(.vault(error)), stage: .authenticate, underlying: error)
        }
    }
}

extension APIClient {
    /// Hands the cookies that came while nobody was signed in to the user of the moment (``Configuration/identity``).
    ///
    /// A login by cookie is sent before the app has a user, and so what it sets is nobody's. Once the app names the user, this
    /// makes it theirs:
    ///
    /// ```swift
    /// let user = try await client.send(Login(account: "alice", password: "secret"), options: .anonymous)
    /// session.userID = user.id          // what `identity` gives from now on
    /// try client.adoptCookies()
    /// ```
    ///
    /// It moves all of nobody's cookies in the environment that the calls of a service go to, whichever host has set them. They take the
    /// place of what the user had of the same names. Nothing happens while nobody is signed in, and in a client without cookies.
    ///
    /// - Parameter service: ``ServiceID/main`` by default.
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` for a service that the client does not know.
    public func adoptCookies(of service: ServiceID = .main) throws(APIError) {
        let runtime: ServiceRuntime
        do throws(APIError) {
            runtime = try self.runtime(for: service)
        } catch {
            throw presented(error, of: service)
        }
        let environment = environment(of: runtime)
        let identity = configuration.identity()
        guard !identity.isEmpty else { return }
        configuration.cookies?.moveAll(ofIdentity: "", to: identity, in: environment.name)
    }

    /// A user has signed out: ends the calls that were made for them, in this client, in those derived from it and in the one
    /// it was derived from; closes the connections that were made for them; and removes their cookies, their credentials, and all
    /// responses that are stored of them, in every environment, also where one of these clients has a cookie store, a vault or a
    /// cache of its own. The cookies that came while nobody was signed in go as well, since a login's may be among them
    /// (``adoptCookies(of:)``); and so do, where ``Configuration/identity`` was set, the credentials that this client's services
    /// were given while nobody was named, since a ``signIn(_:to:as:)`` that did not say for whom may have left its own there.
    ///
    /// ```swift
    /// await client.signOut(user.id)
    /// session.user = nil
    /// ```
    ///
    /// Nothing that was under way is kept afterwards, and it does not matter whether ``Configuration/identity`` names somebody
    /// else before this or after it: as long as this client's still names the user, calls for them fail as
    /// ``APIError/Kind/blocked(reason:)``. They may sign in again once a call was made while it named another one, and by
    /// ``signIn(_:to:as:)`` at once.
    ///
    /// Among what goes are credentials that were kept for nobody on purpose, as by `as: ""`: what a device has for itself is better kept
    /// under a name of its own.
    ///
    /// - Parameter identity: what ``Configuration/identity`` gave for them. For `""`, which is nobody, no call is refused.
    /// - Returns: whether nothing is left of the cookies and the credentials, and no byte of the responses, on disk either; see
    ///   ``CookieStore/settle()`` and ``CacheStore/remove(_:)``. `false` as soon as the task is cancelled: nothing of them is used any
    ///   more then, and what is left is still removed.
    @discardableResult
    public func signOut(_ identity: String) async -> Bool {
        state.signOuts.begin(identity, asLongAs: configuration.identity)
        state.calls.end { $0.isolation.identity.isWritten(as: identity) }
        transport.closeConnections(of: identity)
        let nobodysServices = configuration.setsIdentity ? configuration.services.ids : []
        return await state.holdings.forget(
            Leaver(identity: identity, nobodysServices: nobodysServices),
            as: ClientWork(calls: state.calls, client: state.lineage))
    }
}
