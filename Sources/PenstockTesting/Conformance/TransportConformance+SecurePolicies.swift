import Foundation
import PenstockCore

extension TransportConformance {
    /// What a trust policy asks for beyond its authorities: pins, a version, a client's certificate. What a transport cannot
    /// keep of it, it refuses before it sends.
    public static let securePolicies: [Rule] =
        pinnedChains + pinning + clients + refusals + [
            Rule("A version of TLS before the least is not spoken", over: .tls.with { $0.versions = .tls12 ... .tls12 })
            {
                probe in
                let error = try await probe.failure(of: probe.exchange(under: probe.trust.minimumVersion(.tls13)))
                try expect(error, .tls(.handshake), sendState: .unsent)
                try expect(probe.server.requestCount, is: 0, "requests")
            },
            Rule("The least version of TLS is spoken", over: .tls) { probe in
                _ = try await probe.transport.perform(probe.exchange(under: probe.trust.minimumVersion(.tls13)))
                try expect(probe.server.connections.first?.handshake?.version, is: "TLSv1.3", "version")
            },
        ]

    // MARK: Pins

    private static let pinnedChains: [Rule] =
        [("TLS 1.2", Security.tls.with { $0.versions = .tls12 ... .tls12 }), ("TLS 1.3", .tls), ("HTTP/2", .http2)]
        .flatMap {
            name, security in
            [
                Rule("A chain without a pin is refused each time, over \(name)", over: security, and: .pinning) {
                    probe in
                    let reports = Locked<[PinReport]>([])
                    let trust = try probe.pinned([stranger, spare], reporter: reporter(to: reports))
                    for _ in 1...3 {
                        let error = try await probe.failure(of: probe.exchange(.post, under: trust))
                        try expect(error, .tls(.pinMismatch), sendState: .unsent)
                    }
                    try expect(probe.server.requestCount, is: 0, "requests")
                    let seen = reports.withLock { $0 }
                    try expect(seen.map(\.isRefused), is: [true, true, true], "reports")
                    try expect(seen.first?.host, is: "127.0.0.1", "host of the report")
                    try expect(seen.first?.chain, is: try probe.chain(), "chain of the report")
                },
                Rule("A chain with a pin is good, over \(name)", over: security, and: .pinning) { probe in
                    let reports = Locked<[PinReport]>([])
                    for key in try probe.chain() {
                        let trust = try probe.pinned([spare, key], reporter: reporter(to: reports))
                        try expect(
                            await probe.transport.perform(probe.exchange(under: trust)).response.status, is: 200,
                            "status")
                    }
                    try expect(reports.withLock(\.count), is: 0, "reports")
                },
            ]
        }

    private static let pinning: [Rule] = [
        Rule(
            "A pinned certificate that is appended to another chain is no part of it",
            over: .tls.with { $0.isAppended = true }, and: .pinning
        ) { probe in
            guard let appended = probe.keys.appended else { throw Unmet(description: "nothing was appended") }
            let trust = try probe.pinned([spare, appended])
            try await expect(probe.failure(of: probe.exchange(under: trust)), .tls(.pinMismatch), sendState: .unsent)
            try expect(probe.server.requestCount, is: 0, "requests")
            // The same chain is good without pins, so that it was they that refused it.
            try await probe.send(timeouts: soon)
        },
        Rule("Pins do not make an unknown authority a known one", over: .unknown, requires: [.trustPolicy, .pinning]) {
            probe in
            let trust = try probe.pinned(probe.chain())
            try await expect(probe.failure(of: probe.exchange(under: trust)), .tls(.untrusted), sendState: .unsent)
        },
        Rule(
            "Pins that have expired are reported on, and so are those that are only for that", over: .tls, and: .pinning
        ) {
            probe in
            let reports = Locked<[PinReport]>([])
            let sets = [
                try PinSet("127.0.0.1", keys: [stranger, spare], expires: Date(timeIntervalSinceNow: -1)),
                try PinSet("127.0.0.1", keys: [stranger, spare], mode: .reportOnly),
            ]
            for set in sets {
                let trust = try probe.trust.pinned([set], reporter: reporter(to: reports))
                _ = try await probe.transport.perform(probe.exchange(under: trust))
            }
            try expect(reports.withLock { $0.map(\.isRefused) }, is: [false, false], "reports")
        },
        Rule("Pins of other hosts are not asked", over: .tls, and: .pinning) { probe in
            let trust = try probe.trust.pinned([
                PinSet("elsewhere.test", includesSubdomains: true, keys: [stranger, spare]),
                PinSet("27.0.0.1", includesSubdomains: true, keys: [stranger, spare]),
            ])
            _ = try await probe.transport.perform(probe.exchange(under: trust))
        },
        Rule("The pins of a name are asked for that name, however it is written", over: .tls, and: .pinning) { probe in
            let trust = try probe.trust.pinned([PinSet("localhost", keys: [stranger, spare])])
            for host in ["localhost", "LOCALHOST", "\u{24DB}ocalhost"] {
                var exchange = try probe.exchange(under: trust)
                exchange.request.url = try HTTPURL("https://\(host):\(probe.server.url.port)/")
                try await expect(probe.failure(of: exchange), .tls(.pinMismatch), sendState: .unsent)
            }
        },
        Rule("A connection made without pins serves nobody who has some", over: .tls, and: [.pinning, .partitions]) {
            probe in
            try await probe.send(timeouts: soon)
            let trust = try probe.pinned([stranger, spare])
            for _ in 1...2 {
                try await expect(
                    probe.failure(of: probe.exchange(under: trust)), .tls(.pinMismatch), sendState: .unsent)
            }
            try await probe.send(timeouts: soon)
            try expect(probe.server.connectionCount, is: 3, "connections")
        },
        Rule(
            "A connection that is made beforehand has to have the pins", over: .tls, and: [.pinning, .preconnection]
        ) { probe in
            let exchange = try probe.exchange(under: probe.pinned([stranger, spare]))
            do throws(TransportError) {
                try await probe.transport.preconnect(exchange)
            } catch { return try expect(error, .tls(.pinMismatch), sendState: .unsent) }
            throw Unmet(description: "a connection was made")
        },
        Rule("A stream has to have the pins", over: .tls, and: [.pinning, .streamedResponses]) { probe in
            let exchange = try probe.exchange(under: probe.pinned([stranger, spare]))
            do throws(TransportError) {
                _ = try await probe.transport.open(exchange)
            } catch { return try expect(error, .tls(.pinMismatch), sendState: .unsent) }
            throw Unmet(description: "a stream was opened")
        },
    ]

