import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// An endpoint with options of its own.
struct Tuned: Endpoint {
    typealias Output = Product
    var options = CallOptions()
    var parameters: ParameterObject?
    var route: Route { .post("/tuned") }
}

/// Interceptors of four types.
protocol Leveled: Interceptor {
    init()
}

extension Leveled {
    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await next(request)
    }
}

struct Leveled1: Leveled {}
struct Leveled2: Leveled {}
struct Leveled3: Leveled {}
struct Leveled4: Leveled {}
private let leveled: [any Leveled.Type] = [Leveled1.self, Leveled2.self, Leveled3.self, Leveled4.self]

@Suite(.timeLimit(.minutes(5))) struct OptionLevelTests {
    enum Level: Int, CaseIterable {
        case client, service, endpoint, call
    }

    /// A field of `CallSettings`, named as it is declared.
    struct Field: Sendable {
        /// Sets the field to a value that carries the number.
        let set: @Sendable (inout CallOptions, Int) -> Void
        /// The number that reached the request or the call's settings; `nil` for none.
        let read: @Sendable (HTTPRequest, CallContext) -> Int?
    }

    static let fields: [String: Field] = [
        "baseURL": Field {
            $0.baseURL = "https://base\($1).example"
        } read: { request, _ in
            Int(request.url.host.dropFirst(4).prefix { $0 != "." })
        },
        "link": Field {
            $0 = $0.at(URLSet.url("https://development.example/link\($1)"))
        } read: { request, _ in
            request.url.path.hasPrefix("/link") ? Int(request.url.path.dropFirst(5)) : nil
        },
        "skippedInterceptors": Field {
            $0 = $0.skipping(leveled[$1 - 1])
        } read: { _, call in
            leveled.lastIndex { call.settings.skippedInterceptors.contains($0.init()) }.map { $0 + 1 }
        },
        "environment": Field {
            $0.environment = .custom("\($1)")
        } read: { request, call in
            request.url.host == "env\(call.environment.name).example" ? Int(call.environment.name) : nil
        },
        "headers": Field {
            $0.headers = ["X-Level": "\($1)"]
        } read: { request, _ in
            request.fields["X-Level"].flatMap { Int($0) }
        },
        "parameters": Field {
            $0.parameters = ["level": $1]
        } read: { request, _ in
            Int(request.text.filter(\.isNumber))
        },
        "timeouts": Field {
            $0.timeouts = Timeouts(idle: .seconds(1_000 + $1))
        } read: { _, call in
            (call.settings.timeouts.idle ?? .zero).components.seconds > 1_000
                ? Int((call.settings.timeouts.idle ?? .zero).components.seconds) - 1_000 : nil
        },
        "limits": Field {
            $0.limits = ResponseLimits(headerCount: 5_000 + $1)
        } read: { _, call in
            call.settings.limits.headerCount > 5_000 ? call.settings.limits.headerCount - 5_000 : nil
        },
        "trust": Field {
            $0.trust = .authorities(URL(fileURLWithPath: "/\($1)"))
        } read: { _, call in
            guard case .file(let url) = call.settings.trust.anchors else { return nil }
            return Int(url.lastPathComponent)
        },
        "proxy": Field {
            $0.proxy = .socks5("\($1).example")
        } read: { _, call in
            guard case .socks5(let host, _) = call.settings.proxy.route else { return nil }
            return Int(host.prefix { $0 != "." })
        },
        "redirects": Field {
            $0.redirects = RedirectPolicy(limit: 100 + $1)
        } read: { _, call in
            call.settings.redirects.limit > 100 ? call.settings.redirects.limit - 100 : nil
        },
        "cleartext": Field {
            $0.cleartext = .hosts(["\($1).example"])
        } read: { _, call in
            (0...9).first { call.settings.cleartext == .hosts(["\($0).example"]) }
        },
        "status": Field {
            $0.status = .codes(200..<(300 + $1))
        } read: { _, call in
            (1...9).first { call.settings.status == .codes(200..<(300 + $0)) }
        },
        "formFormat": Field { options, number in
            options.formFormat = FormFormat(dates: .custom { _ in .int(Int64(number)) })
        } read: { _, call in
            (try? call.settings.formFormat.text(.object(["d": ParameterValue.date(Date())]))).flatMap {
                Int($0.dropFirst(2))
            }
        },
        "jsonFormat": Field { options, number in
            options.jsonFormat = JSONFormat(dates: .custom { _ in .int(Int64(number)) })
        } read: { _, call in
            (try? call.settings.jsonFormat.text(.date(Date()))).flatMap { Int($0) }
        },
        "modelFormat": Field {
            $0.modelFormat = DecodingOptions(maximumDepth: 10 + $1)
        } read: { _, call in
            let depth = call.settings.modelFormat.maximumDepth - 10
            return (1...9).contains(depth) ? depth : nil
        },
        "cache": Field {
            $0.cache = CachePolicy(.http, ttl: .seconds($1))
        } read: { _, call in
            (call.settings.cache.ttl?.components.seconds).map(Int.init)
        },
        "cacheTags": Field {
            $0.cacheTags = ["\($1)"]
        } read: { _, call in
            call.settings.cacheTags.first.flatMap { Int($0) }
        },
        "retry": Field {
            $0.retry = .limit(100 + $1)
        } read: { _, call in
            call.settings.retry.limit > 100 ? call.settings.retry.limit - 100 : nil
        },
        "idempotency": Field {
            $0.idempotency = IdempotencyKey("\($1)").map(Idempotency.keyed)
        } read: { request, _ in
            request.fields[IdempotencyKey.field].flatMap { Int($0.dropFirst().dropLast()) }
        },
        "requestCompression": Field {
            $0.requestCompression = RequestCompression.gzip.above($1)
        } read: { _, call in
            call.settings.requestCompression?.minimumLength
        },
        "resolver": Field {
            // The default is 2,000.
            $0.resolver = HostResolver([], patience: .milliseconds($1))
        } read: { _, call in
            let patience = Int(call.settings.resolver.patience / .milliseconds(1))
            return patience == 2_000 ? nil : patience
        },
        "priority": Field {
            // The default, which is third, stands for 3.
            $0.priority = CallPriority(rawValue: $1 == 3 ? 4 : $1 == 4 ? 3 : $1 - 1)
        } read: { _, call in
            switch call.priority {
            case .normal: nil
            case .immediate: 3
            case .high: 4
            case .background, .low: call.priority.rawValue + 1
            }
        },
        "tags": Field {
            $0.tags = ["\($1)"]
        } read: { _, call in
            call.settings.tags.first.flatMap { Int($0) }
        },
        "inFlight": Field {
            $0.inFlight = InFlightPolicy(.independent, per: .group("\($1)"))
        } read: { _, call in
            if case .group(let group) = call.settings.inFlight.scope { Int(group) } else { nil }
        },
        "waitsForConnectivity": Field {
            $0.waitsForConnectivity = .upTo(.seconds($1))
        } read: { _, call in
            (call.settings.waitsForConnectivity.limit?.components.seconds).map(Int.init)
        },
    ]

    /// Those that have a few values, and can show no number.
    static let choices = ["authentication", "sealing", "keepsMethod"]
    static let names = Mirror(reflecting: CallSettings()).children.compactMap(\.label).filter { !choices.contains($0) }

    @Test(.covers("S2.6")) func `every option is among those whose effect is shown`() {
        #expect(Set(Self.names) == Set(Self.fields.keys))
    }

    @Test(.covers("S2.6"), arguments: names, Level.allCases)
    func `a field set at any level survives into the request`(name: String, level: Level) async throws {
        #expect(try await seen(name, at: [level]) == level.rawValue + 1)
        #expect(try await seen(name, at: []) == nil)
    }

    @Test(.covers("S2.5", "S2.6"), arguments: names)
    func `for every field and every combination of levels the nearest wins`(name: String) async throws {
        for mask in 1..<16 {
            let levels = Level.allCases.filter { mask & (1 << $0.rawValue) != 0 }
            #expect(try await seen(name, at: levels) == levels.last.map { $0.rawValue + 1 }, "\(levels)")
        }
    }

    @Test(.covers("S2.5", "S2.6"))
    func `for a choice of two values and every combination of levels the nearest wins`() async throws {
        try await nearestWins(\.authentication, among: .automatic, .anonymous)
        try await nearestWins(\.sealing, among: .automatic, .plain)
        try await nearestWins(\.keepsMethod, among: false, true)
    }

    /// - Parameter first: the default.
    private func nearestWins<Choice: Hashable & Sendable>(
        _ option: WritableKeyPath<CallSettings, Choice> & Sendable, among first: Choice, _ second: Choice
    ) async throws {
        let values: [Choice?] = [nil, first, second]
        for number in 0..<81 {
            let chosen = [1, 3, 9, 27].map { values[number / $0 % 3] }
            let capture = Capture()
            func options(_ level: Level) -> CallOptions {
                .with { $0[dynamicMember: option] = chosen[level.rawValue] }
            }
            let rig = Rig([.shop { $0.options = options(.service) }]) {
                $0.options = options(.client)
                $0.callInterceptors = [capture]
            }
            _ = try await rig.client.send(Tuned(options: options(.endpoint)), options: options(.call))
            let nearest = chosen.compactMap(\.self).last ?? first
            #expect(capture.contexts.first?.settings[keyPath: option] == nearest, "\(chosen)")
        }
    }

    /// The number that a request shows when the field is set at each of `levels`, numbered from 1.
    private func seen(_ name: String, at levels: [Level]) async throws -> Int? {
        let field = try #require(Self.fields[name])
        func options(_ level: Level) -> CallOptions {
            .with { if levels.contains(level) { field.set(&$0, level.rawValue + 1) } }
        }
        let capture = Capture()
        let urls = (1...4).map { (ServerEnvironment.custom("\($0)"), "https://env\($0).example") }
        let service = Service(
            .main, BaseURLs(Dictionary(uniqueKeysWithValues: urls + [(.development, "https://development.example")])),
            envelope: .retcode, options: options(.service))
        let rig = Rig([service]) {
            $0.options = options(.client)
            $0.callInterceptors = [capture]
            $0.reachability = Reachability()
        }
        _ = try await rig.client.send(Tuned(options: options(.endpoint)), options: options(.call))
        return field.read(try #require(rig.sent.first), try #require(capture.contexts.first))
    }

    @Test(.covers("S2.6"), arguments: Level.allCases)
    func `what the wire goes by reaches the transport with all of its fields, from any level`(level: Level) async throws
    {
        let timeouts = Timeouts(connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3), total: .seconds(4))
        let limits = ResponseLimits(
            bodyBytes: 11, headerBytes: 12_000, headerCount: 13, interimResponses: 14, expansionRatio: 15,
            minimumThroughput: .init(bytes: 1, per: .seconds(60)))
        let trust = TrustPolicy.authorities(URL(fileURLWithPath: "/anchors"))
        let proxy = ProxyPolicy.socks5("proxy.example", credentials: ProxyCredentials(user: "u", password: "p"))
        let resolver = HostResolver([])
        func options(_ place: Level) -> CallOptions {
            .with {
                guard place == level else { return }
                $0.timeouts = timeouts
                $0.limits = limits
                $0.trust = trust
                $0.proxy = proxy
                $0.resolver = resolver
            }
        }
        let empty = HTTPResponse(status: 204)
        let script = ScriptedTransport([.respond(empty)])
        var configuration = APIClient.Configuration(services: [.shop { $0.options = options(.service) }], build: .debug)
        configuration.options = options(.client)
        configuration.time = TestClock().timeSource
        let client = APIClient(configuration, transport: script)
        _ = await failure { try await client.send(Tuned(options: options(.endpoint)), options: options(.call)) }
        let asked = try #require(script.requests.first)
        #expect(asked.timeouts == timeouts)
        #expect(asked.limits == limits)
        #expect(asked.isolation.trust == trust)
        #expect(asked.isolation.proxy == proxy)
        #expect(asked.isolation.resolver == resolver)
    }

    @Test(.covers("S2.6"), .timeLimit(.minutes(5)))
    func `every field of the client's configuration has an effect`() async throws {
        let sink = EventRecorder()
        let store = MemoryCookieStore()
        let vault = MemoryVault()
        let capture = Capture()
        let clock = TestClock()
        clock.advance(by: .seconds(77))
        let shop = URLSet.url("https://test.registry.example/")
        store.receive(["c=1"], from: shop, in: .init(environment: "test", identity: "alice"))
        let effects: [String: (set: (inout APIClient.Configuration) -> Void, shows: (Rig) async throws -> Bool)] = [
            "services": (
                { $0.services = ServiceRegistry([.shop(host: "registry.example")]) },
                { $0.sent.first?.url.host.hasSuffix(".registry.example") == true }
            ),
            "environment": ({ $0.environment = .test }, { $0.hosts.first?.hasPrefix("test.") == true }),
            "allowsEnvironmentSwitch": (
                { $0.allowsEnvironmentSwitch = false },
                { rig in
                    error { () throws(APIError) in try rig.client.switchEnvironment(to: .production) } != nil
                }
            ),
            "headers": ({ $0.headers = ["X-C": "1"] }, { $0.sent.first?.fields["X-C"] == "1" }),
            "parameters": (
                { $0.parameters = CommonParameters { ["p": 1] } }, { $0.sent.first?.text == #"{"p":1}"# }
            ),
            "options": (
                { $0.options = .headers(["X-O": "1"]) }, { $0.sent.first?.fields["X-O"] == "1" }
            ),
            "callInterceptors": ({ $0.callInterceptors = [capture] }, { _ in !capture.requests.isEmpty }),
            "attemptInterceptors": (
                { $0.attemptInterceptors = [Intercepting.setting("X-A", "1")] },
                { $0.sent.first?.fields["X-A"] == "1" }
            ),
            "identity": ({ $0.identity = { "alice" } }, { _ in capture.contexts.first?.isolation.identity == "alice" }),
            "cache": ({ $0.cache = .none }, { try await Self.hits(of: $0.client.configuration.cache) == 2 }),
            "cookies": ({ $0.cookies = store }, { $0.sent.first?.fields[.cookie] == "c=1" }),
            "errorMapper": (
                { $0.errorMapper = ErrorMapper { _ in .init(code: 12) } },
                { rig in
                    await failure { try await rig.client.send(GetProduct(id: "")) }?.presentation?.code == 12
                }
            ),
            "retryBudget": (
                { $0.retryBudget = .init(reserve: 0) },
                { !$0.client.state.origins.withdraw(.failure, for: shop.origin) }
            ),
            "circuitBreaker": ({ $0.circuitBreaker = nil }, { $0.client.state.origins.breaker == nil }),
            "throttle": ({ $0.throttle = .init() }, { $0.client.state.origins.throttle != nil }),
            "admission": ({ $0.admission = .init(total: 7) }, { $0.client.state.admissions.policy.total == 7 }),
            "reachability": (
                { $0.reachability = Reachability(.unreachable) },
                { rig in
                    let lost = TransportError(.unreachable(.noRoute), sendState: .unsent)
                    var configuration = rig.client.configuration
                    configuration.callInterceptors = []
                    let client = APIClient(configuration, transport: ScriptedTransport([.fail(lost)]))
                    return await failure { try await client.send(Tuned()) }?.kind == .unreachable(.offline)
                }
            ),
            "vault": (
                { $0.vault = vault },
                { rig in
                    var configuration = rig.client.configuration
                    configuration.services = ServiceRegistry([
                        Service(.main, [.test: "https://a.example"], authenticator: BearerAuthenticator())
                    ])
                    try await APIClient(configuration, transport: ScriptedTransport([])).signIn(Credential("token"))
                    return try await vault.keys().map(\.account) == ["alice"]
                }
            ),
            "sinks": ({ $0.sinks = [sink] }, { _ in !sink.records.isEmpty }),
            "checksEndpoints": (
                { $0.checksEndpoints = false },
                { rig in await failure { try await rig.client.send(Forgetful(account: "alice")) } == nil }
            ),
            "random": (
                { $0.random = RandomSource { .max } },
                { rig in
                    await Self.waitForLongestDelay(of: rig.client.configuration, clock)
                    return true
                }
            ),
            "time": (
                { $0.time = clock.timeSource }, { _ in capture.contexts.first?.time.now() == clock.timeSource.now() }
            ),
        ]
        let names = Mirror(reflecting: APIClient.Configuration(services: [])).children.compactMap(\.label)
        // What are no settings, but the memory of those that were made.
        #expect(Set(names) == Set(effects.keys).union(["setsEnvironment", "isPinned", "setsCookies", "setsIdentity"]))
        let rig = Rig { configuration in for effect in effects.values { effect.set(&configuration) } }
        _ = try await rig.client.send(Tuned())
        for (name, effect) in effects { #expect(try await effect.shows(rig), "\(name)") }
    }

    @Test(.covers("S2.6")) func `by default what may be kept is asked for once`() async throws {
        #expect(try await Self.hits(of: .standard) == 1)
    }

    /// How often the server is asked by two equal calls whose answer may be kept.
    private static func hits(of cache: CacheChoice) async throws -> Int {
        let rig = Rig {
            $0.cache = cache
            $0.options.cache = .http
        } answering: { _ in
            var response = HTTPResponse.product
            response.fields[.cacheControl] = "max-age=600"
            return response
        }
        for _ in 0..<2 { _ = try await rig.client.send(GetProduct()) }
        return rig.sent.count
    }

    /// Waits for a stream of events to come back after a lost connection, which it does after 3 to 6 seconds as chance will
    /// have it: after 6 where every number drawn is the largest one. Otherwise this does not return.
    private static func waitForLongestDelay(of configuration: APIClient.Configuration, _ clock: TestClock) async {
        let lost = TransportError(.connectionLost, sendState: .unsent, message: "lost")
        let script = ScriptedTransport([.fail(lost), .respond(.init(status: 204))])
        var configuration = configuration
        configuration.callInterceptors = []
        let client = APIClient(configuration, transport: script)
        let reader = Task { for try await _ in client.events(of: Tuned()) {} }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(5_999))
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(1))
        _ = await reader.result
    }
}

