import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct EnvironmentTests {
    @Test(.covers("S1.22"), .timeLimit(.minutes(5)))
    func `a call in flight ends at the old host, and a new one goes to the new`() async throws {
        let script = ScriptedTransport([
            .held(.respond(.redirect(to: "/api/moved"))), .respond(.product), .respond(.product),
        ])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.environment = .test
        let client = APIClient(configuration, transport: script)
        let old = client.start(GetProduct(id: "old"))
        await script.waitForExchanges(count: 1)
        try client.switchEnvironment(to: .preRelease)
        #expect(client.environment == .preRelease)
        _ = try await client.send(GetProduct(id: "new"))
        script.release()
        _ = try await old.value
        #expect(
            script.requests.map(\.request.url.absoluteString) == [
                "https://test.shop.example.com/api/products/old",
                "https://prerelease.shop.example.com/api/products/new",
                "https://test.shop.example.com/api/moved",
            ])
        #expect(script.requests.map(\.isolation.environment) == ["test", "preRelease", "test"])
    }

    @Test func `an environment where no service is cannot be switched to, unless one might be there`() throws {
        func client(_ services: ServiceRegistry) -> APIClient {
            APIClient(.init(registry: services, build: .debug), transport: StubTransport { _ in .product })
        }
        let fixed = Service(.main, [.test: "https://test.example.com", .production: "https://shop.example.com"])
        let here = client(ServiceRegistry([fixed]))
        try here.switchEnvironment(to: .test)
        do throws(APIError) {
            try here.switchEnvironment(to: .custom("nowhere"))
            Issue.record("it was switched")
        } catch {
            guard case .invalidConfiguration(let reason) = error.kind else { throw error }
            #expect(reason.contains("nowhere"))
        }
        #expect(here.environment == .test)
        let live = Service("live", BaseURLs { _ in "https://live.example.com" })
        var lazy = ServiceRegistry([fixed])
        lazy.register("later") { Service("later", [.custom("nowhere"): "https://later.example.com"]) }
        let everywhere = Service("everywhere", "https://one.example.com")
        for services in [
            ServiceRegistry([fixed, live]), lazy, ServiceRegistry([fixed, everywhere]), ServiceRegistry(),
        ] {
            try client(services).switchEnvironment(to: .custom("nowhere"))
        }
    }

    @Test(.covers("S1.22"))
    func `cookies, tokens and connections of one environment or user are not used in another`() async throws {
        let user = Box("alice")
        var one = Service(.main, "https://one.example.com", envelope: .retcode)
        one.authenticator = BearerAuthenticator()
        let rig = Rig([one]) {
            $0.cookies = MemoryCookieStore()
            $0.vault = MemoryVault()
            $0.identity = { user.value }
            $0.environment = .test
        } answering: { request in
            var response = HTTPResponse.product
            if request.url.path == "/login" { response.fields.append("sid=secret", for: .setCookie) }
            return response
        }
        let capture = Capture()
        let client = rig.client.with { $0.attemptInterceptors = [capture] }
        let _: Product = try await client.get("/login")
        try await client.signIn(Credential("test-token"))
        let _: Product = try await client.get("/a")
        try client.switchEnvironment(to: .production)
        let _: Product = try await client.get("/b")
        try client.switchEnvironment(to: .test)
        user.value = "bob"
        let _: Product = try await client.get("/c")
        user.value = "alice"
        let _: Product = try await client.get("/d")
        #expect(rig.sent.map { $0.fields[.cookie] } == [nil, "sid=secret", nil, nil, "sid=secret"])
        let token = "Bearer test-token"
        #expect(rig.sent.map { $0.fields[.authorization] } == [nil, token, nil, nil, token])
        let alice = IsolationKey(environment: "test", identity: "alice")
        #expect(
            capture.contexts.map(\.isolation) == [
                alice, alice, .init(environment: "production", identity: "alice"),
                .init(environment: "test", identity: "bob"), alice,
            ])
    }

    @Test(.covers("S1.22"), arguments: ServerEnvironment.standard)
    func `each of the four environments has its own host`(environment: ServerEnvironment) async throws {
        let rig = Rig { $0.environment = environment }
        _ = try await rig.client.send(GetProduct())
        #expect(rig.hosts == ["\(environment.name.lowercased()).shop.example.com"])
    }

    @Test(.covers("S1.23"), arguments: ["", "Production", "prod", "production ", "9", "0", "staging"])
    func `an unknown name is no environment`(name: String) throws {
        let failure = error { () throws(APIError) in try ServerEnvironment(named: name) }
        guard case .invalidConfiguration(let reason) = failure?.kind else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("development, test, preRelease, production"))
        for known in ServerEnvironment.standard { #expect(try ServerEnvironment(named: known.name) == known) }
        #expect(try ServerEnvironment(named: "staging", among: [.custom("staging")]).name == "staging")
    }

    @Test(.covers("S1.23", "S0.17"))
    func `by default it is what this build was made for that counts, be it debugging or release`() {
        #if DEBUG
            let isDebug = true
        #else
            let isDebug = false
        #endif
        #expect(BuildFlavor.current == (isDebug ? .debug : .release))
        let client = APIClient(.init(services: [.shop()]), transport: StubTransport())
        #expect(client.environment == (isDebug ? .development : .production))
        #expect(client.configuration.allowsEnvironmentSwitch == isDebug)
        // No rules below the app in a release build that does not ask for them.
        let refused = error { () throws(APIError) in try RequestRules([]) }
        #expect((refused == nil) == isDebug)
    }

    @Test(.covers("S1.23")) func `a release build begins in production and does not switch unless told it may`()
        async throws
    {
        let release = Rig(build: .release)
        #expect(release.client.environment == .production)
        let refused = error { () throws(APIError) in try release.client.switchEnvironment(to: .test) }
        guard case .blocked = refused?.kind else {
            Issue.record("\(String(describing: refused))")
            return
        }
        _ = try await release.client.send(GetProduct())
        let flagged = Rig(build: .release) { $0.allowsEnvironmentSwitch = true }
        try flagged.client.switchEnvironment(to: .test)
        _ = try await flagged.client.send(GetProduct())
        let debug = Rig(build: .debug)
        #expect(debug.client.environment == .development)
        try debug.client.switchEnvironment(to: .test)
        #expect(release.hosts + flagged.hosts == ["production.shop.example.com", "test.shop.example.com"])
    }

    @Test(.covers("S1.23"))
    func `no way leads a release build into another environment unless it is told that it may switch`() async throws {
        let ways: [(String, (APIClient) async throws -> Void)] = [
            ("a derived client", { _ = try await $0.with { $0.environment = .test }.send(GetProduct()) }),
            (
                "what is derived of that",
                {
                    _ = try await $0.with { $0.environment = .test }.with { $0.headers = [:] }.send(GetProduct())
                }
            ),
            (
                "a derived client's options",
                {
                    _ = try await $0.with { $0.options.environment = .test }.send(GetProduct())
                }
            ),
            ("a service of a derived client", { _ = try await $0.with(Self.moved).send(GetProduct()) }),
            (
                "what is derived of that and registers it once more",
                {
                    let moved = $0.with(Self.moved)
                    _ = try await moved.with { $0.headers = [:] }.with(Self.moved).send(GetProduct())
                }
            ),
            ("a call", { _ = try await $0.send(GetProduct(), options: .with { $0.environment = .test }) }),
            ("a handle", { _ = try await $0.start(GetProduct(), options: .with { $0.environment = .test }).value }),
        ]
        for (name, way) in ways {
            let rig = Rig(build: .release)
            let error = await failure { try await way(rig.client) }
            #expect(error?.kind == .blocked(reason: "this client does not allow switching environments"), "\(name)")
            #expect(rig.sent.isEmpty, "\(name)")
            _ = try await rig.client.send(GetProduct())
            let allowed = Rig(build: .release) { $0.allowsEnvironmentSwitch = true }
            try await way(allowed.client)
            #expect(rig.hosts + allowed.hosts == ["production.shop.example.com", "test.shop.example.com"], "\(name)")
        }
    }

    /// Has the calls of a service go to another environment, as nothing else says it.
    private static func moved(_ configuration: inout APIClient.Configuration) {
        configuration.services.register(.main) { .shop { $0.options.environment = .test } }
    }

    @Test(.covers("S1.23")) func `what a release build names from the beginning is no switch`() async throws {
        struct Sandboxed: Endpoint {
            typealias Output = Product
            var route: Route { .get("/sandbox") }
            var options: CallOptions { .with { $0.environment = .preRelease } }
        }
        let rig = Rig(
            [.shop(), .shop("pay", host: "pay.example.com") { $0.options.environment = .development }], build: .release
        ) { $0.environment = .test }
        _ = try await rig.client.send(GetProduct())
        let _: Product = try await rig.client.get("/pay", service: "pay")
        _ = try await rig.client.send(Sandboxed())
        _ = try await rig.client.send(GetProduct(), options: .with { $0.environment = .test })
        _ = try await rig.client.with { $0.environment = .test }.send(GetProduct())
        let derived = rig.client.with { $0.allowsEnvironmentSwitch = true }
        _ = try await derived.with { $0.environment = .production }.send(GetProduct())
        // So is a service that its parent does not have, or has there too, and where the parent may switch.
        let paying = rig.client.with {
            $0.services.register("bank") {
                .shop("bank", host: "bank.example.com") { $0.options.environment = .test }
            }
        }
        let _: Product = try await paying.with { $0.headers = [:] }.get("/bank", service: "bank")
        let again = rig.client.with {
            $0.services.register("pay") { .shop("pay") { $0.options.environment = .development } }
        }
        let _: Product = try await again.get("/pay", service: "pay")
        let back = derived.with(Self.moved).with { $0.allowsEnvironmentSwitch = false }
        _ = try await back.with { $0.headers = [:] }.send(GetProduct())
        #expect(
            rig.hosts.map { $0.replacingOccurrences(of: ".example.com", with: "") } == [
                "test.shop", "development.pay", "prerelease.shop", "test.shop", "test.shop", "production.shop",
                "test.bank", "development.shop", "test.shop",
            ])
    }

    @Test(.covers("S1.23")) func `a client that is where it may not be asks for no credential either`() async throws {
        let rig = Rig([.shop { $0.authenticator = BearerAuthenticator() }], build: .release) {
            $0.vault = MemoryVault()
        }
        let moved = rig.client.with {
            $0.services.register(.main) {
                .shop {
                    $0.authenticator = BearerAuthenticator()
                    $0.options.environment = .test
                }
            }
        }
        for elsewhere in [rig.client.with { $0.environment = .test }, moved] {
            let error = await failure { try await elsewhere.refreshCredential() }
            #expect(error?.kind == .blocked(reason: "this client does not allow switching environments"))
            #expect(await !elsewhere.preconnect(to: .main))
        }
    }

    @Test(.covers("S1.23")) func `an environment or a service that is not configured fails by name, unsent`()
        async throws
    {
        let rig = Rig([Service(.main, [.development: "https://dev.example.com"])]) { $0.environment = .production }
        let missing = await failure { try await rig.client.send(GetProduct()) }
        #expect(
            missing?.kind
                == .invalidConfiguration(reason: "the service main has no base URL in the environment production"))
        let unknown = await failure { let _: Product = try await rig.client.get("/x", service: "nobody") }
        #expect(unknown?.kind == .invalidConfiguration(reason: #"no service is named "nobody""#))
        #expect(rig.client.callCount == 0)
        #expect(rig.sent.isEmpty)
    }

    @Test func `a name that two services have fails by name, unsent, until one is registered in their place`() async {
        let rig = Rig([.shop(host: "one.example.com"), .shop(host: "two.example.com"), .shop("other")])
        for _ in 0..<2 {
            let error = await failure { try await rig.client.send(GetProduct()) }
            #expect(error?.kind == .invalidConfiguration(reason: #"two services are named "main""#))
            #expect(error?.stage == .prepare)
        }
        #expect(rig.sent.isEmpty)
        #expect(await failure { let _: Product = try await rig.client.get("/x", service: "other") } == nil)
        let derived = rig.client.with { $0.services.register(.main) { .shop(host: "three.example.com") } }
        #expect(await failure { try await derived.send(GetProduct()) } == nil)
        #expect(rig.hosts == ["development.shop.example.com", "development.three.example.com"])
    }

    @Test(.covers("S1.23")) func `plain http is refused unsent, unless the host is allowed`() async throws {
        let rig = Rig([
            Service(.main, [.development: "http://plain.example.com"], envelope: .retcode),
            Service(
                "mirror", [.development: "http://mirror.example.com"], envelope: .retcode,
                options: .with {
                    $0.cleartext = .hosts(["Mirror.example.com"])
                }),
        ])
        let refused = await failure { try await rig.client.send(GetProduct()) }
        let reason =
            #"plain http to plain.example.com is not allowed; the option .cleartext(.hosts(["plain.example.com"])) allows it"#
        #expect(refused?.kind == .blocked(reason: reason))
        #expect(rig.sent.isEmpty)
        let _: Product = try await rig.client.get("/x", service: "mirror")
        #expect(rig.hosts == ["mirror.example.com"])
    }

    @Test(.covers("S1.24")) func `two services go to two hosts in one environment`() async throws {
        let rig = Rig([.shop(), .shop("account", host: "account.example.com")])
        _ = try await rig.client.send(GetProduct())
        let _: Product = try await rig.client.get("/me", service: "account")
        #expect(rig.hosts == ["development.shop.example.com", "development.account.example.com"])
    }

    @Test(.covers("S2.2")) func `the base URL changes while the app runs, and the next request uses the new one`()
        async throws
    {
        let canary = ServerEnvironment.custom("canary")
        let service = Service(
            .main, [.development: "https://old.example.com/v1", canary: "https://new.example.com/v2"],
            envelope: .retcode)
        let rig = Rig([service])
        let shop = ShopManager(client: rig.client)
        _ = try await shop.product("1").value
        try rig.client.switchEnvironment(to: canary)
        _ = try await shop.product("2").value
        let moved = rig.client.with { $0.options.baseURL = "https://third.example.com" }
        _ = try await ShopManager(client: moved).product("3").value
        #expect(
            rig.sent.map(\.url.absoluteString) == [
                "https://old.example.com/v1/products/1", "https://new.example.com/v2/products/2",
                "https://third.example.com/products/3",
            ])
    }
}