    /// Two keys that nobody has.
    private static let stranger = PublicKeyPin(ofKey: "stranger".utf8)
    private static let spare = PublicKeyPin(ofKey: "spare".utf8)

    private static func reporter(to reports: Locked<[PinReport]>) -> PinReporter {
        PinReporter(every: .zero) { report in reports.withLock { $0.append(report) } }
    }

    // MARK: The client's certificate

    private static let asking = Security.tls.with { $0.asksForClient = true }

    private static let clients: [Rule] = [
        Rule("A client shows its certificate, in PEM", over: asking, and: [.clientCertificates, .pemIdentities]) {
            probe in
            _ = try await probe.transport.perform(probe.exchange(as: probe.keys.clients.first))
            try expect(probe.server.connections.first?.handshake?.clientName, is: "anna", "name")
        },
        Rule("A client shows its certificate, in PKCS#12", over: asking, and: .clientCertificates) { probe in
            _ = try await probe.transport.perform(probe.exchange(as: probe.keys.container))
            try expect(probe.server.connections.first?.handshake?.clientName, is: "anna", "name")
        },
        Rule(
            "Without a certificate that the server asks for there is no answer", over: asking, and: .clientCertificates
        ) {
            probe in
            let error = try await probe.failure(of: probe.exchange(.post, under: probe.trust))
            try expect(error, .tls(.handshake), .connectionLost)
            try expect(probe.server.requestCount, is: 0, "requests")
        },
        Rule(
            "Two certificates share no connection and no session", over: asking,
            and: [.clientCertificates, .pemIdentities, .partitions], server: { _ in .text("ok").ending(.close) }
        ) { probe in
            var known: Set<Int> = []
            for index in [0, 1, 0, 1] {
                _ = try await probe.transport.perform(probe.exchange(as: probe.keys.clients[index]))
                let handshake = probe.server.connections.last?.handshake
                try expect(handshake?.clientName, is: ["anna", "bert"][index], "name")
                try expect(handshake?.isResumed != true || known.contains(index), "a session of another went on")
                known.insert(index)
            }
            try expect(probe.server.connectionCount, is: 4, "connections")
        },
        Rule(
            "A certificate with another's key is told, and nothing is sent", over: asking,
            and: [.clientCertificates, .pemIdentities]
        ) { probe in
            try await refusesIdentities(
                probe,
                [
                    probe.keys.mismatched, .pem(certificates: Data(), key: Data()),
                    .pem(certificates: Data("no PEM".utf8), key: Data("no PEM".utf8)),
                ])
        },
        Rule(
            "A damaged certificate behind the client's own is told, and nothing is sent", over: asking,
            and: [.clientCertificates, .pemIdentities]
        ) { probe in
            guard case .pem(let certificates, let key, _)? = probe.keys.clients.first?.form else {
                throw Unmet(description: "no certificate in PEM")
            }
            let chains = DamagedPEM.variants(of: String(decoding: certificates, as: UTF8.self))
            try await refusesIdentities(probe, chains.map { .pem(certificates: Data($0.utf8), key: key) })
        },
        Rule("A container that cannot be read is told, and nothing is sent", over: asking, and: .clientCertificates) {
            probe in
            guard case .pkcs12(let data, _)? = probe.keys.container?.form else {
                throw Unmet(description: "no container")
            }
            try await refusesIdentities(
                probe,
                [
                    .pkcs12(data, passphrase: "wrong"), .pkcs12(Data(), passphrase: ""),
                    .pkcs12(data.dropLast(), passphrase: "x"),
                    .pkcs12(Data(repeating: 0x30, count: 100), passphrase: ""),
                ])
        },
    ]

