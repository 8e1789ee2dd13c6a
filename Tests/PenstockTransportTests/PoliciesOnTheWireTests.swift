import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Who is kept apart, and what is not sent at all, whatever the transport.
@Suite(.timeLimit(.minutes(5)))
struct PoliciesOnTheWireTests {
    @Test(
        "Two identities on one host share no connection, and so nothing that it may be authenticated by",
        .covers("H21"), arguments: TransportUnderTest.withWire.filter { $0.capabilities.contains(.partitions) })
    func identities(transport: TransportUnderTest) async throws {
        let user = Locked("anna")
        let server = try LoopbackServer { _ in .text("ok") }
        try await Shop.run(transport, on: server, configured: { $0.identity = { user.withLock { $0 } } }) {
            server, client in
            for name in ["anna", "bert", "anna", "bert"] {
                user.withLock { $0 = name }
                _ = try await client.send(Page(), options: .cache(.reload).headers(["X-User": name]))
            }
            let carried = Dictionary(grouping: server.requests, by: \.connection).values
            #expect(carried.allSatisfy { Set($0.map { $0.fields["X-User"] }).count == 1 })
            #expect(server.requestCount == 4)
        }
    }

    // MARK: Plain text

    /// Hosts beside the one that is allowed.
    static let hosts = ["b.example", "10.0.0.1", "[fe80::1]", "printer.local", "a.example."]

    /// A client that may send plain text to one host alone.
    private func run(
        _ transport: TransportUnderTest, to host: String, _ body: (APIClient) async throws -> Void
    ) async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        try await Shop.run(
            transport, on: server,
            configured: {
                $0.services = ServiceRegistry([Service(.main, [.development: "http://\(host)"])])
                $0.options.cleartext = .hosts(["a.example"])
            }
        ) { _, client in try await body(client) }
    }

    private func isBlocked(_ error: APIError?) -> Bool {
        guard case .blocked = error?.kind else { return false }
        return true
    }

    @Test(
        "No call goes in plain text to a host that is not allowed, to an address, to .local or with a dot at the end",
        .covers("H27"), arguments: TransportUnderTest.all, hosts)
    func calls(transport: TransportUnderTest, host: String) async throws {
        try await run(transport, to: host) { client in
            let error = await client.failure(Page())
            #expect(isBlocked(error))
        }
    }

    @Test("Nor does a channel", .covers("H27"), arguments: TransportUnderTest.withChannels, hosts)
    func channels(transport: TransportUnderTest, host: String) async throws {
        try await run(transport, to: host) { client in
            let socket = await #expect(throws: APIError.self) { try await client.webSocket("/chat").open() }
            #expect(isBlocked(socket))
            let channel = client.tcp(host, port: 80, codec: LineCodec(), isSecure: false)
            let error = await #expect(throws: APIError.self) { try await channel.open() }
            #expect(isBlocked(error))
        }
    }
}
