import Foundation
import PenstockCore

extension TransportConformance {
    /// A handshake that fails is an error of its kind, and nothing of the request was sent.
    public static let secureHandshakes: [Rule] =
        certificates.map { refusal($0, over: $1, $2) } + broken.map { interruption($0, $1) } + [
            Rule("An authority that only the app knows is not the system's", over: .unknown) { probe in
                try await expect(probe.failure(.post, timeouts: soon), .tls(.untrusted), sendState: .unsent)
                try expect(probe.server.requestCount, is: 0, "requests")
            },
            Rule(
                "A certificate is refused: for every host of a top-level domain",
                over: .tls.with { $0.certificate = .hosts(["*.test"]) }, and: .hostResolvers
            ) { probe in
                for host in ["shop.test", "shop.test."] {
                    var exchange = try probe.exchange(.post, timeouts: soon)
                    exchange.request.url = try HTTPURL("https://\(host):\(probe.server.url.port)/")
                    exchange.resolver = HostResolver(
                        [try StaticHosts(["shop.test": ["127.0.0.1"]])], fallsBackToSystem: false)
                    try await expect(probe.failure(of: exchange), .tls(.wrongHost), sendState: .unsent)
                }
                try expect(probe.server.requestCount, is: 0, "requests")
            },
            Rule("A certificate that was refused is refused again", over: .tls.with { $0.certificate = .expired }) {
                probe in
                for _ in 1...3 {
                    try await expect(probe.failure(.post, timeouts: soon), .tls(.expired), sendState: .unsent)
                }
                try expect(probe.server.requestCount, is: 0, "requests")
            },
            Rule("A certificate is good for one policy and not for another", over: .tls) { probe in
                try await probe.send(timeouts: soon)
                let other = try Scene.otherTrust()
                defer { withExtendedLifetime(other.authority) {} }
                var exchange = try probe.exchange(.post, timeouts: soon)
                exchange.trust = other.policy
                try await expect(probe.failure(of: exchange), .tls(.untrusted), sendState: .unsent)
                exchange.trust = probe.trust
                _ = try await probe.transport.perform(exchange)
                try expect(probe.server.requestCount, is: 2, "requests")
            },
            Rule("Authorities that cannot be read are told, and nothing is sent", over: .tls) { probe in
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                for text in [nil, "", "no certificate at all"] + (try probe.damagedAuthorities) {
                    try text.map { try Data($0.utf8).write(to: file) }
                    var exchange = try probe.exchange(.post, timeouts: soon)
                    exchange.trust = .authorities(file)
                    try await expect(probe.failure(of: exchange), .tls(.trustMaterial), sendState: .unsent)
                }
                try? FileManager.default.removeItem(at: file)
                try expect(probe.server.requestCount, is: 0, "requests")
            },
            Rule(
                "A handshake that hangs ends at the time for connecting", over: .tls, and: .connectTimeout,
                onConnect: { .init(.stall, at: $0 == 1 ? .accept : .firstBytes) }
            ) { probe in
                let limits = Timeouts(connect: .milliseconds(500), firstByte: nil, idle: nil, total: .seconds(20))
                for _ in 1...2 {
                    try await expect(probe.failure(.post, timeouts: limits), .timeout(.connect), sendState: .unsent)
                }
            },
            Rule(
                "A handshake that hangs ends at the total time", over: .unknown, and: .timings,
                onConnect: { _ in .init(.stall, at: .firstBytes) }
            ) { probe in
                try await expect(
                    probe.failure(.post, timeouts: .total(.seconds(1))), .timeout(.total), sendState: .unsent)
            },
            Rule(
                "Cancelling ends a handshake", over: .unknown, and: .timings,
                onConnect: { _ in .init(.stall, at: .firstBytes) }
            ) { probe in
                let control = ExchangeControl()
                async let error = probe.failure(.post, timeouts: soon, control: control)
                try await probe.server.waitForConnections(count: 1)
                control.cancel()
                try await expect(error, .cancelled, sendState: .unsent)
            },
            Rule(
                "After a handshake that failed the next may go well", over: .tls,
                onConnect: { $0 == 1 ? .init(.close, at: .firstBytes) : nil }
            ) { probe in
                try await expect(probe.failure(.post, timeouts: soon), .tls(.handshake), sendState: .unsent)
                try expect(await probe.send(.post, timeouts: soon).status, is: 200, "status")
            },
            Rule("A chain by way of another authority is good", over: .tls.with { $0.signature = .intermediate }) {
                probe in
                try expect(await probe.send(timeouts: soon).status, is: 200, "status")
            },
            Rule("TLS 1.2 is spoken", over: .tls.with { $0.versions = .tls12 ... .tls12 }) { probe in
                try await probe.send(timeouts: soon)
                try expect(probe.server.connections.first?.handshake?.version, is: "TLSv1.2", "version")
            },
            Rule("TLS 1.3 is spoken where the server can", over: .tls) { probe in
                try await probe.send(timeouts: soon)
                try expect(probe.server.connections.first?.handshake?.version, is: "TLSv1.3", "version")
            },
            Rule("A host is named in the handshake, an address is not", over: .tls) { probe in
                try await probe.send(timeouts: soon)
                let url = try HTTPURL("https://localhost:\(probe.server.url.port)/")
                let named = TransportRequest(
                    HTTPRequest(method: .get, url: url), timeouts: soon, isolation: IsolationKey(trust: probe.trust))
                _ = try await probe.transport.perform(named)
                let names = probe.server.connections.map { $0.handshake?.serverName }
                try expect(names, is: [nil, "localhost"], "names")
            },
        ]

