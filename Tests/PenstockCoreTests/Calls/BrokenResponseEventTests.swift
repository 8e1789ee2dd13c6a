import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// The head of a response whose content breaks off is told before the failure, also where many wait for one answer.
@Suite(.timeLimit(.minutes(5))) struct BrokenResponseEventTests {
    private static let broken = TransportError(
        .connectionLost, sendState: .answered,
        partialResponse: HTTPResponse(status: 206, fields: ["X-Trace": "7"], version: .http2))

    private func told(_ recorder: EventRecorder) -> [String] {
        recorder.records.compactMap { record in
            let place = "\(record.context.attempt) \(record.context.progress.status ?? 0)"
            switch record.event {
            case .requestSent: return "\(place) sent"
            case .responseBrokeOff(let response): return "\(place) \(response.fields["X-Trace"] ?? "")"
            case .requestFailed: return "\(place) failed"
            case .responseReceived: return "\(place) received"
            default: return nil
            }
        }
    }

    @Test("What had come of a response is told before its failure, and the status is known from then on")
    func order() async throws {
        let recorder = EventRecorder()
        let greeting = HTTPResponse(status: 200, body: Data(#"{"text":"hello"}"#.utf8))
        let refused = TransportError(.unreachable(.connectionRefused), sendState: .unsent)
        let script = ScriptedTransport([.fail(Self.broken), .fail(refused), .respond(greeting)])
        let client = CallSupport.client(script) {
            $0.sinks = [recorder]
            $0.options.retry = .limit(2)
            $0.retryBudget = .init(refill: nil)
            $0.random = RandomSource { 0 }
        }
        _ = try await client.send(Hello())
        #expect(
            told(recorder) == [
                "1 0 sent", "1 206 7", "1 206 failed", "2 0 sent", "2 0 failed", "3 0 sent", "3 200 received",
            ])
        #expect(recorder.grammarViolations == [])
    }
}
