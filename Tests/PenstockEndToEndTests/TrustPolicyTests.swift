import Foundation
import Penstock
import PenstockTestSupport
import PenstockTesting
import Testing

/// Trust policies against nginx, with chains that `openssl` made.
@Suite(.needsServers, .timeLimit(.minutes(5)))
struct TrustPolicyTests {
    private static let nobodys = PublicKeyPin(ofKey: "nobody".utf8).description

    private func client(
        _ servers: TrustServers, _ site: TrustServers.Site, host: String = "localhost", _ trust: TrustPolicy,
        _ body: (APIClient) async throws -> Void
    ) async throws {
        try await Wire.libcurl.client(
            for: servers.url(site, host: host),
            with: {
                $0.options.trust = trust
                $0.cache = .none
            }, body)
    }

    /// What a call under a policy ends with.
    private func outcome(
        _ servers: TrustServers, _ site: TrustServers.Site, host: String = "localhost", _ trust: TrustPolicy
    ) async throws -> Result<Who.Reply, APIError> {
        var outcome: Result<Who.Reply, APIError>?
        try await client(servers, site, host: host, trust) { client in
            do throws(APIError) { outcome = .success(try await client.send(Who())) } catch { outcome = .failure(error) }
        }
        return try #require(outcome)
    }

    private func expect(_ outcome: Result<Who.Reply, APIError>, _ failure: TransportError.TLSFailure) {
        guard case .failure(let error) = outcome else {
            Issue.record("a call went through that had to fail as \(failure)")
            return
        }
        #expect(error.kind == .tls(failure))
        #expect(error.sendState == .unsent)
        #expect(error.attempts.count == 1)
    }

    // MARK: Certificates

    struct Bad: Sendable, CustomTestStringConvertible {
        let site: TrustServers.Site
        var host = "localhost"
        let failure: TransportError.TLSFailure

        var testDescription: String { "\(site) at \(host)" }
    }

    static let bad = [
        Bad(site: .expired, failure: .expired), Bad(site: .notYetValid, failure: .expired),
        Bad(site: .selfSigned, failure: .untrusted), Bad(site: .otherHost, failure: .wrongHost),
        Bad(site: .otherHost, host: "127.0.0.1", failure: .wrongHost),
        Bad(site: .otherAddress, host: "127.0.0.1", failure: .wrongHost),
        Bad(site: .commonNameOnly, failure: .wrongHost), Bad(site: .wildcard, failure: .wrongHost),
        Bad(site: .lookalike, failure: .wrongHost),
    ]

    @Test("A bad certificate fails closed, for its own reason, and is not tried again", .covers("H18"), arguments: bad)
    func badCertificates(bad: Bad) async throws {
        let servers = try await TrustServers.shared()
        expect(try await outcome(servers, bad.site, host: bad.host, .authorities(servers.authority)), bad.failure)
        // Pins that fit do not mend it.
        let pins = try PinSet(bad.host, pins: [servers.pins.authority, servers.pins.selfSigned])
        let pinned = try TrustPolicy.authorities(servers.authority).pinned([pins])
        expect(try await outcome(servers, bad.site, host: bad.host, pinned), bad.failure)
    }

    // MARK: Pins

    @Test(
        "The pin that openssl makes of the certificate, or of its authority, is the one that fits",
        .covers("S4.23", "S3.38"))
    func rightPins() async throws {
        let servers = try await TrustServers.shared()
        for pin in [servers.pins.good, servers.pins.authority] {
            let trust = try TrustPolicy.authorities(servers.authority)
                .pinned([PinSet("localhost", pins: [pin, Self.nobodys])])
            #expect(try await outcome(servers, .good, trust).get().client == "")
        }
    }

    @Test("A wrong pin fails, and so does a pinned certificate behind another chain", .covers("H19", "S4.23"))
    func wrongPins() async throws {
        let servers = try await TrustServers.shared()
        let sets = [
            try PinSet("localhost", pins: [Self.nobodys, servers.pins.selfSigned]),
            try PinSet("localhost", includesSubdomains: true, pins: [Self.nobodys, servers.pins.selfSigned]),
        ]
        for set in sets {
            let trust = try TrustPolicy.authorities(servers.authority).pinned([set])
            expect(try await outcome(servers, .good, trust), .pinMismatch)
            expect(try await outcome(servers, .appended, trust), .pinMismatch)
            // The same chain is good for who has not pinned the host.
            #expect(try await outcome(servers, .appended, host: "127.0.0.1", trust).get().connection > 0)
        }
    }

