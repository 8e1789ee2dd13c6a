import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Where a redirect may lead, and what goes with it, on every transport that has a wire.
@Suite(.timeLimit(.minutes(5)))
struct RedirectsOnTheWireTests {
    /// Who another origin is, seen from `http://127.0.0.1:port`.
    enum Elsewhere: CaseIterable {
        case otherPort, otherHost, otherScheme
    }

    private static let secrets: HTTPFields = [
        .authorization: "Bearer s3cret", .cookie: "session=s3cret", "X-Api-Key": "s3cret",
        "Proxy-Authorization": "s3cret",
        "Referer": "http://user:s3cret@127.0.0.1/?token=s3cret", "Origin": "http://127.0.0.1", "X-Anything": "s3cret",
        .accept: "text/plain", .acceptLanguage: "nl", .userAgent: "Shop/1.0",
    ]
    /// What may reach the other origin, besides what each message needs for itself.
    private static let harmless: Set<HTTPFieldName> = [
        .accept, .acceptLanguage, .acceptEncoding, .userAgent, .host, .contentLength, "Connection",
    ]

    /// Each transport with each other origin that it can reach: another scheme takes an authority of the test's own.
    private static let crossings = TransportUnderTest.withWire.flatMap { transport in
        Elsewhere.allCases.filter { $0 != .otherScheme || transport.capabilities.contains(.trustPolicy) }
            .map { (transport, $0) }
    }

    @Test("To another origin go harmless fields alone", .covers("H22"), arguments: crossings)
    func nothingSecretCrosses(transport: TransportUnderTest, elsewhere: Elsewhere) async throws {
        let other = try OtherOrigin(elsewhere)
        defer { other.server.stop() }
        for (status, method) in [(301, HTTPMethod.get), (302, .post), (303, .put), (307, .get), (308, .delete)] {
            let location = other.location
            let server = try LoopbackServer { _ in .text("moved", status: status, fields: [.location: location]) }
            try await Shop.run(transport, on: server, configured: { $0.options.trust = other.trust }) {
                server, client in
                let body = method == .get || method == .delete ? HTTPBody.none : .bytes(Data("s3cret".utf8))
                let request = HTTPRequest(method: method, url: server.url, fields: Self.secrets, body: body)
                let answer = try await client.send(request).value
                #expect(answer == Data("elsewhere".utf8))
                #expect(server.requests.map { $0.fields[.authorization] } == ["Bearer s3cret"])
            }
        }
        #expect(other.server.requestCount == 5)
        for request in other.server.requests {
            #expect(request.fields.filter { !Self.harmless.contains($0.name) }.map(\.name.text) == [])
            #expect(!"\(request)".contains("s3cret"))
            #expect(request.body.isEmpty)
        }
    }

    @Test(
        "Content does not go to another origin", .covers("H22"), arguments: TransportUnderTest.withWire, [307, 308])
    func contentDoesNotCross(transport: TransportUnderTest, status: Int) async throws {
        let other = try LoopbackServer { _ in .text("elsewhere") }
        defer { other.stop() }
        let location = other.url.absoluteString
        let server = try LoopbackServer { _ in .text("moved", status: status, fields: [.location: location]) }
        try await Shop.run(transport, on: server) { server, client in
            let request = HTTPRequest(method: .post, url: server.url, body: .bytes(Data("s3cret".utf8)))
            let error = await Self.failure { try await client.send(request) }
            #expect(Self.isBlocked(error))
        }
        #expect(other.connectionCount == 0)
    }

