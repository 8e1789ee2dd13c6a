import PenstockCore

/// How spans wait, and when they are sent: the parameters of OpenTelemetry's batch span processor by its own names, and with its
/// defaults (OpenTelemetry, "Tracing SDK", "Batching processor").
public struct SpanBatching: Hashable, Sendable {
    /// How many spans wait at most; those beyond are dropped.
    public var maxQueueSize: Int
    /// How many spans are sent at once at most. So many begin an export without any delay.
    public var maxExportBatchSize: Int
    /// How long spans wait for a batch to fill.
    public var scheduleDelay: Duration
    /// How long an export may take; it is cancelled then, and its spans are lost.
    public var exportTimeout: Duration

    /// Parameters, by default those of OpenTelemetry.
    ///
    /// - Parameters:
    ///   - maxQueueSize: 2,048 by default; at least 1.
    ///   - maxExportBatchSize: 512 by default; at least 1, and no more than `maxQueueSize` has an effect.
    ///   - scheduleDelay: 5 s by default.
    ///   - exportTimeout: 30 s by default, `.seconds(.max)` for no limit.
    public init(
        maxQueueSize: Int = 2048, maxExportBatchSize: Int = 512, scheduleDelay: Duration = .seconds(5),
        exportTimeout: Duration = .seconds(30)
    ) {
        self.maxQueueSize = maxQueueSize
        self.maxExportBatchSize = maxExportBatchSize
        self.scheduleDelay = scheduleDelay
        self.exportTimeout = exportTimeout
    }
}

/// What was lost of the spans, and what of the measurements did not arrive.
@nonexhaustive
public enum TelemetryProblem: Error, Hashable, Sendable {
    /// So many spans found the queue full, since this was told before: more calls end than the exporter takes.
    case queueFull(droppedSpans: Int)
    /// So many spans were handed to the exporter in vain, since this was told before; what it said the last time, redacted.
    case exportFailed(lostSpans: Int, reason: String)
    /// The measurements of so many sets of attributes were handed to the exporter in vain, since this was told before; what it said
    /// the last time, redacted. They are cumulative: the next ones that arrive have them as well.
    case metricsFailed(series: Int, reason: String)
}

extension TelemetryProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .queueFull(let count): "\(count) spans were dropped because the queue was full"
        case .exportFailed(let count, let reason): "\(count) spans were lost because the export failed: \(reason)"
        case .metricsFailed(let count, let reason):
            "\(count) measurements did not arrive because the export failed: \(reason)"
        }
    }
}

/// Spans that wait to be sent, and the one export that is under way.
///
/// An export begins as soon as a batch is full, or what waits is asked for, and the one before is over: exports never overlap
/// (OpenTelemetry, "Tracing SDK", "Export(batch)"). Meanwhile the queue goes on filling. An export keeps the queue alive.
final class SpanQueue: Sendable {
    private struct State: Sendable {
        var waiting: [Span] = []
        /// How many spans have been let in since the beginning.
        var accepted = 0
        /// The number of those whose export is over.
        var finished = 0
        /// How many of them are sent without waiting for a full batch.
        var demanded = 0
        var exporting: Task<Void, Never>?
        var isClosed = false
        var dropped = TelemetryLoss()
        var failed = TelemetryLoss()
        /// Why the last export that failed did.
        var reason = ""
    }

    private let export: @Sendable ([Span]) async throws -> Void
    private let onProblem: @Sendable (TelemetryProblem) -> Void
    private let capacity: Int
    private let batch: Int
    private let limit: Duration
    private let time: TimeSource
    private let state = Locked(State())

    init(
        _ batching: SpanBatching, time: TimeSource, onProblem: @escaping @Sendable (TelemetryProblem) -> Void,
        export: @escaping @Sendable ([Span]) async throws -> Void
    ) {
        capacity = max(1, batching.maxQueueSize)
        batch = max(1, min(capacity, batching.maxExportBatchSize))
        limit = batching.exportTimeout
        self.time = time
        self.onProblem = onProblem
        self.export = export
    }

    /// How many spans found no room.
    var droppedCount: Int { state.withLock(\.dropped.total) }
    /// How many spans were lost on their way or found no room.
    var lostCount: Int { state.withLock { $0.dropped.total + $0.failed.total } }

    /// Takes those for which there is room.
    func add(_ spans: [Span]) {
        let now = time.now()
        let untold = state.withLock { state -> Int? in
            let room = state.isClosed ? 0 : max(0, capacity - state.waiting.count)
            let taken = min(room, spans.count)
            state.waiting += spans.prefix(taken)
            state.accepted += taken
            beginExport(&state)
            return state.dropped.lose(spans.count - taken, at: now)
        }
        if let untold { onProblem(.queueFull(droppedSpans: untold)) }
    }

    /// Sends all that waits, one batch after the other.
    func sendAll() {
        state.withLock { state in
            state.demanded = state.accepted
            beginExport(&state)
        }
    }

    /// Sends all that waits, and returns when that is done.
    func flush() async {
        let last = state.withLock { state in
            state.demanded = state.accepted
            beginExport(&state)
            return state.accepted
        }
        while let export = state.withLock({ $0.finished < last ? $0.exporting : nil }) { await export.value }
    }

