import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// A body that can be read once is sent once, whoever asks for more.
@Suite(.covers("H35"), .timeLimit(.minutes(5)))
struct OnceOnlyBodyTests {
    /// Sends every request twice and gives the second response, as a hand-written retry does.
    private struct Twice: Interceptor {
        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let first = try await next(request)
            first.content?.discard()
            return try await next(request)
        }
    }

    private struct Upload: Endpoint {
        typealias Output = Data
        let content: HTTPBody
        var route: Route { .post("/upload") }
        var body: HTTPBody { content }
    }

    /// The forms of a call, each with its own way to the transport.
    enum Form: CaseIterable {
        case buffered, streamed, raw

        func send(_ body: HTTPBody, to server: LoopbackServer, _ client: APIClient) async throws -> Data {
            switch self {
            case .buffered: try await client.send(Upload(content: body))
            case .streamed: try await client.stream(Upload(content: body)).reduce(into: Data()) { $0.append($1) }
            case .raw: try await client.send(HTTPRequest(method: .post, url: server.url, body: body)).value
            }
        }
    }

    private static let transports = TransportUnderTest.all.filter { $0.capabilities.contains(.streamedRequests) }

    private static func once(length: Int?) -> HTTPBody {
        .onceOnly(
            length: length,
            AsyncThrowingStream { continuation in
                continuation.yield(Data("abc".utf8))
                continuation.finish()
            })
    }

    private static func echo(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        .text(String(decoding: request.body, as: UTF8.self))
    }

    @Test(
        "Sent a second time by an interceptor, a body that can be read once is refused, and nothing empty is sent",
        arguments: transports, Form.allCases)
    func secondSendingIsRefused(transport: TransportUnderTest, form: Form) async throws {
        for length in [nil, 3] {
            try await Shop.run(
                transport, on: LoopbackServer(handler: Self.echo), configured: { $0.callInterceptors = [Twice()] }
            ) { server, client in
                let error = await #expect(throws: APIError.self) {
                    try await form.send(Self.once(length: length), to: server, client)
                }
                let reason = "the request is sent again, but its body can be read only once"
                #expect(error?.kind == .blocked(reason: reason))
                #expect(server.requests.map(\.body) == [Data("abc".utf8)])
            }
        }
    }

    @Test("Sent once, it arrives whole", arguments: transports, Form.allCases)
    func firstSendingArrives(transport: TransportUnderTest, form: Form) async throws {
        try await Shop.run(transport, on: LoopbackServer(handler: Self.echo)) { server, client in
            let answer = try await form.send(Self.once(length: nil), to: server, client)
            #expect(String(decoding: answer, as: UTF8.self) == "abc")
        }
    }

    @Test("A body that can be read again is sent as often as an interceptor asks", arguments: transports, Form.allCases)
    func replayableBodiesAreRepeated(transport: TransportUnderTest, form: Form) async throws {
        try await Shop.run(
            transport, on: LoopbackServer(handler: Self.echo), configured: { $0.callInterceptors = [Twice()] }
        ) { server, client in
            _ = try await form.send(.bytes(Data("abc".utf8)), to: server, client)
            #expect(server.requests.map(\.body) == [Data("abc".utf8), Data("abc".utf8)])
        }
    }
}