@Suite(.timeLimit(.minutes(5))) struct PrecedenceTests {
    @Test(.covers("S2.5"), arguments: 1..<16)
    func `of a parameter and a header that several levels set, the nearest wins`(mask: Int) async throws {
        func has(_ bit: Int) -> Bool { mask & (1 << bit) != 0 }
        let service = Service.shop {
            if has(1) {
                $0.parameters = CommonParameters { ["who": "service"] }
                $0.headers = ["X-Who": "service"]
            }
        }
        let rig = Rig([service]) {
            if has(0) {
                $0.parameters = CommonParameters { ["who": "client"] }
                $0.headers = ["X-Who": "client"]
            }
        }
        var call = CallOptions()
        if has(3) {
            call.parameters = ["who": "call"]
            call.headers = ["X-Who": "call"]
        }
        let endpoint = AdHocEndpoint(
            .post("/p"), parameters: has(2) ? ["who": "endpoint"] : nil, headers: has(2) ? ["X-Who": "endpoint"] : [:],
            decoding: ResponseDecoding<Product>.json)
        _ = try await rig.client.send(endpoint, options: call)
        let expected = try #require(["client", "service", "endpoint", "call"].indices.last(where: has))
        let word = ["client", "service", "endpoint", "call"][expected]
        #expect(rig.sent.first?.text == #"{"who":"\#(word)"}"#)
        #expect(rig.sent.first?.fields.values(of: "X-Who") == [word])
    }

    @Test(.covers("S2.5")) func `different parameters of all levels stand together`() async throws {
        let rig = Rig([.shop { $0.parameters = CommonParameters { ["s": 2] } }]) {
            $0.parameters = CommonParameters { ["c": 1] }
        }
        let endpoint = Tuned(options: .with { $0.parameters = ["o": 4] }, parameters: ["e": 3])
        _ = try await rig.client.send(endpoint, options: .with { $0.parameters = ["k": 5] })
        #expect(rig.sent.first?.text == #"{"c":1,"e":3,"k":5,"o":4,"s":2}"#)
    }
}

