import Foundation
import Penstock
import PenstockTestSupport
import PenstockTesting
import Testing

/// Proxies that the authors of this package did not write: squid and microsocks.
@Suite(.needsServers, .timeLimit(.minutes(5)))
struct ProxyTests {
    enum Kind: String, CaseIterable, Sendable {
        case open, guarded, socks

        func policy(_ proxies: ProxyServers, _ credentials: ProxyCredentials? = ProxyServers.credentials) -> ProxyPolicy
        {
            switch self {
            case .open: .http(proxies.http)
            case .guarded: .http(proxies.guarded, credentials: credentials)
            case .socks: .socks5("127.0.0.1", port: proxies.socks, credentials: credentials)
            }
        }
    }

    private func client(
        _ policy: ProxyPolicy, to base: String, _ body: (APIClient) async throws -> Void
    ) async throws {
        let trust = TrustPolicy.authorities(try await EndToEndServers.shared().nginx.certificateAuthority)
        try await Wire.libcurl.client(
            for: base,
            with: {
                $0.options.trust = trust
                $0.options.proxy = policy
                // What is stored would step in for the call that fails.
                $0.cache = .none
            }, body)
    }

    private func origin(secure: Bool) async throws -> String {
        let nginx = try await EndToEndServers.shared().nginx
        return secure ? nginx.https : nginx.http
    }

    // MARK: Through

