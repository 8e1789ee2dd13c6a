import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Whatever happens to a call, it completes exactly once.
@Suite(.timeLimit(.minutes(5))) struct CompletionFuzzTests {
    @Test(
        "Every call of every outcome completes exactly once, also when it is cancelled anywhere", .covers("S4.3"),
        arguments: [1, 2, 3, 4] as [UInt64])
    @MainActor func everyPathCompletesOnce(seed: UInt64) async throws {
        var random = Seeded(seed: seed)
        let recorder = EventRecorder()
        var calls: [Call<Message>] = []
        let deliveries = Mailbox<Int>()
        for index in 0..<250 {
            let client = CallSupport.client(Self.transport(&random)) { $0.sinks = [recorder] }
            let call = client.start(Hello(), options: Self.options(&random)) { _ in deliveries.put(index) }
            calls.append(call)
            if Bool.random(using: &random) { await Self.pause(&random) }
            if Int.random(in: 0..<3, using: &random) == 0 { call.cancel() }
        }
        for call in calls { _ = await call.result }
        await deliveries.wait(for: 250)
        await drainMainActor()
        #expect(deliveries.values.sorted() == Array(0..<250), "seed \(seed)")
        #expect(recorder.calls.count == 250, "seed \(seed)")
        #expect(recorder.grammarViolations == [], "seed \(seed)")
    }

    private static let bodies = [
        "", "{", "null", "[]", "{}", #"{"text":1}"#, #"{"text":"hello"}"#, "<html>", "\u{0}", #"{"retcode":"x"}"#,
    ]

    private static func transport(_ random: inout Seeded) -> any Transport {
        let status = [200, 204, 301, 302, 304, 404, 500, 999].randomElement(using: &random) ?? 200
        let body = Data((bodies.randomElement(using: &random) ?? "").utf8)
        let location =
            ["/hello", "/other", "file:///x", "http://[", "https://else.example.com/"]
            .randomElement(using: &random) ?? ""
        let response = HTTPResponse(status: status, fields: ["Location": location], body: body)
        let failure = TransportError(.connectionLost, sendState: .maybeProcessed)
        let fails = Int.random(in: 0..<5, using: &random) == 0
        return StubTransport { _ throws(TransportError) in
            if fails { throw failure }
            return response
        }
    }

    private static func options(_ random: inout Seeded) -> CallOptions {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .with { $0.baseURL = "ftp://nowhere" }
        case 1: .headers(["Bad": "a\r\nb"])
        case 2: .with { $0.environment = .production }
        case 3: .with { $0.timeouts = .total(.zero) }
        default: .init()
        }
    }

    private static func pause(_ random: inout Seeded) async {
        for _ in 0..<Int.random(in: 0..<8, using: &random) { await Task.yield() }
    }
}
