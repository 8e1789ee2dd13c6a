import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a policy asks of a transport, and what tells it from others.
@Suite(.timeLimit(.minutes(5))) struct TrustPolicyTests {
    private static let file = URL(fileURLWithPath: "/authority.pem")
    private static let pem = ClientIdentity.pem(certificates: Data("c".utf8), key: Data("k".utf8))
    private static let container = ClientIdentity.pkcs12(Data("p".utf8), passphrase: "word")

    private static func pins(_ host: String = "a.example", _ first: Int = 0) throws -> PinSet {
        try PinSet(host, keys: [PublicKeyPin(ofKey: [UInt8(first)]), PublicKeyPin(ofKey: [9])])
    }

    private static func policies() throws -> [(TrustPolicy, TransportCapabilities)] {
        [
            (.system, []), (.authorities(file), .trustPolicy), (.system.minimumVersion(.tls13), .trustPolicy),
            (try .system.pinned([pins()]), [.trustPolicy, .pinning]),
            (.system.identified(by: container), [.trustPolicy, .clientCertificates]),
            (.system.identified(by: pem), [.trustPolicy, .clientCertificates, .pemIdentities]),
            (.system.revocation(.stapled), [.trustPolicy, .revocation]),
            (.system.revocation(.lists(file)), [.trustPolicy, .revocation]),
            (
                try .authorities(file).minimumVersion(.tls13).pinned([pins()]).identified(by: pem).revocation(.stapled),
                [.trustPolicy, .pinning, .clientCertificates, .pemIdentities, .revocation]
            ),
        ]
    }

    @Test func `a policy needs what it asks for, and no more`() throws {
        for (policy, needed) in try Self.policies() { #expect(policy.requires == needed, "\(policy)") }
        #expect(TrustPolicy.system.minimumVersion(.tls12) == .system)
        #expect(TrustPolicy.system.identified(by: Self.pem).identified(by: nil) == .system)
        #expect(TrustPolicy.Version.tls12 < .tls13)
        #expect([TrustPolicy.Version.tls12, .tls13].allSatisfy { !($0 < $0) })
    }

    @Test func `a policy prints what it asks for beyond the system's own`() throws {
        let texts = try Self.policies().map { "\($0.0)" }
        #expect(texts[0] == "system")
        #expect(texts[2] == "system, tls13")
        #expect(texts[3] == "system, pins for a.example")
        #expect(texts[4] == "system, a client certificate" && texts[5] == texts[4])
        #expect(texts[6] == "system, revocation stapled")
        #expect(texts[8].hasSuffix(", tls13, pins for a.example, a client certificate, revocation stapled"))
    }

    @Test("Whatever is changed of a policy, it is another one, with connections of its own", .covers("H20"))
    func distinct() throws {
        var policies = try Self.policies().map(\.0)
        policies += [
            .authorities(URL(fileURLWithPath: "/other.pem")),
            try .system.pinned([Self.pins("a.example", 1)]), try .system.pinned([Self.pins("b.example")]),
            try .system.pinned([Self.pins(), Self.pins("b.example")]),
            .system.identified(by: .pem(certificates: Data("d".utf8), key: Data("k".utf8))),
            .system.identified(by: .pem(certificates: Data("c".utf8), key: Data("l".utf8))),
            .system.identified(by: .pkcs12(Data("q".utf8), passphrase: "word")),
        ]
        let set = try Self.pins()
        for other in [
            try PinSet("a.example", includesSubdomains: true, keys: Array(set.pins)),
            try PinSet("a.example", keys: Array(set.pins), expires: Date(timeIntervalSince1970: 1)),
            try PinSet("a.example", keys: Array(set.pins), expires: Date(timeIntervalSince1970: 2)),
            try PinSet("a.example", keys: Array(set.pins), mode: .reportOnly),
        ] { policies.append(try .system.pinned([other])) }
        #expect(Set(policies).count == policies.count)
        #expect(Set(policies.map { IsolationKey(trust: $0) }).count == policies.count)
        #expect(Set(policies.map { IsolationKey(trust: $0).partition }).count == policies.count)
    }

    @Test func `pins make the same policy in whatever order their keys are given`() throws {
        let keys = (0..<5).map { PublicKeyPin(ofKey: [UInt8($0)]) }
        let (one, other) = (
            try TrustPolicy.system.pinned([PinSet("a.example", keys: keys)]),
            try TrustPolicy.system.pinned([PinSet("a.example", keys: keys.reversed())])
        )
        #expect(one == other && IsolationKey(trust: one).partition == IsolationKey(trust: other).partition)
    }

    @Test func `a client identity prints nothing of itself`() {
        for value in [Self.pem, Self.container] {
            #expect("\(value) \(value.form) \(TrustPolicy.system.identified(by: value))".contains("word") == false)
            var text = ""
            dump(TrustPolicy.system.identified(by: value), to: &text)
            #expect(!text.contains("word") && !text.contains("1 bytes"))
        }
    }

    // MARK: Refused up front

    private struct Ping: Endpoint {
        typealias Output = Data
        let route = Route.get("/ping")
    }

    @Test("A transport that cannot keep a part of the policy is not given the request")
    func refusal() async throws {
        for (policy, needed) in try Self.policies() where !needed.isEmpty {
            for capability in [
                TransportCapabilities.trustPolicy, .pinning, .clientCertificates, .pemIdentities, .revocation,
            ]
            where needed.contains(capability) {
                let transport = ScriptedTransport([], capabilities: .all.subtracting(capability))
                let client = APIClient("https://a.example", options: .trust(policy), transport: transport)
                let error = await #expect(throws: APIError.self) { try await client.send(Ping()) }
                #expect(
                    error?.kind == .unsupported(feature: "a trust policy that needs \(capability)"),
                    "\(policy) without \(capability)")
                #expect(transport.requests.isEmpty)
                #expect(await !client.preconnect(to: .main))
            }
        }
    }

    // MARK: Redirects

    @Test("The client's certificate is for the server that the app asks, and for no other that a redirect leads to")
    func redirects() async throws {
        let identity = ClientIdentity.pem(certificates: Data("certificate".utf8), key: Data("key".utf8))
        let there = ["https://b.example/ping", "https://a.example:8443/ping", "https://a.example/pong"]
        let script = ScriptedTransport(
            there.map { .respond(HTTPResponse(status: 307, fields: ["Location": $0])) } + [
                .respond(HTTPResponse(status: 200))
            ])
        let trust = TrustPolicy.system.minimumVersion(.tls13).identified(by: identity)
        _ = try await APIClient("https://a.example", options: .trust(trust), transport: script).send(Ping())
        #expect(script.requests.map(\.request.url.host) == ["a.example", "b.example", "a.example", "a.example"])
        #expect(script.requests.map { $0.isolation.trust.identity != nil } == [true, false, false, true])
        #expect(
            script.requests.allSatisfy { $0.isolation.trust.minimumVersion == .tls13 }, "the rest of the policy holds")
    }
}
