import Foundation
import PenstockCore
import Testing

@Suite struct RedirectPolicyTests {
    static let start = "https://a.example/dir/page?q=1"
    static let bodyFields: [HTTPFieldName] = [
        .contentType, .contentLength, .contentEncoding, .transferEncoding, "Content-Language", "Content-Location",
        "Content-Range", "Content-Disposition", "Digest", "Content-Digest", "Repr-Digest", "Last-Modified",
    ]

    /// What a decision comes to, in a form that can be compared.
    enum Outcome: Equatable {
        case answer
        case follow(method: HTTPMethod, url: String, hasBody: Bool)
        case refuse
    }

    static func request(
        _ method: HTTPMethod = .get, _ url: String = start, fields: HTTPFields = [:], body: HTTPBody = .none
    ) throws -> HTTPRequest {
        HTTPRequest(method: method, url: try HTTPURL(url), fields: fields, body: body)
    }

    static func decide(
        _ policy: RedirectPolicy = .follow, on response: HTTPResponse, to request: HTTPRequest,
        visited: [RedirectHop]? = nil
    ) -> (outcome: Outcome, next: HTTPRequest?, reason: String) {
        switch policy.decide(on: response, to: request, visited: visited ?? [RedirectHop(request)]) {
        case .answer: (.answer, nil, "")
        case .follow(let next):
            (.follow(method: next.method, url: next.url.absoluteString, hasBody: !next.body.isNone), next, "")
        case .refuse(let reason): (.refuse, nil, reason)
        }
    }

    // MARK: Status, method and body

