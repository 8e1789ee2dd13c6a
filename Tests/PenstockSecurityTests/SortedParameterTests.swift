import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore
@testable import PenstockSecurity

/// A server that knows the secret. It reads what is sent by itself, and makes its authentication codes by the core's own
/// SHA-256, not by the library that signs.
private final class GuardedServer: Sendable {
    private struct State {
        var nonces: Set<String> = []
        var refusals: [String] = []
    }

    private let state = Locked(State())
    /// By the server's own clock.
    private let date: @Sendable () -> Date
    private let secret: String

    init(secret: String, date: @escaping @Sendable () -> Date) {
        self.secret = secret
        self.date = date
    }

    var refusals: [String] { state.withLock(\.refusals) }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let refusal = refusal(of: request)
        var response = HTTPResponse(status: refusal == nil ? 200 : 401, body: Data("ok".utf8))
        response.fields["Date"] = HTTPDate.format(date())
        if let refusal { state.withLock { $0.refusals.append(refusal) } }
        return response
    }

    func refusal(of request: HTTPRequest) -> String? {
        var given: [String: String] = [:]
        for name in ["X-App-Key", "X-Timestamp", "X-Nonce", "X-Signature"] {
            given[name] = request.fields[HTTPFieldName(name)]
        }
        guard given.count == 4, given["X-App-Key"] == "shop", let nonce = given["X-Nonce"],
            let time = given["X-Timestamp"].flatMap({ TimeInterval($0) })
        else { return "unsigned" }
        // Else it would not be known where each of the two stood when they were signed.
        let names = Self.items(request.url.query ?? "").map { $0.prefix { $0 != "=" }.lowercased() }
        guard !names.contains(where: { given.keys.map { $0.lowercased() }.contains($0) }) else { return "ambiguous" }
        guard abs(time - date().timeIntervalSince1970) <= 60 else { return "stale" }
        guard code(of: text(of: request, given)) == given["X-Signature"] else { return "forged" }
        return state.withLock { $0.nonces.insert(nonce).inserted } ? nil : "replayed"
    }

    private func text(of request: HTTPRequest, _ given: [String: String]) -> String {
        var items = Self.items(request.url.query ?? "")
        items += ["X-App-Key", "X-Timestamp", "X-Nonce"].map { "\($0)=\(given[$0] ?? "")" }
        var content = Data()
        if case .bytes(let data) = request.body.source { content = data }
        let isForm = request.fields[.contentType]?.hasPrefix("application/x-www-form-urlencoded") ?? false
        let form = Self.items(String(decoding: content, as: UTF8.self)).sorted().joined(separator: "&")
        let digest = isForm ? "form:" + SHA256.hex(form.utf8) : "body:" + SHA256.hex(content)
        return [
            request.method.rawValue, String(request.url.origin.text.drop { $0 != "/" }.dropFirst(2)), request.url.path,
            items.sorted().joined(separator: "&"), digest,
        ].joined(separator: "\n")
    }

    /// What this server is sent has no escapes but those of the canonical form, and each name is as long as any other where
    /// it matters for the order.
    private static func items(_ text: String) -> [String] { text.split(separator: "&").map(String.init) }

    private func code(of text: String) -> String { SHA256.hex(text.utf8, key: Array(secret.utf8)) }
}

