import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore
@testable import PenstockInspect

/// An exporter whose exports of spans wait until they are let go.
private final class GatedExporter: TelemetryExporter {
    struct Refusal: Error {}

    struct Seen: Sendable {
        /// How many spans each export had, in the order in which they began.
        var batches: [Int] = []
        var running = 0
        var mostRunning = 0
        var ended = 0
        /// How many exports may still end.
        var allowed: Int
        var fails = false
        var metrics = 0
    }

    let seen: Monitor<Seen>

    init(allowed: Int = .max) { seen = Monitor(Seen(allowed: allowed)) }

    var batches: [Int] { seen.withLock(\.batches) }

    func export(_ spans: [Span], of resource: [TelemetryAttribute]) async throws {
        seen.withLock { seen in
            seen.batches.append(spans.count)
            seen.running += 1
            seen.mostRunning = max(seen.mostRunning, seen.running)
        }
        await seen.wait { seen -> Void? in
            guard seen.allowed > 0 else { return nil }
            seen.allowed -= 1
            return ()
        }
        // What a wait takes wakes nobody; a change of its own does.
        let fails = seen.withLock { seen in
            seen.running -= 1
            seen.ended += 1
            return seen.fails
        }
        if fails { throw Refusal() }
    }

    func export(
        _ durations: [[TelemetryAttribute]: DurationHistogram], since start: Date, of resource: [TelemetryAttribute]
    ) async throws {
        seen.withLock { $0.metrics += 1 }
    }
}

