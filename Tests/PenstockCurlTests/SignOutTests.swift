#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTesting
    import Testing

    @testable import PenstockCurl

    /// What is left of a user's connections.
    @Suite(.timeLimit(.minutes(2))) struct SignOutTests {
        @Test func `signing out closes the user's idle connections, those in use at their end, and no others`()
            async throws
        {
            let gate = Gate()
            let server = try LoopbackServer { request in
                if request.path == "/slow" { gate.wait() }
                return .text("ok")
            }
            defer { server.stop() }
            let transport = CurlTransport()
            let user = Locked("alice")
            var configuration = APIClient.Configuration(services: [])
            configuration.identity = { user.withLock { $0 } }
            configuration.cache = .none
            configuration.options.cleartext = .loopback
            let client = APIClient(configuration, transport: transport)
            func order(_ path: String, _ identity: String) throws -> TransportRequest {
                TransportRequest(
                    HTTPRequest(method: .get, url: try server.url.resolving(path)),
                    isolation: IsolationKey(environment: "production", identity: identity))
            }
            _ = try await transport.perform(order("/", "bob"))
            _ = try await transport.perform(order("/", "alice"))
            async let slow = transport.perform(order("/slow", "alice"))
            try await server.waitForRequests(count: 3)
            _ = try await transport.perform(order("/", "alice"))
            #expect(server.openConnectionCount == 3)
            await client.signOut("alice")
            // What was made outside of the client's calls goes on to its end.
            gate.open()
            #expect(try await slow.response.status == 200)
            try await server.waitForOpenConnections(atMost: 1)
            _ = try await transport.perform(order("/", "bob"))
            #expect(server.connections.map(\.requests).sorted() == [1, 2, 2])
            #expect(server.openConnectionCount == 1)
            // Signed in again, on a connection of its own.
            _ = try await transport.perform(order("/", "alice"))
            #expect(server.connections.count == 4)
            await transport.shutdown()
        }
    }
#endif