@Suite(.timeLimit(.minutes(5))) struct SortedParameterTests {
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private static func signer(_ key: String = "shop") throws -> SortedParameterSigner {
        SortedParameterSigner(appKey: key, secret: try SharedSecret(text: "secret"))
    }

    private static let form: [(HTTPFieldName, String)] = [("Content-Type", "application/x-www-form-urlencoded")]

    // MARK: The text

    @Test func `each step to a signature is told`() async throws {
        let request = try HTTPRequest(
            .post, "https://a.example:8443/b%20c?z=1&a=%7e&a=+", Self.form, body: .bytes(Data("y=2&x=a+b".utf8)))
        let steps = try await Self.signer().signed(request, at: Self.date, nonce: "n1")
        let parameters = "X-App-Key=shop&X-Nonce=n1&X-Timestamp=1700000000&a=%20&a=~&z=1"
        let content = "form:" + SHA256.hex("x=a%20b&y=2".utf8)
        #expect(steps.parameters == parameters)
        #expect(steps.content == content)
        #expect(steps.text == "POST\na.example:8443\n/b%20c\n\(parameters)\n\(content)")
        #expect(steps.signature == SHA256.hex(steps.text.utf8, key: Array("secret".utf8)))
        #expect(steps.request.url == request.url)
        #expect(
            steps.request.fields.map { "\($0.name): \($0.value)" } == [
                "Content-Type: application/x-www-form-urlencoded", "X-App-Key: shop", "X-Timestamp: 1700000000",
                "X-Nonce: n1", "X-Signature: \(steps.signature)",
            ])
    }

    @Test(.covers("S1.12")) func `the order of parameters does not count, and everything else does`() async throws {
        func signature(
            _ url: String, _ body: String = "", _ fields: [(HTTPFieldName, String)] = Self.form,
            method: HTTPMethod = .post,
            nonce: String = "n", date: Date = Self.date, app: String = "shop"
        ) async throws -> String {
            let request = try HTTPRequest(method, url, fields, body: .bytes(Data(body.utf8)))
            return try await Self.signer(app).signed(request, at: date, nonce: nonce).signature
        }
        let url = "https://a.example/b?c=1&d=2", body = "e=3&f=4"
        let known = try await signature(url, body)
        // RFC 2104 by another implementation than the library's.
        let content = "form:" + SHA256.hex("e=3&f=4".utf8)
        let text = "POST\na.example\n/b\nX-App-Key=shop&X-Nonce=n&X-Timestamp=1700000000&c=1&d=2\n\(content)"
        #expect(known == SHA256.hex(text.utf8, key: Array("secret".utf8)))
        #expect(try await signature("https://a.example/b?d=2&c=1", "f=4&e=3") == known)
        #expect(try await signature("https://a.example/b?%64=2&c=%31", "%66=4&e=3") == known)
        let others = [
            try await signature("https://a.example/b?c=1&d=3", body),
            try await signature("https://a.example/b?c=1", body),
            try await signature("https://a.example/c?c=1&d=2", body),
            try await signature("https://b.example/b?c=1&d=2", body),
            try await signature("https://a.example:444/b?c=1&d=2", body), try await signature(url, "e=3&f=5"),
            try await signature(url, "e=3"), try await signature(url, body, []),
            try await signature(url, body, method: .put),
            try await signature(url, body, nonce: "m"), try await signature(url, body, app: "shoq"),
            try await signature(url, body, date: Self.date.addingTimeInterval(1)),
            // What stands in the query does not stand in the form.
            try await signature("https://a.example/b?c=1&d=2&e=3", "f=4"),
        ]
        #expect(Set(others).count == others.count && !others.contains(known))
        // Within the second it is the same time.
        #expect(try await signature(url, body, date: Self.date.addingTimeInterval(0.9)) == known)
    }

    @Test func `in the query the four replace what was there by their names`() async throws {
        var signer = try Self.signer()
        signer.place = .query
        signer.names = .init(appKey: "appKey", timestamp: "ts", nonce: "nonce", signature: "sign")
        let request = try HTTPRequest(.get, "https://a.example/b?x=1&sign=old&TS=2&y")
        let steps = try await signer.signed(request, at: Self.date, nonce: "a&b")
        #expect(steps.parameters == "appKey=shop&nonce=a%26b&ts=1700000000&x=1&y=")
        #expect(
            steps.request.url.query
                == "x=1&y&appKey=shop&ts=1700000000&nonce=a%26b&sign=\(steps.signature)")
        #expect(steps.request.fields.isEmpty)
    }

    private static let taken: [(query: String, form: String?, name: String?)] = [
        ("X-App-Key=a", nil, "X-App-Key"), ("a=1&X-Timestamp=1", nil, "X-Timestamp"), ("X-Nonce=n", nil, "X-Nonce"),
        ("X-Signature", nil, "X-Signature"), ("x-nonce=n", nil, "x-nonce"), ("%58-Nonce=n", nil, "X-Nonce"),
        ("x%2dsignature=", "a=1", "x-signature"), ("X-Noncf=n&XNonce=n&a=X-Nonce", "X-Nonce=n", nil), ("", nil, nil),
    ]

    /// Otherwise a time that was signed as a parameter could be sent as the time of the request, under the same signature.
    @Test(arguments: taken) func `what is signed in fields stands in no parameter of the query`(
        query: String, form: String?, name: String?
    ) async throws {
        let body = form.map { HTTPBody.bytes(Data($0.utf8)) } ?? .none
        let request = try HTTPRequest(.post, "https://a.example/b?\(query)", form == nil ? [] : Self.form, body: body)
        let server = GuardedServer(secret: "secret") { Self.date }
        let signer = try Self.signer()
        if let name {
            await #expect(throws: SignatureBaseError.taken(name)) {
                try await signer.signed(request, at: Self.date, nonce: "n")
            }
        } else {
            let signed = try await signer.signed(request, at: Self.date, nonce: "n").request
            #expect(server.refusal(of: signed) == nil)
        }
        // Where the four stand in the query themselves, they replace what was there.
        var other = signer
        other.place = .query
        _ = try await other.signed(request, at: Self.date, nonce: "n")
    }

    @Test func `a call with a parameter of the signature's name fails unsent`() async throws {
        let rig = try Self.rig(TestClock()) { _ in HTTPResponse(status: 200) }
        let url = try HTTPURL("https://a.example/b?X-Nonce=n")
        let error = await #expect(throws: APIError.self) {
            try await rig.client.get("/b", parameters: ["X-Nonce": "n"]) as Payload
        }
        #expect(error?.stage == .sign && error?.underlying as? SignatureBaseError == .taken("X-Nonce"))
        #expect(rig.stub.requests.isEmpty)
        // So does a server with what it is sent.
        let server = GuardedServer(secret: "secret") { Self.date }
        let own = try HTTPRequest(.get, "https://a.example/b?X-Timestamp=1600000000")
        var forged = HTTPRequest(method: .get, url: url, fields: own.fields)
        for (name, value) in [
            ("X-App-Key", "shop"), ("X-Timestamp", "1700000000"), ("X-Nonce", "m"), ("X-Signature", ""),
        ] {
            forged.fields[HTTPFieldName(name)] = value
        }
        #expect(server.refusal(of: forged) == "ambiguous")
    }

    @Test func `only a form that is in memory counts by its parameters`() async throws {
        func content(_ type: String?, _ body: HTTPBody) async throws -> String {
            let fields: [(HTTPFieldName, String)] = type.map { [(.contentType, $0)] } ?? []
            let request = try HTTPRequest(.post, "https://a.example/", fields, body: body)
            return try await Self.signer().signed(request, at: Self.date, nonce: "n").content
        }
        let data = Data("b=1&a=2".utf8)
        let (form, raw) = ("form:" + SHA256.hex("a=2&b=1".utf8), "body:" + SHA256.hex(data))
        #expect(try await content("Application/X-WWW-Form-urlencoded ; charset=utf-8", .bytes(data)) == form)
        #expect(try await content("application/x-www-form-urlencoded2", .bytes(data)) == raw)
        #expect(try await content(nil, .bytes(data)) == raw)
        let stream = HTTPBody.stream {
            HTTPBody.Chunks {
                $0.yield(data)
                $0.finish()
            }
        }
        #expect(try await content("application/x-www-form-urlencoded", stream) == raw)
        let binary = Data([0x61, 0x3D, 0xFF])
        #expect(
            try await content("application/x-www-form-urlencoded", .bytes(binary)) == "body:" + SHA256.hex(binary))
        let marked = Data("\u{FEFF}b=1&a=2".utf8)
        #expect(
            try await content("application/x-www-form-urlencoded", .bytes(marked))
                == "form:" + SHA256.hex("%EF%BB%BFb=1&a=2".utf8))
        #expect(try await content(nil, .none) == "body:" + SHA256.hex([]))
    }

    @Test func `a query is read into names and values, of which nothing is lost`() {
        let items = CanonicalQuery.items(of: "a=b=c&=v&n=&m&&x=+%20%2b&=").map { "\($0.name)|\($0.value)" }
        #expect(items == ["a|b%3Dc", "|v", "n|", "m|", "x|%20%20%2B", "|"])
        #expect(CanonicalQuery.items(of: nil).isEmpty && CanonicalQuery.items(of: "").isEmpty)
        #expect(CanonicalQuery.text(of: [("b", "1"), ("a", "2"), ("a", "10"), ("B", "1")]) == "B=1&a=10&a=2&b=1")
        #expect(CanonicalQuery.escaped([0, 0x0F, 0x10, 0x61, 0xFF]) { $0 == 0x61 } == "%00%0F%10a%FF")
    }

    @Test func `parameters are taken out of a query by their names, and the rest stands as it was`() throws {
        func rest(_ query: String) throws -> String? {
            try HTTPURL("https://a.example/b\(query)").removing(["Sign", "ts"]).query
        }
        #expect(try rest("?a=1&&sign=x") == "a=1&")
        #expect(try rest("?a=%7e&&b=+") == "a=%7e&&b=+")
        #expect(try rest("?SIGN=x&TS") == nil)
        #expect(try rest("?%73ign=x&signs=1&sig") == "signs=1&sig")
        #expect(try rest("") == nil)
        let url = try HTTPURL("https://a.example:444/b")
        #expect(url.authority == "a.example:444")
        #expect(url.adding([("a b", "&"), ("c", "")]).query == "a%20b=%26&c=")
        #expect(try HTTPURL("https://a.example/b?").adding([("c", "1")]).query == "c=1")
        #expect(try HTTPURL("https://a.example/b?x").adding([("c", "1")]).query == "x&c=1")
    }

    // MARK: Against a server

    private struct Rig {
        let client: APIClient
        let stub: StubTransport
    }

    private static func rig(
        _ clock: TestClock, answering answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws -> Rig {
        let service = Service(.main, [.development: "https://a.example"], signer: try signer())
        var configuration = APIClient.Configuration(services: [service])
        configuration.time = clock.timeSource
        let stub = StubTransport { answer($0) }
        return Rig(client: APIClient(configuration, transport: stub), stub: stub)
    }

    @Test(.covers("S1.12")) func `a server takes what is signed once, and refuses it replayed, stale or changed`()
        async throws
    {
        let clock = TestClock()
        let server = GuardedServer(secret: "secret", date: clock.timeSource.date)
        let rig = try Self.rig(clock) { server.answer($0) }
        for _ in 0..<2 { _ = try await rig.client.send(Pay(to: "bob", amount: 5)) }
        #expect(server.refusals == [])
        let sent = try #require(rig.stub.requests.last)
        #expect(server.refusal(of: sent) == "replayed")
        var forged = sent
        forged.body = .bytes(Data("amount=500&to=bob".utf8))
        #expect(server.refusal(of: forged) == "forged")
        var fresh = sent
        fresh.fields["X-Nonce"] = "another"
        #expect(server.refusal(of: fresh) == "forged")
        clock.advance(by: .seconds(60))
        #expect(server.refusal(of: sent) == "replayed")
        clock.advance(by: .seconds(1))
        #expect(server.refusal(of: sent) == "stale")
    }

    @Test(.covers("S1.12"), arguments: [-86_400.0, 86_400.0])
    func `a clock that is wrong by a day is corrected from Date`(
        seconds: Double
    ) async throws {
        let clock = TestClock()
        let server = GuardedServer(secret: "secret") { clock.timeSource.date().addingTimeInterval(seconds) }
        let rig = try Self.rig(clock) { server.answer($0) }
        _ = try await rig.client.send(Pay(to: "bob", amount: 5))
        #expect(server.refusals == ["stale"])
        #expect(rig.stub.requests.count == 2)
        // From then on it is known.
        _ = try await rig.client.send(Pay(to: "bob", amount: 6))
        #expect(server.refusals == ["stale"])
        #expect(rig.stub.requests.count == 3)
        #expect(Set(rig.stub.requests.map { $0.fields["X-Nonce"] }).count == 3)
    }

    // MARK: The hook

    /// Hides a password before the request is signed, as the app's own hook would with a real cipher.
    private struct HidePassword: Interceptor {
        static let hidden = "password=" + String("hunter2".reversed())

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            var request = request
            guard case .bytes(let data) = request.body.source else { return try await next(request) }
            let form = String(decoding: data, as: UTF8.self)
            request.body = .bytes(Data(form.replacingOccurrences(of: "password=hunter2", with: Self.hidden).utf8))
            return try await next(request)
        }
    }

    private struct LogIn: Endpoint, Encodable {
        typealias Output = Data
        let account: String
        let password: String
        var route: Route { .post("/login") }
        var placement: ParameterPlacement { .form }
    }

    @Test(.covers("S1.11")) func `the signer sees the final bytes: common parameters and the encrypted password`()
        async throws
    {
        let clock = TestClock()
        let server = GuardedServer(secret: "secret", date: clock.timeSource.date)
        let isFirst = Box(true)
        let stub = StubTransport { request in
            let answer = server.answer(request)
            let fails = isFirst.update { first in
                defer { first = false }
                return first
            }
            return fails ? HTTPResponse(status: 503) : answer
        }
        let service = Service(
            .main, [.development: "https://a.example"], headers: ["X-Common": "1"],
            parameters: CommonParameters { ["device": "d1"] }, attemptInterceptors: [HidePassword()],
            signer: try Self.signer())
        var configuration = APIClient.Configuration(services: [service])
        configuration.time = clock.timeSource
        configuration.options.idempotency = .declared
        let client = APIClient(configuration, transport: stub)
        let call = client.start(LogIn(account: "alice", password: "hunter2"))
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(20))
        _ = try await call.value
        // Each attempt has a signature of its own, which the server makes again of the bytes that it got.
        #expect(server.refusals == [])
        #expect(stub.requests.count == 2)
        #expect(Set(stub.requests.map { $0.fields["X-Signature"] }).count == 2)
        for sent in stub.requests {
            guard case .bytes(let body) = sent.body.source else {
                Issue.record("no body")
                continue
            }
            let form = String(decoding: body, as: UTF8.self).split(separator: "&").sorted().joined(separator: "&")
            #expect(form == "account=alice&device=d1&\(HidePassword.hidden)")
            #expect(sent.fields["X-Common"] == "1")
            let nonce = try #require(sent.fields["X-Nonce"])
            var unsigned = sent
            for name in ["X-App-Key", "X-Timestamp", "X-Nonce", "X-Signature"] {
                unsigned.fields.remove(HTTPFieldName(name))
            }
            let time = try #require(sent.fields["X-Timestamp"].flatMap { TimeInterval($0) })
            let steps = try await Self.signer().signed(
                unsigned, at: Date(timeIntervalSince1970: time), nonce: nonce)
            #expect(steps.content == "form:" + SHA256.hex(form.utf8))
            #expect(steps.signature == sent.fields["X-Signature"])
        }
    }
}
