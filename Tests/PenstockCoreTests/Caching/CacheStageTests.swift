import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// The cache on the request path: validation, what is stored and what is not.
@Suite(.timeLimit(.minutes(5))) struct CacheStageTests {
    @Test("What is sent to renew a credential is neither answered from what is stored nor stored")
    func refresh() async throws {
        let rig = CacheRig()
        let key = CredentialKey(service: "main", environment: "test", origin: "https://shop.example.com")
        #expect(try await rig.tea().source == .network)
        for hits in 2...3 {
            rig.serves(.tea(hits))
            let renewed = try await RefreshLane(key, isTimed: true).run { try await rig.tea() }
            #expect(renewed.source == .network && renewed.value.id == hits && rig.hits == hits)
        }
        #expect(try await rig.tea().value.id == 1, "what was stored before is there")
        #expect(rig.hits == 3)
    }

    @Test("What is no longer fresh is asked about, and a 304 makes it the answer", .covers("S3.37", "S2.14"))
    func validation() async throws {
        let rig = CacheRig { _ in .tea(1, ["Cache-Control": "max-age=60", "ETag": "\"1\""]) }
        _ = try await rig.tea()
        rig.pass(61)
        rig.serves { $0.fields["If-None-Match"] == "\"1\"" ? .notModified : .tea(2) }
        let response = try await rig.tea()
        #expect(response.source == .revalidated)
        #expect(response.http.status == 200)
        #expect(response.value.id == 1)
        #expect(!response.isStale)
        #expect(response.cacheStatus?.forwardStatus == 304)
        #expect(try await rig.tea().source == .memory)
        #expect(rig.hits == 2)
    }

    @Test("What came before the attempt that was answered makes its response no older", .covers("S3.37"))
    func ageOfLastAttempt() async throws {
        let rig = CacheRig(configured: {
            $0.options.retry = RetryPolicy(limit: 1, backoff: .init(base: .zero))
        })
        let hasFailed = Box(false)
        rig.serves { [clock = rig.clock] _ in
            if hasFailed.value { return .tea(1, ["Cache-Control": "max-age=20"]) }
            hasFailed.value = true
            clock.advance(by: .seconds(30))
            return HTTPResponse(status: 503)
        }
        _ = try await rig.tea()
        let stored = try await rig.tea()
        #expect(stored.source == .memory && !stored.isStale)
        #expect(stored.http.fields["Age"] == "0")
        #expect(rig.hits == 2)
    }

    @Test("A conditional request of the caller's own gets the 304 it asked for", .covers("S3.37"))
    func callersCondition() async throws {
        let rig = CacheRig { _ in .tea(1, ["Cache-Control": "max-age=60", "ETag": "\"1\""]) }
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/x"))
        var asked = request
        asked.fields["If-None-Match"] = "\"1\""
        #expect(try await rig.client.send(request).http.status == 200)
        let answer = try await rig.client.send(asked)
        #expect(answer.http.status == 304)
        #expect(answer.source == .memory)
        #expect(rig.hits == 1)
    }

    @Test("only-if-cached is answered by 504 when nothing is stored", .covers("S3.37"))
    func onlyIfCached() async throws {
        let rig = CacheRig()
        let request = HTTPRequest(
            method: .get, url: try HTTPURL("https://a.example/x"), fields: ["Cache-Control": "only-if-cached"])
        #expect(try await rig.client.send(request).http.status == 504)
        #expect(rig.hits == 0)
    }

    @Test(
        "Only what has passed is stored", .covers("S2.13"),
        arguments: [
            HTTPResponse.json(#"{"retcode":44,"retdesc":"no","data":{}}"#), .json("{", status: 200),
            .json(#"{"retcode":0,"retdesc":"","data":{"id":"x"}}"#), .json("{}", status: 404), .json("{}", status: 500),
        ])
    func failures(response: HTTPResponse) async throws {
        var response = response
        response.fields["Cache-Control"] = "max-age=60"
        let rig = CacheRig { [response] _ in response }
        #expect(await failure { try await rig.tea() } != nil)
        #expect(await rig.store.statistics().entries == 0)
        rig.serves(.tea(2))
        #expect(try await rig.tea().value.id == 2)
    }

    @Test("A response that fails the endpoint's validator is not stored", .covers("S2.13"))
    func validator() async throws {
        let rig = CacheRig()
        let rule = Validator<Product>.rule("odd") { $0.id % 2 == 0 }
        #expect(await failure { try await rig.client.send(Tea(validator: rule)) }?.kind == .validation(rule: "odd"))
        #expect(await rig.store.statistics().entries == 0)
    }

    @Test("What is stored is what the server sent; transforms run on every read", .covers("S2.13"))
    func raw() async throws {
        let shout = Intercepting { request, _, next in
            var exchange = try await next(request)
            let text = String(decoding: exchange.response.body, as: UTF8.self)
            exchange.response.body = Data(text.replacingOccurrences(of: "tea", with: "TEA").utf8)
            return exchange
        }
        let rig = CacheRig(configured: { $0.callInterceptors = [shout] })
        #expect(try await rig.tea().value.name == "TEA")
        let stored = try #require(await rig.store.entries(after: nil, limit: 2).first)
        #expect(String(decoding: try #require(stored.body), as: UTF8.self).contains("\"tea\""))
        #expect(try await rig.tea().value.name == "TEA")
        #expect(rig.hits == 1)
    }

    @Test("A stored response that no longer passes is dropped and fetched anew", .covers("S4.14"))
    func invalidEntry() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let rule = Validator<Product>.rule("even") { $0.id % 2 == 0 }
        #expect(try await rig.client.send(Tea(validator: rule)).id == 2)
        #expect(try await rig.tea().value.id == 2)
        #expect(rig.hits == 2)
    }

    @Test("A raw request stores whatever HTTP allows", .covers("S3.37"))
    func rawRequest() async throws {
        let rig = CacheRig { _ in HTTPResponse(status: 404, fields: ["Cache-Control": "max-age=60"]) }
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/x"))
        _ = try await rig.client.send(request)
        let second = try await rig.client.send(request)
        #expect(second.http.status == 404)
        #expect(second.source == .memory)
        #expect(rig.hits == 1)
    }

    @Test("A redirect that is followed is stored, and its target beside it", .covers("S3.37"))
    func redirect() async throws {
        let rig = CacheRig { request in
            request.url.path.hasSuffix("/tea")
                ? HTTPResponse(status: 301, fields: ["Location": "/b", "Cache-Control": "max-age=60"]) : .tea(1)
        }
        _ = try await rig.tea()
        #expect(try await rig.tea().source == .memory)
        #expect(rig.rig.sent.map { $0.url.path.hasSuffix("/b") } == [false, true])
    }

    @Test("A response that varies by what is added below the cache is not stored", .covers("H28"))
    func varyBelow() async throws {
        let number = Box(0)
        let token = Intercepting { request, _, next in
            var request = request
            request.fields["X-Token"] = "\(number.update { $0 += 1; return $0 })"
            return try await next(request)
        }
        let rig = CacheRig { _ in
            .tea(1, ["Cache-Control": "max-age=60", "Vary": "X-Token"])
        } configured: {
            $0.attemptInterceptors = [token]
        }
        _ = try await rig.tea()
        _ = try await rig.tea()
        #expect(rig.hits == 2)
    }

    @Test(
        "A 304 or HEAD that says it varies by what is added below the cache makes the stored response invalid",
        .covers("H28"), arguments: [HTTPMethod.get, .head])
    func varyBelowLater(method: HTTPMethod) async throws {
        let token = Intercepting.setting("X-Token", "alice")
        let rig = CacheRig { request in
            var fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            guard request.fields.contains("If-None-Match") || request.method == .head else { return .tea(1, fields) }
            fields[HTTPFieldName("Vary")] = "X-Token"
            return HTTPResponse(status: request.method == .head ? 200 : 304, fields: fields)
        } configured: {
            $0.attemptInterceptors = [token]
        }
        let url = try HTTPURL("https://a.example/x")
        _ = try await rig.client.send(HTTPRequest(method: .get, url: url))
        _ = try await rig.client.send(HTTPRequest(method: method, url: url), options: .cache(.networkElseCache))
        #expect(rig.hits == 2)
        let kept = try #require(await rig.store.entries(after: nil, limit: 2).first)
        #expect(kept.response.isInvalidated)
        #expect(!kept.response.fields.contains("Vary"))
        // The same once more: it is asked about each time.
        _ = try await rig.client.send(HTTPRequest(method: .get, url: url))
        #expect(rig.hits == 3)
    }

    @Test("What a 304 says to vary answers no request any more that differs in what it varies by", .covers("S3.37"))
    func newlyVarying() async throws {
        let rig = CacheRig { request in
            guard request.fields["Accept-Language"] == "en" else {
                return .tea(2, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
            }
            let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            guard request.fields.contains("If-None-Match") else { return .tea(1, fields) }
            return HTTPResponse(status: 304, fields: ["ETag": "\"1\"", "Vary": "Accept-Language"])
        }
        let url = try HTTPURL("https://a.example/x")
        let english = HTTPRequest(method: .get, url: url, fields: ["Accept-Language": "en"])
        let french = HTTPRequest(method: .get, url: url, fields: ["Accept-Language": "fr"])
        _ = try await rig.client.send(english)
        #expect(try await rig.client.send(english, options: .cache(.reload)).source == .revalidated)
        #expect(try await rig.client.send(french).source == .network)
        #expect(try await rig.client.send(english).source == .memory)
        #expect(rig.hits == 3)
    }

    @Test(
        "The body of an answer is that of the response that a 304 speaks of", .covers("S3.37"),
        arguments: ["max-age=1", "no-store"], [nil, "bytes=0-1"])
    func chosenBody(control: String, range: String?) async throws {
        @Sendable func stored(_ text: String, _ tag: String) -> HTTPResponse {
            let fields: HTTPFields = ["Vary": "X", "Cache-Control": "max-age=1", "ETag": tag]
            return HTTPResponse(status: 200, fields: fields, body: Data(text.utf8))
        }
        let rig = CacheRig(answering: { $0.fields["X"] == "1" ? stored("one", "\"1\"") : stored("two", "\"2\"") })
        let url = try HTTPURL("https://a.example/x")
        for value in ["1", "2"] {
            _ = try await rig.client.send(HTTPRequest(method: .get, url: url, fields: ["X": value]))
        }
        rig.pass(5)
        rig.serves(
            HTTPResponse(status: 304, fields: ["Vary": "X", "ETag": "\"2\"", "Cache-Control": control]))
        var request = HTTPRequest(method: .get, url: url, fields: ["X": "1"])
        if let range { request.fields.append(range, for: "Range") }
        let answer = try await rig.client.send(request)
        #expect(rig.lastSent["If-None-Match"] == "\"1\", \"2\"")
        #expect(answer.value == Data((range == nil ? "two" : "tw").utf8))
        #expect(answer.http.fields["ETag"] == "\"2\"")
        #expect(answer.http.status == (range == nil ? 200 : 206))
    }

    @Test("A user who signs in while another's call is in flight gets an answer of their own", .covers("H28"))
    func usersInFlight() async throws {
        let script = ScriptedTransport([
            .held(.respond(.tea(1))), .respond(.tea(2)), .respond(.tea(3)),
        ])
        let user = Box("alice")
        let store = MemoryCacheStore()
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(store)
        configuration.options.cache = .http
        configuration.identity = { user.value }
        let client = APIClient(configuration, transport: script)
        let alice = client.start(Tea())
        await script.waitForExchanges(count: 1)
        user.value = "bob"
        // It would wait for ever if it shared the exchange that is held.
        #expect(try await client.send(Tea()).id == 2)
        script.release()
        #expect(try await alice.value.id == 1)
        #expect(try await client.response(for: Tea()).source == .memory)
        #expect(try await client.send(Tea()).id == 2)
        user.value = "alice"
        #expect(try await client.send(Tea()).id == 1)
        #expect(script.requests.count == 2)
    }

    @Test("What is stored in one environment is not found in another, also at the same host", .covers("S1.22"))
    func environments() async throws {
        let hosts = ServerEnvironment.standard.map { ($0, "https://one.example.com") }
        let rig = CacheRig(configured: {
            $0.services = ServiceRegistry([
                Service(.main, BaseURLs(Dictionary(uniqueKeysWithValues: hosts)), envelope: .retcode)
            ])
            $0.environment = .test
            $0.allowsEnvironmentSwitch = true
        })
        _ = try await rig.tea()
        try rig.client.switchEnvironment(to: .production)
        rig.serves(.tea(2))
        #expect(await failure { try await rig.tea(.cacheOnly) }?.kind == .cacheMiss)
        #expect(try await rig.tea().value.id == 2)
        try rig.client.switchEnvironment(to: .test)
        let kept = try await rig.tea()
        #expect(kept.value.id == 1 && kept.source == .memory)
        #expect(Set(rig.rig.sent.map(\.url.absoluteString)).count == 1)
    }

    @Test("One user's responses are never another's", .covers("S2.19", "S4.13", "H28"))
    func users() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        rig.user.value = "bob"
        rig.serves(.tea(2))
        #expect(try await rig.tea().value.id == 2)
        rig.user.value = "alice"
        #expect(try await rig.tea().value.id == 1)
        #expect(rig.hits == 2)
    }

    /// A read whose parameters a test chooses.
    private struct Search: Endpoint {
        typealias Output = Product
        var method = HTTPMethod.get
        var parameters: ParameterObject
        var placement = ParameterPlacement.query
        var options: CallOptions { .cache(CachePolicy(.http, isRead: true)) }
        var route: Route { Route(method, "/search") }
    }

    @Test("Parameters in another order are the same key", .covers("S2.19"), arguments: [HTTPMethod.get, .post])
    func permuted(method: HTTPMethod) async throws {
        let rig = CacheRig()
        func source(_ parameters: ParameterObject) async throws -> ResponseSource {
            let placement = method == .get ? ParameterPlacement.query : .json
            let search = Search(method: method, parameters: parameters, placement: placement)
            return try await rig.client.response(for: search).source
        }
        #expect(try await source(["a": "1", "b": "2", "c": ["y": 1, "x": 2]]) == .network)
        #expect(try await source(["c": ["x": 2, "y": 1], "b": "2", "a": "1"]) == .memory)
        #expect(try await source(["a": "2", "b": "1", "c": ["x": 2, "y": 1]]) == .network)
        // One value that looks like two parameters.
        #expect(try await source(["a": "1", "b": "2"]) == .network)
        #expect(try await source(["a": "1&b=2"]) == .network)
    }

    @Test("A read by GET and one by POST are apart", .covers("S2.19"))
    func methods() async throws {
        let rig = CacheRig()
        func source(_ method: HTTPMethod) async throws -> ResponseSource {
            try await rig.client.response(for: Search(method: method, parameters: ["a": "1"])).source
        }
        #expect(try await source(.get) == .network)
        #expect(try await source(.post) == .network)
        #expect(try await source(.get) == .memory)
        #expect(try await source(.post) == .memory)
    }

    @Test("Escapes of one form are the same key; another base URL is another one", .covers("S2.19"))
    func keys() async throws {
        let rig = CacheRig()
        func get(_ query: String) async throws -> ResponseSource {
            try await rig.client.send(HTTPRequest(method: .get, url: try HTTPURL("https://a.example/x?\(query)")))
                .source
        }
        #expect(try await get("a=1&b=2") == .network)
        #expect(try await get("a=%22%31&b=2%22") == .network)
        #expect(try await get("%61=1&b=2") == .memory)
        _ = try await rig.tea()
        // The same path at another host, so that nothing else tells them apart.
        let other = CallOptions.with { $0.baseURL = "https://mirror.example/api" }
        #expect(try await rig.client.response(for: Tea(), options: other).source == .network)
        #expect(try await rig.client.response(for: Tea(), options: other).source == .memory)
        #expect(Set(rig.rig.hosts.suffix(2)).count == 2)
        #expect(Set(rig.rig.sent.suffix(2).map(\.url.target)).count == 1)
    }

    @Test("Every decision is an event with its reason", .covers("S3.37"))
    func events() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        _ = try await rig.tea()
        let reasons = rig.events.records.compactMap { record in
            if case .cacheDecided(let reason, _) = record.event { reason } else { nil }
        }
        #expect(reasons == [.uriMiss, .fresh])
        #expect(rig.events.grammarViolations.isEmpty)
    }

    @Test("After a cancellation nothing stored steps in", .covers("S2.11"))
    func cancelled() async throws {
        let script = ScriptedTransport([.respond(.tea(1)), .held(.respond(.tea(2)))])
        let client = APIClient(.init(services: [.shop()]), transport: script)
        _ = try await client.send(Tea())
        let call = client.start(Tea())
        await script.waitForExchanges(count: 2)
        call.cancel()
        #expect(await failure { try await call.value }?.kind == .cancelled)
    }
}
