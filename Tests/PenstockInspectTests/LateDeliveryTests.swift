import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// What is made of the events of a call whose delivery ends after the call itself.
@Suite(.timeLimit(.minutes(5))) struct LateDeliveryTests {
    /// What is done to a log between the end of a call and the end of its delivery.
    enum Change: CaseIterable {
        case none, lowered, off, offAndOn
    }

    /// A call that is told of by hand.
    private final class Told {
        private let call: CallID
        private var progress = CallProgress(endpointType: Hello.self)

        init(_ call: CallID) {
            self.call = call
        }

        func context(with event: Event) -> EventContext {
            progress.note(event)
            return EventContext(call: call, attempt: 1, progress: progress)
        }
    }

    @Test(
        "A log tells of a late delivery by its call's name, whatever its level was meanwhile", .covers("S2.21"),
        arguments: Change.allCases)
    func log(_ change: Change) throws {
        let kept = KeptLog()
        let log = CallLog(level: .trace, to: kept)
        let (before, after) = try Self.events()
        let call = Told(InspectRig.client().start(Hello()).id)
        for event in before { log.receive(event, call.context(with: event)) }
        #expect(kept.messages.last?.contains(" 200 in ") == true)
        let said = kept.entries.count
        switch change {
        case .none: break
        case .lowered: log.level = .debug
        case .off: log.level = .off
        case .offAndOn:
            log.level = .off
            log.receive(.hedged, EventContext(call: InspectRig.client().start(Hello()).id))
            log.level = .trace
        }
        log.receive(after, call.context(with: after))
        let isSaid = change == .none || change == .offAndOn
        #expect(
            kept.messages.dropFirst(said)
                == (isSaid ? ["GET https://api.example.com/hello: delivery ends, cancelled"] : []))
        if isSaid { #expect(kept.entries.last?.url == (try InspectRig.url())) }
    }

    @Test("A log that does not show stages says nothing of a late delivery", .covers("S2.21"))
    func logWithoutStages() throws {
        let kept = KeptLog()
        let log = CallLog(to: kept)
        let (before, after) = try Self.events()
        let call = Told(InspectRig.client().start(Hello()).id)
        for event in before + [after] { log.receive(event, call.context(with: event)) }
        #expect(kept.entries.count == 1)
    }

    @Test("The record of a call is made with its end, once, and nothing is kept for its delivery", .covers("X11"))
    func record() throws {
        var collector = CallCollector(content: ContentBudget(longest: 0))
        let (before, after) = try Self.events()
        let context = EventContext(call: InspectRig.client().start(Hello()).id, attempt: 1)
        let records = (before + [after]).map { collector.take($0, context) }
        #expect(records.map { $0 != nil } == before.map { if case .callEnded = $0 { true } else { false } } + [false])
        #expect(collector.count == 0)
    }

    @Test(
        "Archive, telemetry and log have a call once, though the main actor is held when it is to be delivered",
        .covers("X11", "X12"))
    @MainActor func heldActor() async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("calls.har")
        let (kept, lines, over) = (KeptTelemetry(), KeptLog(), CallOver())
        let archive = try HARRecorder(file: file)
        let telemetry = Telemetry("shop", to: kept, time: TestClock().timeSource)
        let log = CallLog(level: .trace, to: lines)
        let client = InspectRig.client { $0.sinks = [archive, telemetry, log, over] }
        let told = Locked(0)
        let call = client.start(Hello()) { _ in told.withLock { $0 += 1 } }
        over.wait()
        #expect(told.withLock { $0 } == 0)
        _ = await call.result
        await archive.flush()
        await telemetry.flush()
        #expect(told.withLock { $0 } == 1)
        #expect(try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file)).log.entries.count == 1)
        #expect(kept.spans.map(\.kind) == [.internal, .client])
        #expect(lines.messages.last?.hasSuffix(": delivery ends, done") == true)
        #expect(lines.messages.count { $0.contains("delivery ends") } == 1)
    }

    /// The events of a call, and the end of its delivery, which comes after them.
    private static func events() throws -> (before: [Event], after: Event) {
        let request = HTTPRequest(method: .get, url: try InspectRig.url())
        return (
            [
                .callStarted(.init(endpoint: "Hello", service: .main, environment: .test)), .requestSent(request),
                .responseReceived(InspectRig.greeting, timings: .init(), connection: .init()),
                .answered(.init(request: request, response: InspectRig.greeting)), .stageStarted(.delivery),
                .callEnded(.success),
            ], .stageEnded(.delivery, .cancelled)
        )
    }

    /// Blocks the thread that waits until a call is over.
    private final class CallOver: EventSink {
        private let semaphore = DispatchSemaphore(value: 0)

        func receive(_ event: Event, _ context: EventContext) {
            if case .callEnded = event { semaphore.signal() }
        }

        func wait() {
            semaphore.wait()
        }
    }
}
