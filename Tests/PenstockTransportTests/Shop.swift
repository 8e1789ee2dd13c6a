import Foundation
import PenstockCore
import PenstockTesting

/// A client of one transport on a server of its own, both closed at the end.
enum Shop {
    static func run(
        _ transport: TransportUnderTest,
        answering: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response,
        _ body: (LoopbackServer, APIClient) async throws -> Void
    ) async throws {
        try await run(transport, on: LoopbackServer(handler: answering), body)
    }

    static func run(
        _ transport: TransportUnderTest, on server: LoopbackServer,
        configured change: (inout APIClient.Configuration) -> Void = { _ in },
        _ body: (LoopbackServer, APIClient) async throws -> Void
    ) async throws {
        defer { server.stop() }
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: server.url.absoluteString])], build: .debug)
        configuration.options.cleartext = .loopback
        change(&configuration)
        let client = APIClient(configuration, transport: transport.make(server))
        do {
            try await body(server, client)
        } catch {
            await client.transport.shutdown()
            throw error
        }
        await client.transport.shutdown()
        try await server.waitForOpenConnections(atMost: 0)
    }
}

/// Any path of the server, as bytes.
struct Page: Endpoint {
    typealias Output = Data
    let route: Route

    init(_ path: RoutePath = "/page") {
        route = .get(path)
    }
}

extension APIClient {
    /// The error of a call that must fail; `nil` where it did not.
    func failure(_ endpoint: some Endpoint, options: CallOptions = .init()) async -> APIError? {
        do throws(APIError) {
            _ = try await send(endpoint, options: options)
            return nil
        } catch {
            return error
        }
    }
}