/// Spans wait, are sent and are lost as OpenTelemetry's batch span processor has it.
@Suite(.timeLimit(.minutes(5))) struct SpanQueueTests {
    /// Ends so many calls, each of which has two spans.
    private func end(_ calls: Int, _ telemetry: Telemetry) throws {
        let request = HTTPRequest(method: .get, url: try InspectRig.url())
        for _ in 0..<calls {
            let first = EventContext(call: .next())
            let context = EventContext(call: first.call, attempt: 1)
            telemetry.receive(.callStarted(.init(endpoint: "Hello", service: .main, environment: .test)), first)
            telemetry.receive(.requestSent(request), context)
            telemetry.receive(
                .responseReceived(InspectRig.greeting, timings: .init(), connection: .init()), context)
            telemetry.receive(.callEnded(.success), context)
        }
    }

    private func rig(
        _ exporter: GatedExporter, _ batching: SpanBatching = SpanBatching()
    ) -> (telemetry: Telemetry, clock: TestClock, problems: Locked<[TelemetryProblem]>) {
        let (clock, problems) = (TestClock(), Locked<[TelemetryProblem]>([]))
        let telemetry = Telemetry("shop", to: exporter, batching: batching, time: clock.timeSource) { problem in
            problems.withLock { $0.append(problem) }
        }
        return (telemetry, clock, problems)
    }

    @Test("Its parameters have the names and the defaults of OpenTelemetry's batch span processor", .covers("X12"))
    func defaults() {
        let batching = SpanBatching()
        #expect(batching.maxQueueSize == 2048 && batching.maxExportBatchSize == 512)
        #expect(batching.scheduleDelay == .seconds(5) && batching.exportTimeout == .seconds(30))
    }

    @Test(
        "A full batch is sent at once; meanwhile the queue fills to its bound, and the next follows without a delay",
        .covers("X12"))
    func fullBatches() async throws {
        let exporter = GatedExporter(allowed: 0)
        let (telemetry, _, problems) = rig(exporter)
        try end(255, telemetry)
        #expect(exporter.batches.isEmpty)
        try end(1, telemetry)
        await exporter.seen.waitUnlessCancelled { $0.batches == [512] }
        // The batch that is on its way is in the queue no more.
        try end(1024, telemetry)
        #expect(telemetry.lostCount == 0)
        try end(3, telemetry)
        #expect(telemetry.droppedCount == 6 && telemetry.lostCount == 6)
        #expect(problems.withLock { $0 } == [.queueFull(droppedSpans: 2)])
        exporter.seen.withLock { $0.allowed = 1 }
        await exporter.seen.waitUnlessCancelled { $0.batches == [512, 512] }
        try end(256, telemetry)
        #expect(telemetry.droppedCount == 6)
        exporter.seen.withLock { $0.allowed = .max }
        await exporter.seen.waitUnlessCancelled { $0.ended >= 6 }
        #expect(exporter.batches == [512, 512, 512, 512, 512, 512])
        #expect(exporter.seen.withLock(\.mostRunning) == 1 && telemetry.lostCount == 6)
    }

    @Test("An exporter that keeps up loses nothing, however many spans a second there are", .covers("X12"))
    func load() async throws {
        let exporter = GatedExporter()
        let (telemetry, clock, _) = rig(exporter)
        for step in 1...40 {
            try end(512, telemetry)
            await exporter.seen.waitUnlessCancelled { $0.ended >= step * 2 }
            clock.advance(by: .milliseconds(100))
        }
        #expect(exporter.batches.reduce(0, +) == 40_960 && telemetry.lostCount == 0)
        #expect(exporter.seen.withLock(\.mostRunning) == 1)
    }

    @Test("What fills no batch is sent after the delay, with the measurements", .covers("X12"))
    func delay() async throws {
        let exporter = GatedExporter()
        let (telemetry, clock, _) = rig(exporter, SpanBatching(scheduleDelay: .seconds(3)))
        try end(2, telemetry)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(2_999))
        #expect(exporter.batches.isEmpty)
        clock.advance(by: .milliseconds(1))
        await exporter.seen.waitUnlessCancelled { $0.metrics >= 1 }
        #expect(exporter.batches == [4])
        // And so again, whenever the task that waits has begun to.
        try end(3, telemetry)
        while !Task.isCancelled, exporter.seen.withLock({ $0.metrics < 2 }) {
            clock.advance(by: .seconds(3))
            await Task.yield()
        }
        #expect(exporter.batches == [4, 6])
        #expect(telemetry.lostCount == 0)
    }

    @Test("A flush sends all that waited when it began, also behind an export under way, and nothing twice")
    func flushing() async throws {
        let exporter = GatedExporter(allowed: 0)
        let (telemetry, _, _) = rig(exporter, SpanBatching(maxExportBatchSize: 4))
        try end(3, telemetry)
        await exporter.seen.waitUnlessCancelled { $0.batches == [4] }
        let flushed = Locked(false)
        let flush = Task {
            await telemetry.flush()
            flushed.withLock { $0 = true }
        }
        exporter.seen.withLock { $0.allowed = 1 }
        await exporter.seen.waitUnlessCancelled { $0.batches == [4, 2] }
        #expect(!flushed.withLock { $0 })
        exporter.seen.withLock { $0.allowed = .max }
        await flush.value
        #expect(exporter.batches == [4, 2] && exporter.seen.withLock { $0.ended == 2 && $0.metrics == 1 })
    }

    @Test("After a shutdown everything is sent, and what comes later is dropped and counted")
    func shutdown() async throws {
        let exporter = GatedExporter()
        let (telemetry, _, _) = rig(exporter, SpanBatching(maxQueueSize: 100, maxExportBatchSize: 40))
        try end(30, telemetry)
        await telemetry.shutdown()
        #expect(exporter.batches == [40, 20] && exporter.seen.withLock(\.metrics) == 1)
        try end(1, telemetry)
        await telemetry.flush()
        #expect(exporter.batches == [40, 20] && telemetry.droppedCount == 2)
    }

    @Test("What waits when nobody holds the telemetry any more is sent, the measurements too")
    func release() async throws {
        let exporter = GatedExporter()
        do {
            let (telemetry, _, _) = rig(exporter)
            try end(1, telemetry)
        }
        await exporter.seen.waitUnlessCancelled { $0.ended >= 1 && $0.metrics >= 1 }
        #expect(exporter.batches == [2])
    }

    @Test("Measurements that were sent are not sent once more when nobody holds the telemetry any more")
    func releaseAfterFlush() async throws {
        let exporter = GatedExporter()
        do {
            let (telemetry, _, _) = rig(exporter)
            try end(1, telemetry)
            await telemetry.flush()
            try end(1, telemetry)
            await telemetry.flush()
        }
        await exporter.seen.waitUnlessCancelled { $0.ended >= 2 }
        #expect(exporter.seen.withLock(\.metrics) == 2)
    }

    @Test("An export that takes too long is cancelled and its spans are lost; the next one begins", .covers("X12"))
    func timeout() async throws {
        let (clock, problems) = (TestClock(), Locked<[TelemetryProblem]>([]))
        let (began, isStuck) = (Monitor(0), Locked(true))
        let queue = SpanQueue(
            SpanBatching(maxExportBatchSize: 1, exportTimeout: .seconds(7)), time: clock.timeSource,
            onProblem: { problem in problems.withLock { $0.append(problem) } },
            export: { [time = clock.timeSource] _ in
                began.withLock { $0 += 1 }
                if isStuck.withLock(\.self) { try await time.sleep(.seconds(1_000)) }
            })
        let spans = [try span(), try span()]
        queue.add(spans)
        await clock.waitForSleepers(count: 2)
        isStuck.withLock { $0 = false }
        clock.advance(by: .milliseconds(6_999))
        #expect(queue.lostCount == 0)
        clock.advance(by: .milliseconds(1))
        await queue.flush()
        #expect(began.withLock(\.self) == 2 && queue.lostCount == 1 && queue.droppedCount == 0)
        let reason = "no answer within \(Duration.seconds(7))"
        #expect(problems.withLock { $0 } == [.exportFailed(lostSpans: 1, reason: reason)])
    }

    @Test("Losses are told at once, then once a minute at most with all that was not told, and the rest at the end")
    func telling() async throws {
        let exporter = GatedExporter()
        exporter.seen.withLock { $0.fails = true }
        let (telemetry, clock, problems) = rig(exporter, SpanBatching(maxExportBatchSize: 2))
        for _ in 0..<3 {
            try end(1, telemetry)
            await telemetry.flush()
        }
        #expect(problems.withLock { $0 } == [.exportFailed(lostSpans: 2, reason: "Refusal()")])
        clock.advance(by: .seconds(60))
        for _ in 0..<2 {
            try end(1, telemetry)
            await telemetry.flush()
        }
        #expect(problems.withLock { $0.count } == 2)
        #expect(problems.withLock { $0.last } == .exportFailed(lostSpans: 6, reason: "Refusal()"))
        await telemetry.shutdown()
        #expect(problems.withLock { $0.last } == .exportFailed(lostSpans: 2, reason: "Refusal()"))
        #expect(telemetry.lostCount == 10 && telemetry.droppedCount == 0)
        await telemetry.shutdown()
        #expect(problems.withLock { $0.count } == 3)
    }

    @Test("A problem is told in one line without secrets")
    func lines() async throws {
        let problems = Locked<[TelemetryProblem]>([])
        let queue = SpanQueue(
            SpanBatching(maxExportBatchSize: 1), time: TestClock().timeSource,
            onProblem: { problem in problems.withLock { $0.append(problem) } },
            export: { _ in throw TelemetryProblem.exportFailed(lostSpans: 1, reason: "https://a.example/?token=c4n4ry")
            }
        )
        queue.add([try span()])
        await queue.flush()
        #expect(!"\(problems.withLock { $0 })".contains("c4n4ry") && problems.withLock { $0.count } == 1)
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("log")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let log = StandardErrorLog(try FileHandle(forWritingTo: file))
        log.warn("telemetry: \(TelemetryProblem.queueFull(droppedSpans: 3))\n", at: Date(timeIntervalSince1970: 1))
        let line = "00:00:01.000 warning telemetry: 3 spans were dropped because the queue was full\\u{a}\n"
        #expect(try String(contentsOf: file, encoding: .utf8) == line)
    }

    @Test("Bounds that mean nothing are the nearest that do", arguments: [(0, 0, [1]), (-1, 9, [1]), (3, 9, [3])])
    func bounds(_ queueSize: Int, _ batchSize: Int, _ batches: [Int]) async throws {
        let exporter = GatedExporter()
        let (telemetry, _, _) = rig(exporter, SpanBatching(maxQueueSize: queueSize, maxExportBatchSize: batchSize))
        // The spans of one call come together.
        try end(2, telemetry)
        await telemetry.flush()
        #expect(exporter.batches.prefix(1) == batches[...])
    }

    private func span() throws -> Span {
        Span(
            traceID: String(repeating: "1", count: 32), spanID: String(repeating: "1", count: 16), parentID: nil,
            traceState: nil, name: "GET", kind: .client, start: Date(timeIntervalSince1970: 0), duration: .zero,
            attributes: [], isError: false, events: [])
    }
}