@Suite(.timeLimit(.minutes(5))) struct ServiceRegistryTests {
    @Test(.covers("S3.5"), .timeLimit(.minutes(5)))
    func `a thousand look-ups at once make one service of each name`() async throws {
        let made = Box<[String: Int]>([:])
        var registry = ServiceRegistry()
        let ids: [ServiceID] = ["a", "b", "c", "d"]
        for id in ids {
            registry.register(id) {
                let count = made.update { made in
                    made[id.name, default: 0] += 1
                    return made[id.name] ?? 0
                }
                return Service(
                    id, [.development: "https://\(id.name)\(count).example.com"], version: "v\(count)",
                    signer: WireSigner(key: "key of \(id.name)\(count)"))
            }
        }
        #expect(made.value.isEmpty)
        let found = try await withThrowingTaskGroup(of: Service.self) { group in
            for index in 0..<1_000 { group.addTask { [registry] in try registry.service(ids[index % ids.count]) } }
            return try await group.reduce(into: [Service]()) { $0.append($1) }
        }
        #expect(found.count == 1_000)
        #expect(made.value == ["a": 1, "b": 1, "c": 1, "d": 1])
        #expect(Set(found.map(\.id)) == Set(ids))
        for service in found {
            let name = service.id.name
            #expect(try service.baseURL(in: .development).absoluteString == "https://\(name)1.example.com/v1")
            #expect((service.signer as? WireSigner)?.key == "key of \(name)1")
        }
        #expect(registry.ids == ids)
    }

    @Test(.covers("S3.5")) func `each service's requests go to its own URL, in its own version, under its own key`()
        async throws
    {
        var registry = ServiceRegistry()
        for (id, version) in [("shop", "v1"), ("account", "v2")] as [(ServiceID, String)] {
            registry.register(id) {
                Service(
                    id, [.development: "https://\(id.name).example.com/api"], version: version, envelope: .retcode,
                    signer: WireSigner(key: "key of \(id.name)"))
            }
        }
        let stub = StubTransport { _ in .product }
        let client = APIClient(.init(registry: registry, build: .debug), transport: stub)
        for service in ["shop", "account", "shop"] as [ServiceID] {
            let _: Product = try await client.get("/item", service: service)
        }
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://shop.example.com/api/v1/item", "https://account.example.com/api/v2/item",
                "https://shop.example.com/api/v1/item",
            ])
        for (request, name) in zip(stub.requests, ["shop", "account", "shop"]) {
            var plain = request
            plain.fields.remove("X-Signed")
            #expect(request.fields["X-Signed"] == WireSigner.digest("key of \(name)", plain), "\(name)")
        }
    }

    @Test(.covers("S3.5")) func `clients that share a registry share its services`() async throws {
        let made = Box(0)
        var registry = ServiceRegistry()
        registry.register(.main) {
            made.update { $0 += 1 }
            return .shop()
        }
        let stub = StubTransport { _ in .product }
        let client = APIClient(.init(registry: registry), transport: stub)
        for _ in 0..<3 { _ = try await client.send(GetProduct()) }
        _ = try await client.with { $0.headers = ["X": "1"] }.send(GetProduct())
        #expect(made.value == 1)
    }

    @Test func `a factory may ask for another service`() throws {
        var registry = ServiceRegistry([.shop("base", host: "base.example.com")])
        registry.register("derived") { [registry] in
            Service("derived", (try? registry.service("base"))?.baseURLs ?? [:], version: "v9")
        }
        #expect(
            try registry.service("derived").baseURL(in: .test).absoluteString == "https://test.base.example.com/api/v9")
    }

    @Test func `a service registered again is the one of clients made afterwards, and of that copy alone`() async throws
    {
        var registry = ServiceRegistry([.shop(host: "old.example.com")])
        let (copy, stub) = (registry, StubTransport { _ in .product })
        let old = APIClient(.init(registry: registry), transport: stub)
        registry.register(.main) { .shop(host: "new.example.com") }
        for client in [old, APIClient(.init(registry: registry), transport: stub)] {
            _ = try await client.send(GetProduct())
        }
        _ = try await APIClient(.init(registry: copy), transport: stub).send(GetProduct())
        #expect(
            stub.requests.map(\.url.host) == [
                "development.old.example.com", "development.new.example.com", "development.old.example.com",
            ])
    }

    @Test func `what a derived client registers changes neither its parent nor its siblings`() async throws {
        let rig = Rig([.shop(host: "old.example.com")])
        let derived = rig.client.with { $0.services.register(.main) { .shop(host: "new.example.com") } }
        let sibling = rig.client.with { $0.options = .timeout(.seconds(9)) }
        for client in [derived, rig.client, sibling] { _ = try await client.send(GetProduct()) }
        #expect(rig.hosts == ["new", "old", "old"].map { "development.\($0).example.com" })
        let unknown = rig.client.with { $0.services.register("more") { .shop("more") } }
        #expect(
            unknown.configuration.services.ids == ["main", "more"] && rig.client.configuration.services.ids == ["main"])
    }

    @Test func `services are set as a list, and a name that two of them have is refused`() async throws {
        let rig = Rig()
        let derived = rig.client.with { $0.services = [.shop("a", host: "a.example.com"), .shop("b"), .shop("b")] }
        #expect(derived.configuration.services.ids == ["a", "b"])
        let _: Product = try await derived.get("/x", service: "a")
        #expect(rig.hosts == ["development.a.example.com"])
        #expect(throws: APIError.self) { try derived.configuration.services.service("b") }
        #expect("\(derived.configuration.services)" == "services a, b")
    }
}