@Suite(.timeLimit(.minutes(5))) struct PerCallTests {
    @Test(.covers("S2.7"), .timeLimit(.minutes(5)))
    func `a hundred calls at once keep their own headers and time-outs`() async throws {
        let capture = Capture()
        let rig = Rig { $0.callInterceptors = [capture] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let options = CallOptions.with {
                        $0.headers = ["X-Number": "\(number)"]
                        $0.timeouts = .total(.seconds(1_000 + number))
                    }
                    _ = try await rig.client.send(GetProduct(id: "\(number)"), options: options)
                }
                group.addTask { _ = try await rig.client.send(GetProduct(id: "plain")) }
            }
            try await group.waitForAll()
        }
        #expect(capture.requests.count == 200)
        for (request, call) in zip(capture.requests, capture.contexts) {
            let id = request.url.path.split(separator: "/").last.map(String.init)
            let number = request.fields["X-Number"]
            #expect(number == (id == "plain" ? nil : id))
            let expected = number.flatMap { Int($0) }.map { Timeouts.total(.seconds(1_000 + $0)) } ?? Timeouts()
            #expect(call.settings.timeouts == expected)
        }
        #expect(Set(rig.sent.compactMap { $0.fields["X-Number"] }).count == 100)
    }

    @Test(.covers("S2.3")) func `a base URL for one call moves that call alone`() async throws {
        let rig = Rig([.shop { $0.version = "v2" }])
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(
            GetProduct(), options: .with { $0.baseURL = "https://mirror.example.com/base" })
        _ = try await rig.client.send(GetProduct())
        #expect(
            rig.sent.map(\.url.absoluteString) == [
                "https://development.shop.example.com/api/v2/products/7",
                "https://mirror.example.com/base/v2/products/7",
                "https://development.shop.example.com/api/v2/products/7",
            ])
    }

    @Test(arguments: ["", "mirror", "ftp://x.example", "https://user:pw@x.example", "https://x.example/../y\u{0}"])
    func `a base URL that is none fails the call and nothing is sent`(text: String) async {
        let rig = Rig()
        let error = await failure {
            try await rig.client.send(GetProduct(), options: .with { $0.baseURL = text })
        }
        guard case .invalidConfiguration = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rig.sent.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(5))) struct ClientIndependenceTests {
    @Test(.covers("S2.34")) func `two clients with different configurations live side by side`() async throws {
        let first = Rig([.shop(host: "one.example")]) {
            $0.headers = ["X-App": "one"]
            $0.parameters = CommonParameters { ["token": "a"] }
        }
        let second = Rig([.shop(host: "two.example") { $0.envelope = nil }]) {
            $0.headers = ["X-App": "two"]
            $0.environment = .production
        } answering: { _ in
            .json(#"{"id":1,"name":"x"}"#)
        }
        async let one = first.client.send(GetProduct())
        async let two = second.client.send(GetProduct())
        #expect(try await (one.id, two.id) == (7, 1))
        try first.client.switchEnvironment(to: .test)
        first.client.cancelAll()
        _ = try await second.client.send(GetProduct())
        #expect(first.hosts == ["development.one.example"])
        #expect(second.hosts == ["production.two.example", "production.two.example"])
        #expect(first.sent.map { $0.fields["X-App"] } == ["one"])
        #expect(second.sent.map { $0.fields["X-App"] } == ["two", "two"])
        #expect(second.sent.map(\.url.query) == [nil, nil])
        #expect(second.client.environment == .production)
    }

    @Test(.covers("S1.6")) func `what one module changes leaves the bytes of another as they were`() async throws {
        let rig = Rig([.shop(), .shop("account", host: "account.example")])
        struct Profile: Endpoint {
            typealias Output = Product
            var route: Route { .post("/me") }
            var service: ServiceID { "account" }
        }
        _ = try await rig.client.send(Profile())
        let products = rig.client.with {
            $0.callInterceptors = [Intercepting.setting("X-Module", "products")]
            $0.headers = ["X-More": "1"]
            $0.parameters = CommonParameters { ["more": 1] }
        }
        let accounts = rig.client.with { _ in }
        _ = try await ShopManager(client: products).product("7").value
        _ = try await accounts.send(Profile())
        _ = try await rig.client.send(Profile())
        #expect(rig.sent[1].fields["X-Module"] == "products")
        #expect(rig.sent[1].url.query == "more=1")
        #expect(rig.wires[2] == rig.wires[0])
        #expect(rig.wires[3] == rig.wires[0])
    }

    @Test(.covers("S1.15"), .timeLimit(.minutes(5)))
    func `managers over two clients live side by side, and each ends with its last owner`() async throws {
        let (one, two) = (Rig([.shop(host: "one.example")]), Rig([.shop(host: "two.example")]))
        var first: Owner? = Owner(client: one.client)
        let second = Owner(client: two.client)
        weak let firstGone = first
        #expect(first !== second)
        _ = try await first?.manager.product("1").value
        _ = try await second.manager.product("2").value
        #expect(one.hosts == ["development.one.example"])
        #expect(two.hosts == ["development.two.example"])
        first = nil
        #expect(firstGone == nil)
        _ = try await second.manager.product("3").value
        #expect(two.sent.count == 2)
    }

    @Test(.covers("S1.15")) @MainActor func `an API object is made anew each time and goes with its owner`() {
        let rig = Rig()
        var first: APIManager<GetProduct>? = APIManager(client: rig.client) { GetProduct() }
        let second = APIManager<GetProduct>(client: rig.client) { GetProduct() }
        weak let gone = first
        #expect(first !== second)
        first = nil
        #expect(gone == nil)
    }

    final class Owner: Sendable {
        let manager: ShopManager
        init(client: APIClient) { manager = ShopManager(client: client) }
    }

    @Test(.covers("S2.1")) func `the same calls run over another transport`() async throws {
        let stub = StubTransport { _ in .product }
        let script = ScriptedTransport([.respond(.product), .respond(.product)])
        for transport in [stub, script] as [any Transport] {
            let client = APIClient(.init(services: [.shop()]), transport: transport)
            let shop = ShopManager(client: client)
            #expect(try await shop.login(account: "alice", password: "secret") == Product(id: 7, name: "tea"))
            #expect(try await shop.product("7").value.name == "tea")
            await transport.shutdown()
        }
        #expect(script.requests.map(\.request.wire) == stub.requests.map(\.wire))
        #expect(stub.requests.count == 2)
    }
}

enum URLSet {
    /// A URL that is known to be one.
    static func url(_ text: String) -> HTTPURL {
        guard let url = try? HTTPURL(text) else {
            Issue.record("\(text) is no URL")
            return HTTPURL(origin: .init(scheme: .https, host: "invalid", port: 443), path: "/", query: nil)
        }
        return url
    }
}
