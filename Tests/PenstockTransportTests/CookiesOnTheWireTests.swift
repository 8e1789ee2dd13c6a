import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Cookies between a client and a server, on every transport that has a wire.
@Suite(.timeLimit(.minutes(5)))
struct CookiesOnTheWireTests {
    /// Serves `/login`, which sets a session and clears what was there before, and tells elsewhere what it was sent.
    @Sendable private static func shop(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        switch request.path {
        case "/visit":
            return reply(
                "200 OK", ["guest=g1; Path=/; Expires=Wed, 09 Jun 2077 10:18:14 GMT", "theme=dark, blue; Path=/"])
        case "/login":
            return reply(
                "200 OK",
                [
                    "guest=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "session=\"s, 1=2\"; Path=/; HttpOnly",
                    "cart=; expires=Thu, 01-Jan-70 00:00:00 GMT; path=/",
                    "csrf=t=1; Path=/; Expires=Wed, 09-Jun-2077 10:18:14 GMT",
                ])
        default: return .text(request.fields[.cookie] ?? "none")
        }
    }

    private static func reply(_ status: String, _ cookies: [String], _ fields: [String] = []) -> LoopbackServer.Response
    {
        let lines = cookies.map { "Set-Cookie: \($0)" } + fields + ["Content-Length: 0"]
        return .raw(Data("HTTP/1.1 \(status)\r\n\(lines.joined(separator: "\r\n"))\r\n\r\n".utf8), ending: .keepAlive)
    }

    @Test("A login that clears other cookies in the same answer is a login", arguments: TransportUnderTest.withWire)
    func loginThatClears(transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(handler: Self.shop)
        try await Shop.run(transport, on: server, configured: { $0.cookies = MemoryCookieStore() }) { _, client in
            _ = try await client.send(Page("/visit"))
            let guest = try await text(client)
            #expect(guest == "guest=g1; theme=dark, blue")
            _ = try await client.send(Page("/login"))
            let member = try await text(client)
            #expect(member == "theme=dark, blue; session=\"s, 1=2\"; csrf=t=1")
        }
    }

    @Test("A page that looks whether cookies are kept is reached", arguments: TransportUnderTest.withWire)
    func cookieCheck(transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            if let cookie = request.fields[.cookie] { return .text(cookie) }
            return Self.reply(
                "302 Found", ["old=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "checked=1; Path=/"],
                ["Location: \(request.path)"])
        }
        try await Shop.run(transport, on: server, configured: { $0.cookies = MemoryCookieStore() }) { server, client in
            let seen = try await text(client)
            #expect(seen == "checked=1")
            #expect(server.requestCount == 2)
        }
        let another = try LoopbackServer { request in
            Self.reply("302 Found", ["checked=1; Path=/"], ["Location: \(request.path)"])
        }
        try await Shop.run(transport, on: another, configured: { $0.cookies = nil }) { server, client in
            let error = await client.failure(Page())
            guard case .blocked = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requestCount == 1)
        }
    }

    @Test(
        "Cookies with an expiry are sent after a restart, those without are not", arguments: TransportUnderTest.withWire
    )
    func restart(transport: TransportUnderTest) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for sent in ["none", "guest=g1"] {
            let server = try LoopbackServer(handler: Self.shop)
            let store = try await FileCookieStore.open(folder.appendingPathComponent("cookies"))
            try await Shop.run(transport, on: server, configured: { $0.cookies = store }) { _, client in
                let first = try await text(client)
                #expect(first == sent)
                _ = try await client.send(Page("/visit"))
                let second = try await text(client)
                #expect(second == "guest=g1; theme=dark, blue")
            }
            try await store.flush()
        }
    }

    @Test(
        "Odd cookies are refused, and many are capped, however they come", .covers("H26"),
        arguments: TransportUnderTest.withWire)
    func oddCookies(transport: TransportUnderTest) async throws {
        let odd = [
            "wide=1; Domain=co.uk", "part=1; Domain=0.0.1", "other=1; Domain=127.0.0.2", "safe=1; Secure",
            "old=1; Max-Age=99999999999999999999", "good=1",
        ]
        let set = Locked(0)
        let server = try LoopbackServer { request in
            switch request.path {
            case "/odd": return Self.reply("200 OK", odd)
            case "/many":
                let first = set.withLock { count in
                    defer { count += 100 }
                    return count
                }
                return Self.reply("200 OK", (first..<first + 100).map { "c\($0)=1" })
            default: return .text(request.fields[.cookie] ?? "none")
            }
        }
        try await Shop.run(transport, on: server, configured: { $0.cookies = MemoryCookieStore() }) { _, client in
            _ = try await client.send(Page("/odd"))
            let kept = try await text(client)
            #expect(kept == "old=1; good=1")
            for _ in 0..<100 { _ = try await client.send(Page("/many")) }
            let last = try await text(client).components(separatedBy: "; ")
            // The cap of one host (RFC 6265 §6.1).
            #expect(1...50 ~= last.count && last.contains("c9999=1"))
        }
        #expect(set.withLock { $0 } == 10_000)
    }

    private func text(_ client: APIClient) async throws -> String {
        String(decoding: try await client.send(Page("/tell")), as: UTF8.self)
    }
}
