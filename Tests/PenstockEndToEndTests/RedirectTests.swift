import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// Redirects by nginx and httpbin, followed by the same rules on every transport.
@Suite(.needsServers, .timeLimit(.minutes(5)), .covers("S2.1"))
struct RedirectTests {
    private static let secrets: HeaderEdits = ["Authorization": "Bearer secret", "X-Api-Key": "secret"]

    private func client(_ wire: Wire, _ body: (APIClient) async throws -> Void) async throws {
        try await wire.client(for: EndToEndServers.shared().nginx.http, body)
    }

    @Test("Every redirect leads a GET on", arguments: Wire.allCases, ["301", "302", "303", "307", "308"])
    func followed(wire: Wire, status: String) async throws {
        try await client(wire) { client in
            let response = try await client.response(for: Redirected(status), options: .headers(Self.secrets))
            #expect(response.value.method == "GET")
            #expect(response.value.authorization == "Bearer secret")
            #expect(response.request.url.path == "/echo")
            #expect(response.attempts.map(\.status) == [Int(status), 200])
        }
    }

    @Test(
        "A POST becomes a GET, or is repeated with its body, as the status says", arguments: Wire.allCases,
        [("301", "GET", ""), ("302", "GET", ""), ("303", "GET", ""), ("307", "POST", "5"), ("308", "POST", "5")])
    func post(wire: Wire, rule: (status: String, method: String, length: String)) async throws {
        try await client(wire) { client in
            let post = Redirected(rule.status, method: .post, body: .bytes(Data("hello".utf8)))
            let reply = try await client.send(post)
            #expect(reply.method == rule.method)
            #expect(reply.length == rule.length)
        }
    }

    @Test("Where none is to be followed, the redirect is the answer", arguments: Wire.allCases)
    func notFollowed(wire: Wire) async throws {
        let never = CallOptions.with { $0.redirects = .never }
        try await client(wire) { client in
            let error = try await client.failure(Redirected("302"), options: never)
            #expect(error.kind == .httpStatus(302))
            #expect(error.response?.fields[.location] == "/echo")
        }
    }

    @Test(
        "A loop and a foreign scheme are refused", arguments: Wire.allCases,
        [("loop", "leads back"), ("file", "neither http nor https")])
    func refused(wire: Wire, example: (way: String, reason: String)) async throws {
        try await client(wire) { client in
            let error = try await client.failure(Redirected(example.way))
            #expect(error.kindName == "blocked")
            #expect("\(error.kind)".contains(example.reason))
            #expect(error.attempts.count == 1)
            #expect(try await client.send(Echo()).method == "GET")
        }
    }

    // MARK: Another origin

    @Test("Credentials do not go to another origin", arguments: Wire.allCases)
    func credentials(wire: Wire) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        try await client(wire) { client in
            let reply = try await client.send(Redirected("elsewhere"), options: .headers(Self.secrets))
            #expect("http://\(reply.host)" == nginx.elsewhere)
            #expect(reply.authorization == "")
        }
    }

    @Test("A body does not go to another origin unless the app says so", arguments: Wire.allCases)
    func body(wire: Wire) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let post = Redirected("elsewhere", method: .post, body: .bytes(Data("hello".utf8)))
        let open = CallOptions.with { $0.redirects = RedirectPolicy(sendsBodyAcrossOrigins: true) }
        try await client(wire) { client in
            let error = try await client.failure(post)
            #expect(error.kindName == "blocked")
            #expect(error.attempts.count == 1)
            let reply = try await client.send(post, options: open)
            #expect("http://\(reply.host)" == nginx.elsewhere)
            #expect((reply.method, reply.length) == ("POST", "5"))
        }
    }

    @Test("Headers of the app's own do not go to another origin, harmless ones do", arguments: Wire.allCases)
    func otherServer(wire: Wire) async throws {
        let servers = try await EndToEndServers.shared()
        let way = Document(
            "/redirect-to", parameters: ["url": "\(servers.httpbin.base)/headers", "status_code": 307])
        let localhost = servers.httpbin.base.replacingOccurrences(of: "127.0.0.1", with: "localhost")
        try await wire.client(for: localhost) { client in
            let reply = try await client.send(way, options: .headers(Self.secrets))
            let headers = try #require(reply["headers"]?.object)
            #expect(headers["Host"]?.string.map { "http://\($0)" } == servers.httpbin.base)
            #expect(headers["Authorization"] == nil)
            #expect(headers["X-Api-Key"] == nil)
            #expect(headers["User-Agent"]?.string?.contains("Penstock/") == true)
        }
    }

    @Test("Five redirects in a row are followed, and no more than allowed", arguments: Wire.allCases)
    func chain(wire: Wire) async throws {
        let base = try await EndToEndServers.shared().httpbin.base
        try await wire.client(for: base) { client in
            let response = try await client.response(for: Document("/redirect/5"))
            #expect(response.attempts.map(\.status) == [302, 302, 302, 302, 302, 200])
            #expect(response.request.url.path == "/get")
            let limited = CallOptions.with { $0.redirects = RedirectPolicy(limit: 4) }
            let error = try await client.failure(Document("/redirect/5"), options: limited)
            #expect(error.kindName == "blocked")
            #expect(error.attempts.count == 5)
        }
    }
}
