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

    @Test(
        "Who wants outcomes is told of ends, of failed attempts, retries and circuits, and of nothing else",
        .covers("S2.21"))
    func outcomes() async throws {
        let (some, all) = (Listener(.outcomes), Listener(.stages))
        for listener in [some, all] {
            let script = ScriptedTransport([
                .fail(TransportError(.unreachable(.connectionRefused), sendState: .unsent)),
                .respond(.init(status: 200, body: Data(#"{"text":"hello"}"#.utf8))),
                .fail(TransportError(.unreachable(.connectionRefused), sendState: .unsent)),
                .fail(TransportError(.tls(.handshake), sendState: .unsent)),
            ])
            let client = CallSupport.client(script) {
                $0.sinks = [listener]
                $0.options.retry = .limit(1)
                $0.random = RandomSource { 0 }
                $0.circuitBreaker = .init(minimumAttempts: 3, failureRate: 0.3)
            }
            for _ in 0..<2 { _ = try? await client.send(Hello()) }
        }
        func isOutcome(_ event: Event) -> Bool {
            switch event {
            case .callEnded, .requestFailed, .retried, .notRetried, .circuitChanged: true
            default: false
            }
        }
        let wanted = all.recorder.records.filter { isOutcome($0.event) }
        func names(_ records: [EventRecorder.Record]) -> [String] {
            records.map { String("\($0.event)".prefix { $0 != "(" }) + " \($0.context.attempt)" }
        }
        #expect(names(some.recorder.records) == names(wanted))
        #expect(
            Set(names(wanted).map { $0.prefix { $0 != " " } }).isSuperset(of: ["callEnded", "requestFailed", "retried"])
        )
        #expect(some.recorder.records.map(\.context.progress) == wanted.map(\.context.progress))
        #expect(wanted.allSatisfy { $0.context.progress.endpoint == "Hello" })
    }

    @Test("An event comes with what is known of its call by then, its own news included", .covers("S2.21"))
    func progress() async throws {
        let listener = Listener(.calls)
        _ = try await client([listener]).send(Hello())
        var known = CallProgress(endpointType: Hello.self)
        for record in listener.recorder.records {
            known.note(record.event)
            #expect(record.context.progress == known)
        }
        #expect(known.method == .get && known.status == 200 && known.source == .network)
        #expect(CallProgress().endpoint.isEmpty && CallProgress(endpointType: Hello.self).endpoint == "Hello")
        // Each of the things that are known makes a difference.
        let changes: [(inout CallProgress) -> Void] = [
            { $0.endpointType = nil }, { $0.method = .put }, { $0.url = nil }, { $0.status = 201 },
            { $0.source = .disk },
            { $0.isJoined = true }, { $0.isStale = true },
        ]
        for change in changes {
            var other = known
            change(&other)
            #expect(other != known && other.hashValue != known.hashValue)
        }
        // A request that is sent anew has no response yet.
        let sent = listener.recorder.records.map(\.event).first { if case .requestSent = $0 { true } else { false } }
        known.note(try #require(sent))
        #expect(known.status == nil && known.source == .network)
    }

    @Test(
        "A call whose attempts run side by side is told of its outcome alone as well, with what the first one brought")
    func hedged() async throws {
        let listener = Listener(.outcomes)
        let transport = CallSupport.holding(2)
        let client = CallSupport.client(transport) {
            $0.sinks = [listener]
            $0.options.retry = RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .zero))
        }
        let call = client.start(Hello())
        await transport.waitForExchanges(count: 2)
        transport.release()
        _ = try await call.value
        let record = try #require(listener.recorder.records.first)
        #expect(listener.recorder.records.count == 1 && record.context.attempt == 2)
        guard case .callEnded(.success) = record.event else {
            Issue.record("\(record.event) was told")
            return
        }
        #expect(record.context.progress.status == 200 && record.context.progress.source == .network)
    }

    @Test("A sink that says nothing of it wants everything")
    func everything() {
        #expect(EventRecorder().interest == .stages)
        #expect(EventInterest.allCases == EventInterest.allCases.sorted() && EventInterest.allCases.count == 4)
    }
}