    // MARK: Certificates

    private static let certificates: [(String, Security, TransportError.TLSFailure)] = [
        ("expired", .tls.with { $0.certificate = .expired }, .expired),
        ("not valid yet", .tls.with { $0.certificate = .notYetValid }, .expired),
        ("for another host", .tls.with { $0.certificate = .wrongHost }, .wrongHost),
        ("for a host by its common name only", .tls.with { $0.certificate = .commonNameOnly("127.0.0.1") }, .wrongHost),
        (
            "for a host that looks alike", .tls.with { $0.certificate = .hosts(["127.0.0.1.elsewhere.test"]) },
            .wrongHost
        ),
        ("for any host", .tls.with { $0.certificate = .hosts(["*"]) }, .wrongHost),
        ("signed by itself", .tls.with { $0.signature = .own }, .untrusted),
        ("signed by nobody known", .tls.with { $0.signature = .unknown }, .untrusted),
        ("expired, with HTTP/2", .http2.with { $0.certificate = .expired }, .expired),
        ("for another host, with HTTP/2", .http2.with { $0.certificate = .wrongHost }, .wrongHost),
    ]

    private static func refusal(
        _ name: String, over security: Security, _ failure: TransportError.TLSFailure
    ) -> Rule {
        Rule("A certificate is refused: \(name)", over: security) { probe in
            let error = try await probe.failure(.post, body: .bytes(allBytes), timeouts: soon)
            try expect(error, .tls(failure), sendState: .unsent)
            try expect(probe.server.requestCount, is: 0, "requests")
            try expect(probe.server.openConnectionCount <= 1, "connections")
        }
    }

    // MARK: What comes instead of a handshake

    private static let broken: [(String, LoopbackServer.ConnectionFault)] = [
        ("it is closed", .init(.close, at: .firstBytes)),
        ("it is closed before it begins", .init(.close, at: .accept)),
        ("it is reset", .init(.reset, at: .firstBytes)),
        ("the server refuses with an alert", .init(.alert(40), at: .firstBytes)),
        ("the server knows no such name", .init(.alert(112), at: .firstBytes)),
        ("the server wants another version", .init(.alert(70), at: .firstBytes)),
        ("the server speaks plain HTTP", .init(.send(Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), at: .firstBytes)),
        ("the server speaks no protocol at all", .init(.send(Data(repeating: 0xA5, count: 300)), at: .firstBytes)),
        ("the server insists on TLS 1.1", .init(.send(serverHello(version: [3, 2])), at: .firstBytes)),
        ("the server insists on SSL 3.0", .init(.send(serverHello(version: [3, 0])), at: .firstBytes)),
    ]

    private static func interruption(_ name: String, _ fault: LoopbackServer.ConnectionFault) -> Rule {
        // Who cannot tell the phases of an exchange cannot tell a reset in its handshake from a later one.
        Rule(
            "A handshake fails: \(name)", over: .unknown, and: fault.effect == .reset ? .timings : [],
            onConnect: { _ in fault }
        ) { probe in
            for method in [HTTPMethod.post, .get] {
                let error = try await probe.failure(method, timeouts: soon)
                try expect(error, .tls(.handshake), sendState: .unsent)
            }
        }
    }

    /// A hello with a cipher that was common then (RFC 5246 §7.4.1.3).
    private static func serverHello(version: [UInt8]) -> Data {
        let hello = Data(version) + Data(count: 32) + [0, 0xC0, 0x13, 0]
        let message = Data([2]) + Frames.number(hello.count, bytes: 3) + hello
        return Data([0x16] + version) + Frames.number(message.count, bytes: 2) + message
    }
}
