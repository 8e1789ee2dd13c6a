import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Whose a stored response is while the client names no user: the credentials' of the request that brought it.
@Suite(.timeLimit(.minutes(5))) struct CredentialTests {
    /// How a request can carry somebody's credentials above the cache.
    enum Carrier: String, CaseIterable {
        case authorization = "Authorization"
        case proxyAuthorization = "Proxy-Authorization"
        case cookie = "Cookie"
        case apiKey = "X-Api-Key"
        case session = "X-Session-Ticket"
        case parameter, service, jar

        func configure(_ configuration: inout APIClient.Configuration, _ token: Box<String>) {
            switch self {
            case .parameter:
                configuration.parameters = CommonParameters { ["access_token": token.value] }
            case .service:
                var shop = Service.shop()
                shop.headers = CommonHeaders { ["X-Auth-Token": token.value] }
                configuration.services = ServiceRegistry([shop])
            case .jar:
                configuration.cookies = TokenJar(token: token)
            default:
                configuration.headers = CommonHeaders { [name = HTTPFieldName(rawValue)] in [name: token.value] }
            }
        }
    }

    @Test(
        "What an authenticator has put a credential onto is stored for nobody, whatever its field is called",
        .covers("S4.13"))
    func authenticatedField() async throws {
        let rig = CacheRig(
            .networkElseCache,
            configured: {
                $0.services = ServiceRegistry([.shop { $0.authenticator = APIKeyAuthenticator(field: "X-Client") }])
                $0.vault = MemoryVault()
            })
        rig.user.value = ""
        try await rig.client.signIn(Credential("alice-key"))
        #expect(try await rig.tea().source == .network)
        #expect(rig.lastSent["X-Client"] == "alice-key")
        #expect(await rig.store.statistics().entries == 0)
        rig.user.value = "alice"
        try await rig.client.signIn(Credential("alice-key"))
        _ = try await rig.tea()
        #expect(await rig.store.statistics().entries == 1, "where a user is named it is theirs")
    }

    /// A client without an identity whose token a test changes; the server answers each token with a product of its own.
    private struct Shop {
        let token = Box("alice")
        let rig: CacheRig

        init(_ policy: CachePolicy?, by carrier: Carrier?, _ change: (inout APIClient.Configuration) -> Void = { _ in })
        {
            let token = token
            rig = CacheRig(policy, answering: { _ in Self.answer(token.value) }) {
                carrier?.configure(&$0, token)
                change(&$0)
            }
            rig.user.value = ""
        }

        static func answer(_ token: String) -> HTTPResponse {
            .tea(["alice": 1, "bob": 2][token] ?? 0, ["Cache-Control": "max-age=60", "ETag": "\"\(token)\""])
        }

        func tea(as name: String, _ policy: CachePolicy? = nil) async throws -> (id: Int, source: ResponseSource) {
            token.value = name
            let response = try await rig.tea(policy)
            return (response.value.id, response.source)
        }
    }

    @Test("What was stored for one token answers no other one", .covers("H34"), arguments: Carrier.allCases)
    func stored(carrier: Carrier) async throws {
        let shop = Shop(CachePolicy(.http, ttl: .seconds(300)), by: carrier)
        #expect(try await shop.tea(as: "alice") == (1, .network))
        #expect(try await shop.tea(as: "bob") == (2, .network))
        #expect(try await shop.tea(as: "alice") == (1, .memory))
        #expect(try await shop.tea(as: "bob") == (2, .memory))
        #expect(await failure { try await shop.tea(as: "carol", .cacheOnly) }?.kind == .cacheMiss)
    }

    @Test("While the server is down nobody is given another's response", .covers("H34"), arguments: Carrier.allCases)
    func down(carrier: Carrier) async throws {
        let shop = Shop(nil, by: carrier)
        #expect(try await shop.tea(as: "alice").id == 1)
        shop.rig.isOffline()
        #expect(await failure { try await shop.tea(as: "bob") }?.kind == .unreachable(.offline))
        shop.rig.serves(.json("down", status: 503))
        #expect(await failure { try await shop.tea(as: "bob") }?.kind == .httpStatus(503))
        #expect(try await shop.tea(as: "alice").id == 1)
    }

    @Test("Without credentials there is one partition, which nobody with credentials reads", .covers("H34"))
    func signedOut() async throws {
        let shop = Shop(.http, by: nil) { configuration in
            configuration.options.headers = [:]
        }
        #expect(try await shop.tea(as: "nobody").source == .network)
        #expect(try await shop.tea(as: "nobody").source == .memory)
        let signedIn = CallOptions.headers(["Authorization": "Bearer alice"])
        #expect(try await shop.rig.client.response(for: Tea(), options: signedIn).source == .network)
        let other = CallOptions.headers(["X-Trace": "7"])
        #expect(try await shop.rig.client.response(for: Tea(), options: other).source == .memory)
    }

    @Test("The content of a GET belongs to what it is found by", .covers("H34", "S2.19"))
    func content() async throws {
        let shop = Shop(.http, by: nil)
        func source(_ text: String) async throws -> ResponseSource {
            let request = HTTPRequest(
                method: .get, url: try HTTPURL("https://a.example/x"), fields: ["Content-Type": "application/json"],
                body: .bytes(Data(text.utf8)))
            return try await shop.rig.client.send(request).source
        }
        #expect(try await source(#"{"token":"alice"}"#) == .network)
        #expect(try await source(#"{"token":"bob"}"#) == .network)
        #expect(try await source(#"{"token":"alice"}"#) == .memory)
    }

    @Test(
        "A POST whose content holds a secret leaves nothing that a GET finds", .covers("H34"),
        arguments: [
            ("application/json", #"{"user":{"password":"open sesame"}}"#, false),
            ("application/json", #"{"page":2}"#, true), ("application/json", #"[1,{"a":[{"token":1}]}]"#, false),
            ("application/json", #"[1,{"a":[{"page":1}]}]"#, true), ("application/json", #"{"page":"#, false),
            ("application/problem+json", #"{"page":2}"#, true), ("application/octet-stream", "page", false),
            ("application/octet-stream", "", true), ("text/plain", "password=open", true),
            ("application/x-www-form-urlencoded", "password=open", false),
            ("application/x-www-form-urlencoded", "page=2&password=open", false),
            ("application/x-www-form-urlencoded", "page=2&pass%77ord=open&size=3", false),
            ("application/x-www-form-urlencoded", "page=2&password", false),
            ("application/x-www-form-urlencoded", "page=2&size=password", true),
            ("Application/X-WWW-Form-Urlencoded; charset=utf-8", "page=2&password=open", false),
            ("application/x-www-form-urlencoded", "page=2&size=3", true),
        ] as [(String, String, Bool)])
    func post(type: String, text: String, isStored: Bool) async throws {
        let rig = CacheRig { _ in
            .tea(1, ["Cache-Control": "max-age=60", "Content-Location": "https://a.example/x"])
        }
        rig.user.value = ""
        let url = try HTTPURL("https://a.example/x")
        _ = try await rig.client.send(
            HTTPRequest(
                method: .post, url: url, fields: ["Content-Type": type], body: .bytes(Data(text.utf8))))
        let source = try await rig.client.send(HTTPRequest(method: .get, url: url)).source
        #expect(source == (isStored ? .memory : .network))
    }

    // MARK: Below the cache

    /// Adds the token of the moment to each attempt, where the cache does not see it.
    private static func below(_ token: Box<String>, replacing: Bool) -> Intercepting {
        Intercepting { request, _, next in
            var sent = request
            sent.fields[.authorization] = "Bearer \(token.value)"
            let exchange = try await next(sent)
            return replacing ? Exchange(request: request, response: exchange.response) : exchange
        }
    }

    @Test(
        "What was sent with credentials that an attempt interceptor has added is not stored for nobody",
        .covers("H34"), arguments: [false, true])
    func addedBelow(replacing: Bool) async throws {
        let token = Box("alice")
        let shop = Shop(.http, by: nil) { $0.attemptInterceptors = [Self.below(token, replacing: replacing)] }
        _ = try await shop.tea(as: "alice")
        #expect(await shop.rig.store.statistics().entries == 0)
        token.value = "bob"
        #expect(try await shop.tea(as: "bob") == (2, replacing ? .interceptor : .network))
        // Once the client names its user, nothing stands in the way.
        shop.rig.user.value = "bob"
        _ = try await shop.tea(as: "bob")
        #expect(try await shop.tea(as: "bob") == (2, .memory))
    }

    @Test("A 304 to credentials from below changes nothing that is stored", .covers("H34"))
    func notModifiedBelow() async throws {
        let token = Box("")
        let added = Intercepting { request, _, next in
            var request = request
            if !token.value.isEmpty { request.fields[.authorization] = token.value }
            return try await next(request)
        }
        let shop = Shop(.http, by: nil) { $0.attemptInterceptors = [added] }
        _ = try await shop.tea(as: "nobody")
        shop.rig.pass(61)
        token.value = "Bearer alice"
        shop.rig.serves(HTTPResponse(status: 304, fields: ["ETag": "\"nobody\"", "X-Of": "alice"]))
        _ = try await shop.tea(as: "nobody")
        let kept = try #require(await shop.rig.store.entries(after: nil, limit: 1).first)
        #expect(kept.response.fields["X-Of"] == nil)
    }

    @Test("A query parameter that is added below the cache is a credential too", .covers("H34"))
    func parameterBelow() async throws {
        let signed = Intercepting { request, _, next in
            var request = request
            request.url = try HTTPURL(request.url.absoluteString + "&access_token=alice")
            return try await next(request)
        }
        let shop = Shop(.http, by: nil) { $0.attemptInterceptors = [signed] }
        _ = try await shop.tea(as: "alice")
        #expect(await shop.rig.store.statistics().entries == 0)
    }

    // MARK: Sharing

    @Test("Calls with different tokens do not share an exchange", .covers("H34", "H28"), arguments: [false, true])
    func sharing(isBelow: Bool) async throws {
        let script = ScriptedTransport([.held(.respond(Shop.answer("alice"))), .respond(Shop.answer("bob"))])
        let token = Box("alice")
        let events = EventRecorder()
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(MemoryCacheStore())
        configuration.options.cache = .http
        configuration.sinks = [events]
        if isBelow {
            configuration.attemptInterceptors = [Self.below(token, replacing: false)]
        } else {
            configuration.headers = CommonHeaders { [.authorization: "Bearer \(token.value)"] }
        }
        let client = APIClient(configuration, transport: script)
        let alice = client.start(Tea())
        await script.waitForExchanges(count: 1)
        token.value = "bob"
        let bob = client.start(Tea())
        if isBelow {
            // What is added below cannot be seen before the answer comes, so bob waits at first.
            while !Task.isCancelled, !events.hasJoined { await Task.yield() }
        } else {
            await script.waitForExchanges(count: 2)
            #expect(!events.hasJoined)
        }
        script.release()
        #expect(try await alice.value.id == 1)
        #expect(try await bob.value.id == 2)
        #expect(script.requests.map { $0.request.fields[.authorization] } == ["Bearer alice", "Bearer bob"])
    }

    // MARK: Clearing

    @Test("Clearing by URL, path, tag and user reaches what any token has brought", .covers("H34", "S2.16"))
    func clearing() async throws {
        let shop = Shop(.http, by: .authorization)
        let url = { try #require(shop.rig.rig.sent.first?.url) }
        let clearings: [() async throws -> Void] = [
            { await shop.rig.client.clearCache(.url(try url())) },
            { await shop.rig.client.clearCache(.path(try url(), in: .partition(.init(environment: "development")))) },
            { await shop.rig.client.clearCache(.tag("tea")) },
            { await shop.rig.client.clearCache(.identity("")) },
        ]
        for clear in clearings {
            for name in ["alice", "bob"] { _ = try await shop.tea(as: name) }
            #expect(await shop.rig.store.statistics().entries == 2)
            try await clear()
            #expect(await shop.rig.store.statistics().entries == 0)
        }
    }

    @Test("Clearing an endpoint removes what this token has brought", .covers("H34", "S2.17"))
    func clearingEndpoint() async throws {
        let shop = Shop(.http, by: .jar)
        for name in ["alice", "bob"] { _ = try await shop.tea(as: name) }
        #expect(try await shop.rig.client.clearCache(of: Tea()))
        #expect(try await shop.tea(as: "alice").source == .memory)
        #expect(try await shop.tea(as: "bob").source == .network)
    }

    @Test("A write makes reads out of date whatever credentials they had", .covers("H34", "S4.21"))
    func write() async throws {
        let shop = Shop(.http, by: .authorization)
        _ = try await shop.tea(as: "alice")
        _ = try await shop.rig.client.send(Pour(), options: .headers(["X-Csrf-Token": "1"]))
        #expect(try await shop.tea(as: "alice").source != .memory)
    }
}

/// A cookie store whose only cookie is a token.
private final class TokenJar: CookieStore {
    private let token: Box<String>

    init(token: Box<String>) { self.token = token }

    func field(for url: HTTPURL, in isolation: IsolationKey) -> String? { "sid=\(token.value)" }
    func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey) {}
    func removeAll(in isolation: IsolationKey?) {}
    func removeAll(ofIdentity identity: String) {}
    func moveAll(ofIdentity identity: String, to heir: String, in environment: String) {}
}

extension EventRecorder {
    /// Whether a call waits for another one's answer, or has.
    fileprivate var hasJoined: Bool {
        records.contains { record in
            if case .cacheDecided(_, let status) = record.event { status.isCollapsed } else { false }
        }
    }
}
