import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// One parse of a URL decides the socket, the name in the handshake, `Host` and what a cache finds a response by.
@Suite(.timeLimit(.minutes(5)), .covers("H25"))
struct OneParseTests {
    @Test("Spellings of one URL are one URL", arguments: TransportUnderTest.withWire)
    func spellings(transport: TransportUnderTest) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            .text("ok", fields: ["Cache-Control": "max-age=1000"])
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let port = server.url.port
            for text in [
                "http://localhost:\(port)/a?b", "HTTP://LOCALHOST:\(port)/a?b", "http://LocalHost:\(port)/./a?b",
                "http://localhost:\(port)/x/../a?b", "http://localhost:\(port)/%2e/x/%2E%2e/a?b#c",
                "http://localhost:\(port)/../../a?b", "http://\u{24DB}ocalhost:\(port)/a?b",
            ] {
                let response = try await client.send(
                    HTTPRequest(method: .get, url: HTTPURL(text)), options: .cache(.http))
                #expect(response.value == Data("ok".utf8), "\(text)")
            }
            #expect(server.requests.map(\.target) == ["/a?b"])
            #expect(server.requests.map { $0.fields.values(of: .host) } == [["localhost:\(port)"]])
        }
    }

    @Test(
        "A URL that two parsers could read differently is none", arguments: TransportUnderTest.withWire,
        [
            "http://a@HOST/", "http://a:b@HOST/", "http://@HOST/", "http://evil.test@HOST/", "http://HOST\\@evil.test/",
            "http://HOST\\/", "http:\\\\HOST\\", "http://HOST%2f/", "http://HOST%2f@evil.test/", "http://127.0.0.1%2e/",
            "http://127.0.0.1%00:80/", "http://127.0.0.1 :80/", "http://127.0.0.1\u{9}/", "http://HOST\r\n/",
            "http://127.0.0.1:80:80/", "http://127.0.0.1:/:80@evil.test", "http://127.1:80/", "http://0177.0.0.1/",
            "http://127.0.0.1./", "http://[::1/", "http://[::1]x/", "http://[127.0.0.1]/",
            "http://127.0.0.1,evil.test/",
            "http://127.0.0.1;evil.test/", "http://*.test/", "http://a..b/", "http://./", "http:HOST/", "HOST/",
            "//HOST/",
        ])
    func oddURLs(transport: TransportUnderTest, text: String) async throws {
        try await Shop.run(transport, answering: { _ in .text("ok") }) { server, client in
            let text = text.replacingOccurrences(of: "HOST", with: "127.0.0.1:\(server.url.port)")
            if let url = try? HTTPURL(text) {
                // A path may hold what an authority may not; then it is that host and no other.
                #expect(url.host == "127.0.0.1" && url.path.hasPrefix("/:80@"), "\(text) became \(url)")
            }
            let based = CallOptions.with { $0.baseURL = text }
            if (try? HTTPURL(text)) == nil {
                let error = await client.failure(Page(), options: based)
                #expect(error != nil)
                #expect(error?.attempts.isEmpty == true)
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(
        "A percent sign that begins no escape is sent as it is, typed or by a redirect, and where it cannot be nothing is",
        arguments: TransportUnderTest.all, ["/100%", "/%4", "/%zz/%41?a=%&b=%%41", "/x?50%"])
    func lonePercent(transport: TransportUnderTest, target: String) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            if request.path == "/moved" { return .text("on", status: 302, fields: [.location: target]) }
            return .text(request.target, fields: ["Cache-Control": "max-age=1000"])
        }
        try await Shop.run(transport, answering: answer) { server, client in
            for path in [target, "/moved"] {
                let request = HTTPRequest(method: .get, url: try server.url.resolving(path))
                do {
                    let value = try await client.send(request).value
                    #expect(String(decoding: value, as: UTF8.self) == target)
                    #expect(transport.name != "URLSession")
                } catch let error as APIError {
                    #expect(error.kind == .unsupported(feature: "this URL") && error.sendState == .unsent)
                    #expect(transport.name == "URLSession")
                }
            }
            let sent = server.requests.map(\.target).filter { $0 != "/moved" }
            #expect(sent.allSatisfy { $0 == target })
            guard transport.name != "URLSession" else { return #expect(sent.isEmpty) }
            // Its escaped form is another URL, to the cache as well.
            let escaped = target.replacing("%", with: "%25")
            let other = HTTPRequest(method: .get, url: try server.url.resolving(escaped))
            let value = try await client.send(other, options: .cache(.http)).value
            #expect(String(decoding: value, as: UTF8.self) == escaped)
        }
    }

    @Test(
        "A host beyond ASCII is the host that it becomes", arguments: TransportUnderTest.withWire,
        [
            ("127\u{3002}0\u{3002}0\u{3002}1", "127.0.0.1"), ("\u{FF11}\u{FF12}\u{FF17}.0.0.1", "127.0.0.1"),
            ("127.0.0\u{FF0E}1", "127.0.0.1"), ("\u{24DB}ocalhost", "localhost"), ("LOCALHO\u{17F}T", "localhost"),
            ("local\u{AD}host", "localhost"),
        ])
    func wideHosts(transport: TransportUnderTest, wide: (host: String, becomes: String)) async throws {
        let (host, becomes) = wide
        try await Shop.run(transport, answering: { _ in .text("ok") }) { server, client in
            let url = try HTTPURL("http://\(host):\(server.url.port)/")
            #expect(url.host == becomes)
            _ = try await client.send(HTTPRequest(method: .get, url: url))
            #expect(server.requests.map { $0.fields.values(of: .host) } == [["\(url.host):\(url.port)"]])
        }
    }

    @Test(
        "An argument of a path stays one segment, or keeps its call unsent", .covers("H1"),
        arguments: TransportUnderTest.withWire,
        [
            "..", ".", "../..", "a/b", "%2e%2e", "..%2f", "a?b", "a#b", "a;b", "a\r\nX-Evil: 1", "a\0b", "a\\b", "",
            " ",
            "//evil.test", "http://evil.test",
        ])
    func arguments(transport: TransportUnderTest, argument: String) async throws {
        try await Shop.run(transport, answering: { _ in .text("ok") }) { server, client in
            let error = await client.failure(Page("/items/\(argument)/parts"))
            guard error == nil else {
                #expect(server.connectionCount == 0)
                return
            }
            let request = try #require(server.requests.first)
            let segments = request.target.split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.count == 4, "\(request.target)")
            #expect(segments.first == "" && segments[1] == "items" && segments.last == "parts")
            #expect(String(segments[2]).removingPercentEncoding == argument)
            #expect(!request.fields.contains("X-Evil"))
            #expect(request.fields[.host] == "127.0.0.1:\(server.url.port)")
        }
    }

    /// Names that become `localhost`.
    private static let names = ["LOCALHOST", "\u{24DB}ocalhost"]

    @Test("The name in the handshake is the URL's host", arguments: TransportUnderTest.withTrust, names)
    func nameInHandshake(transport: TransportUnderTest, name: String) async throws {
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("ok") }
        try await Shop.run(transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }) {
            server, client in
            let url = try HTTPURL("HTTPS://\(name):\(server.url.port)/")
            _ = try await client.send(HTTPRequest(method: .get, url: url))
            #expect(server.connections.map { $0.handshake?.serverName } == ["localhost"])
            #expect(server.requests.map { $0.fields[.host] } == ["localhost:\(server.url.port)"])
        }
    }
    @Test("The pins of a host hold however it is written", arguments: TransportUnderTest.withTrust, names)
    func pins(transport: TransportUnderTest, name: String) async throws {
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("ok") }
        let nobodys = [PublicKeyPin(ofKey: "nobody".utf8), PublicKeyPin(ofKey: "no one".utf8)]
        let trust = try TrustPolicy.authorities(authority.file).pinned([PinSet("localhost", keys: nobodys)])
        try await Shop.run(transport, on: server, configured: { $0.options.trust = trust }) { server, client in
            let url = try HTTPURL("HTTPS://\(name):\(server.url.port)/")
            let error = await #expect(throws: APIError.self) {
                try await client.send(HTTPRequest(method: .get, url: url))
            }
            #expect(error?.kind == .tls(.pinMismatch))
            #expect(server.requestCount == 0)
            // Under another host's pins the same server is answered by.
            let others = try TrustPolicy.authorities(authority.file).pinned([PinSet("ocalhost", keys: nobodys)])
            _ = try await client.send(HTTPRequest(method: .get, url: url), options: .trust(others))
            #expect(server.requestCount == 1)
        }
    }
}