    static let methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]

    @Test(arguments: 300...310, methods)
    func `status and method decide what is sent next`(status: Int, method: HTTPMethod) throws {
        for body in [HTTPBody.none, .bytes(Data("b".utf8))] {
            let request = try Self.request(method, body: body)
            let outcome = Self.decide(on: .redirect(status, to: "/next"), to: request).outcome
            let becomesGet = status == 303 && method != .head || [301, 302].contains(status) && method == .post
            let expected: Outcome =
                [301, 302, 303, 307, 308].contains(status)
                ? .follow(
                    method: becomesGet ? .get : method, url: "https://a.example/next",
                    hasBody: !becomesGet && !body.isNone) : .answer
            #expect(outcome == expected, "\(status) \(method) \(body)")
        }
    }

    @Test func `what describes a body goes with it, and stays with it`() throws {
        var fields: HTTPFields = ["X-Own": "1", .authorization: "t"]
        for name in Self.bodyFields { fields[name] = "x" }
        let request = try Self.request(.post, fields: fields, body: .bytes(Data("b".utf8)))
        let dropped = try #require(Self.decide(on: .redirect(302, to: "/n"), to: request).next)
        #expect(dropped.fields == ["X-Own": "1", .authorization: "t"])
        let kept = try #require(Self.decide(on: .redirect(307, to: "/n"), to: request).next)
        #expect(kept.fields == fields)
    }

    @Test func `without a Location the response is the answer, and so is any under never`() throws {
        let request = try Self.request()
        #expect(Self.decide(on: HTTPResponse(status: 302), to: request).outcome == .answer)
        #expect(Self.decide(.never, on: .redirect(302, to: "/n"), to: request).outcome == .answer)
        for status in [200, 204, 304, 404, 503] {
            #expect(Self.decide(on: .redirect(status, to: "/n"), to: request).outcome == .answer)
        }
    }

    // MARK: Where it leads

    static let locations: [(String, String?)] = [
        ("next", "https://a.example/dir/next"),
        ("/next", "https://a.example/next"),
        ("../up", "https://a.example/up"),
        ("?q=2", "https://a.example/dir/page?q=2"),
        ("//b.example/x", "https://b.example/x"),
        ("https://b.example", "https://b.example/"),
        ("https://a.example:8443/x#fragment", "https://a.example:8443/x"),
        ("HTTPS://B.EXAMPLE/x", "https://b.example/x"),
        ("/caf\u{e9}", "https://a.example/caf%C3%A9"),
        ("http://a.example/next", nil),
        ("http://b.example/", nil),
        ("ftp://b.example/", nil),
        ("file:///etc/passwd", nil),
        ("javascript:alert(1)", nil),
        ("data:text/plain,x", nil),
        ("https://user:pw@b.example/", nil),
        ("https://", nil),
        ("https://b.example:99999/", nil),
        ("\\\\b.example\\x", nil),
        ("https://0x7f.1/", nil),
    ]

    @Test(arguments: locations) func `a Location is resolved strictly, and never from https to http`(
        location: String, expected: String?
    ) throws {
        let decision = Self.decide(on: .redirect(302, to: location), to: try Self.request())
        let outcome = expected.map { Outcome.follow(method: .get, url: $0, hasBody: false) } ?? .refuse
        #expect(decision.outcome == outcome, "\(decision)")
        #expect((expected == nil) == !decision.reason.isEmpty)
    }

    @Test func `from http to https is no downgrade`() throws {
        let decision = Self.decide(
            on: .redirect(302, to: "https://a.example/"), to: try Self.request(.get, "http://a.example/"))
        #expect(decision.outcome == .follow(method: .get, url: "https://a.example/", hasBody: false))
    }

    @Test func `several Location fields are refused, also equal ones`() throws {
        for second in ["/one", "/two"] {
            var response = HTTPResponse.redirect(302, to: "/one")
            response.fields.append(second, for: .location)
            #expect(Self.decide(on: response, to: try Self.request()).reason.contains("several"))
        }
    }

    // MARK: How often

    @Test(arguments: [0, 1, 5, 20]) func `as many redirects as the limit says, and not one more`(limit: Int) throws {
        let policy = RedirectPolicy(limit: limit)
        let request = try Self.request()
        for count in 0...limit {
            let visited = try (0...count).map { RedirectHop(try Self.request(.get, "https://a.example/\($0)")) }
            let outcome = Self.decide(policy, on: .redirect(302, to: "/next"), to: request, visited: visited).outcome
            #expect((outcome == .refuse) == (count == limit), "\(count) redirects so far")
        }
        #expect(RedirectPolicy.follow.limit == 20)
    }

    @Test func `a way back to the same method and URL is refused, a changed method is not a way back`() throws {
        let post = try Self.request(.post)
        #expect(
            Self.decide(on: .redirect(303, to: Self.start), to: post).outcome
                == .follow(method: .get, url: Self.start, hasBody: false))
        let get = try Self.request()
        #expect(Self.decide(on: .redirect(302, to: Self.start), to: get).reason.contains("back"))
        let visited = try [RedirectHop(get), RedirectHop(Self.request(.get, "https://a.example/b"))]
        let second = try Self.request(.get, "https://a.example/b")
        #expect(Self.decide(on: .redirect(302, to: Self.start), to: second, visited: visited).outcome == .refuse)
    }

    // MARK: What goes along

    static let everything: HTTPFields = [
        .accept: "a", .acceptEncoding: "gzip", .acceptLanguage: "cs", .userAgent: "u", .authorization: "t",
        .cookie: "c=1", .proxyAuthorization: "p", "X-API-Key": "k", "X-Custom": "x", .referer: "r",
    ]

    @Test(
        arguments: [
            ("https://a.example/", true), ("https://a.example:443/", true), ("https://b.example/", false),
            ("https://sub.a.example/", false), ("https://a.example:8443/", false), ("https://example/", false),
        ])
    func `only harmless fields go to another host or port`(url: String, isSameOrigin: Bool) throws {
        let request = try Self.request(.get, fields: Self.everything)
        let next = try #require(Self.decide(on: .redirect(307, to: url), to: request).next)
        let harmless: HTTPFields = [.accept: "a", .acceptEncoding: "gzip", .acceptLanguage: "cs", .userAgent: "u"]
        #expect(next.fields == (isSameOrigin ? Self.everything : harmless))
    }

    @Test func `another scheme is another origin`() throws {
        let request = try Self.request(.get, "http://a.example/", fields: Self.everything)
        let next = try #require(Self.decide(on: .redirect(302, to: "https://a.example/"), to: request).next)
        #expect(!next.fields.contains(.authorization) && !next.fields.contains("X-Custom"))
    }

    @Test func `fields that the policy names go along`() throws {
        let request = try Self.request(.get, fields: Self.everything)
        let policy = RedirectPolicy(crossOriginFields: ["x-custom"])
        let next = try #require(Self.decide(policy, on: .redirect(302, to: "https://b.example/"), to: request).next)
        #expect(next.fields["X-Custom"] == "x")
        #expect(!next.fields.contains(.authorization))
    }

    @Test(arguments: [307, 308]) func `a body goes to another origin only where that is allowed`(status: Int) throws {
        var fields: HTTPFields = [.authorization: "t"]
        for name in Self.bodyFields { fields[name] = "x" }
        let request = try Self.request(.post, fields: fields, body: .bytes(Data("b".utf8)))
        let response = HTTPResponse.redirect(status, to: "https://b.example/")
        #expect(Self.decide(on: response, to: request).reason.contains("another origin"))
        let allowed = Self.decide(RedirectPolicy(sendsBodyAcrossOrigins: true), on: response, to: request)
        #expect(allowed.outcome == .follow(method: .post, url: "https://b.example/", hasBody: true))
        // What says how the body is to be read goes with it; what may tell of more than that does not.
        #expect(allowed.next?.fields == [.contentType: "x", .contentEncoding: "x", "Content-Language": "x"])
    }

    @Test func `a body that can be read once is not sent again`() throws {
        let body = HTTPBody.onceOnly(AsyncThrowingStream { $0.finish() })
        let request = try Self.request(.put, body: body)
        #expect(Self.decide(on: .redirect(307, to: "/n"), to: request).reason.contains("once"))
        #expect(
            Self.decide(on: .redirect(303, to: "/n"), to: request).outcome
                == .follow(method: .get, url: "https://a.example/n", hasBody: false))
    }
}
