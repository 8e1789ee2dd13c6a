import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestMakingTests {
    // MARK: Common and own parameters

    @Test(.covers("S0.3"), arguments: [HTTPMethod.get, .post])
    func `common parameters are read anew for each request`(method: HTTPMethod) async throws {
        let token = Box("first")
        let rig = Rig { $0.parameters = CommonParameters { ["loginToken": token.value] } }
        func send() async throws { let _: Product = try await rig.client.send(path: "/p", method: method) }
        try await send()
        token.value = "second"
        try await send()
        let seen = rig.sent.map { $0.url.query ?? $0.text }
        #expect(
            seen
                == (method == .get
                    ? ["loginToken=first", "loginToken=second"]
                    : [#"{"loginToken":"first"}"#, #"{"loginToken":"second"}"#]))
    }

    struct Filter: Endpoint {
        typealias Output = Product
        struct Parameters: Encodable, Sendable {
            let zone = "Ž 1", account = "a&b", page = 2, tags: Set = ["x", "y", "z"]
            let more = ["k1": 1, "k2": 2, "k3": 3, "k4": 4]
        }
        let place: ParameterPlacement
        var route: Route { .post("/filter") }
        var parameters: Parameters { Parameters() }
        var placement: ParameterPlacement { place }
    }

    @Test(.covers("S0.4"), arguments: [ParameterPlacement.query, .form, .json])
    func `parameters of one type become the same bytes every time`(place: ParameterPlacement) async throws {
        let rig = Rig()
        for _ in 0..<50 { _ = try await rig.client.send(Filter(place: place)) }
        #expect(rig.sent.count == 50)
        #expect(Set(rig.wires).count == 1)
        let first = try #require(rig.sent.first)
        let pairs =
            "account=a%26b&more%5Bk1%5D=1&more%5Bk2%5D=2&more%5Bk3%5D=3&more%5Bk4%5D=4&page=2"
            + "&tags%5B%5D=x&tags%5B%5D=y&tags%5B%5D=z&zone=%C5%BD%201"
        switch place {
        case .json:
            #expect(
                first.text == #"{"account":"a&b","more":{"k1":1,"k2":2,"k3":3,"k4":4},"page":2,"tags":["x","y","z"],"#
                    + #""zone":"Ž 1"}"#)
            #expect(first.fields[.contentType] == "application/json")
        case .form:
            #expect(first.text == pairs)
            #expect(first.url.query == nil)
            #expect(first.fields[.contentType] == "application/x-www-form-urlencoded")
        default:
            #expect(first.url.query == pairs)
            #expect(first.body.isNone && !first.fields.contains(.contentType))
        }
    }

    @Test(.covers("S0.4"), arguments: [ParameterPlacement.query, .form, .json])
    func `a wrapper that hands on what it holds is the same bytes every time`(place: ParameterPlacement) async throws {
        struct Handed<Value: Encodable & Sendable>: Encodable, Sendable {
            let value: Value
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
        struct Tagged: Endpoint {
            typealias Output = Product
            struct Parameters: Encodable, Sendable {
                let tags = Handed(value: Set((10..<30).map { "t\($0)" }))
            }
            let placement: ParameterPlacement
            var route: Route { .post("/tagged") }
            var parameters: Parameters { Parameters() }
        }
        let rig = Rig()
        _ = try await rig.client.send(Tagged(placement: place))
        let sent = try #require(rig.sent.first)
        let pairs = (10..<30).map { "tags%5B%5D=t\($0)" }.joined(separator: "&")
        switch place {
        case .json: #expect(sent.text == #"{"tags":["# + (10..<30).map { "\"t\($0)\"" }.joined(separator: ",") + "]}")
        case .form: #expect(sent.text == pairs)
        default: #expect(sent.url.query == pairs)
        }
    }

    @Test(.covers("S2.4"))
    func `the type of content is its own, whatever the common headers say, and the call's headers have the last word`()
        async throws
    {
        let rig = Rig { $0.headers = ["Content-Type": "text/plain"] }
        func send(_ options: CallOptions) async throws {
            let _: Product = try await rig.client.send(
                path: "/p", method: .post, parameters: ["page": 1], options: options)
        }
        try await send(.init())
        try await send(.headers(["Content-Type": "application/vnd.shop+json"]))
        #expect(
            rig.sent.map { $0.fields.values(of: .contentType) }
                == [["application/json"], ["application/vnd.shop+json"]])
    }

    @Test(.covers("S3.3")) func `an invalid form fails by its field's name and nothing is sent`() async {
        let rig = Rig()
        let recorder = EventRecorder()
        let client = rig.client.with { $0.sinks = [recorder] }
        let error = await failure { try await client.send(LogIn(account: "alice", password: "short")) }
        #expect(
            error?.kind == .invalidParameter(field: "password", reason: "must be 6 to 64 characters long"))
        #expect(error?.stage == .parameters)
        #expect(error?.attempts.isEmpty == true)
        #expect(
            await failure { try await client.send(LogIn(account: "", password: "longenough")) }?.kind
                == .invalidParameter(field: "account", reason: "must not be empty"))
        #expect(rig.sent.isEmpty)
        #expect(recorder.grammarViolations.isEmpty)
        #expect(await failure { try await client.send(LogIn(account: "alice", password: "longenough")) } == nil)
        #expect(rig.sent.count == 1)
    }

    @Test func `parameters that cannot be encoded fail by their path and nothing is sent`() async {
        let rig = Rig()
        let error = await failure {
            let _: Product = try await rig.client.send(
                path: "/p", method: .post, parameters: ["price": ["net": Double.nan]])
        }
        guard case .invalidParameter("price.net", _) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rig.sent.isEmpty)
    }

    struct Upload: Endpoint, Encodable {
        typealias Output = Product
        let name: String
        var route: Route { .put("/files") }
        var body: HTTPBody { .bytes(Data("content".utf8)) }
    }

    @Test func `a body of the endpoint's own sends the parameters to the query`() async throws {
        let rig = Rig()
        _ = try await rig.client.send(Upload(name: "a b"))
        #expect(rig.sent.first?.text == "content")
        #expect(rig.sent.first?.url.query == "name=a%20b")
        #expect(rig.sent.first?.fields.contains(.contentType) == false)
    }

    // MARK: URL

    static let joins: [(base: String, path: RoutePath, parameters: ParameterObject?, expected: String)] = [
        ("https://a.example", "x", nil, "https://a.example/x"),
        ("https://a.example/", "/x", nil, "https://a.example/x"),
        ("https://a.example/api", "x/", nil, "https://a.example/api/x/"),
        ("https://a.example/api/", "//x", nil, "https://a.example/api/x"),
        ("https://a.example/api", "/https://evil.example/x", nil, "https://a.example/api/https://evil.example/x"),
        ("https://a.example/api", "@evil.example", nil, "https://a.example/api/@evil.example"),
        ("https://a.example/api", "\("a/b?c#d")", nil, "https://a.example/api/a%2Fb%3Fc%23d"),
        ("https://a.example/api", "café/\("žluť")", nil, "https://a.example/api/caf%C3%A9/%C5%BElu%C5%A5"),
        ("https://a.example/api?k=1", "x", ["p": "ü&"], "https://a.example/api/x?k=1&p=%C3%BC%26"),
        ("https://a.example:8443/api", "", ["p": 2], "https://a.example:8443/api?p=2"),
    ]

    @Test(.covers("S1.9"), arguments: joins)
    func `base URL, path and query are joined by rule`(
        base: String, path: RoutePath, parameters: ParameterObject?, expected: String
    ) async throws {
        let rig = Rig([Service(.main, [.development: base], envelope: .retcode)])
        let _: Product = try await rig.client.get(path, parameters: parameters)
        #expect(rig.sent.map(\.url.absoluteString) == [expected])
    }

    @Test(.covers("S1.9"), arguments: ["..", ".", "a/../b", "%2e%2e", "..\\x", "", "a\r\nb"])
    func `an argument that would change the path is refused and nothing is sent`(argument: String) async {
        let rig = Rig()
        let error = await failure { try await rig.client.send(GetProduct(id: argument)) }
        guard case .invalidParameter("path", let reason) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("(id)"))
        #expect(error?.underlying is RoutePath.Invalid)
        #expect(rig.sent.isEmpty)
    }

    @Test func `the service's version stands between base and path`() async throws {
        let rig = Rig([.shop { $0.version = "v2" }])
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.first?.url.path == "/api/v2/products/7")
    }

    // MARK: Headers

    @Test(.covers("S2.4")) func `a call adds to, replaces and removes common headers`() async throws {
        let common: HTTPFields = ["X-App": "Shop", "X-Tag": "common", "X-Gone": "1"]
        let rig = Rig { $0.headers = CommonHeaders(common) }
        _ = try await rig.client.send(
            GetProduct(),
            options: .headers(
                HeaderEdits().setting("x-app", "Other").adding("X-Tag", "own").removing("X-Gone").setting("X-New", "n")
            ))
        _ = try await rig.client.send(GetProduct())
        let edited = try #require(rig.sent.first?.fields)
        #expect(edited.values(of: "X-App") == ["Other"])
        #expect(edited.values(of: "X-Tag") == ["common", "own"])
        #expect(!edited.contains("X-Gone"))
        #expect(edited["X-New"] == "n")
        let untouched = try #require(rig.sent.last?.fields)
        for field in common { #expect(untouched.values(of: field.name) == [field.value]) }
        #expect(!untouched.contains("X-New"))
    }

    @Test(.covers("S2.4")) func `common headers are read anew for each request`() async throws {
        let trace = Box("1")
        let rig = Rig { $0.headers = CommonHeaders { ["X-Trace": trace.value] } }
        _ = try await rig.client.send(GetProduct())
        trace.value = "2"
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields["X-Trace"] } == ["1", "2"])
    }

    @Test func `a request says who sends it, unless the app says so`() async throws {
        let rig = Rig()
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(GetProduct(), options: .headers([.userAgent: "Shop/1.0"]))
        _ = try await rig.client.send(GetProduct(), options: .headers(HeaderEdits().removing(.userAgent)))
        #expect(
            rig.sent.map { $0.fields[.userAgent]?.split(separator: " ").last.map(String.init) }
                == ["Penstock/\(PenstockVersion.current)", "Shop/1.0", nil])
    }
}

