import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockURLSession

/// What is particular to the transport over Foundation's session.
@Suite(.timeLimit(.minutes(5)))
struct URLSessionTransportTests {
    private func request(
        _ server: LoopbackServer, _ method: HTTPMethod = .get, fields: HTTPFields = [:], body: HTTPBody = .none
    ) -> TransportRequest {
        TransportRequest(HTTPRequest(method: method, url: server.url, fields: fields, body: body))
    }

    @Test func `What Foundation would change or drop is refused unsent`() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        let transport = URLSessionTransport()
        let content = HTTPBody.bytes(Data("x".utf8))
        let refused = [
            request(server, .get, body: content), request(server, .head, body: content),
            request(server, fields: [.host: "other.test"]), request(server, fields: [.contentLength: "7"]),
            request(server, fields: [.transferEncoding: "chunked"]),
            request(server, try #require(HTTPMethod(rawValue: "get"))),
        ]
        for exchange in refused {
            let error = await #expect(throws: TransportError.self) { try await transport.perform(exchange) }
            guard case .unsupported = error?.kind else { Issue.record("\(String(describing: error))"); continue }
            #expect(error?.sendState == .unsent)
        }
        #expect(server.connectionCount == 0)
        await transport.shutdown()
    }

    @Test func `Content that claims more than the limit is refused before it comes`() async throws {
        let server = try LoopbackServer { _ in .short(Data("abc".utf8), declared: 1_000_000, ending: .hold) }
        defer { server.stop() }
        let transport = URLSessionTransport()
        var exchange = request(server)
        exchange.limits.bodyBytes = 1_000
        let refused = exchange
        let error = await #expect(throws: TransportError.self) { try await transport.perform(refused) }
        #expect(error?.kind == .limitExceeded(.bodyBytes))
        try await server.waitForAborts(count: 1)
        await transport.shutdown()
    }

    #if os(Linux)
        /// Foundation ends the process at trailers, so the response must be given up before they come.
        @Test func `A response that announces trailers is refused by its head`() async throws {
            let server = try LoopbackServer { _ in
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n"
                return .raw(Data(head.utf8), ending: .hold).followed { index in
                    if index == 0 { Thread.sleep(forTimeInterval: 2) }
                    return index == 0 ? Data("0\r\nX-Sum: 1\r\n\r\n".utf8) : nil
                }
            }
            defer { server.stop() }
            let transport = URLSessionTransport()
            let refused = request(server)
            let error = await #expect(throws: TransportError.self) { try await transport.perform(refused) }
            #expect(error?.message.contains("trailers") == true)
            #expect(error?.sendState == .answered)
            try await server.waitForAborts(count: 1)
            await transport.shutdown()
        }
    #endif

    @Test func `A transport that nobody refers to closes its connections`() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        var transport: URLSessionTransport? = URLSessionTransport()
        _ = try await transport?.perform(request(server))
        #expect(server.openConnectionCount == 1)
        transport = nil
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func `Calls cancelled at any moment end once, and the transport goes on`() async throws {
        let server = try LoopbackServer { _ in .chunks([Data("a".utf8), Data("b".utf8)], pause: .milliseconds(1)) }
        defer { server.stop() }
        let transport = URLSessionTransport()
        let template = request(server)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let control = ExchangeControl()
                let exchange = TransportRequest(template.request, control: control)
                group.addTask {
                    do throws(TransportError) { _ = try await transport.perform(exchange) } catch {
                        #expect(error.kind == .cancelled)
                    }
                }
                group.addTask {
                    try? await Task.sleep(for: .microseconds(index * 100))
                    control.cancel()
                }
            }
        }
        #expect(try await transport.perform(template).response.status == 200)
        await transport.shutdown()
        try await server.waitForOpenConnections(atMost: 0)
    }

    /// What the streaming of Apple's systems shares with Linux, where Foundation cannot be made to stop receiving.
    @Test(
        "The portable part of streaming keeps its rules",
        arguments: TransportConformance.streaming.filter {
            !["What nobody reads stays on the wire", "Letting go of a stream closes its wire"].contains($0.name)
        })
    func `streaming`(rule: TransportConformance.Rule) async throws {
        try await rule.run { _ in Streaming() }
    }

    private struct Streaming: Transport {
        let transport = URLSessionTransport()

        var capabilities: TransportCapabilities { transport.capabilities.union(.streamedResponses) }

        func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
            try await transport.perform(exchange)
        }

        func open(_ exchange: TransportRequest) async throws(TransportError) -> TransportStream {
            try await transport.stream(exchange)
        }

        func shutdown() async { await transport.shutdown() }
    }
}
