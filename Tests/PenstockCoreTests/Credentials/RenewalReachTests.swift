import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Where what renews a credential goes, what ends it, and what others learn of its failure.
@Suite(.timeLimit(.minutes(5))) struct RenewalReachTests {
    private struct Renew: Endpoint {
        typealias Output = Product
        var route: Route { .post("/renew") }
    }

    /// Renews by a request of the client's.
    private static let sending = BearerAuthenticator { _, context in
        _ = try await context.client.send(Renew())
        return Credential("new", refreshToken: "r2", expiresIn: .seconds(3_600), obtained: context.time.date())
    }

    private static func rig(
        _ authenticator: any Authenticator = sending, desk: TokenDesk = TokenDesk(),
        configured change: @escaping (inout APIClient.Configuration) -> Void = { _ in },
        renewing: @escaping StubTransport.Responder = { _ in .product }
    ) -> AuthRig {
        AuthRig(
            authenticator, desk: desk,
            answering: { request throws(TransportError) in
                request.method == .post ? try renewing(request) : desk.answer(request)
            }, configured: change)
    }

    // MARK: Where it goes

    @Test("A credential is renewed in the environment that it belongs to", .covers("S1.22"), arguments: [true, false])
    func environment(isSwitched: Bool) async throws {
        let client = Box<APIClient?>(nil)
        let seen = Box<[ServerEnvironment]>([])
        let desk = TokenDesk()
        let authenticator = BearerAuthenticator { _, context in
            try client.value?.switchEnvironment(to: .preRelease)
            _ = try await context.client.send(Renew())
            seen.update { $0.append(context.client.environment) }
            return Credential("new", refreshToken: "r2", obtained: context.time.date())
        }
        let rig = Self.rig(authenticator, desk: desk, configured: { $0.environment = .test })
        client.value = isSwitched ? rig.client : nil
        try await rig.signIn()
        if !isSwitched { try rig.client.switchEnvironment(to: .preRelease) }
        let options = isSwitched ? CallOptions() : .with { $0.environment = .test }
        _ = try await rig.client.send(GetProduct(), options: options)
        #expect(Set(rig.rig.hosts) == ["test.shop.example.com"])
        #expect(seen.value == [.test])
        client.value = nil
    }

    @Test("What the options of a client and of a service say of the environment does not move it", .covers("S1.22"))
    func pinned() async throws {
        let vault = MemoryVault()
        let rig = Rig([
            .shop {
                $0.authenticator = Self.sending
                $0.options.environment = .preRelease
            }
        ]) {
            $0.options.environment = .production
            $0.vault = vault
            $0.environment = .test
        } answering: { request in
            request.method == .post || request.fields[.authorization] == "Bearer new" ? .product : .unauthorised
        }
        // Signing in goes where the service's calls go, so that another client signs in where this one call goes.
        let plain = Rig([.shop { $0.authenticator = Self.sending }]) {
            $0.vault = vault
            $0.environment = .test
        }
        try await plain.client.signIn(Credential("old", refreshToken: "r1"))
        _ = try await rig.client.send(GetProduct(), options: .with { $0.environment = .test })
        #expect(Set(rig.hosts) == ["test.shop.example.com"])
    }

    @Test("With a live base URL each origin has credentials of its own", .covers("S2.2"))
    func liveBase() async throws {
        let host = Box("one.example.com")
        let service = Service(
            .main, BaseURLs { _ in "https://\(host.value)" }, envelope: .retcode, authenticator: BearerAuthenticator())
        let rig = Rig([service]) { $0.vault = MemoryVault() }
        try await rig.client.signIn(Credential("first"))
        _ = try await rig.client.send(GetProduct())
        host.value = "two.example.com"
        _ = try await rig.client.send(GetProduct(id: "8"))
        try await rig.client.signIn(Credential("second"))
        _ = try await rig.client.send(GetProduct(id: "9"))
        host.value = "one.example.com"
        _ = try await rig.client.send(GetProduct(id: "10"))
        #expect(
            rig.sent.map { $0.fields[.authorization] } == ["Bearer first", nil, "Bearer second", "Bearer first"])
    }

    @Test("A call under way is sent again where it began, though a live base URL has changed since", .covers("S1.22"))
    func liveBaseStays() async throws {
        let host = Box("one.example.com")
        let authenticator = BearerAuthenticator { credential, _ in
            host.value = "two.example.com"
            return Credential("new", refreshToken: credential.refreshToken)
        }
        let service = Service(
            .main, BaseURLs { _ in "https://\(host.value)/api" }, envelope: .retcode, signer: WireSigner(),
            authenticator: authenticator)
        let rig = Rig([service]) {
            $0.vault = MemoryVault()
        } answering: { request in
            request.fields[.authorization] == "Bearer new" ? .product : .unauthorised
        }
        try await rig.client.signIn(Credential("old", refreshToken: "r"))
        _ = try await rig.client.send(GetProduct())
        #expect(
            rig.sent.map { "\($0.url.host) \($0.fields[.authorization] ?? "")" } == [
                "one.example.com Bearer old", "one.example.com Bearer new",
            ])
        #expect(rig.sent.allSatisfy { $0.fields.contains("X-Signed") })
        // What begins now goes to the new host, which has seen no credential yet.
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(rig.hosts.last == "two.example.com" && rig.sent.last?.fields[.authorization] == nil)
    }

    /// The settings of what goes to the token endpoint for a call of a service with these options.
    private static func tokenSettings(
        _ authenticator: OAuth2Authenticator, service: CallOptions, client: CallOptions = .init(),
        call: CallOptions = .init()
    ) async throws -> CallSettings? {
        let settings = Box<CallSettings?>(nil)
        let rig = Rig([
            .shop {
                $0.authenticator = authenticator
                $0.options = service
            }
        ]) {
            $0.options = client
            $0.vault = MemoryVault()
            $0.attemptInterceptors = [
                Intercepting { request, call, next in
                    if request.url.host == "id.example.com" { settings.value = call.settings }
                    return try await next(request)
                }
            ]
        } answering: { request in
            if request.method == .post { return .json(#"{"access_token":"new","token_type":"bearer"}"#) }
            return request.fields[.authorization] == "Bearer new" ? .product : .unauthorised
        }
        if !authenticator.logsInAhead { try await rig.client.signIn(Credential("old", refreshToken: "r1")) }
        _ = try await rig.client.send(GetProduct(), options: call)
        return settings.value
    }

    @Test(
        "The token endpoint is reached as the service is, by its trust, proxy, resolver and cleartext policy",
        arguments: [true, false])
    func connection(isForClient: Bool) async throws {
        let url = "http://id.example.com/token"
        let authenticator =
            isForClient
            ? OAuth2Authenticator.clientCredentials(tokenURL: url, clientID: "app", clientSecret: "s")
            : OAuth2Authenticator(tokenURL: url, clientID: "app")
        let pins = try PinSet(
            "example.com", includesSubdomains: true,
            pins: [
                "sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
                "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            ])
        let trust = try TrustPolicy.authorities(URL(fileURLWithPath: "/own.pem")).pinned([pins])
        let proxy = ProxyPolicy.http(try HTTPURL("http://proxy.example.com:3128"))
        let resolver = HostResolver([try StaticHosts(["id.example.com": ["192.0.2.1"]])])
        let service = CallOptions.trust(trust).proxy(proxy).resolver(resolver).cleartext(.hosts(["id.example.com"]))
        // Of one call, which is not the only one that waits for the token, it does not depend.
        let settings = try #require(
            try await Self.tokenSettings(
                authenticator, service: service, client: .trust(.system.minimumVersion(.tls13)),
                call: .trust(.system).proxy(.none)))
        #expect(settings.trust == trust && settings.proxy == proxy && settings.resolver == resolver)
    }

    @Test("The token endpoint has nothing else of the service's options, and what these leave open from the client's")
    func connectionAlone() async throws {
        let authenticator = OAuth2Authenticator(tokenURL: "https://id.example.com/token", clientID: "app")
        let (own, wide) = (TrustPolicy.system.minimumVersion(.tls13), CleartextPolicy.hosts(["a.example.com"]))
        let service = CallOptions.with {
            $0.cleartext = wide
            $0.headers = ["X-Service": "1"]
            $0.sealing = .sealed
            $0.redirects = .follow
            $0.limits.bodyBytes = 7_000
        }
        let settings = try #require(
            try await Self.tokenSettings(
                authenticator, service: service, client: .trust(own), call: .plain))
        #expect(settings.trust == own && settings.cleartext == wide)
        #expect(settings.headers.isEmpty && settings.sealing == .plain && settings.redirects == .never)
        #expect(settings.limits.bodyBytes == ResponseLimits().bodyBytes)
    }

    @Test("A token endpoint that other authorities vouch for has a trust policy of its own")
    func ownTrust() async throws {
        var authenticator = OAuth2Authenticator(tokenURL: "https://id.example.com/token", clientID: "app")
        let service = TrustPolicy.authorities(URL(fileURLWithPath: "/own.pem"))
        #expect(try await Self.tokenSettings(authenticator, service: .trust(service))?.trust == service)
        authenticator.trust = .system
        #expect(try await Self.tokenSettings(authenticator, service: .trust(service))?.trust == .system)
    }

    // MARK: What ends it

    @Test("What renews a credential is not ended with all calls, but by a logout", arguments: [true, false])
    func cancelAll(isSignedOut: Bool) async throws {
        let script = ScriptedTransport([
            .respond(.unauthorised), .held(.respond(.product)), .respond(.product), .respond(.product),
        ])
        var configuration = APIClient.Configuration(services: [.shop { $0.authenticator = Self.sending }])
        configuration.vault = MemoryVault()
        configuration.cache = .none
        configuration.identity = { isSignedOut ? "bob" : "alice" }
        let client = APIClient(configuration, transport: script)
        try await client.signIn(Credential("old", refreshToken: "r1"))
        let call = client.start(GetProduct())
        await script.waitForExchanges(count: 2)
        if isSignedOut { await client.signOut("bob") } else { client.cancelAll() }
        #expect(await failure { try await call.value }?.kind == .cancelled)
        #expect(client.calls.count == (isSignedOut ? 0 : 1))
        script.release()
        guard !isSignedOut else { return }
        _ = try await client.send(GetProduct())
        #expect(script.requests.map(\.request.method) == [.get, .post, .get])
        #expect(script.requests.last?.request.fields[.authorization] == "Bearer new")
    }

    @Test("What renews a credential has the time of the policy, unless its own endpoint says otherwise")
    func time() async throws {
        struct Hasty: Endpoint {
            typealias Output = Product
            var route: Route { .post("/renew") }
            var options: CallOptions { .timeout(.seconds(2)) }
        }
        let totals = Box<[Duration?]>([])
        let authenticator = BearerAuthenticator { _, context in
            _ = try await context.client.send(Renew())
            _ = try await context.client.send(Hasty())
            return Credential("new", refreshToken: "r2", obtained: context.time.date())
        }
        let rig = Self.rig(
            authenticator,
            configured: {
                $0.options.timeouts.total = .seconds(1)
                $0.attemptInterceptors.append(
                    Intercepting { request, call, next in
                        if request.method == .post { totals.update { $0.append(call.settings.timeouts.total) } }
                        return try await next(request)
                    })
            })
        try await rig.signIn()
        _ = try await rig.client.send(GetProduct())
        #expect(totals.value == [nil, .seconds(2)])
    }

    @Test("A task that outlives the login it was begun in sends with the credential like everybody else")
    func lane() async throws {
        let (client, late) = (Box<APIClient?>(nil), Box<Task<Product, any Error>?>(nil))
        let gate = TokenDesk()
        gate.close()
        let authenticator = BearerAuthenticator(logIn: { _, _ in
            late.value = Task {
                await gate.logIn()
                guard let client = client.value else { throw CancellationError() }
                return try await client.send(GetProduct(id: "late"))
            }
            return Credential("new")
        })
        let rig = Self.rig(authenticator)
        client.value = rig.client
        _ = try await rig.client.send(GetProduct())
        gate.open()
        _ = try await late.value?.value
        #expect(rig.desk.sent.last?.fields[.authorization] == "Bearer new")
        #expect(gate.logins == 1 && rig.desk.logins == 0)
        (client.value, late.value) = (nil, nil)
    }

    // MARK: Why it failed

    @Test("The error that a renewal failed of is told beside the failure, to those who ask later as well")
    func cause() async throws {
        struct Odd: Error {}
        let rig = Self.rig(BearerAuthenticator { _, _ in throw Odd() })
        try await rig.signIn()
        for _ in 0..<2 {
            let error = await failure { try await rig.client.send(GetProduct()) }
            #expect(error?.kind == .authentication(.lost))
            #expect(error?.underlying is Odd)
        }
        try await rig.client.signIn(Credential("new"))
        _ = try await rig.client.send(GetProduct())
    }

    @Test("What a token endpoint has named as its error is told, and nothing else that it has written")
    func endpointCause() async throws {
        for (name, isTold) in [("invalid_client", true), ("r1-is-a-secret", false)] {
            let oauth = OAuth2Authenticator(tokenURL: "https://id.example.com/token", clientID: "app")
            let rig = Self.rig(oauth, renewing: { _ in .json(#"{"error":"\#(name)"}"#, status: 400) })
            try await rig.signIn()
            let error = await failure { try await rig.client.send(GetProduct()) }
            #expect(error?.kind == .authentication(.unavailable))
            let cause = try #require(error?.underlying as? APIError)
            #expect(cause.kind == .httpStatus(400))
            #expect("\(cause)".contains(name) == isTold)
        }
    }

    @Test(
        "What is stored is given where the server that renews the credential cannot be reached",
        .covers("S2.11", "S3.11"), arguments: [CachePolicy(.networkElseCache), CachePolicy(.http)])
    func offline(policy: CachePolicy) async throws {
        let isDown = Box(false)
        let desk = TokenDesk()
        let clock = TestClock()
        let rig = AuthRig(
            Self.sending, desk: desk, clock: clock,
            answering: { request throws(TransportError) in
                if isDown.value { throw TransportError(.unreachable(.offline), sendState: .unsent) }
                var response = HTTPResponse.product
                response.fields["Cache-Control"] = "max-age=10"
                return response
            },
            configured: {
                $0.cache = .store(MemoryCacheStore(time: clock.timeSource))
                $0.options.retry = RetryPolicy.none
                $0.identity = { "alice" }
            })
        try await rig.signIn(lifetime: .seconds(60))
        _ = try await rig.client.send(GetProduct(), options: .cache(policy))
        isDown.value = true
        clock.advance(by: .seconds(61))
        // The second is told of the failure that is remembered.
        for _ in 0..<2 {
            let response = try await rig.client.response(for: GetProduct(), options: .cache(policy))
            #expect(response.source != .network && response.isStale)
        }
        let error = await failure { try await rig.client.send(GetProduct(id: "8"), options: .cache(policy)) }
        #expect(error?.kind == .authentication(.unavailable))
        #expect((error?.underlying as? APIError)?.kind == .unreachable(.offline))
    }

    // MARK: Insisting

    @Test("Whoever insists on a new credential gets one, also while another call looks into the vault")
    func insisting() async throws {
        let vault = HeldVault()
        let desk = TokenDesk()
        let first = AuthRig(AuthRig.bearer(desk, TestClock()), desk: desk, vault: vault)
        try await first.signIn("new")
        let rig = AuthRig(AuthRig.bearer(desk, TestClock(), token: "newer"), desk: desk, vault: vault)
        desk.accept("new", "newer")
        vault.hold()
        let call = rig.client.start(GetProduct())
        await vault.untilAsked()
        let insisting = Task { try await rig.client.refreshCredential() }
        for _ in 0..<100 { await Task.yield() }
        vault.release()
        try await insisting.valueOfTest
        _ = try await call.value
        #expect(desk.refreshed.count == 1)
        #expect(try await rig.client.credential()?.token == "newer")
    }

    @Test("Where there is nothing to renew, or nothing to renew it by, it is missing")
    func nothing() async throws {
        let vault = MemoryVault()
        let rig = AuthRig(vault: vault)
        let missing = APIError.Kind.authentication(.missing)
        #expect(await failure { try await rig.client.refreshCredential() }?.kind == missing)
        #expect(await failure { try await rig.client.refreshCredential() }?.kind == missing)
        try await rig.signIn()
        for _ in 0..<2 {
            let other = AuthRig(BearerAuthenticator(), vault: vault)
            #expect(await failure { try await other.client.refreshCredential() }?.kind == missing)
        }
        try await rig.client.refreshCredential()
        #expect(rig.desk.refreshed.count == 1)
    }
}

/// A vault in memory that keeps those who read it waiting.
private final class HeldVault: CredentialVault {
    private struct State: Sendable {
        var isHeld = false
        var asked = 0
    }

    private let inner = MemoryVault()
    private let state = Monitor(State())

    func hold() { state.withLock { $0.isHeld = true } }
    func release() { state.withLock { $0.isHeld = false } }
    func untilAsked() async { await state.waitUnlessCancelled { $0.asked > 0 } }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
        state.withLock { $0.asked += 1 }
        await state.wait { !$0.isHeld }
        return try await inner.load(key)
    }

    func save(_ item: VaultItem, for key: CredentialKey, over condition: VaultCondition) async throws(VaultError)
        -> Bool
    {
        try await inner.save(item, for: key, over: condition)
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        try await inner.delete(key, where: condition)
    }

    func keys() async throws(VaultError) -> [CredentialKey] { try await inner.keys() }
}
