import Foundation
import Penstock
import PenstockTestSupport
import PenstockTesting
import Testing

/// What channels make of a trust policy against nginx, with chains, lists and staples that `openssl` made; directly, through
/// squid's tunnel and through microsocks.
@Suite(.needsServers, .timeLimit(.minutes(5)))
struct ChannelTrustTests {
    /// A channel, and its way to the server.
    struct Road: Sendable, CustomTestStringConvertible {
        enum Kind: CaseIterable, Sendable {
            case tcp, webSocket
        }

        enum Way: CaseIterable, Sendable {
            case direct, tunnel, socks
        }

        let kind: Kind
        let way: Way

        var testDescription: String { "\(kind), \(way)" }

        static let all = Kind.allCases.flatMap { kind in Way.allCases.map { Road(kind: kind, way: $0) } }

        func policy(_ proxies: ProxyServers) -> ProxyPolicy {
            switch way {
            case .direct: .none
            case .tunnel: .http(proxies.guarded, credentials: ProxyServers.credentials)
            case .socks: .socks5("127.0.0.1", port: proxies.socks, credentials: ProxyServers.credentials)
            }
        }
    }

    struct Meeting: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let site: TrustServers.Site
        /// Why no channel opens; `nil` where each does.
        let failure: TransportError.TLSFailure?
        let trust: @Sendable (TrustServers, TrustPolicy) throws -> TrustPolicy

