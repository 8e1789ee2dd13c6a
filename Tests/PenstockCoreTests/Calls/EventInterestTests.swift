import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// How much of what happens is made for those who listen.
@Suite(.timeLimit(.minutes(5))) struct EventInterestTests {
    /// A recorder that may want less than everything.
    private final class Listener: EventSink {
        let recorder = EventRecorder()
        private let wanted: Box<EventInterest>
        let asked = Box(0)

        init(_ wanted: EventInterest) {
            self.wanted = Box(wanted)
        }

        var interest: EventInterest {
            get {
                asked.update { $0 += 1 }
                return wanted.value
            }
            set { wanted.value = newValue }
        }

        func receive(_ event: Event, _ context: EventContext) { recorder.receive(event, context) }
    }

    private func client(_ sinks: [any EventSink]) -> APIClient {
        CallSupport.client(CallSupport.answering()) { $0.sinks = sinks }
    }

    private static func isStage(_ event: Event) -> Bool {
        switch event {
        case .stageStarted, .stageEnded: true
        default: false
        }
    }

    private static func texts(_ recorder: EventRecorder) -> [String] {
        recorder.records.filter { !isStage($0.event) }.map { record in
            switch record.event {
            case .callStarted: "started"
            case .requestSent(let request): "\(record.context.attempt) > \(request.url.path)"
            case .responseReceived(let response, _, _): "\(record.context.attempt) < \(response.status)"
            case .answered(let answer): "answered \(answer.response.status)"
            case .callEnded(let outcome): "ended \(outcome)"
            case .contentEnded(let bytes, _): "content \(bytes)"
            default: String("\(record.event)".prefix { $0 != "(" })
            }
        }
    }

    @Test(
        "Who wants no stages is told all else, as who wants everything is, of calls that succeed, fail, and are streamed"
    )
    func calls() async throws {
        let (some, all) = (Listener(.calls), Listener(.stages))
        for listener in [some, all] {
            let client = client([listener])
            _ = try await client.send(Hello())
            _ = try await client.stream(Hello()).collect()
            await #expect(throws: APIError.self) {
                try await client.with { $0.options.limits.bodyBytes = 1 }.send(Hello())
            }
            let transport = CallSupport.holding()
            let held = CallSupport.client(transport) { $0.sinks = [listener] }.start(Hello())
            await transport.waitForExchanges(count: 1)
            held.cancel()
            _ = await held.result
        }
        #expect(!some.recorder.records.contains { Self.isStage($0.event) })
        #expect(all.recorder.records.contains { Self.isStage($0.event) })
        #expect(Self.texts(some.recorder) == Self.texts(all.recorder))
        #expect(some.recorder.calls.count == 4)
    }

    @Test(
        "Who wants nothing is told nothing of the calls that begin then, and of those that begin later what it wants then"
    )
    func nothing() async throws {
        let listener = Listener(.nothing)
        let client = client([listener])
        _ = try await client.send(Hello())
        #expect(listener.recorder.records.isEmpty)
        #expect(listener.asked.value == 1)
        let held = CallSupport.client(CallSupport.holding()) { $0.sinks = [listener] }.start(Hello())
        listener.interest = .calls
        held.cancel()
        _ = await held.result
        #expect(listener.recorder.records.isEmpty)
        _ = try await client.send(Hello())
        #expect(listener.recorder.calls.count == 1)
        guard case .callEnded(.success)? = listener.recorder.records.last?.event else {
            Issue.record("the end of the call was not told")
            return
        }
    }

    @Test("Of several sinks the one that wants most decides what is made", arguments: EventInterest.allCases)
    func several(most: EventInterest) async throws {
        let listeners = EventInterest.allCases.filter { $0 <= most }.map(Listener.init)
        _ = try await client(listeners).send(Hello())
        for listener in listeners {
            #expect(listener.recorder.records.isEmpty == (most == .nothing))
            #expect(listener.recorder.records.contains { Self.isStage($0.event) } == (most == .stages))
        }
    }

    @Test("A sink that says nothing of it wants everything")
    func everything() {
        #expect(EventRecorder().interest == .stages)
        #expect(EventInterest.allCases == EventInterest.allCases.sorted() && EventInterest.allCases.count == 3)
    }
}