    @Test(
        "What no HTTP client should follow is refused", .covers("H24", "H25", "H1"),
        arguments: TransportUnderTest.withWire,
        [
            "file:///etc/passwd", "FILE:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:70/_",
            "javascript:alert(1)",
            "data:text/plain,hello", "app://open", "mailto:a@b.test", "http:", "http://", "http:///path",
            "http://a@127.0.0.1/",
            "http://a:b@127.0.0.1/", "//a@127.0.0.1/", "http://127.0.0.1%2f@evil.test/", "http://evil.test%2f/",
            "http://127.0.0.1%00.evil.test/", "http:\\\\evil.test\\", "\\\\evil.test", "/\\evil.test", "http://127.1/",
            "http://0x7f.0.0.1/", "http://2130706433/", "http://127.0.0.01/", "http://127.0.0.1:0/",
            "http://127.0.0.1:65536/", "http://127.0.0.1:+80/", "http://[::1/", "http://a b/", "/tab\there",
        ])
    func strangeTargetsAreRefused(transport: TransportUnderTest, location: String) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            .raw(
                Data("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n".utf8),
                ending: .keepAlive)
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let error = await Self.failure { try await client.send(HTTPRequest(method: .get, url: server.url)) }
            #expect(Self.isBlocked(error), "\(String(describing: error))")
            #expect(server.requestCount == 1)
            #expect(server.connectionCount == 1)
        }
    }

    @Test("A redirect does not lead from https to http", .covers("H24"), arguments: TransportUnderTest.withTrust)
    func noDowngrade(transport: TransportUnderTest) async throws {
        let plain = try LoopbackServer { _ in .text("elsewhere") }
        defer { plain.stop() }
        let location = plain.url.absoluteString
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in
            .text("moved", status: 302, fields: [.location: location])
        }
        try await Shop.run(transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }) {
            server, client in
            let error = await Self.failure { try await client.send(HTTPRequest(method: .get, url: server.url)) }
            #expect(Self.isBlocked(error))
            #expect(server.requestCount == 1)
        }
        #expect(plain.connectionCount == 0)
    }

    @Test("Twenty hops are taken, and no twenty-first", .covers("H24"), arguments: TransportUnderTest.withWire)
    func hopsAreLimited(transport: TransportUnderTest) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            let left = Int(request.path.dropFirst()) ?? 0
            return left == 0 ? .text("there") : .text("on", status: 302, fields: [.location: "/\(left - 1)"])
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let near = HTTPRequest(method: .get, url: try server.url.resolving("/20"))
            let answer = try await client.send(near).value
            #expect(answer == Data("there".utf8))
            let far = HTTPRequest(method: .get, url: try server.url.resolving("/21"))
            let error = await Self.failure { try await client.send(far) }
            #expect(Self.isBlocked(error))
            #expect(server.requestCount == 42)
        }
    }

    @Test(
        "A loop ends where it would begin again", .covers("H24"), arguments: TransportUnderTest.withWire,
        ["/", "/a", "/a/../", "#again", ""])
    func loopsEnd(transport: TransportUnderTest, back: String) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            .text("on", status: 302, fields: [.location: back])
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let error = await Self.failure { try await client.send(HTTPRequest(method: .get, url: server.url)) }
            #expect(Self.isBlocked(error))
            #expect(server.requestCount <= 2)
        }
    }

    // MARK: Parts

    private struct OtherOrigin {
        let server: LoopbackServer
        let location: String
        /// Whose file must be there for as long as it is trusted.
        private let authority: TestCertificateAuthority?

        var trust: TrustPolicy { authority.map { .authorities($0.file) } ?? .system }

        init(_ elsewhere: Elsewhere) throws {
            guard elsewhere == .otherScheme else {
                server = try LoopbackServer { _ in .text("elsewhere") }
                let host = elsewhere == .otherHost ? "localhost" : "127.0.0.1"
                location = "http://\(host):\(server.url.port)/x?y"
                authority = nil
                return
            }
            let authority = try TestCertificateAuthority()
            server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("elsewhere") }
            location = "https://127.0.0.1:\(server.url.port)/x?y"
            self.authority = authority
        }
    }

    private static func failure(_ body: () async throws -> APIResponse<Data>) async -> APIError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? APIError
        }
    }

    private static func isBlocked(_ error: APIError?) -> Bool {
        if case .blocked = error?.kind { true } else { false }
    }
}
