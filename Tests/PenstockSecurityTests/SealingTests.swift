import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore
@testable import PenstockSecurity

/// A call whose payload is sealed, from the option to the reply.
@Suite(.timeLimit(.minutes(5))) struct SealingTests {
    private static let secret = Data((0..<32).map { UInt8($0) })
    private static let url = "https://bank.example/api"

    private static func key(_ bytes: Data = secret, id: String = "k1") throws -> SealingKey {
        try .direct(bytes, id: id)
    }

    private struct Answer: Codable, Equatable { let total: Int }

    /// The same endpoint for both methods.
    private struct Quote: Endpoint, Encodable {
        typealias Output = Answer
        var method = HTTPMethod.get
        var amount = 5
        var to = "bob"
        var route: Route { Route(method, "/quote") }
        enum CodingKeys: CodingKey { case amount, to }
    }

    private struct Rig {
        let client: APIClient
        let stub: StubTransport
    }

    private static func rig(
        _ sealer: (any Sealer)?, cache: CacheChoice = .none, envelope: Envelope? = nil,
        _ change: (inout Service) -> Void = { _ in }, answering respond: @escaping StubTransport.Responder
    ) -> Rig {
        var service = Service(.main, [.development: url], envelope: envelope, sealer: sealer)
        change(&service)
        var configuration = APIClient.Configuration(services: [service])
        configuration.cache = cache
        configuration.options.retry = RetryPolicy(limit: 0)
        let stub = StubTransport(respond)
        return Rig(client: APIClient(configuration, transport: stub), stub: stub)
    }

    /// A response whose content is sealed.
    static func sealed(
        _ text: String, with key: SealingKey, status: Int = 200, type: String? = "application/json",
        fields: HTTPFields = [:]
    ) throws -> HTTPResponse {
        let message = try JWE.seal(Data(text.utf8), with: key, contentType: type)
        var response = HTTPResponse(status: status, fields: fields, body: Data(message.utf8))
        response.fields[.contentType] = "application/jose"
        return response
    }

    private static func failure<Value>(_ body: () async throws -> Value) async -> APIError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? APIError
        }
    }

    private static func text(_ request: HTTPRequest) -> String {
        guard case .bytes(let data) = request.body.source else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: What is sent

    private static let sealedQuery =
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiazEiLCJjdHkiOiJ4LXd3dy1mb3JtLXVybGVuY29kZWQifQ..AAAAAAAAAAAAAAAA"
        + ".b9Haq9tYvogu3MYIekPz.VllE6rq5hcSVuwYDmC9YMA"
    private static let sealedBody =
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiazEiLCJjdHkiOiJqc29uIn0..AAAAAAAAAAAAAAAA"
        + ".dZ7Us9pZ7ckqkpwZOlj-u-hhNDxKox0.dWViYvoFav9i0FlpncLrWw"

    /// Made with no randomness, so that every byte is known; by another implementation.
    private static let golden: [(HTTPMethod, CallOptions, String)] = [
        (.get, .plain, "GET \(url)/quote?amount=5&to=bob"),
        (.get, .sealed, "GET \(url)/quote?payload=\(sealedQuery)"),
        (.post, .plain, "POST \(url)/quote\napplication/json\n{\"amount\":5,\"to\":\"bob\"}"),
        (.post, .sealed, "POST \(url)/quote\napplication/jose\n\(sealedBody)"),
    ]

    @Test(.covers("S0.8")) func `one send with an option makes four requests, encrypted or plain by GET or by POST`()
        async throws
    {
        var sealer = JWESealer(try Self.key())
        sealer.randomness = { _ in JWE.Randomness(contentKey: Data(), iv: Data(count: 12)) }
        let answer = try Self.sealed(#"{"total":5}"#, with: Self.key())
        let rig = Self.rig(sealer) { request in
            let isSealed =
                request.url.query?.hasPrefix("payload=") ?? false
                || request.fields[.contentType] == "application/jose"
            return isSealed ? answer : .json(#"{"total":5}"#)
        }
        for (method, options, _) in Self.golden {
            #expect(try await rig.client.send(Quote(method: method), options: options).total == 5)
        }
        let made = rig.stub.requests.map { request in
            let head = "\(request.method) \(request.url.absoluteString)"
            return request.body.isNone
                ? head : "\(head)\n\(request.fields[.contentType] ?? "")\n\(Self.text(request))"
        }
        #expect(made == Self.golden.map(\.2))
        #expect(Set(made).count == 4)
    }

    @Test
    func
        `a service with a sealer seals unless it is told otherwise, and one without sends nothing that is to be sealed`()
        async throws
    {
        let answer = try Self.sealed(#"{"total":5}"#, with: Self.key())
        let sealing = Self.rig(JWESealer(try Self.key())) { _ in answer }
        _ = try await sealing.client.send(Quote())
        #expect(sealing.stub.requests.first?.url.query?.hasPrefix("payload=ey") == true)
        let without = Self.rig(nil) { _ in .json(#"{"total":5}"#) }
        for method in [HTTPMethod.get, .post] {
            let error = await Self.failure { try await without.client.send(Quote(method: method), options: .sealed) }
            #expect(error?.kind == .invalidConfiguration(reason: "the service has no sealer"))
            #expect(error?.sendState == .unsent)
        }
        #expect(without.stub.requests.isEmpty)
        _ = try await without.client.send(Quote())
        _ = try await without.client.send(Quote(), options: .plain)
        #expect(without.stub.requests.map(\.url.query) == ["amount=5&to=bob", "amount=5&to=bob"])
        // A narrower level has the last word.
        let mostly = Self.rig(JWESealer(try Self.key())) {
            $0.options = .plain
        } answering: { request in
            request.fields[.contentType] == "application/jose" ? answer : .json(#"{"total":5}"#)
        }
        _ = try await mostly.client.send(Quote(method: .post))
        _ = try await mostly.client.send(Quote(method: .post), options: .sealed)
        #expect(mostly.stub.requests.map { $0.fields[.contentType] } == ["application/json", "application/jose"])
    }

    @Test func `query and body are sealed each for itself, and what is in neither is left as it is`() async throws {
        let key = try Self.key()
        var sealer = JWESealer(key)
        sealer.queryName = "q&a"
        let context = try await Self.context()
        func seal(_ request: HTTPRequest) async throws -> HTTPRequest { try await sealer.seal(request, call: context) }
        let both = try await seal(
            HTTPRequest(
                .put, "https://a.example/b?x=1&y", [("Content-Type", "text/plain; charset=utf-8"), ("X", "1")],
                body: .bytes(Data("body".utf8))))
        let parts = try #require(both.url.query?.split(separator: "=").map(String.init))
        #expect(parts.count == 2 && parts[0] == "q%26a")
        #expect(try JWE.open(parts[1], with: [key]).content == Data("x=1&y".utf8))
        #expect(try JWE.open(parts[1], with: [key]).contentType == "application/x-www-form-urlencoded")
        let body = try JWE.open(Self.text(both), with: [key])
        #expect(body.content == Data("body".utf8))
        #expect(body.contentType == "text/plain; charset=utf-8")
        #expect(both.fields.map { "\($0.name): \($0.value)" } == ["Content-Type: application/jose", "X: 1"])
        #expect(both.url.path == "/b" && both.method == .put)
        for url in ["https://a.example/b", "https://a.example/b?"] {
            let bare = try HTTPRequest(.get, url)
            let sealed = try await seal(bare)
            #expect(sealed.url == bare.url && sealed.fields.isEmpty && sealed.body.isNone)
        }
        // A body of no bytes is one all the same.
        let empty = try await seal(HTTPRequest(.post, "https://a.example/", body: .bytes(Data())))
        #expect(try JWE.open(Self.text(empty), with: [key]).content.isEmpty)
        #expect(try JWE.open(Self.text(empty), with: [key]).contentType == nil)
    }

    @Test func `a file and a stream are sealed up to a length, and coded content is not`() async throws {
        let key = try Self.key()
        var sealer = JWESealer(key)
        sealer.longestBody = 10
        let context = try await Self.context()
        func seal(_ body: HTTPBody, _ fields: [(HTTPFieldName, String)] = []) async throws -> Data {
            let request = try HTTPRequest(.post, "https://a.example/", fields, body: body)
            return try JWE.open(Self.text(try await sealer.seal(request, call: context)), with: [key]).content
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("sealed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        func bodies(_ data: Data) throws -> [HTTPBody] {
            try data.write(to: file)
            let stream = HTTPBody.stream {
                HTTPBody.Chunks { chunks in
                    chunks.yield(data.prefix(3))
                    chunks.yield(data.dropFirst(3))
                    chunks.finish()
                }
            }
            return [.bytes(data), .file(file), stream]
        }
        let most = Data((0..<10).map { UInt8($0) })
        for body in try bodies(most) { #expect(try await seal(body) == most) }
        for body in try bodies(most + [0]) {
            let error = await Self.failure { try await seal(body) }
            #expect(error?.kind == .unsupported(feature: "a sealed body of more than 10 bytes"))
        }
        let coded = await Self.failure { try await seal(.bytes(most), [("Content-Encoding", "gzip")]) }
        #expect(coded?.kind == .unsupported(feature: "a sealed body with a content coding"))
    }

    static let digests: [(HTTPFieldName, String)] = [
        ("Content-Digest", "sha-256=:AAAA:"), ("Repr-Digest", "sha-512=:AAAA:"), ("Digest", "SHA-256=AAAA"),
        ("Content-MD5", "AAAA"), ("content-digest", "sha-512=:AAAA:"),
    ]

    @Test func `no digest of the content goes beside the sealed one, in either direction`() async throws {
        let (key, context) = (try Self.key(), try await Self.context())
        let digests = HTTPFields(Self.digests.map { HTTPField(name: $0.0, value: $0.1) })
        let request = try HTTPRequest(
            .post, "https://a.example/", Self.digests + [("X-A", "1")], body: .bytes(Data("4711".utf8)))
        let sealed = try await JWESealer(key).seal(request, call: context)
        #expect(sealed.fields == ["X-A": "1", "Content-Type": "application/jose"])
        // That of a body that is not there tells nothing.
        let none = try HTTPRequest(.get, "https://a.example/?a=1", Self.digests)
        #expect(try await JWESealer(key).seal(none, call: context).fields == digests)
        var reply = try Self.sealed("4711", with: key, type: nil, fields: digests)
        reply.trailers = digests
        let opened = try await JWESealer(key).open(reply, call: context)
        #expect(opened.fields == ["Content-Length": "4"] && opened.trailers.isEmpty)
        // Nor that of content that is not handed on.
        let page = HTTPResponse(status: 502, fields: digests, body: Data("<p>".utf8))
        #expect(try await JWESealer(key).open(page, call: context).fields == ["Content-Length": "0"])
    }

    // MARK: What comes back

    /// A server that opens what it is sent, with a key of its own, and seals its answer for the app.
    private static func bank(
        own: SealingKey, app: SealingKey, seen: Box<[String]>, answer: @escaping @Sendable (String) -> String
    ) -> StubTransport.Responder {
        { request in
            let sealed =
                request.body.isNone
                ? request.url.query.map { String($0.dropFirst("payload=".utf8.count)) } ?? "" : text(request)
            guard let message = try? JWE.open(sealed, with: [own]) else { return HTTPResponse(status: 400) }
            let plain = String(decoding: message.content, as: UTF8.self)
            seen.update { $0.append(plain) }
            return (try? Self.sealed(answer(plain), with: app)) ?? HTTPResponse(status: 500)
        }
    }

    @Test(.covers("S0.9"), arguments: [HTTPMethod.get, .post])
    func `the server decrypts the payload, and the response decrypts before it is validated`(method: HTTPMethod)
        async throws
    {
        let (server, app) = (try P256PrivateKey(), try P256PrivateKey())
        let serverKey = SealingKey.agreement(with: try P256PublicKey(server.publicPoint), id: "s")
        let sealer = JWESealer(sealing: serverKey, opening: [.agreement(app, encryption: .a128CBCHS256, id: "a")])
        let seen = Box<[String]>([])
        let appKey = SealingKey.agreement(
            with: try P256PublicKey(app.publicPoint), encryption: .a128CBCHS256, id: "a")
        let isRefused = Box(false)
        let rig = Self.rig(
            sealer, envelope: .retcode,
            answering: Self.bank(own: .agreement(server, id: "s"), app: appKey, seen: seen) { _ in
                isRefused.value
                    ? #"{"retcode":7,"retdesc":"closed"}"# : #"{"retcode":0,"retdesc":"","data":{"total":6}}"#
            })
        #expect(try await rig.client.send(Quote(method: method)).total == 6)
        #expect(seen.value == [method == .get ? "amount=5&to=bob" : #"{"amount":5,"to":"bob"}"#])
        // What is in the envelope is known: it was opened before.
        isRefused.update { $0 = true }
        let error = await Self.failure { try await rig.client.send(Quote(method: method)) }
        #expect(error?.kind == .business(code: 7, message: "closed"))
        for request in rig.stub.requests {
            #expect(!"\(request.url.absoluteString) \(Self.text(request))".contains("bob"))
        }
    }

    @Test(.covers("S0.9"), arguments: [HTTPMethod.get, .post])
    func `a wrong key is a decryption error on either side`(method: HTTPMethod) async throws {
        let other = try Self.key(Data(count: 32))
        let seen = Box<[String]>([])
        let server = Self.rig(
            JWESealer(try Self.key()),
            answering: Self.bank(own: other, app: try Self.key(), seen: seen) { _ in #"{"total":1}"# })
        let refused = await Self.failure { try await server.client.send(Quote(method: method)) }
        #expect(refused?.kind == .httpStatus(400))
        #expect(seen.value.isEmpty)
        let app = Self.rig(
            JWESealer(try Self.key()),
            answering: Self.bank(own: try Self.key(), app: other, seen: seen) { _ in #"{"total":1}"# })
        let error = await Self.failure { try await app.client.send(Quote(method: method)) }
        #expect(error?.kind == .decryption)
        #expect(error?.stage == .seal)
        #expect(app.stub.requests.count == 1)
    }

    @Test func `all that is no reply for the key fails alike, and in the same words`() async throws {
        let key = try Self.key()
        let good = try Self.sealed(#"{"total":5}"#, with: key)
        func with(_ change: (inout HTTPResponse) -> Void) -> HTTPResponse {
            var response = good
            change(&response)
            return response
        }
        let replies: [HTTPResponse] = [
            with { $0.body[$0.body.count - 3] ^= 1 }, with { $0.body.removeLast() }, with { $0.body.append(0x0A) },
            with { $0.body = Data([0xEF, 0xBB, 0xBF]) + $0.body }, with { $0.body = Data() },
            with { $0.body = Data([0xFF, 0xFE]) },
            with { $0.body = Data(#"{"total":5}"#.utf8) }, with { $0.fields[.contentType] = nil },
            with { $0.fields[.contentType] = "application/json" }, with { $0.fields[.contentType] = "text/jose" },
            with { $0.fields.append("application/jose", for: .contentType) }, .json(#"{"total":5}"#),
            try Self.sealed(#"{"total":5}"#, with: Self.key(id: "k2")),
            try Self.sealed(#"{"total":5}"#, with: Self.key(Data(count: 32))),
            try Self.sealed(#"{"total":5}"#, with: .wrapping(Self.secret, id: "k1")),
            try Self.sealed(#"{"total":5}"#, with: .direct(Self.secret, encryption: .a128CBCHS256, id: "k1")),
            try Self.sealed("no", with: Self.key(Data(count: 32)), status: 404),
            with {
                $0.status = 500
                $0.body.removeLast()
            },
        ]
        var words: Set<String> = []
        for reply in replies {
            let rig = Self.rig(JWESealer(key)) { _ in reply }
            let error = try #require(await Self.failure { try await rig.client.send(Quote()) })
            #expect(error.kind == .decryption)
            #expect(error.underlying == nil && error.debugMessage.isEmpty && error.response == nil)
            words.insert("\(error.kind) \(error.localizedDescription)")
        }
        #expect(words.count == 1)
        let typed = with { $0.fields[.contentType] = "Application/JOSE; a=b" }
        let fine = Self.rig(JWESealer(key)) { _ in typed }
        #expect(try await fine.client.send(Quote()).total == 5)
    }

    @Test(.covers("S4.4"))
    func `a failure that is sealed is opened, and of one that is not only the status is told`() async throws {
        let key = try Self.key()
        let reply = try Self.sealed(#"{"why":"x"}"#, with: key, status: 404)
        let opened = Self.rig(JWESealer(key)) { _ in reply }
        let sealed = await Self.failure { try await opened.client.send(Quote()) }
        #expect(sealed?.kind == .httpStatus(404))
        #expect(sealed?.response?.body == Data(#"{"why":"x"}"#.utf8))
        let proxy = Self.rig(JWESealer(key)) { _ in
            HTTPResponse(status: 502, fields: ["Content-Type": "text/html"], body: Data("<p>secret?</p>".utf8))
        }
        let plain = await Self.failure { try await proxy.client.send(Quote()) }
        #expect(plain?.kind == .httpStatus(502))
        #expect(plain?.response?.body.isEmpty == true)
        #expect(plain?.response?.fields[.contentType] == nil)
        // From 200 to 299, which an app may take for what it asked for, nothing passes that is not sealed.
        for (status, kind) in [(299, .decryption), (300, .httpStatus(300))] as [(Int, APIError.Kind)] {
            let edge = Self.rig(JWESealer(key)) { _ in HTTPResponse(status: status, body: Data("x".utf8)) }
            #expect(await Self.failure { try await edge.client.send(Quote()) }?.kind == kind)
        }
        let empty = Self.rig(JWESealer(key)) { _ in HTTPResponse(status: 503) }
        #expect(await Self.failure { try await empty.client.send(Quote()) }?.kind == .httpStatus(503))
    }

    @Test func `what cannot have content needs not be sealed`() async throws {
        struct Touch: Endpoint {
            typealias Output = Data
            let method: HTTPMethod
            var route: Route { Route(method, "/touch") }
        }
        let key = try Self.key()
        for (method, status, isFine) in [
            (HTTPMethod.head, 200, true), (.get, 204, true), (.get, 205, true), (.get, 200, false), (.get, 201, false),
            (.delete, 204, true), (.delete, 200, false),
        ] {
            let rig = Self.rig(JWESealer(key)) { _ in HTTPResponse(status: status) }
            let error = await Self.failure { try await rig.client.send(Touch(method: method)) }
            #expect(error?.kind == (isFine ? nil : .decryption), "\(method) \(status)")
        }
    }

    @Test func `the reply has the fields of what is in it`() async throws {
        let key = try Self.key()
        let context = try await Self.context()
        let reply = try Self.sealed(
            "hello", with: key, type: "text/plain", fields: ["X-A": "1"])
        let opened = try await JWESealer(key).open(reply, call: context)
        #expect(opened.body == Data("hello".utf8))
        #expect(opened.fields[.contentType] == "text/plain")
        #expect(opened.fields[.contentLength] == "5")
        #expect(opened.fields["X-A"] == "1")
        let untyped = try await JWESealer(key).open(try Self.sealed("", with: key, type: nil), call: context)
        #expect(untyped.fields[.contentType] == nil && untyped.fields[.contentLength] == "0")
        let broken = try await JWESealer(key).open(
            HTTPResponse(status: 403, fields: ["Content-Type": "a/b"], body: Data([1])), call: context)
        #expect(broken.fields[.contentLength] == "0")
    }

    @Test func `every attempt and every redirect is sealed anew`() async throws {
        let key = try Self.key()
        let answer = try Self.sealed(#"{"total":5}"#, with: key)
        let rig = Self.rig(JWESealer(key)) { request in
            request.url.path == "/api/quote" ? HTTPResponse(status: 307, fields: [.location: "/next?a=1"]) : answer
        }
        _ = try await rig.client.send(Quote(method: .post))
        #expect(rig.stub.requests.count == 2)
        #expect(Set(rig.stub.requests.map(Self.text)).count == 2)
        let plain = try rig.stub.requests.map { try JWE.open(Self.text($0), with: [key]).content }
        #expect(Set(plain) == [Data(#"{"amount":5,"to":"bob"}"#.utf8)])
        let query = try #require(rig.stub.requests.last?.url.query?.dropFirst("payload=".utf8.count))
        #expect(try JWE.open(String(query), with: [key]).content == Data("a=1".utf8))
    }

    @Test(arguments: ["payload", "a b"])
    func `a redirect that keeps the sealed query does not have it sealed twice`(name: String) async throws {
        let key = try Self.key()
        let answer = try Self.sealed(#"{"total":5}"#, with: key)
        var sealer = JWESealer(key)
        sealer.queryName = name
        for (method, status) in [(HTTPMethod.get, 302), (.get, 308), (.post, 307), (.post, 303)] {
            let rig = Self.rig(sealer) { request in
                let query = request.url.query ?? ""
                return switch request.url.path {
                case "/api/quote": HTTPResponse(status: status, fields: [.location: "/api/quote/?\(query)"])
                case "/api/quote/": HTTPResponse(status: status, fields: [.location: "/next?\(query)"])
                default: answer
                }
            }
            _ = try await rig.client.send(Quote(method: method))
            #expect(rig.stub.requests.count == 3)
            for request in rig.stub.requests where method == .get {
                let query = try #require(request.url.query)
                let text = try #require(query.split(separator: "=").last)
                #expect(query == "\(PercentEncoding.escaped(name))=\(text)")
                let plain = try JWE.open(String(text), with: [key])
                #expect(plain.content == Data("amount=5&to=bob".utf8))
            }
            // What is kept of a body is sealed from the plain one.
            for request in rig.stub.requests where !request.body.isNone {
                #expect(try JWE.open(Self.text(request), with: [key]).content == Data(#"{"amount":5,"to":"bob"}"#.utf8))
            }
        }
    }

    @Test func `a query that only looks like a sealed one is sealed`() async throws {
        let key = try Self.key()
        let context = try await Self.context()
        let message = try JWE.seal(Data("a=1".utf8), with: key)
        let foreign = try JWE.seal(Data("a=1".utf8), with: Self.key(id: "k2"))
        let sealer = JWESealer(key)
        for query in [
            "payload=\(message)&b=2", "b=2&payload=\(message)", "other=\(message)", "payload=\(foreign)", "payload=",
            "payload=a.b.c.d.e", "payload", "payload=\(message)%20",
        ] {
            let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/x?\(query)"))
            let sealed = try await sealer.seal(request, call: context).url.query
            let text = try #require(sealed?.dropFirst("payload=".count))
            #expect(try JWE.open(String(text), with: [key]).content == Data(query.utf8))
        }
        let url = try HTTPURL("https://a.example/x?payload=\(message)")
        #expect(try await sealer.seal(HTTPRequest(method: .get, url: url), call: context).url == url)
    }

    @Test func `a sealed response cannot be streamed, and a plain one of the service can`() async throws {
        let rig = Self.rig(JWESealer(try Self.key())) { _ in HTTPResponse(status: 200, body: Data("x".utf8)) }
        let error = await Self.failure { try await rig.client.stream(Quote()) }
        #expect(error?.kind == .unsupported(feature: "streaming a sealed response"))
        #expect(rig.stub.requests.isEmpty)
        _ = try await rig.client.stream(Quote(), options: .plain)
        #expect(rig.stub.requests.count == 1)
    }

    /// A call to seal within, caught on its way.
    private static func context() async throws -> CallContext {
        let caught = Box<CallContext?>(nil)
        struct Catching: Signer {
            let caught: Box<CallContext?>
            func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
                caught.update { $0 = call }
                return request
            }
        }
        let rig = rig(nil) {
            $0.signer = Catching(caught: caught)
        } answering: { _ in
            .json(#"{"total":5}"#)
        }
        _ = try await rig.client.send(Quote())
        return try #require(caught.value)
    }
}
