import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .covers("H35")) struct OnceOnlyBodyRuleTests {
    private static func once() -> HTTPBody {
        .onceOnly(
            AsyncThrowingStream { continuation in
                continuation.yield(Data("abc".utf8))
                continuation.finish()
            })
    }

    private struct Upload: Endpoint {
        typealias Output = Data
        let content: HTTPBody
        var route: Route { .post("/upload") }
        var body: HTTPBody { content }
    }

    /// Sends again, once, what failed or what came.
    private static let twice = Intercepting { request, _, next in
        _ = try? await next(request)
        return try await next(request)
    }

    private static func sent(_ steps: [ScriptedTransport.Step]) async -> (error: APIError?, exchanges: Int) {
        let script = ScriptedTransport(steps)
        var configuration = APIClient.Configuration(services: [.shop { $0.envelope = nil }], build: .debug)
        configuration.callInterceptors = [twice]
        configuration.options.retry = RetryPolicy.none
        let client = APIClient(configuration, transport: script)
        let error = await failure { try await client.send(Upload(content: once())) }
        return (error, script.requests.count)
    }

    @Test func `an attempt of which nothing was sent leaves the body for the next one`() async {
        let refused = TransportError(.unreachable(.connectionRefused), sendState: .unsent, message: "refused")
        let outcome = await Self.sent([.fail(refused), .respond(.init(status: 200))])
        #expect(outcome.error == nil)
        #expect(outcome.exchanges == 2)
    }

    @Test(arguments: [SendState.unprocessed, .maybeProcessed, .answered])
    func `an attempt that was begun takes the body with it`(state: SendState) async {
        let lost = TransportError(.connectionLost, sendState: state, message: "lost")
        let outcome = await Self.sent([.fail(lost), .respond(.init(status: 200))])
        guard case .blocked = outcome.error?.kind else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.exchanges == 1)
    }

    @Test func `the stream of such a body opens once`() throws {
        guard case .stream(let open) = Self.once().source else {
            Issue.record("no stream")
            return
        }
        _ = try open()
        #expect(throws: HTTPBody.AlreadyRead.self) { try open() }
    }

    @Test func `copies of such a body have one reading between them`() async {
        let body = Self.once()
        let rig = Rig()
        #expect(await failure { try await rig.client.send(Upload(content: body)) } == nil)
        #expect(await failure { try await rig.client.send(Upload(content: body)) } != nil)
        #expect(rig.sent.count == 1)
    }
}