    private static func refusesIdentities(_ probe: Probe, _ identities: [ClientIdentity?]) async throws {
        for identity in identities {
            let error = try await probe.failure(of: probe.exchange(.post, as: identity))
            try expect(error, .tls(.clientCertificate), sendState: .unsent)
        }
        try expect(probe.server.requestCount, is: 0, "requests")
    }

    // MARK: Refused before anything is sent

    private static let refusals: [Rule] = [
        refusal("pins", .pinning) { try $0.pinned([PinSet("127.0.0.1", keys: [stranger, spare])]) },
        refusal("a client's certificate", .clientCertificates) { $0.identified(by: .pkcs12(Data(), passphrase: "")) },
        refusal("a client's certificate in PEM", .pemIdentities) {
            $0.identified(by: .pem(certificates: Data(), key: Data()))
        },
        refusal("a word on revocation", .revocation) { $0.revocation(.stapled) },
        refusal("a least version", .trustPolicy) { $0.minimumVersion(.tls13) },
    ]

    private static func refusal(
        _ what: String, _ capability: TransportCapabilities,
        _ policy: @escaping @Sendable (TrustPolicy) throws -> TrustPolicy
    ) -> Rule {
        Rule("Who cannot keep \(what) says so, and sends nothing", excludes: capability, needsWire: true) { probe in
            let error = try await probe.failure(of: probe.exchange(under: policy(.system)))
            guard case .unsupported = error.kind, error.sendState == .unsent else {
                throw Unmet(description: "failed with \(error.kind), \(error.sendState)")
            }
            try expect(probe.server.connectionCount, is: 0, "connections")
        }
    }
}

extension TransportConformance.Probe {
    fileprivate func exchange(_ method: HTTPMethod = .get, under trust: TrustPolicy) throws -> TransportRequest {
        var exchange = try exchange(method, timeouts: TransportConformance.soon)
        exchange.trust = trust
        return exchange
    }

    fileprivate func exchange(_ method: HTTPMethod = .get, as identity: ClientIdentity?) throws -> TransportRequest {
        guard let identity else { throw Unmet(description: "there is no identity") }
        return try exchange(method, under: trust.identified(by: identity))
    }

    /// The policy of the scene with pins for the server's address.
    fileprivate func pinned(_ keys: [PublicKeyPin], reporter: PinReporter? = nil) throws -> TrustPolicy {
        try trust.pinned([PinSet("127.0.0.1", keys: keys)], reporter: reporter)
    }

    /// The pins of the chain that leads to the authority.
    fileprivate func chain() throws -> [PublicKeyPin] {
        let chain = [keys.server, keys.authority].compactMap(\.self)
        try TransportConformance.expect(chain.count, is: 2, "keys of the chain")
        return chain
    }
}

/// PEM texts of several certificates of which one is damaged.
enum DamagedPEM {
    /// - Parameter text: the good certificates, which stand first in each variant; and last, where another is to follow.
    static func variants(of text: String) -> [String] {
        let lines = text.split(separator: "\n")
        let lacking = lines.prefix(2) + lines.dropFirst(3)
        let garbled = lines.prefix(1) + ["*" + lines[1].dropFirst()] + lines.dropFirst(2)
        let damaged = [Array(lacking), Array(garbled), Array(lines.dropFirst()), Array(lines.dropLast())]
        return damaged.flatMap { lines in
            let other = lines.joined(separator: "\n") + "\n"
            return [text + other, text + other + text]
        }
    }
}

extension TransportConformance.Probe {
    /// What the policy trusts, with a damaged certificate beside it.
    var damagedAuthorities: [String?] {
        get throws {
            guard case .file(let file) = trust.anchors else { return [] }
            return DamagedPEM.variants(of: try String(contentsOf: file, encoding: .utf8))
        }
    }
}