    @Test(
        "A call goes through a proxy, and what opens the proxy stays there", arguments: Kind.allCases, [false, true])
    func through(kind: Kind, secure: Bool) async throws {
        let proxies = try await ProxyServers.shared()
        try await client(kind.policy(proxies), to: origin(secure: secure)) { client in
            let options = CallOptions.headers(["Authorization": "Bearer origin"])
            let responses = [
                try await client.response(for: Echo(), options: options),
                try await client.response(for: Echo(method: .post, body: .bytes(Data("x".utf8))), options: options),
            ]
            for response in responses {
                #expect(response.value.proxyAuthorization.isEmpty)
                #expect(response.value.authorization == "Bearer origin")
                #expect(response.http.version == (secure ? .http2 : .http11))
                #expect(response.http.fields["Proxy-Authenticate"] == nil)
            }
            // Of requests in the clear squid itself decides how they go on.
            if secure || kind == .socks { #expect(Set(responses.map(\.value.connection)).count == 1) }
            let port = Int(kind == .socks ? proxies.socks : kind.policy(proxies).port)
            #expect(responses[0].connection.remotePort == port)
            #expect(responses.map(\.connection.isReused) == [false, true])
            #expect((responses[0].timings.secured != nil) == secure)
        }
    }

    @Test("Of a request in the clear the origin sees no field that was for the proxy")
    func nothingForTheOrigin() async throws {
        let proxies = try await ProxyServers.shared()
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        for kind in [Kind.guarded, .socks] {
            try await client(kind.policy(proxies), to: server.url.absoluteString) { client in
                _ = try await client.send(Download("/direct"))
            }
        }
        #expect(server.requests.count == 2)
        for request in server.requests {
            #expect(request.path == "/direct")
            #expect(request.fields.allSatisfy { !$0.name.text.lowercased().hasPrefix("proxy-") })
            #expect(request.fields.values(of: .host) == ["127.0.0.1:\(server.url.port)"])
        }
    }

    @Test("A SOCKS proxy looks the origin's name up")
    func remoteNames() async throws {
        let proxies = try await ProxyServers.shared()
        let base = try await origin(secure: true)
        try await client(Kind.socks.policy(proxies), to: base) { client in
            _ = try await client.send(Echo())
        }
        let log = try String(contentsOf: proxies.socksLog, encoding: .utf8)
        #expect(log.contains("connected to " + base.dropFirst("https://".count)))
    }

    @Test("A redirect stays with the proxy of the call")
    func redirects() async throws {
        let proxies = try await ProxyServers.shared()
        try await client(Kind.guarded.policy(proxies), to: origin(secure: false)) { client in
            let response = try await client.response(for: Redirected("elsewhere"))
            #expect(response.connection.remotePort == proxies.guarded.port)
            #expect(response.value.proxyAuthorization.isEmpty)
        }
    }

    @Test("Calls with and without a proxy, or with other credentials, share no connection", .covers("H23"))
    func apart() async throws {
        let proxies = try await ProxyServers.shared()
        let wrong = ProxyCredentials(user: "you", password: "wrong")
        try await client(.none, to: origin(secure: false)) { client in
            let direct = try await client.send(Echo()).connection
            let good = try await client.send(Echo(), options: .with { $0.proxy = Kind.guarded.policy(proxies) })
            let error = try await client.failure(
                Echo(), options: .with { $0.proxy = Kind.guarded.policy(proxies, wrong) })
            #expect(error.kind == .unreachable(.proxyAuthentication))
            let open = try await client.send(Echo(), options: .with { $0.proxy = Kind.open.policy(proxies) })
            // Behind the proxy it is the proxy's own affair which connection carries what.
            #expect(good.connection != direct && open.connection != direct)
            #expect(try await client.send(Echo()).connection == direct)
        }
    }

    // MARK: Refused

    @Test(
        "A proxy that wants other credentials is a failure of its own, and the origin hears nothing",
        arguments: [Kind.guarded, .socks], [false, true])
    func unknownUser(kind: Kind, secure: Bool) async throws {
        let proxies = try await ProxyServers.shared()
        let mark = UUID().uuidString
        // Somebody else: a wrong password refuses whatever else squid is asked by the same user at that moment.
        for credentials in [nil, ProxyCredentials(user: "you", password: "wrong-\(mark)")] {
            try await client(kind.policy(proxies, credentials), to: origin(secure: secure)) { client in
                let error = try await client.failure(
                    Echo(method: .post, query: ["mark": mark], body: .bytes(Data("x".utf8))))
                #expect(error.kind == .unreachable(.proxyAuthentication))
                #expect(error.sendState == (kind == .guarded && !secure ? .unprocessed : .unsent))
                #expect(error.response == nil)
                #expect(!"\(error) \(String(reflecting: error))".contains("wrong-"))
            }
        }
        let nginx = try await EndToEndServers.shared().nginx
        #expect(try AccessLog(nginx).linesSoFar().allSatisfy { !$0.target.contains(mark) })
    }

    @Test("A proxy that is not there is unreachable itself", arguments: Kind.allCases, [false, true])
    func missing(kind: Kind, secure: Bool) async throws {
        let port = try #require(try Loopback.freePorts(1).first)
        let policy: ProxyPolicy =
            kind == .socks ? .socks5("127.0.0.1", port: Int(port)) : .http(try HTTPURL("http://127.0.0.1:\(port)"))
        try await client(policy, to: origin(secure: secure)) { client in
            let error = try await client.failure(Echo(method: .post))
            #expect(error.kind == .unreachable(.proxy))
            #expect(error.sendState == .unsent)
        }
    }

    @Test("An origin that the proxy cannot reach is not the wire's own failure", arguments: [Kind.open, .socks])
    func unreachableOrigin(kind: Kind) async throws {
        let proxies = try await ProxyServers.shared()
        let port = try #require(try Loopback.freePorts(1).first)
        try await client(kind.policy(proxies), to: "https://127.0.0.1:\(port)") { client in
            let error = try await client.failure(Echo(method: .post))
            #expect(error.kind == .unreachable(kind == .socks ? .connectionRefused : .proxy))
            #expect(error.sendState == .unsent)
        }
    }

    @Test("A certificate is judged as without a proxy", arguments: Kind.allCases)
    func certificates(kind: Kind) async throws {
        let proxies = try await ProxyServers.shared()
        try await client(kind.policy(proxies), to: EndToEndServers.shared().nginx.wrongHost) { client in
            let error = try await client.failure(Echo())
            #expect(error.kind == .tls(.wrongHost))
            #expect(error.sendState == .unsent)
        }
    }

    @Test("The environment names no proxy, and takes none away")
    func environment() async throws {
        let proxies = try await ProxyServers.shared()
        setenv("no_proxy", "*", 1)
        setenv("http_proxy", "http://127.0.0.1:9", 1)
        defer {
            unsetenv("no_proxy")
            unsetenv("http_proxy")
        }
        try await client(Kind.open.policy(proxies), to: origin(secure: false)) { client in
            #expect(try await client.response(for: Echo()).connection.remotePort == proxies.http.port)
            let direct = try await client.response(for: Echo(), options: .with { $0.proxy = ProxyPolicy.none })
            #expect(direct.connection.remotePort != proxies.http.port)
        }
    }
}

extension ProxyPolicy {
    fileprivate var port: Int {
        switch route {
        case .http(let origin): origin.port
        case .socks5(_, let port): port
        default: 0
        }
    }
}
