import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a client makes of servers that break the protocol, or stop in the middle of it.
@Suite(.timeLimit(.minutes(5)))
struct HostileServersTests {
    private struct Broken {
        let name: String
        var requires: TransportCapabilities = []
        /// Whether the connection ends before the reply does.
        var isCutShort = false
        let reply: String
    }

    private static let broken: [Broken] = [
        .init(name: "two lengths", reply: "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!"),
        .init(
            name: "a length and chunks",
            reply: "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        .init(name: "a length with a sign", requires: .exactHeads, reply: "Content-Length: +2\r\n\r\nok"),
        .init(name: "a length of another base", requires: .exactHeads, reply: "Content-Length: 0x2\r\n\r\nok"),
        .init(name: "content cut short", isCutShort: true, reply: "Content-Length: 3\r\n\r\nok"),
        .init(
            name: "chunks cut short", isCutShort: true, reply: "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
        .init(name: "chunks of no size", reply: "Transfer-Encoding: chunked\r\n\r\nx\r\nok\r\n0\r\n\r\n"),
        .init(
            name: "a chunk with a letter behind its size", requires: .exactHeads,
            reply: "Transfer-Encoding: chunked\r\n\r\n2g\r\nok\r\n0\r\n\r\n"),
    ]

    /// Each transport with the indices of the broken replies that it is able to notice.
    private static let noticed = TransportUnderTest.withWire.flatMap { transport in
        broken.indices.filter { transport.capabilities.isSuperset(of: broken[$0].requires) }.map { (transport, $0) }
    }

    @Test("A reply that is broken is never stored", .covers("H3", "H4", "H5"), arguments: noticed)
    func brokenRepliesAreNotStored(transport: TransportUnderTest, index: Int) async throws {
        let broken = Self.broken[index]
        // Otherwise the platform decides what becomes of it.
        let closes = !broken.isCutShort && transport.capabilities.contains(.exactHeads)
        let store = MemoryCacheStore()
        let server = try LoopbackServer { request in
            guard request.number == 1 else { return .text("ok", fields: ["Cache-Control": "max-age=1000"]) }
            return .raw(
                Data("HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n\(broken.reply)".utf8),
                ending: closes ? .hold : .drop)
        }
        try await Shop.run(transport, on: server, configured: { $0.cache = .store(store) }) { server, client in
            let request = HTTPRequest(method: .get, url: server.url)
            let error = await #expect(throws: APIError.self) {
                try await client.send(request, options: .cache(.http).retry(.none))
            }
            #expect(error?.kind == .transport(broken.isCutShort ? .connectionLost : .protocolViolation))
            if closes { try await server.waitForAborts(count: 1) }
            let stored0 = await store.statistics().entries
            #expect(stored0 == 0)
            let answer = try await client.send(request, options: .cache(.http)).value
            #expect(answer == Data("ok".utf8))
            #expect(server.requestCount == 2)
            #expect(server.connectionCount == 2)
            let stored1 = await store.statistics().entries
            #expect(stored1 == 1)
        }
    }

    @Test(
        "TLS that ends without a goodbye is content cut short", .covers("H5"), arguments: TransportUnderTest.withTrust,
        ["Content-Length: 9\r\n\r\nok", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"])
    func abruptEndOfTLS(transport: TransportUnderTest, reply: String) async throws {
        let (server, authority) = try Self.secureServer { _ in
            // Closed without a word, unlike a reply that ends well.
            .raw(Data("HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n\(reply)".utf8), ending: .drop)
        }
        let store = MemoryCacheStore()
        let configure: (inout APIClient.Configuration) -> Void = {
            $0.options.trust = .authorities(authority.file)
            $0.cache = .store(store)
        }
        try await Shop.run(transport, on: server, configured: configure) { server, client in
            let request = HTTPRequest(method: .get, url: server.url)
            let error = await #expect(throws: APIError.self) {
                try await client.send(request, options: .cache(.http))
            }
            #expect(error?.kind == .transport(.connectionLost))
            #expect(error?.sendState == .answered)
            let stored0 = await store.statistics().entries
            #expect(stored0 == 0)
        }
    }

    @Test(
        "A handshake that stops is ended by the time to connect, or, where there is none, by that of the first byte",
        .covers("H13"), arguments: TransportUnderTest.withWire,
        [LoopbackServer.ConnectionFault.Trigger.accept, .firstBytes])
    func stalledHandshake(
        transport: TransportUnderTest, trigger: LoopbackServer.ConnectionFault.Trigger
    ) async throws {
        let (server, authority) = try Self.secureServer(onConnect: { _ in .init(.stall, at: trigger) }) { _ in
            .text("ok")
        }
        // Nobody is trusted before the handshake ends, which it does not.
        let tellsPhases = transport.capabilities.contains(.connectTimeout)
        let trust: TrustPolicy =
            transport.capabilities.contains(.trustPolicy) ? .authorities(authority.file) : .system
        try await Shop.run(transport, on: server, configured: { $0.options.trust = trust }) { server, client in
            let limits = CallOptions.with {
                $0.timeouts = Timeouts(
                    connect: .seconds(1), firstByte: tellsPhases ? nil : .milliseconds(500), idle: nil,
                    total: .seconds(30))
            }
            let error = await #expect(throws: APIError.self) {
                try await client.send(HTTPRequest(method: .post, url: server.url), options: limits)
            }
            #expect(error?.kind == .timeout(tellsPhases ? .connect : .firstByte))
            #expect(error?.sendState == (tellsPhases ? .unsent : .maybeProcessed))
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Test("A handshake that fails sent nothing", arguments: TransportUnderTest.withTrust)
    func brokenHandshake(transport: TransportUnderTest) async throws {
        let effects: [LoopbackServer.ConnectionFault.Effect] = [
            .alert(40), .close, .reset, .send(Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        ]
        for effect in effects {
            let (server, authority) = try Self.secureServer(onConnect: { _ in .init(effect, at: .firstBytes) }) { _ in
                .text("ok")
            }
            try await Shop.run(transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }) {
                server, client in
                let error = await #expect(throws: APIError.self) {
                    try await client.send(HTTPRequest(method: .post, url: server.url))
                }
                #expect(error?.kind == .tls(.handshake), "\(effect)")
                #expect(error?.sendState == .unsent)
            }
        }
    }

    /// The authority's file must be there for as long as it is trusted.
    private static func secureServer(
        onConnect: @escaping @Sendable (Int) -> LoopbackServer.ConnectionFault? = { _ in nil },
        _ handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws -> (LoopbackServer, TestCertificateAuthority) {
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(
            .init(tls: .init(try authority.issue())), onConnect: onConnect, handler: handler)
        return (server, authority)
    }
}
