import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite struct RequestRulesTests {
    private func request(
        _ url: String, _ method: HTTPMethod = .get, fields: HTTPFields = [:], body: HTTPBody = .none
    ) throws -> HTTPRequest {
        HTTPRequest(method: method, url: try HTTPURL(url), fields: fields, body: body)
    }

    private func rules(_ action: RequestRules.Action, cleartext: CleartextPolicy = .loopback) throws -> RequestRules {
        try RequestRules([.init("it", .all, action)], cleartext: cleartext, build: .debug)
    }

    private func sent(_ rules: RequestRules, for request: HTTPRequest) throws -> HTTPRequest {
        guard case .send(let request) = rules.decide(on: request) else {
            throw NotSent()
        }
        return request
    }

    private struct NotSent: Error {}

    // MARK: Whom a rule is for

    static let matches: [(RequestRules.Match, HTTPMethod, String, Bool)] = [
        (.all, .get, "https://a.example/", true),
        (.host("a.example"), .get, "https://a.example:8443/x", true),
        (.host("A.EXAMPLE"), .get, "https://a.example/", true),
        (.host("a.example"), .get, "https://x.a.example/", false),
        (.host("a.example"), .get, "https://xa.example/", false),
        (.host("*.a.example"), .get, "https://x.a.example/", true),
        (.host("*.a.example"), .get, "https://y.x.a.example/", true),
        (.host("*.a.example"), .get, "https://a.example/", false),
        (.host("*.a.example"), .get, "https://xa.example/", false),
        (.host("[::1]"), .get, "https://[::1]:8443/x", true),
        (.host("[::1]"), .get, "https://[::2]/x", false),
        (.host("[0:0:0:0:0:0:0:1]"), .get, "https://[::1]:8443/x", true),
        (.host("[0:0:0:0:0:0:0:1]"), .get, "https://[::2]/x", false),
        (.host("[2001:DB8::1]"), .get, "https://[2001:db8:0::1]/", true),
        (.host("bücher.example"), .get, "https://bücher.example/", true),
        (.host("BÜCHER.example"), .get, "https://xn--bcher-kva.example/", true),
        (.host("bücher.example"), .get, "https://bucher.example/", false),
        (.host("*.bücher.example"), .get, "https://x.xn--bcher-kva.example/", true),
        (.host("*.bücher.example"), .get, "https://bücher.example/", false),
        (.path("/cart"), .get, "https://a.example/cart?q=1", true),
        (.path("/cart"), .get, "https://a.example/cart/", false),
        (.path("/cart"), .get, "https://a.example/carts", false),
        (.path("/cart"), .get, "https://a.example/Cart", false),
        (.path("/cart/*"), .get, "https://a.example/cart/7", true),
        (.path("/cart/*"), .get, "https://a.example/cart/7/8", true),
        (.path("/cart/*"), .get, "https://a.example/cart/", false),
        (.path("/cart/*"), .get, "https://a.example/cart", false),
        (.path("/cart/*"), .get, "https://a.example/carts/7", false),
        (.path("/cart", .post), .post, "https://a.example/cart", true),
        (.path("/cart", .post, .put), .put, "https://a.example/cart", true),
        (.path("/cart", .post), .get, "https://a.example/cart", false),
        (.init(host: "a.example", path: "/x", methods: [.get]), .get, "https://a.example/x", true),
        (.init(host: "a.example", path: "/x", methods: [.get]), .get, "https://b.example/x", false),
        (.init(host: "a.example", path: "/x", methods: [.get]), .get, "https://a.example/y", false),
        (.init(host: "a.example", path: "/x", methods: [.get]), .put, "https://a.example/x", false),
    ]

    @Test(arguments: matches) func `a rule is for requests of which all that it names is so`(
        match: RequestRules.Match, method: HTTPMethod, url: String, isFor: Bool
    ) throws {
        let rules = try RequestRules([.init("it", match, .drop)], build: .debug)
        #expect(rules.decide(on: try request(url, method)).isTaken == isFor)
    }

    @Test(
        arguments: [
            .host(""), .host("*."), .host("https://a.example"), .host("a.example:8443"), .host("a.example/x"),
            .host("a.*"), .host("::1"), .host("[::1"), .host("::1]"), .path("cart"), .path(""), .path("/cart?q=1"),
            .path("/cart#top"), .host("[::g]"), .host("*.[::1]"), .host("*.127.0.0.1"), .host("a..b"), .host("a%2Eb"),
            .path("/café"), .path("/a b"), .path("/a[1]"),
        ] as [RequestRules.Match])
    func `a rule that no request can match is refused, and named`(match: RequestRules.Match) throws {
        let error = #expect(throws: APIError.self) {
            try RequestRules([.init("first", .all, .drop), .init("mine", match, .drop)], build: .debug)
        }
        guard case .invalidConfiguration(let reason)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("the rule mine is for no request: "))
    }

    @Test(
        arguments: [
            .host("[::1]"), .host("*.a.example"), .host("*.a"), .host("127.0.0.1"), .path("/*"), .path("/a%3Fb"),
            .host("bücher.example"), .path("/caf%C3%A9/*"), .path("/a%"),
        ]
            as [RequestRules.Match])
    func `a rule that a request can match is taken`(match: RequestRules.Match) throws {
        _ = try RequestRules([.init("it", match, .drop)], build: .debug)
    }

    @Test func `the first rule that is for a request decides, and one put before it goes first`() throws {
        var rules = try RequestRules(
            [
                .init("one", .path("/x"), .respond(HTTPResponse(status: 201))),
                .init("two", .all, .respond(HTTPResponse(status: 202))),
            ], build: .debug)
        func status(_ path: String) throws -> Int? {
            guard case .respond(let response, _) = rules.decide(on: try request("https://a.example\(path)")) else {
                return nil
            }
            return response.status
        }
        #expect(try status("/x") == 201)
        #expect(try status("/y") == 202)
        rules.rules.insert(.init("zero", .all, .respond(HTTPResponse(status: 200))), at: 0)
        #expect(try status("/x") == 200)
        rules.rules = []
        #expect(try status("/x") == nil)
    }

    // MARK: Reroute

    static let routes: [(target: String, url: String, sent: String)] = [
        ("https://b.example:8443", "https://a.example/v1/x?q=%20", "https://b.example:8443/v1/x?q=%20"),
        ("https://b.example/", "https://a.example/", "https://b.example/"),
        ("https://b.example/stage", "https://a.example/v1", "https://b.example/stage/v1"),
        ("https://b.example/stage/", "https://a.example/v1/", "https://b.example/stage/v1/"),
        ("http://127.0.0.1:81", "https://a.example/v1", "http://127.0.0.1:81/v1"),
        ("https://a.example", "http://a.example/v1", "https://a.example/v1"),
    ]

    @Test(arguments: routes) func `a reroute changes scheme, host and port, and nothing else`(
        target: String, url: String, sent: String
    ) throws {
        let fields: HTTPFields = [.authorization: "Bearer t", .cookie: "a=1", .contentType: "text/plain"]
        let original = try request(url, .post, fields: fields, body: .bytes(Data("body".utf8)))
        let rerouted = try self.sent(rules(.reroute(to: HTTPURL(target))), for: original)
        #expect(rerouted.url.absoluteString == sent)
        #expect(rerouted.method == .post && rerouted.fields == fields && rerouted.text == "body")
    }

    @Test(arguments: [CleartextPolicy.refused, .loopback, .hosts(["c.example"])])
    func `a rule leads to plain http only where that is allowed`(policy: CleartextPolicy) throws {
        let target = try HTTPURL("http://b.example")
        for action in [RequestRules.Action.reroute(to: target), .redirect(.init(to: target))] {
            let decision = try rules(action, cleartext: policy).decide(on: request("https://a.example/"))
            guard case .block(let reason) = decision else {
                Issue.record("\(decision)")
                continue
            }
            #expect(reason == "the rule it leads to plain http at b.example, which is not allowed")
            let allowed = try rules(action, cleartext: .hosts(["b.example"]))
            #expect(try sent(allowed, for: request("https://a.example/")).url.absoluteString == "http://b.example/")
        }
    }

    // MARK: Redirect

    static let secrets: HTTPFields = [
        .authorization: "Bearer mine", .cookie: "a=1", "X-Api-Key": "k", .accept: "text/plain", .contentType: "text/x",
    ]

    @Test(
        "A redirection rewrites request, address and authorization, and takes no credential to another origin",
        .covers("S0.15"))
    func redirection() throws {
        let original = try request(
            "https://a.example/v1?key=1", .post, fields: Self.secrets, body: .bytes(Data("old".utf8)))
        let elsewhere = try HTTPURL("https://b.example/other")
        let plain = try sent(rules(.redirect(.init(to: elsewhere))), for: original)
        #expect(plain.url == elsewhere && plain.method == .post && plain.text == "old")
        #expect(plain.fields == [.accept: "text/plain", .contentType: "text/x"])
        let whole = RequestRules.Redirection(
            to: elsewhere, method: .put, authorization: "Bearer theirs", fields: [.accept: "text/html", "X-New": "1"],
            body: .bytes(Data("new".utf8)))
        let rewritten = try sent(rules(.redirect(whole)), for: original)
        #expect(rewritten.method == .put && rewritten.text == "new")
        #expect(rewritten.fields[.authorization] == "Bearer theirs" && rewritten.fields[.accept] == "text/html")
        #expect(
            rewritten.fields["X-New"] == "1" && rewritten.fields[.cookie] == nil && rewritten.fields["X-Api-Key"] == nil
        )
    }

    @Test(
        .covers("S0.15"),
        arguments: [
            ("https://b.example/", false), ("https://a.example:8443/", false), ("https://a.example/other", true),
        ])
    func `credentials stay where the origin does`(target: String, isKept: Bool) throws {
        let original = try request("https://a.example/", fields: Self.secrets)
        let redirected = try sent(rules(.redirect(.init(to: HTTPURL(target)))), for: original)
        #expect((redirected.fields == Self.secrets) == isKept)
        #expect((redirected.fields[.authorization] == nil) == !isKept)
        let reset = try sent(rules(.redirect(.init(to: HTTPURL(target), authorization: "Bearer mine"))), for: original)
        #expect(reset.fields[.authorization] == "Bearer mine")
    }

    @Test func `a redirection prints no credential`() throws {
        let redirection = RequestRules.Redirection(
            to: try HTTPURL("https://b.example/"), authorization: "Bearer hunter2", body: .bytes(Data("hunter2".utf8)))
        var dumped = ""
        dump(redirection, to: &dumped)
        for text in ["\(redirection)", String(reflecting: redirection), dumped] { #expect(!text.contains("hunter2")) }
    }

    // MARK: Release builds

    @Test func `there are no rules in a release build that does not ask for them`() throws {
        let error = #expect(throws: APIError.self) { try RequestRules([], build: .release) }
        guard case .invalidConfiguration(let reason) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("allowsRelease"))
        #expect(try RequestRules([], allowsRelease: true, build: .release).rules.isEmpty)
        #expect(try RequestRules([], build: .debug).rules.isEmpty)
    }
}
