import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// Connections that are made before there is a request for them.
@Suite(.needsServers, .timeLimit(.minutes(5)))
struct PreconnectTests {
    private func client(secure: Bool, _ body: (APIClient) async throws -> Void) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let trust = TrustPolicy.authorities(nginx.certificateAuthority)
        try await Wire.libcurl.client(
            for: secure ? nginx.https : nginx.http, with: { $0.options.trust = trust }, body)
    }

    @Test(
        "The first call finds the connection that was made for it, and is the first request on it",
        arguments: [false, true])
    func firstCall(secure: Bool) async throws {
        try await client(secure: secure) { client in
            #expect(await client.preconnect(to: .main))
            let response = try await client.response(for: Echo())
            #expect(response.connection.isReused == true)
            #expect(response.value.request == 1)
            #expect(try await client.send(Echo()).connection == response.value.connection)
        }
    }

    @Test("Asking twice makes one connection", arguments: [false, true])
    func twice(secure: Bool) async throws {
        try await client(secure: secure) { client in
            #expect(await client.preconnect(to: .main))
            let first = try await client.send(Echo())
            #expect(await client.preconnect(to: .main))
            let second = try await client.send(Echo())
            #expect(second.connection == first.connection)
            #expect(second.request == 2)
        }
    }

    @Test("Through a proxy, the tunnel is there already")
    func proxied() async throws {
        let proxies = try await ProxyServers.shared()
        let nginx = try await EndToEndServers.shared().nginx
        try await Wire.libcurl.client(
            for: nginx.https,
            with: {
                $0.options.trust = .authorities(nginx.certificateAuthority)
                $0.options.proxy = .http(proxies.guarded, credentials: ProxyServers.credentials)
            }
        ) { client in
            #expect(await client.preconnect(to: .main))
            let response = try await client.response(for: Echo())
            #expect(response.connection.isReused == true)
            #expect(response.connection.remotePort == proxies.guarded.port)
        }
    }

    @Test("Where there can be no connection, the answer is no, and the call tells why")
    func unreachable() async throws {
        let port = try #require(try Loopback.freePorts(1).first)
        try await Wire.libcurl.client(for: "http://127.0.0.1:\(port)") { client in
            #expect(await !client.preconnect(to: .main))
            #expect(await !client.preconnect(to: "unknown"))
            let error = try await client.failure(Echo())
            #expect(error.kind == .unreachable(.connectionRefused))
        }
    }

    @Test("A host that may not be spoken to in the clear is not connected to")
    func cleartext() async throws {
        let nginx = try await EndToEndServers.shared().nginx
        try await Wire.libcurl.client(for: nginx.http, with: { $0.options.cleartext = .refused }) { client in
            #expect(await !client.preconnect(to: .main))
        }
    }

    @Test("A transport that cannot says no")
    func incapable() async throws {
        let nginx = try await EndToEndServers.shared().nginx
        try await Wire.urlSession.client(for: nginx.http) { client in
            #expect(await !client.preconnect(to: .main))
        }
    }
}
