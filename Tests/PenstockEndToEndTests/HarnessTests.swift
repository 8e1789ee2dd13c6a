import Foundation
import Testing

/// The servers are what the other end-to-end tests take them for.
@Suite(.timeLimit(.minutes(5)), .needsServers) struct HarnessTests {
    @Test("nginx answers on both of its plain origins")
    func plainOrigins() async throws {
        let nginx = try await EndToEndServers.shared().nginx
        for base in [nginx.http, nginx.elsewhere] {
            let response = try #require(get("/echo", base))
            #expect(response.hasPrefix("HTTP/1.1 200"))
            #expect(response.contains(#""method":"GET","uri":"/echo","protocol":"HTTP/1.1""#))
        }
    }

    @Test("httpbin answers with what it received")
    func httpbin() async throws {
        let response = try #require(get("/anything?a=1", try await EndToEndServers.shared().httpbin.base))
        #expect(response.hasPrefix("HTTP/1.1 200"))
        #expect(response.contains(#""a": "1""#))
    }

    @Test(
        "nginx serves its locations",
        arguments: [
            ("/list.json", "HTTP/1.1 200"), ("/missing", "HTTP/1.1 404"), ("/empty", "HTTP/1.1 204"),
            ("/unavailable", "HTTP/1.1 503"), ("/last", "HTTP/1.1 200"), ("/cut", ""),
            ("/redirect/301", "HTTP/1.1 301"), ("/redirect/302", "HTTP/1.1 302"), ("/redirect/303", "HTTP/1.1 303"),
            ("/redirect/307", "HTTP/1.1 307"), ("/redirect/308", "HTTP/1.1 308"), ("/redirect/loop", "HTTP/1.1 302"),
            ("/redirect/elsewhere", "HTTP/1.1 307"), ("/redirect/file", "HTTP/1.1 302"),
        ])
    func locations(path: String, start: String) async throws {
        let response = try #require(get(path, try await EndToEndServers.shared().nginx.http))
        #expect(start.isEmpty ? response.isEmpty : response.hasPrefix(start))
    }

    @Test("The trusted origin has a certificate of the authority, and speaks HTTP/2")
    func trustedOrigin() async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let output = try handshake(nginx.https, nginx)
        #expect(output.contains("ALPN protocol: h2"))
    }

    @Test(
        "The other TLS origins are refused, each for its own reason",
        arguments: [
            (\NginxServer.expired, "certificate has expired"), (\.selfSigned, "self-signed certificate"),
            (\.wrongHost, "hostname mismatch"),
        ] as [(KeyPath<NginxServer, String> & Sendable, String)])
    func untrustedOrigins(origin: KeyPath<NginxServer, String> & Sendable, reason: String) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let error = #expect(throws: HarnessError.self) { try handshake(nginx[keyPath: origin], nginx) }
        #expect(error?.description.contains(reason) == true)
    }

    private func get(_ path: String, _ base: String) -> String? {
        Loopback.get(path, port: UInt16(base.split(separator: ":").last ?? "") ?? 0)
    }

    private func handshake(_ origin: String, _ nginx: NginxServer) throws -> String {
        let address = origin.replacingOccurrences(of: "https://localhost", with: "127.0.0.1")
        let verification = ["-verify_return_error", "-verify_hostname", "localhost", "-servername", "localhost"]
        return try Programs.run(
            Programs.openssl,
            ["s_client", "-connect", address, "-CAfile", nginx.certificateAuthority.path, "-alpn", "h2"] + verification)
    }
}