@Suite(.timeLimit(.minutes(5))) struct ForbiddenHeaderTests {
    static let framing: [HTTPFieldName] = [
        "Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer", "Keep-Alive",
    ]

    enum Origin: CaseIterable {
        case call, endpoint, service, client, interceptor, signer
    }

    struct Setter: Signer {
        let name: HTTPFieldName, value: String

        func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
            var request = request
            request.fields.append(value, for: name)
            return request
        }
    }

    struct WithHeader: Endpoint {
        typealias Output = Product
        let headers: HeaderEdits
        var route: Route { .get("/p") }
    }

    private func send(_ name: HTTPFieldName, _ value: String, from origin: Origin) async -> (APIError?, Int) {
        let fields = HTTPFields([HTTPField(name: name, value: value)])
        let service = Service.shop {
            if origin == .service { $0.headers = CommonHeaders(fields) }
            if origin == .signer { $0.signer = Setter(name: name, value: value) }
        }
        let rig = Rig([service]) {
            if origin == .client { $0.headers = CommonHeaders(fields) }
            if origin == .interceptor { $0.attemptInterceptors = [Intercepting.setting(name, value)] }
        }
        let edits = HeaderEdits().adding(name, value)
        let error = await failure {
            try await rig.client.send(
                WithHeader(headers: origin == .endpoint ? edits : [:]),
                options: origin == .call ? .headers(edits) : .init())
        }
        return (error, rig.sent.count)
    }

    @Test(arguments: framing, Origin.allCases)
    func `a field that frames the message is refused by its name, wherever it comes from`(
        name: HTTPFieldName, origin: Origin
    ) async {
        let (error, exchanges) = await send(name, "x", from: origin)
        guard case .invalidParameter(let field, _) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(HTTPFieldName(field) == name)
        #expect(exchanges == 0)
    }

    @Test(
        arguments: [("X-Note", "a\r\nX-Evil: 1"), ("X-Note", "a\u{0}b"), ("X-Note", "a\nb"), ("X-B\r\nad", "1")],
        Origin.allCases)
    func `a field that breaks HTTP's grammar is refused by its name, wherever it comes from`(
        field: (String, String), origin: Origin
    ) async {
        let (error, exchanges) = await send(HTTPFieldName(field.0), field.1, from: origin)
        guard case .invalidParameter(let name, _) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == String(reflecting: field.0))
        #expect(exchanges == 0)
    }
}