        /// - Parameter trust: makes it of a policy that trusts the servers' authority alone.
        init(
            _ name: String, _ site: TrustServers.Site, _ failure: TransportError.TLSFailure? = nil,
            _ trust: @escaping @Sendable (TrustServers, TrustPolicy) throws -> TrustPolicy = { $1 }
        ) {
            (testDescription, self.site, self.failure, self.trust) = (name, site, failure, trust)
        }
    }

    // MARK: The client

    /// Opens a channel, and has the server answer on it.
    ///
    /// - Returns: what nginx saw of the connection; `nil` for a WebSocket, which it hands on.
    private func meet(_ road: Road, _ client: APIClient, port: Int) async throws -> Who.Reply? {
        switch road.kind {
        case .webSocket:
            let socket = client.webSocket("/chat", WebSocketOptions(subprotocols: ["chat"]))
            try await socket.send("hello")
            var messages = socket.messages.makeAsyncIterator()
            let answer = try await messages.next()
            #expect(answer == "hello")
            await socket.close()
            return nil
        case .tcp:
            let channel = client.tcp("localhost", port: port, codec: LineCodec())
            // An app's own protocol that nginx happens to know.
            for line in ["GET /who HTTP/1.0", "Host: localhost", ""] { try await channel.send(line) }
            var reply: String?
            for try await line in channel.messages where line.hasPrefix("{") {
                reply = line
                break
            }
            await channel.close()
            return try JSONDecoder().decode(Who.Reply.self, from: Data(try #require(reply).utf8))
        }
    }

    private func client(
        _ road: Road, to meeting: Meeting, _ body: (APIClient, _ port: Int) async throws -> Void
    ) async throws {
        let (servers, proxies) = (try await TrustServers.shared(), try await ProxyServers.shared())
        let url = servers.url(meeting.site)
        let trust = try meeting.trust(servers, .authorities(servers.authority))
        try await Wire.libcurl.client(
            for: url,
            with: {
                $0.options.trust = trust
                $0.options.proxy = road.policy(proxies)
            },
            { client in try await body(client, try HTTPURL(url).port) })
    }

    // MARK: Opened

    private static let opened = [
        Meeting("a list of revoked certificates on which it is not", .good) { $1.revocation(.lists($0.revocations)) },
        Meeting("a staple that says it is good", .stapled) { $1.revocation(.stapled) },
        Meeting("a certificate that was taken back, without a word on revocation", .revoked),
        Meeting("a pin of its key", .good) { try $1.pinned([pins($0.pins.good)]) },
        Meeting("a pin of its authority's key", .good) { try $1.pinned([pins($0.pins.authority)]) },
        Meeting("a list and a pin", .good) {
            try $1.revocation(.lists($0.revocations)).pinned([pins($0.pins.good)])
        },
        Meeting("a staple and a pin", .stapled) { try $1.revocation(.stapled).pinned([pins($0.pins.good)]) },
        Meeting("a client's certificate", .members) { try $1.identified(by: anna($0)) },
        Meeting("TLS 1.2 where that is enough", .old),
    ]

    @Test(
        "A channel opens to a server that the policy trusts, and so does the next one, each by a handshake of its own",
        .covers("S4.23", "S3.38"), arguments: Road.all, opened)
    func opens(road: Road, meeting: Meeting) async throws {
        try await client(road, to: meeting) { client, port in
            for _ in 1...2 {
                guard let reply = try await meet(road, client, port: port) else { continue }
                #expect(reply.client == (meeting.site == .members ? "CN=anna" : ""))
                #expect(reply.session == ".")
            }
        }
    }

    // MARK: Refused

    private static let refused = [
        Meeting("a list on which it is", .revoked, .revoked) { $1.revocation(.lists($0.revocations)) },
        Meeting("a list that is out of date", .good, .revocationUnknown) { $1.revocation(.lists($0.staleRevocations)) },
        Meeting("a list with a signature that does not fit", .good, .revocationUnknown) {
            $1.revocation(.lists($0.forgedRevocations))
        },
        Meeting("a staple that says it was taken back", .revokedStapled, .revoked) { $1.revocation(.stapled) },
        Meeting("no staple", .good, .revocationUnknown) { $1.revocation(.stapled) },
        Meeting("no staple of one that was taken back", .revoked, .revocationUnknown) { $1.revocation(.stapled) },
        Meeting("a list on which it is, and its pin", .revoked, .revoked) {
            try $1.revocation(.lists($0.revocations)).pinned([pins($0.pins.authority)])
        },
        Meeting("a wrong pin", .good, .pinMismatch) { try $1.pinned([pins(nobodys)]) },
        Meeting("a wrong pin, and a staple that says it is good", .stapled, .pinMismatch) {
            try $1.revocation(.stapled).pinned([pins(nobodys)])
        },
        Meeting("a pinned certificate behind another chain", .appended, .pinMismatch) {
            try $1.pinned([pins($0.pins.selfSigned)])
        },
        Meeting("a self-signed certificate with its pin", .selfSigned, .untrusted) {
            try $1.pinned([pins($0.pins.selfSigned)])
        },
        Meeting("an expired certificate", .expired, .expired),
        Meeting("a certificate of another host", .otherHost, .wrongHost),
        Meeting("a version of TLS that is too old", .old, .handshake) { $1.minimumVersion(.tls13) },
    ]

    @Test(
        "A server that the policy refuses gets no channel, for a reason of its own, whatever is between",
        .covers("H18", "H19", "S4.23", "S3.38"), arguments: Road.all, refused)
    func refuses(road: Road, meeting: Meeting) async throws {
        try await client(road, to: meeting) { client, port in
            for _ in 1...2 {
                let error = await #expect(throws: APIError.self) { try await meet(road, client, port: port) }
                #expect(error?.kind == meeting.failure.map { .tls($0) })
                #expect(error?.sendState == .unsent)
            }
        }
    }

    // MARK: Policies

    private static let nobodys = PublicKeyPin(ofKey: "nobody".utf8).description

    private static func pins(_ pin: String) throws -> PinSet {
        try PinSet("localhost", pins: [pin, PublicKeyPin(ofKey: "spare".utf8).description])
    }

    private static func anna(_ servers: TrustServers) throws -> ClientIdentity {
        .pem(
            certificates: try Data(contentsOf: servers.anna.certificate), key: try Data(contentsOf: servers.anna.key))
    }
}