    @Test("Through a tunnel the origin is held to its pins, and the proxy learns nothing else", .covers("H19", "S4.23"))
    func tunnel() async throws {
        let (servers, proxies) = (try await TrustServers.shared(), try await ProxyServers.shared())
        let ways = [
            ProxyPolicy.http(proxies.guarded, credentials: ProxyServers.credentials),
            .socks5("127.0.0.1", port: proxies.socks, credentials: ProxyServers.credentials),
        ]
        for way in ways {
            let reports = Locked<[PinReport]>([])
            let reporter = PinReporter(every: .zero) { report in reports.withLock { $0.append(report) } }
            for (pin, isGood) in [(servers.pins.good, true), (servers.pins.selfSigned, false)] {
                let set = try PinSet("localhost", pins: [pin, Self.nobodys])
                let trust = try TrustPolicy.authorities(servers.authority).pinned([set], reporter: reporter)
                try await client(servers, .good, trust) { client in
                    let options = CallOptions.with { $0.proxy = way }
                    if isGood {
                        _ = try await client.send(Who(), options: options)
                    } else {
                        #expect(try await client.failure(Who(), options: options).kind == .tls(.pinMismatch))
                    }
                }
            }
            #expect(reports.withLock { $0.map(\.host) } == ["localhost"])
        }
    }

    // MARK: Versions and clients

    @Test("A server that speaks TLS 1.2 alone is refused by who wants more")
    func versions() async throws {
        let servers = try await TrustServers.shared()
        let trust = TrustPolicy.authorities(servers.authority)
        #expect(try await outcome(servers, .old, trust).get().version == "TLSv1.2")
        #expect(try await outcome(servers, .good, trust.minimumVersion(.tls13)).get().version == "TLSv1.3")
        expect(try await outcome(servers, .old, trust.minimumVersion(.tls13)), .handshake)
    }

    @Test("A client is who its certificate says, in whatever form that came")
    func clients() async throws {
        let servers = try await TrustServers.shared()
        let (certificate, key) = (
            try Data(contentsOf: servers.anna.certificate), try Data(contentsOf: servers.anna.key)
        )
        let forms: [ClientIdentity] = [
            .pem(certificates: certificate, key: key), .pem(certificates: certificate + key, key: certificate + key),
            .pem(certificates: certificate, key: servers.annasLockedKey, passphrase: TrustServers.passphrase),
            .pkcs12(servers.annasContainer, passphrase: TrustServers.passphrase),
        ]
        for form in forms {
            let trust = TrustPolicy.authorities(servers.authority).identified(by: form)
            #expect(try await outcome(servers, .members, trust).get().client == "CN=anna")
        }
        for form in [
            ClientIdentity.pem(certificates: certificate, key: servers.annasLockedKey),
            .pem(certificates: certificate, key: servers.annasLockedKey, passphrase: "wrong"),
            .pkcs12(servers.annasContainer, passphrase: "wrong"),
        ] {
            expect(
                try await outcome(servers, .members, .authorities(servers.authority).identified(by: form)),
                .clientCertificate)
        }
    }

    @Test(
        "Another certificate of the client's makes another connection, and goes on with no session", .covers("H20"),
        arguments: [true, false])
    func changedClients(closing: Bool) async throws {
        let servers = try await TrustServers.shared()
        func trust(_ identity: Certificates.Identity) throws -> TrustPolicy {
            .authorities(servers.authority).identified(
                by: .pem(
                    certificates: try Data(contentsOf: identity.certificate), key: try Data(contentsOf: identity.key)))
        }
        try await client(servers, .members, .authorities(servers.authority)) { client in
            var seen: [Who.Reply] = []
            for identity in [servers.anna, servers.bert, servers.anna, servers.bert] {
                seen.append(try await client.send(Who(closing: closing), options: .trust(trust(identity))))
            }
            #expect(seen.map(\.client) == ["CN=anna", "CN=bert", "CN=anna", "CN=bert"])
            #expect(seen.prefix(2).map(\.session) == [".", "."])
            #expect(Set(seen.map(\.connection)).count == (closing ? 4 : 2))
        }
    }

    // MARK: Revocation

    @Test("A certificate on the authority's list is refused, and so is any without a list that holds")
    func lists() async throws {
        let servers = try await TrustServers.shared()
        let trust = TrustPolicy.authorities(servers.authority)
        #expect(try await outcome(servers, .revoked, trust).get().connection > 0)
        #expect(try await outcome(servers, .good, trust.revocation(.lists(servers.revocations))).get().connection > 0)
        expect(try await outcome(servers, .revoked, trust.revocation(.lists(servers.revocations))), .revoked)
        expect(
            try await outcome(servers, .good, trust.revocation(.lists(servers.staleRevocations))), .revocationUnknown)
        expect(
            try await outcome(servers, .good, trust.revocation(.lists(servers.forgedRevocations))), .revocationUnknown)
        expect(try await outcome(servers, .good, trust.revocation(.lists(servers.authority))), .trustMaterial)
    }

    @Test("A stapled word is believed, and who has none is refused, also when a session could go on")
    func staples() async throws {
        let servers = try await TrustServers.shared()
        let trust = TrustPolicy.authorities(servers.authority).revocation(.stapled)
        try await client(servers, .stapled, trust) { client in
            for _ in 1...3 {
                let reply = try await client.send(Who(closing: true))
                #expect(reply.session == ".")
            }
        }
        expect(try await outcome(servers, .revokedStapled, trust), .revoked)
        expect(try await outcome(servers, .good, trust), .revocationUnknown)
    }
}
