import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// An endpoint that was to be `Encodable`.
struct Forgetful: Endpoint {
    typealias Output = Product
    let account: String
    var route: Route { .post("/login") }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct NearMissCompilationTests {
    /// Declarations that a newcomer is likely to write, each of which would be ignored if it compiled.
    private static let misses: [(member: String, says: String)] = [
        ("var headers: [String: String] { [\"X-Mine\": \"1\"] }", "headers are HeaderEdits"),
        ("var options: CallOptions? { .timeout(.seconds(5)) }", "options are CallOptions"),
        ("var validator: Validator<String>? { nil }", "validator is a Validator<Output>"),
        ("let validator = Validator<Int>.none", "validator is a Validator<Output>"),
        ("var payloadValidator: Validator<Payload>? { nil }", "payloadValidator is a Validator<Payload>"),
        ("static let parameterRules: [ParameterRule<Self>] = []", "parameterRules are ParameterRules<Self>"),
        ("var body: HTTPBody? { nil }", "body is an HTTPBody"),
        ("var body: Data { Data() }", "body is an HTTPBody"),
        ("var service: String { \"shop\" }", "service is a ServiceID"),
        ("var envelope: Envelope { .retcode }", "envelope is an EnvelopeChoice: .custom(envelope)"),
        ("var callInterceptors: [Passing] { [Passing()] }", "callInterceptors are [any Interceptor]"),
        ("var attemptInterceptors: [Passing] { [Passing()] }", "attemptInterceptors are [any Interceptor]"),
        ("var parameters: [String: Any] { [\"a\": 1] }", "parameters are Encodable and Sendable"),
        ("var placement: ParameterPlacement? { .form }", "placement is a ParameterPlacement"),
        ("var cacheTags: String { \"cart\" }", "cacheTags are [String]"),
        ("var cacheTags: Set<String> { [\"cart\"] }", "cacheTags are [String]"),
        ("var invalidates: CacheSelection { .tag(\"cart\") }", "invalidates are [CacheSelection]"),
        ("var decoding: ResponseDecoding<Int> { .json }", "decoding is a ResponseDecoding<Output>"),
        ("var decoding: ResponseDecoding<String>? { nil }", "decoding is a ResponseDecoding<Output>"),
        ("var decoding: ResponseDecoding<Payload> { .payload }", "decoding is a ResponseDecoding<Output>"),
        ("var parameterRules: ParameterRules<Self> { [] }", "parameterRules are static"),
        (
            "var body: HTTPBody? { nil }; var cacheTags: String { \"cart\" }",
            "several members have other types than Endpoint gives them"
        ),
    ]

    /// The same for durable writes and delegates.
    private static let otherMisses: [(conforms: String, member: String, says: String)] = [
        ("OutboxEndpoint", "var lane: String { \"room/7\" }", "lane is an OutboxLane"),
        ("OutboxEndpoint", "var fold: OutboxFold { \"star/7\" }", "fold is an OutboxFold?, an optional"),
        ("OutboxEndpoint", "static let outboxName = 7", "outboxName is a String"),
        ("OutboxEndpoint", "static var outboxPolicy: OutboxPolicy? { nil }", "outboxPolicy is an OutboxPolicy"),
        (
            "OutboxEndpoint", "func verdict(on error: APIError) -> OutboxVerdict? { nil }",
            "verdict(on:) takes an OutboxAnswer"
        ),
        (
            "OutboxEndpoint", "func verdict(on answer: OutboxAnswer) -> OutboxVerdict { .done }",
            "verdict(on:) gives an OutboxVerdict?, an optional"
        ),
        (
            "OutboxEndpoint", "var lane: String { \"a\" }; var fold: OutboxFold { \"a\" }",
            "several members have other types than OutboxEndpoint gives them"
        ),
        (
            "CallDelegate", "func call(_ id: CallID, didLoadCached response: String) {}",
            "MembersMustHaveTheTypesThatCallDelegateGivesThem"
        ),
        (
            "CallDelegate", "func call(_ id: CallID, didLoadCached response: APIResponse<Int>) {}",
            "MembersMustHaveTheTypesThatCallDelegateGivesThem"
        ),
    ]

    private static let otherHits = [
        ("OutboxEndpoint", ""),
        ("OutboxEndpoint", "var lane: OutboxLane { \"room/7\" }"),
        ("OutboxEndpoint", "var fold: OutboxFold? { \"star/7\" }"),
        ("OutboxEndpoint", "static let outboxName = \"old\""),
        ("OutboxEndpoint", "static let outboxPolicy = OutboxPolicy()"),
        ("OutboxEndpoint", "func verdict(on answer: OutboxAnswer) -> OutboxVerdict? { .done }"),
        ("CallDelegate", ""),
        ("CallDelegate", "func call(_ id: CallID, didLoadCached response: APIResponse<String>) {}"),
    ]

    /// A program of types that conform to a protocol each, with a member.
    private static func program(_ members: [(conforms: String, member: String)]) -> [String: String] {
        let types = members.enumerated().map { number, type in
            type.conforms == "CallDelegate"
                ? """
                final class Number\(number)_: CallDelegate {
                    func call(_ id: CallID, didFinishWith result: Result<String, APIError>) {}
                    \(type.member)
                }
                """
                : """
                struct Number\(number)_: \(type.conforms) {
                    typealias Output = String
                    let room: Int
                    var route: Route { .put("/x") }
                    \(type.member)
                }
                """
        }
        return ["program.swift": "import PenstockCore\n" + types.joined(separator: "\n")]
    }

    private static let hits = [
        "", "var headers: HeaderEdits { [\"X-Mine\": \"1\"] }", "var options: CallOptions { .timeout(.seconds(5)) }",
        "var validator: Validator<String> { .none }", "var payloadValidator: Validator<Payload> { .none }",
        "static var parameterRules: ParameterRules<Self> { [] }", "var body: HTTPBody { .bytes(Data()) }",
        "var service: ServiceID { \"shop\" }", "var envelope: EnvelopeChoice { .custom(.retcode) }",
        "var callInterceptors: [any Interceptor] { [Passing()] }", "let headers: HeaderEdits",
        "var placement: ParameterPlacement { .form }", "var decoding: ResponseDecoding<String> { .text }",
        "var cacheTags: [String] { [\"cart\"] }", "var invalidates: [CacheSelection] { [.tag(\"cart\")] }",
        "let decoding: ResponseDecoding<String>", "let decoding = ResponseDecoding<String>.text",
    ]

    private static func program(_ members: [String]) -> [String: String] {
        let types = members.enumerated().map { number, member in
            """
            struct Number\(number)_: Endpoint {
                typealias Output = String
                var route: Route { .get("/x") }
                \(member)
            }
            """
        }
        let common = """
            import Foundation
            import PenstockCore
            struct Passing: Interceptor {
                func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
                    try await next(request)
                }
            }
            struct Page<Output: Decodable & Sendable>: Endpoint { var route: Route { .get("/x") } }
            protocol ShopEndpoint: Endpoint {}
            extension ShopEndpoint { var headers: HeaderEdits { ["X-Shop": "1"] } }
            struct Tea: ShopEndpoint { typealias Output = Void; var route: Route { .get("/x") } }
            enum Choice: Endpoint { case one; typealias Output = Data; var route: Route { .get("/x") } }
            struct Raw: Endpoint { typealias Output = Payload; var route: Route { .get("/x") } }
            struct Made<Output: Sendable>: Endpoint {
                let decoding: ResponseDecoding<Output>
                var route: Route { .get("/x") }
            }

            """
        return ["program.swift": common + types.joined(separator: "\n")]
    }

    @Test func `a member of another type than an endpoint's does not compile, and the compiler says what is wrong`()
        async throws
    {
        let good = try await Compiler.check(Self.program(Self.hits))
        #expect(good.succeeded, "\(good.diagnostics)")
        let bad = try await Compiler.check(Self.program(Self.misses.map(\.member)))
        #expect(!bad.succeeded)
        for (number, miss) in Self.misses.enumerated() {
            let refusal = "type 'Number\(number)_' does not conform to protocol 'Endpoint'"
            #expect(bad.diagnostics.contains(refusal), "\(miss.member)")
            let said = Self.said(in: bad, beside: refusal)
            #expect(said.contains("requirement of protocol 'Endpoint': \(miss.says)"), "\(miss.member): \(said)")
        }
        for type in ["Page", "Tea", "Choice", "Raw", "Made"] { #expect(!bad.diagnostics.contains("type '\(type)")) }
    }

    @Test func `a member of another type than a durable write's or a delegate's does not compile either`() async throws
    {
        let good = try await Compiler.check(Self.program(Self.otherHits))
        #expect(good.succeeded, "\(good.diagnostics)")
        let bad = try await Compiler.check(Self.program(Self.otherMisses.map { ($0.conforms, $0.member) }))
        #expect(!bad.succeeded)
        for (number, miss) in Self.otherMisses.enumerated() {
            let refusal = "type 'Number\(number)_' does not conform to protocol '\(miss.conforms)'"
            #expect(bad.diagnostics.contains(refusal), "\(miss.member)")
            // What a delegate is asked for is named by a note in another place.
            let said = miss.conforms == "CallDelegate" ? bad.diagnostics : Self.said(in: bad, beside: refusal)
            #expect(said.contains(miss.says), "\(miss.member): \(said)")
        }
    }

    /// The errors in the place of one of them.
    private static func said(in result: Compiler, beside error: String) -> String {
        let lines = result.diagnostics.split(separator: "\n")
        guard let line = lines.first(where: { $0.contains(": error: ") && $0.contains(error) }),
            let place = line.range(of: ": error: ").map({ line[..<$0.upperBound] })
        else { return "" }
        return lines.filter { $0.hasPrefix(place) }.joined(separator: "\n")
    }

    @Test func `the parameters of an endpoint are those it declares, itself, or none`() async throws {
        let result = try await Compiler.check([
            "parameters.swift": """
            import PenstockCore
            struct A: Endpoint {
                typealias Output = String
                let parameters: ParameterObject?
                var route: Route { .get("/x") }
            }
            struct B: Endpoint, Encodable { typealias Output = String; let x: Int; var route: Route { .get("/x") } }
            struct C: Endpoint {
                typealias Output = Void
                var parameters: [String: Int] { [:] }
                var route: Route { .get("/x") }
            }
            struct D: Endpoint { typealias Output = String; var route: Route { .get("/x") } }
            struct E<Output: Decodable & Sendable>: Endpoint, Encodable { let x: Int; var route: Route { .get("/x") } }
            struct F<Output: Decodable & Sendable, P: Encodable & Sendable>: Endpoint {
                let parameters: P
                var route: Route { .get("/x") }
            }
            let a: ParameterObject?.Type = A.Parameters.self
            let b: B.Type = B.Parameters.self
            let c: [String: Int].Type = C.Parameters.self
            let d: NoParameters.Type = D.Parameters.self
            let e: E<String>.Type = E<String>.Parameters.self
            let f: Int.Type = F<String, Int>.Parameters.self
            """
        ])
        #expect(result.succeeded, "\(result.diagnostics)")
    }

    @Test func `an API that is named where it is called gives a payload, a model, a text, bytes or nothing`()
        async throws
    {
        let result = try await Compiler.check([
            "outputs.swift": """
            import Foundation
            import PenstockCore
            func f(_ client: APIClient) async throws(APIError) {
                let page: Payload = try await client.get("/x")
                let sent: Payload = try await client.send(path: "/x", method: .post, parameters: ["a": 1])
                let posted = try await client.post("/x", as: Payload.self)
                let value: JSONValue = try await client.get("/x")
                let model: [String: Int] = try await client.get("/x")
                let (text, bytes): (String, Data) = (try await client.get("/x"), try await client.get("/x"))
                try await client.delete("/x")
                client.start(path: "/x")
                let call: Call<Payload> = client.start(path: "/x")
                let nothing: Void = try await client.put("/x")
                print(page, sent, posted, value, model, text, bytes, call, nothing)
            }
            """
        ])
        #expect(result.succeeded, "\(result.diagnostics)")
        #expect(!result.diagnostics.contains("warning:"), "\(result.diagnostics)")
    }

    @Test func `a call whose output nobody names is diagnosed, and does not break the compiler`() async throws {
        let result = try await Compiler.check([
            "call.swift": """
            import PenstockCore
            func f(_ client: APIClient) async throws {
                let a: Unknown = try await client.send(path: "/x", method: .get)
            }
            func g(_ client: APIClient) async throws {
                let a = try await client.send(path: "/x", method: .get)
            }
            """
        ])
        #expect(!result.succeeded)
        #expect(result.diagnostics.contains("cannot find type 'Unknown' in scope"))
        #expect(!result.diagnostics.contains("failed to produce diagnostic"))
    }
}

/// What the compiler says to the mistakes that a newcomer makes.
@Suite(.timeLimit(.minutes(5))) struct DiagnosticTests {
    private static let dictionary = "ParameterObject(dictionary)"

    /// Each on a line of one program.
    private static let wrongArguments: [(code: String, says: String)] = [
        (#"let s: String = try await client.get(p); _ = s"#, "RoutePath(literal: path)"),
        (#"let s: String = try await client.get("/a/" + p); _ = s"#, #""/users/\(id)""#),
        (#"let s: String = try await client.post(p, parameters: ["a": 1]); _ = s"#, "RoutePath(literal: path)"),
        (#"let s: String = try await client.put(p); _ = s"#, "RoutePath(literal: path)"),
        (#"let s: String = try await client.patch(p); _ = s"#, "RoutePath(literal: path)"),
        (#"let s: String = try await client.delete(p); _ = s"#, "RoutePath(literal: path)"),
        (#"let s: String = try await client.send(path: p); _ = s"#, "RoutePath(literal: path)"),
        (#"client.start(path: p, as: String.self)"#, "RoutePath(literal: path)"),
        (#"_ = Route.delete(p)"#, "RoutePath(literal: path)"),
        (#"let s: String = try await client.get("/a/\(none)"); _ = s"#, "of no optional: unwrap it first"),
        (#"_ = Route.get("/a/\(none)")"#, "of no optional: unwrap it first"),
        (#"let s: String = try await client.get("/x", parameters: any); _ = s"#, dictionary),
        (#"let s: String = try await client.post("/x", parameters: texts); _ = s"#, dictionary),
        (#"let s: String = try await client.put("/x", parameters: Model()); _ = s"#, "body: .json(encoding: model)"),
        (#"let s: String = try await client.patch("/x", parameters: Model()); _ = s"#, "body: .json(encoding: model)"),
        (
            #"let s: String = try await client.delete("/x", parameters: Model()); _ = s"#,
            "an endpoint that is Encodable"
        ),
        (
            #"let s: String = try await client.send(path: "/x", parameters: Model()); _ = s"#,
            "an endpoint that is Encodable"
        ),
        (#"client.start(path: "/x", parameters: Model(), as: String.self)"#, "an endpoint that is Encodable"),
        (
            #"let s: String = try await client.get("/x", parameters: ["a": ["b": 1, "c": "d"]]); _ = s"#,
            "[...] as ParameterObject"
        ),
        ("_ = ParameterObject(any)", "a value of any type cannot be sent"),
        ("let b: HTTPBody = .json(Model()); _ = b", ".json(encoding: model)"),
        (#"let m: Model = try await client.get("/x"); _ = m"#, "requires that 'Model' conform to 'Decodable'"),
    ]

    @Test func `an argument of another type is diagnosed by what to write, in its own line`() async throws {
        let lines = Self.wrongArguments.map { "do { \($0.code) }" }
        let head = """
            import PenstockCore
            struct Model: Encodable { let name = "tea" }
            @MainActor func f(
                _ client: APIClient, _ p: String, _ none: Int?, _ any: [String: Any], _ texts: [String: String]
            ) async throws {

            """
        let result = try await Compiler.check(["mistakes.swift": head + lines.joined(separator: "\n") + "\n}"])
        #expect(!result.succeeded)
        let first = head.split(separator: "\n", omittingEmptySubsequences: false).count
        let said = result.diagnostics.split(separator: "\n").filter { $0.contains("error:") }
        for (number, mistake) in Self.wrongArguments.enumerated() {
            let place = "mistakes.swift:\(first + number):"
            #expect(said.contains { $0.contains(place) && $0.contains(mistake.says) }, "\(mistake)")
        }
        #expect(said.filter { $0.contains("mistakes.swift:") }.count == lines.count, "\(said)")
    }

    static let mistakes: [(code: String, says: String)] = [
        ("client.start(P()) { print($0.payload) }", "has no member 'payload'"),
        ("client.send(P()) { result in print(result) }", "extra trailing closure passed in call"),
        ("_ = client.request(P())", "has no member 'request'"),
        (#"let p = "/a"; let r: Route = .get(p); _ = r"#, "RoutePath(literal: path)"),
        (
            #"let p = "/a"; try await client.delete(p)"#,
            "cannot convert value of type 'String' to expected argument type 'RoutePath'"
        ),
        (#"let c: ParameterObject = ["a": .nothing]"#, "has no member 'nothing'"),
        ("_ = try await client.send(P(), options: .timeout(5))", "expected argument type 'Duration'"),
        (#"let d: [String: Any] = try await client.get("/x"); _ = d"#, "JSON of no type of yours is a JSONValue"),
        (#"let d: [String: Any] = try await client.post("/x"); _ = d"#, "JSON of no type of yours is a JSONValue"),
        ("let o: CallOptions = .with { $0.retry?.limit = nil }; _ = o", "'nil' cannot be assigned to type 'Int'"),
    ]

    @Test(arguments: [[], ["-default-isolation", "MainActor"]])
    func `an output that nothing says how to decode is diagnosed by what to write`(flags: [String]) async throws {
        let result = try await Compiler.check(
            [
                "mistake.swift": """
                import PenstockCore
                struct User: \(flags.isEmpty ? "" : "Decodable, ")Sendable { let id: String }
                struct Get: Endpoint { typealias Output = User; var route: Route { .get("/x") } }
                struct List: Endpoint { typealias Output = [User]; var route: Route { .get("/x") } }
                """
            ], flags: flags)
        #expect(!result.succeeded)
        for type in ["Get", "List"] {
            #expect(result.diagnostics.contains("type '\(type)' does not conform to protocol 'Endpoint'"))
        }
        #expect(result.diagnostics.contains("let it be Decodable (struct User: nonisolated Decodable, Sendable)"))
        #expect(!result.diagnostics.contains("candidate would match"), "\(result.diagnostics)")
    }

    @Test(arguments: [[], ["-default-isolation", "MainActor"]])
    func `what is written for each mistake compiles`(flags: [String]) async throws {
        let result = try await Compiler.check(
            [
                "right.swift": """
                import Foundation
                import PenstockCore
                struct User: nonisolated Decodable, Sendable { let id: String }
                struct Model: nonisolated Encodable { let name = "tea" }
                struct Unread: Sendable {}
                struct Get<Output: Decodable & Sendable>: Endpoint { var route: Route { .get("/x") } }
                struct Own: Endpoint {
                    typealias Output = Unread
                    var route: Route { .get("/x") }
                    var decoding: ResponseDecoding<Unread> { .custom { _ in Unread() } }
                }
                struct Maybe: Endpoint { typealias Output = User?; var route: Route { .get("/x") } }
                @MainActor func f(_ client: APIClient, _ path: String, _ token: String?) async throws {
                    let texts = ["a": "b"]
                    let values: [String: JSONValue] = ["a": "b", "n": [1, nil]]
                    let (name, age) = ("tea", 3)
                    let a: User = try await client.get(RoutePath(literal: path), parameters: ParameterObject(texts))
                    let b: User = try await client.get("/x", parameters: ParameterObject(values))
                    let c: User = try await client.get("/x", parameters: ["texts": texts, "values": values])
                    let d: User = try await client.post("/x", body: .json(encoding: Model()))
                    try await client.put("/x", body: .bytes(Data()))
                    let e: Payload = try await client.patch("/x", body: .json(["name": name, "age": age]))
                    client.start(path: "/x", as: User.self) { result in print((try? result.get().id) ?? "") }
                    client.start(path: "/x") { (result: Result<User, APIError>) in print(result) }
                    client.start(path: "/x", as: Payload.self) { result in print((try? result.get().data) ?? Data()) }
                    client.start(path: "/x") { result in print(result) }
                    let headers = CommonHeaders { ["X-Token": token, "X-App": "shop"] }
                    let base: BaseURLs = "\\(path)/api"
                    print(a, b, c, d, e, headers, base)
                }
                """
            ], flags: flags)
        #expect(result.succeeded, "\(result.diagnostics)")
        #expect(!result.diagnostics.contains("warning:"), "\(result.diagnostics)")
    }

    @Test(arguments: mistakes) func `a mistake is diagnosed where it is, by what it is`(
        code: String, says: String
    ) async throws {
        let result = try await Compiler.check([
            "mistake.swift": """
            import PenstockCore
            struct P: Endpoint { typealias Output = String; var route: Route { .get("/x") } }
            struct Model: Encodable { let name = "tea" }
            @MainActor func f(_ client: APIClient) async throws {
                \(code)
            }
            """
        ])
        #expect(!result.succeeded)
        #expect(result.diagnostics.contains(says), "\(result.diagnostics)")
        #expect(!result.diagnostics.contains("CallDelegate"))
    }
}

/// A module whose default isolation is the main actor, as new apps have it.
@Suite(.timeLimit(.minutes(5))) struct MainActorModuleTests {
    @Test(arguments: [[], ["-default-isolation", "MainActor"]])
    func `what the documentation declares compiles in either kind of module`(flags: [String]) async throws {
        let result = try await Compiler.check(
            [
                "app.swift": """
                import PenstockCore
                nonisolated enum NotGiven: DefaultValue { static let value = "n/a" }
                nonisolated extension ServiceID { static let shop: ServiceID = "shop" }
                nonisolated extension ServerEnvironment { static let staging = ServerEnvironment.custom("staging") }
                struct Thing: nonisolated Decodable, Sendable { @Default<NotGiven> var maker: String }
                struct Get: Endpoint {
                    typealias Output = Thing
                    var route: Route { .get("/thing") }
                    var service: ServiceID { .shop }
                    var options: CallOptions { .with { $0.environment = .staging } }
                }
                @MainActor final class Screen: CallDelegate {
                    var things: [Thing] = []
                    func call(_ id: CallID, didFinishWith result: Result<Thing, APIError>) {
                        if let thing = try? result.get() { things.append(thing) }
                    }
                }
                """
            ], flags: flags)
        #expect(result.succeeded, "\(result.diagnostics)")
    }

    @Test func `a default value of the app's own needs no word there`() async throws {
        let result = try await Compiler.check(
            [
                "app.swift": """
                import PenstockCore
                enum NotGiven: DefaultValue { static let value = "n/a" }
                struct Thing: nonisolated Decodable, Sendable { @Default<NotGiven> var maker: String }
                """
            ], flags: ["-default-isolation", "MainActor"])
        #expect(result.succeeded, "\(result.diagnostics)")
    }
}

@Suite(.timeLimit(.minutes(5))) struct FirstCallTests {
    private func stub() -> StubTransport { StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#) } }

    @Test func `a client for one URL is that URL, in every environment`() async throws {
        let stub = stub()
        let client = APIClient("https://api.example.com/v1", options: .timeout(.seconds(5)), transport: stub)
        let _: Product = try await client.get("/products/7")
        try client.switchEnvironment(to: .custom("x"))
        let _: Product = try await client.get("/products/7")
        #expect(
            stub.requests.map(\.url.absoluteString)
                == Array(
                    repeating: "https://api.example.com/v1/products/7", count: 2))
        #expect(client.configuration.options.timeouts.total == .seconds(5))
    }

    @Test func `a debug build starts where a service is`() {
        func environment(_ services: BaseURLs..., build: BuildFlavor = .debug) -> ServerEnvironment {
            let services = services.enumerated().map { Service(ServiceID("\($0)"), $1) }
            return APIClient.Configuration(services: services, build: build).environment
        }
        #expect(environment([.production: "https://a.example"]) == .production)
        #expect(environment([.production: "https://a.example", .development: "https://b.example"]) == .development)
        #expect(environment([.production: "https://a.example"], [.development: "https://b.example"]) == .development)
        #expect(environment([.production: "https://a.example"], "https://b.example") == .development)
        #expect(environment([.test: "https://a.example"]) == .development)
        #expect(environment([.development: "https://a.example"], build: .release) == .production)
        #expect(environment() == .development)
    }

    @Test func `a refusal of plain http names the option that allows it`() async {
        for (url, option) in [
            ("http://127.0.0.1:8080", ".cleartext(.loopback)"),
            ("http://plain.example.com", #".cleartext(.hosts(["plain.example.com"]))"#),
        ] {
            let client = APIClient(BaseURLs(url), transport: stub())
            let error = await failure { () async throws(APIError) -> Product in try await client.get("/x") }
            guard case .blocked(let reason) = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains(option), "\(reason)")
        }
        let allowed = APIClient("http://127.0.0.1:8080", options: .cleartext(.loopback), transport: stub())
        #expect(await failure { () async throws(APIError) -> Product in try await allowed.get("/x") } == nil)
    }

    @Test func `a base URL that is read anew can change while the client lives`() async throws {
        let (stub, server) = (stub(), Box("https://one.example"))
        let service = Service(.main, BaseURLs { $0 == .production ? "https://fixed.example" : server.value })
        let client = APIClient(.init(services: [service], build: .debug), transport: stub)
        for _ in 0..<2 { let _: Product = try await client.get("/x") }
        server.value = "https://two.example"
        let _: Product = try await client.get("/x")
        try client.switchEnvironment(to: .production)
        let _: Product = try await client.get("/x")
        #expect(
            stub.requests.map(\.url.host) == ["one.example", "one.example", "two.example", "fixed.example"])
    }

    @Test(
        arguments: [
            ("\(url)/t", "https://a.example/t"), ("\(url)t", "https://a.example/t"), ("\(url)", "https://a.example/"),
            ("\("https")://a.example/\("")/t", "https://a.example/t"), ("\(url)//t", "https://a.example//t"),
            ("https://\("a.example:\(8080)")/", "https://a.example:8080/"), ("\(url)\("/t")", "https://a.example//t"),
            ("\(url)/\("t/")/\(7)", "https://a.example/t/7"),
        ] as [(BaseURLs, String)])
    func `what is interpolated into a base URL is joined with what follows by one slash`(
        urls: BaseURLs, text: String
    ) {
        #expect(urls.text(in: .test) == text)
        #expect(!urls.isLive)
    }

    private static var url: String { "https://a.example/" }

    @Test func `a base URL prints without its secrets`() {
        let service = Service(.main, "https://a.example/?token=hunter2")
        #expect("\(service.baseURLs)".contains("production: https://a.example/?token=‹redacted›"))
        #expect(!"\(service)".contains("hunter2"))
    }
}
