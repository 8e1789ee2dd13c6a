import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// HTTP/2 over TLS against nginx, and the certificates that deserve no trust.
@Suite(.needsServers, .timeLimit(.minutes(5)))
struct TLSTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        let origin: KeyPath<NginxServer, String> & Sendable
        let failure: TransportError.TLSFailure

        var testDescription: String { "\(failure)" }

        static let all = [
            Bad(origin: \.expired, failure: .expired), Bad(origin: \.selfSigned, failure: .untrusted),
            Bad(origin: \.wrongHost, failure: .wrongHost),
        ]
    }

    private func trustingClient(_ body: (APIClient, NginxServer) async throws -> Void) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let trust = TrustPolicy.authorities(nginx.certificateAuthority)
        try await Wire.libcurl.client(for: nginx.https, with: { $0.options.trust = trust }) {
            try await body($0, nginx)
        }
    }

    // MARK: HTTP/2

    @Test("HTTP/2 is agreed on with a trusted server")
    func http2() async throws {
        try await trustingClient { client, nginx in
            let response = try await client.response(for: Echo())
            #expect(response.http.version == .http2)
            #expect(response.value.protocol == "HTTP/2.0")
            #expect(response.timings.secured != nil)
            #expect(try await client.send(Things()).count == 500)
            #expect(areSame(try await client.send(Download("/large.bin")), NginxServer.largeFile))
        }
    }

    @Test("A hundred calls over HTTP/2 take one connection, in sequence and at once", .covers("S1.10"))
    func http2Connections() async throws {
        try await trustingClient { client, _ in
            var connections: Set<Int> = []
            for _ in 1...100 { connections.insert(try await client.send(Echo()).connection) }
            let parallel = try await withThrowingTaskGroup(of: EchoReply.self) { group in
                for _ in 1...100 { group.addTask { try await client.send(Echo()) } }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1.connection) }
            }
            #expect(connections.union(parallel).count == 1)
        }
    }

    @Test("A hundred first calls over HTTP/2 wait for one connection", .covers("S1.10"))
    func http2ColdStart() async throws {
        try await trustingClient { client, _ in
            let connections = try await withThrowingTaskGroup(of: EchoReply.self) { group in
                for _ in 1...100 { group.addTask { try await client.send(Echo()) } }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1.connection) }
            }
            #expect(connections.count == 1)
        }
    }

    // MARK: Certificates

    @Test(
        "A bad certificate is refused for its own reason, and no request is sent", .covers("S2.30", "S4.22"),
        arguments: Bad.all)
    func refused(bad: Bad) async throws {
        let mark = UUID().uuidString
        try await trustingClient { client, nginx in
            let there = CallOptions.with { $0.baseURL = nginx[keyPath: bad.origin] }
            let error = try await client.failure(Echo(query: ["mark": mark]), options: there)
            #expect(error.kind == .tls(bad.failure))
            #expect(error.sendState == .unsent)
            #expect(try AccessLog(nginx).linesSoFar().allSatisfy { !$0.target.contains(mark) })
            #expect(try await client.send(Echo()).method == "GET")
        }
    }

    @Test("An authority that the system does not know is trusted by nobody who was not told", .covers("S2.30"))
    func unknownAuthority() async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let mark = UUID().uuidString
        try await Wire.libcurl.client(for: nginx.https) { client in
            let error = try await client.failure(Echo(query: ["mark": mark]))
            #expect(error.kind == .tls(.untrusted))
            #expect(error.sendState == .unsent)
        }
        #expect(try AccessLog(nginx).linesSoFar().allSatisfy { !$0.target.contains(mark) })
    }

    @Test(
        "By default every one of these certificates is refused by the system's session too",
        .covers("S2.30", "S4.22"), arguments: [\.https, \.expired, \.selfSigned, \.wrongHost] as [Origin])
    func refusedBySession(origin: Origin) async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let mark = UUID().uuidString
        try await Wire.urlSession.client(for: nginx[keyPath: origin]) { client in
            let error = try await client.failure(Echo(query: ["mark": mark]))
            #expect(error.kindName == "tls")
            #expect(error.sendState == .unsent)
        }
        #expect(try AccessLog(nginx).linesSoFar().allSatisfy { !$0.target.contains(mark) })
    }

    typealias Origin = KeyPath<NginxServer, String> & Sendable

    @Test(
        "A transport that cannot keep a trust policy refuses it before it sends", .covers("S2.30"),
        .enabled(if: !Wire.urlSession.capabilities.contains(.trustPolicy), "this URLSession keeps trust policies"))
    func unsupportedPolicy() async throws {
        let nginx = try await EndToEndServers.shared().nginx
        let mark = UUID().uuidString
        let trust = TrustPolicy.authorities(nginx.certificateAuthority)
        try await Wire.urlSession.client(for: nginx.https, with: { $0.options.trust = trust }) { client in
            let error = try await client.failure(Echo(query: ["mark": mark]))
            #expect(error.kindName == "unsupported")
            #expect(error.sendState == .unsent)
        }
        #expect(try AccessLog(nginx).linesSoFar().allSatisfy { !$0.target.contains(mark) })
    }

    // MARK: Redirects

    @Test("A redirect from https to http is refused, and the plain server sees nothing")
    func downgrade() async throws {
        try await trustingClient { client, _ in
            let error = try await client.failure(Redirected("plain"))
            #expect(error.kindName == "blocked")
            #expect(error.stage == .redirect)
            #expect(error.response?.status == 302)
            #expect(error.attempts.map(\.url.path) == ["/redirect/plain"])
        }
    }
}
