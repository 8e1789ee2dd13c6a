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

    @Test(
        "An attempt that sent nothing has not used it up: the next one sends it whole",
        arguments: transports.filter(\.hasWire), Form.allCases)
    func unsentAttemptsKeepTheBody(transport: TransportUnderTest, form: Form) async throws {
        for length in [nil, 3] {
            let gone = try LoopbackServer(handler: Self.echo)
            gone.stop()
            let good = try LoopbackServer(handler: Self.echo)
            // An unsafe method is sent again all the same, since nothing was sent.
            let toGood = Rerouting(after: 1, to: good.url)
            try await Shop.run(
                transport, on: good,
                configured: {
                    $0.attemptInterceptors = [toGood]
                    $0.options.retry = RetryPolicy(limit: 2, backoff: .init(base: .zero))
                    $0.circuitBreaker = nil
                    $0.services = ServiceRegistry([Service(.main, [.development: gone.url.absoluteString])])
                }
            ) { _, client in
                let answer = try await form.send(Self.once(length: length), to: gone, client)
                #expect(String(decoding: answer, as: UTF8.self) == "abc")
                #expect(toGood.count == 2)
            }
            #expect(good.requests.map(\.body) == [Data("abc".utf8)])
        }
    }

    /// Lets some attempts go where they were to, and sends the others elsewhere.
    private final class Rerouting: Interceptor {
        private let first: Int
        private let url: HTTPURL
        private let attempts = Locked(0)

        init(after first: Int, to url: HTTPURL) {
            (self.first, self.url) = (first, url)
        }

        var count: Int { attempts.withLock { $0 } }

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let number = attempts.withLock { number in
                number += 1
                return number
            }
            guard number > first else { return try await next(request) }
            var request = request
            request.url = try url.resolving(request.url.target)
            return try await next(request)
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
