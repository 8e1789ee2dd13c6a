#if os(Linux)
    import Foundation
    import PenstockCore
    import Testing

    @testable import PenstockCurl

    /// Runs `body` with a server and a transport, and closes both.
    func withServer<Output>(
        _ server: WireServer, _ configuration: CurlTransport.Configuration = .init(),
        _ body: (CurlTransport, WireServer) async throws -> Output
    ) async throws -> Output {
        let transport = CurlTransport(configuration: configuration)
        do {
            let output = try await body(transport, server)
            await transport.shutdown()
            server.stop()
            return output
        } catch {
            await transport.shutdown()
            server.stop()
            throw error
        }
    }

    /// The failure of one exchange.
    func failure(_ transport: CurlTransport, _ order: TransportRequest) async throws -> TransportError {
        let response: TransportResponse
        do {
            response = try await transport.perform(order)
        } catch {
            return error
        }
        throw NoFailure(status: response.response.status)
    }

    struct NoFailure: Error {
        let status: Int
    }

    /// Opened once, waited for by any number.
    final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() {
            (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        }

        func open() {
            continuation.finish()
            semaphore.signal()
        }

        /// For threads; gives up after the time limit of the tests, so that the threads of one that failed elsewhere end.
        func wait() {
            guard semaphore.wait(timeout: .now() + 120) == .success else { return }
            semaphore.signal()
        }

        /// For tasks.
        func opened() async {
            for await _ in stream {}
        }
    }

    let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Performs exchanges that need the loop to go around several times; what was posted before has been seen then.
    func goAround(_ transport: CurlTransport) async throws {
        try await withAnswering { server in
            for _ in 0..<5 {
                _ = try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: server.url())))
            }
        }
    }

    private func withAnswering(_ body: (WireServer) async throws -> Void) async throws {
        let server = try WireServer.answering(okay)
        defer { server.stop() }
        try await body(server)
    }
#endif
