import Foundation
import Penstock
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

/// Names that are asked of unbound, over HTTPS.
@Suite(.needsServers, .timeLimit(.minutes(5)))
struct DNSOverHTTPSTests {
    /// Counts what goes to the name server.
    private final class Counting: Transport {
        let base = CurlTransport()
        let requests = Locked(0)
        var capabilities: TransportCapabilities { base.capabilities }
        var count: Int { requests.withLock { $0 } }

        func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            requests.withLock { $0 += 1 }
            return try await base.perform(request)
        }

        func shutdown() async {
            await base.shutdown()
        }
    }

    private struct Greeting: Endpoint {
        typealias Output = Data
        let route = Route.get("/greeting")
    }

    private func with(_ url: (UnboundServer) -> String, _ body: (DNSOverHTTPS, Counting) async throws -> Void)
        async throws
    {
        let unbound = try await UnboundServer.shared()
        let transport = Counting()
        let source = try DNSOverHTTPS(url(unbound), over: transport, trust: .authorities(unbound.authority))
        do {
            try await body(source, transport)
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }

    @Test("A real resolver's addresses and times to live are read", .covers("X17"))
    func answers() async throws {
        try await with(\.url) { source, _ in
            let one = try await source.answer(for: "api.shop.test", port: 443)
            #expect(one?.addresses.map(\.text) == ["127.0.0.1"])
            #expect(one.map { $0.lifetime > .seconds(10) && $0.lifetime <= .seconds(20) } == true)
            let both = try await source.answer(for: "BOTH.shop.test.", port: 443)
            #expect(both?.addresses.map(\.text) == ["2001:db8::1", "127.0.0.1"])
            #expect(both.map { $0.lifetime <= .seconds(10) } == true)
            let none = try await source.answer(for: "nobody.shop.test", port: 443)
            #expect(none == nil)
        }
    }

    @Test("A call connects to what the resolver says, and asks again when the time to live has run out", .covers("X17"))
    func calls() async throws {
        let server = try LoopbackServer { _ in .text("ok").ending(.close) }
        defer { server.stop() }
        let clock = TestClock()
        try await with(\.url) { source, transport in
            let resolver = HostResolver(
                [source], fallsBackToSystem: false, patience: .seconds(100_000), cache: HostCache(staleness: .zero),
                time: clock.timeSource)
            let base = "http://api.shop.test:\(server.url.port)"
            let change: (inout APIClient.Configuration) -> Void = {
                $0.options.resolver = resolver
                $0.options.cleartext = .everywhere
                $0.cache = .none
            }
            try await Wire.libcurl.client(for: base, with: change) { client in
                for _ in 1...3 { _ = try await client.send(Greeting()) }
                #expect(transport.count == 2)
                clock.advance(by: .seconds(21))
                for _ in 1...3 { _ = try await client.send(Greeting()) }
                #expect(transport.count == 4)
            }
        }
        #expect(server.requestCount == 6)
    }

    @Test("Where the name server fails the system is asked", .covers("X17"), arguments: [true, false])
    func fallback(isReached: Bool) async throws {
        let closed = try LoopbackServer { _ in .text("ok") }
        closed.stop()
        try await with({ isReached ? $0.wrongURL : "https://localhost:\(closed.url.port)/dns-query" }) {
            source, transport in
            // No address, which a transport takes for a name that the system is to look up.
            #expect(await HostResolver([source]).addresses(of: "api.example.com", port: 443) == [])
            #expect(transport.count >= 2)
        }
    }

    /// A name that the system has for this machine in a list of its own, which no name server knows. Not `localhost`, which nobody
    /// is asked for.
    private static let ownName: String? = {
        let text = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            guard words.first == "127.0.0.1" else { continue }
            for name in words.dropFirst() where !name.split(separator: ".").contains("localhost") { return name }
        }
        return nil
    }()

    @Test(
        "Where the name server fails a call goes to what the system says, or, without the system, nowhere",
        .covers("X17"),
        .enabled(
            if: ownName != nil || EndToEndServers.isContinuousIntegration,
            "this system has no name for 127.0.0.1 in /etc/hosts but localhost"),
        arguments: [true, false])
    func systemCalls(isReached: Bool) async throws {
        let name = try #require(Self.ownName, "with CI=true Scripts/setup puts one into /etc/hosts")
        let server = try LoopbackServer { _ in .text("ok").ending(.close) }
        defer { server.stop() }
        let closed = try LoopbackServer { _ in .text("ok") }
        closed.stop()
        for fallsBack in [true, false] {
            let before = server.requestCount
            try await with({ isReached ? $0.wrongURL : "https://localhost:\(closed.url.port)/dns-query" }) {
                source, transport in
                let change: (inout APIClient.Configuration) -> Void = {
                    $0.options.resolver = HostResolver([source], fallsBackToSystem: fallsBack)
                    $0.options.cleartext = .everywhere
                    $0.options.retry = RetryPolicy.none
                    $0.cache = .none
                }
                try await Wire.libcurl.client(for: "http://\(name):\(server.url.port)", with: change) { client in
                    if fallsBack {
                        let greeting = try await client.send(Greeting())
                        #expect(greeting == Data("ok".utf8))
                    } else {
                        let error = try await client.failure(Greeting())
                        #expect(error.kind == .unreachable(.nameNotResolved))
                    }
                }
                #expect(transport.count > 0)
            }
            #expect(server.requestCount == before + (fallsBack ? 1 : 0))
        }
    }
}