    /// Takes no more, sends all that waits, and tells what has not been told.
    func shutdown() async {
        state.withLock { $0.isClosed = true }
        await flush()
        let (dropped, failed, reason) = state.withLock { ($0.dropped.rest(), $0.failed.rest(), $0.reason) }
        if let dropped { onProblem(.queueFull(droppedSpans: dropped)) }
        if let failed { onProblem(.exportFailed(lostSpans: failed, reason: reason)) }
    }

    private func beginExport(_ state: inout State) {
        let isDemanded = state.accepted - state.waiting.count < state.demanded
        guard state.exporting == nil, !state.waiting.isEmpty, isDemanded || state.waiting.count >= batch else { return }
        let spans = Array(state.waiting.prefix(batch))
        state.waiting.removeFirst(spans.count)
        state.exporting = Task { await self.send(spans) }
    }

    private func send(_ spans: [Span]) async {
        let failure = await failure(of: spans)
        let now = time.now()
        let untold = state.withLock { state -> Int? in
            state.finished += spans.count
            state.exporting = nil
            beginExport(&state)
            guard let failure else { return nil }
            state.reason = failure.reason
            return state.failed.lose(failure.lost, at: now)
        }
        if let untold, let failure { onProblem(.exportFailed(lostSpans: untold, reason: failure.reason)) }
    }

    /// - Returns: what the exporter said of it, and how many spans are lost by that; `nil` where it took them.
    private func failure(of spans: [Span]) async -> (reason: String, lost: Int)? {
        await time.failure(of: spans.count, within: limit) { [export] in try await export(spans) }
    }
}

/// Sends measurements, and tells what did not arrive as ``SpanQueue`` tells what was lost.
final class MetricSender: Sendable {
    private struct State: Sendable {
        var failed = TelemetryLoss()
        /// Why the last export that failed did.
        var reason = ""
    }

    typealias Series = [[TelemetryAttribute]: DurationHistogram]

    private let export: @Sendable (Series) async throws -> Void
    private let onProblem: @Sendable (TelemetryProblem) -> Void
    private let limit: Duration
    private let time: TimeSource
    private let state = Locked(State())

    init(
        within limit: Duration, time: TimeSource, onProblem: @escaping @Sendable (TelemetryProblem) -> Void,
        export: @escaping @Sendable (Series) async throws -> Void
    ) {
        self.limit = limit
        self.time = time
        self.onProblem = onProblem
        self.export = export
    }

    func send(_ series: Series) async {
        guard !series.isEmpty,
            let failure = await time.failure(
                of: series.count, within: limit, { [export] in try await export(series) })
        else { return }
        let now = time.now()
        let untold = state.withLock { state -> Int? in
            state.reason = failure.reason
            return state.failed.lose(failure.lost, at: now)
        }
        if let untold { onProblem(.metricsFailed(series: untold, reason: failure.reason)) }
    }

    /// Tells what has not been told.
    func tellRest() {
        let (failed, reason) = state.withLock { ($0.failed.rest(), $0.reason) }
        if let failed { onProblem(.metricsFailed(series: failed, reason: reason)) }
    }
}

/// How much was lost, and how much of that was told: at once, and then once a minute at most.
struct TelemetryLoss: Sendable {
    static let pause = Duration.seconds(60)

    private(set) var total = 0
    private var told = 0
    private var next: Duration?

    /// Counts what was lost.
    ///
    /// - Returns: how much is to be told now, with all that was not told; `nil` for nothing.
    mutating func lose(_ count: Int, at now: Duration) -> Int? {
        total += count
        guard count > 0, next.map({ now >= $0 }) ?? true else { return nil }
        next = now + Self.pause
        return rest()
    }

    /// What has not been told; `nil` for nothing.
    mutating func rest() -> Int? {
        defer { told = total }
        return total > told ? total - told : nil
    }
}

/// A collector has not taken all that it was sent.
struct TelemetryRejection: Error, CustomStringConvertible {
    let count: Int
    let total: Int
    /// The reason in the collector's words; it may be empty.
    let reason: String
    var description: String {
        "the collector has rejected \(count) of \(total)\(reason.isEmpty ? "" : ": \(reason)")"
    }
}

/// An export that took longer than it may.
struct ExportTimeout: Error, CustomStringConvertible {
    let limit: Duration
    var description: String { "no answer within \(limit)" }
}

extension TimeSource {
    /// Does something, and cancels it where it takes too long. Returns when it is over in either case.
    ///
    /// - Throws: ``ExportTimeout``, or what it throws itself.
    func run(within limit: Duration, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let end = now() + limit
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask { [self] in
                try await sleep(until: end)
                throw ExportTimeout(limit: limit)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// - Parameter count: how much is exported.
    /// - Returns: what the exporter said of it, and how much is lost by that; `nil` where it took everything.
    func failure(
        of count: Int, within limit: Duration, _ export: @escaping @Sendable () async throws -> Void
    ) async -> (reason: String, lost: Int)? {
        do {
            try await run(within: limit, export)
            return nil
        } catch {
            let lost = (error as? TelemetryRejection)?.count ?? count
            return (LogText.oneLine(Redaction.text("\(error)")), lost)
        }
    }
}
