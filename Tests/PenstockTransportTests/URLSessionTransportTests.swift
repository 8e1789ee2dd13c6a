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

    @Test func `What App Transport Security forbids is told as a prohibition, before anything is sent`() {
        let kind = URLSessionErrors.kind(of: URLError(.appTransportSecurityRequiresSecureConnection), isAnswered: false)
        guard case .blocked(let reason) = kind else { Issue.record("\(kind)"); return }
        #expect(reason.contains("Info.plist"))
        #expect(URLSessionErrors.isBeforeSending(kind))
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

        func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            try await transport.perform(request)
        }

        func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
            try await transport.stream(request)
        }

        func shutdown() async { await transport.shutdown() }
    }
}
