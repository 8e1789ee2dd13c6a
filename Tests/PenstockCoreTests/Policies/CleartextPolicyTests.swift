import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .covers("S1.23")) struct CleartextPolicyTests {
    static let table: [(CleartextPolicy, String, Bool)] = [
        (.refused, "https://a.example/", true),
        (.refused, "http://a.example/", false),
        (.refused, "http://localhost/", false),
        (.refused, "http://127.0.0.1/", false),
        (.loopback, "http://localhost:8080/", true),
        (.loopback, "http://127.0.0.1:1/", true),
        (.loopback, "http://127.255.3.4/", true),
        (.loopback, "http://[::1]/", true),
        (.loopback, "http://a.example/", false),
        (.loopback, "http://localhost.a.example/", false),
        (.loopback, "http://127.0.0.1.a.example/", false),
        (.loopback, "http://127.evil/", false),
        (.loopback, "http://128.0.0.1/", false),
        (.loopback, "http://[::2]/", false),
        (.loopback, "https://a.example/", true),
        (.hosts(["A.example"]), "http://a.EXAMPLE/", true),
        (.hosts(["a.example"]), "http://b.a.example/", false),
        (.hosts(["a.example"]), "http://example/", false),
        (.hosts(["a.example"]), "http://xa.example/", false),
        (.hosts(["a.example"]), "http://localhost/", false),
        (.hosts([]), "http://a.example/", false),
        (.hosts([]), "https://a.example/", true),
        (.everywhere, "http://a.example/", true),
        (.everywhere, "http://127.0.0.1/", true),
    ]

    @Test(arguments: table) func `plain http goes only where it is allowed`(
        policy: CleartextPolicy, url: String, isAllowed: Bool
    ) throws {
        #expect(try policy.allows(HTTPURL(url)) == isAllowed)
    }

    /// Whom the app allows plain http to, and what a request asks for.
    static let refused: [(allowed: String, url: String)] = [
        ("a.example", "http://b.example/"), ("a.example", "http://10.0.0.1/"), ("a.example", "http://[fe80::1]/"),
        ("a.example", "http://printer.local/"), ("a.example", "http://a.local/"), ("a.example", "http://a.example./"),
        ("a.example", "http://a.example.:8080/"), ("a.example", "http://localhost/"),
    ]

    @Test(
        "Plain http to a host that is not allowed, to an address, to .local or with a dot at the end is never sent",
        .covers("H27"), arguments: refused)
    func refusal(allowed: String, url: String) async throws {
        let target = try HTTPURL(url)
        let rig = Rig { $0.options.cleartext = .hosts([allowed]) }
        let error = await failure { try await rig.client.send(HTTPRequest(method: .get, url: target)) }
        guard case .blocked(let reason) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("plain http to \(target.host) is not allowed"))
        #expect(rig.sent.isEmpty)
        _ = try await rig.client.send(HTTPRequest(method: .get, url: HTTPURL("http://\(allowed)/")))
        #expect(rig.hosts == [allowed])
    }

    /// Whom the app allows plain http to, its proxy, and whether a request to `localhost` may go there.
    static let ways: [(policy: CleartextPolicy, proxy: String?, isAllowed: Bool)] = [
        (.loopback, nil, true), (.loopback, "http://127.0.0.1:3128", true), (.loopback, "http://localhost:3128", true),
        (.loopback, "socks5://127.0.0.1:1080", true), (.loopback, "socks5://LOCALHOST:1080", true),
        (.loopback, "http://proxy.example:3128", false), (.loopback, "socks5://proxy.example:1080", false),
        (.hosts(["localhost"]), "http://proxy.example:3128", true), (.everywhere, "socks5://proxy.example:1080", true),
        (.refused, "http://127.0.0.1:3128", false),
    ]

    @Test(
        "What is in the clear for this machine alone goes through no proxy elsewhere, which would take it for its own",
        .covers("H27"), arguments: ways)
    func proxies(policy: CleartextPolicy, proxy: String?, isAllowed: Bool) async throws {
        let way = try proxy.map { text in
            guard text.hasPrefix("socks5") else { return ProxyPolicy.http(try HTTPURL(text)) }
            return ProxyPolicy.socks5(String(text.dropFirst(9).prefix { $0 != ":" }))
        }
        let rig = Rig {
            $0.options.cleartext = policy
            $0.options.proxy = way
        }
        let request = HTTPRequest(method: .get, url: try HTTPURL("http://localhost/"))
        let error = await failure { try await rig.client.send(request) }
        #expect((error == nil) == isAllowed && rig.sent.isEmpty == !isAllowed)
        if policy == .loopback, let error {
            guard case .blocked(let reason) = error.kind else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.contains("localhost is not allowed through a proxy") && reason.contains(".proxy(.none)"))
        }
        _ = try await rig.client.send(HTTPRequest(method: .get, url: HTTPURL("https://localhost/")))
    }
}
