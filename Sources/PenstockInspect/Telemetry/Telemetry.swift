import Foundation
import PenstockCore

/// Who gets spans and measurements: ``OTLPExporter``, or a tracing library that an app has already.
public protocol TelemetryExporter: Sendable {
    /// Takes spans that have ended. What it throws loses them, and is counted. The next export waits until it returns, which it
    /// should do soon once its task is cancelled: that is so after ``SpanBatching/exportTimeout``.
    func export(_ spans: [Span], of resource: [TelemetryAttribute]) async throws
    /// Takes the histogram of `http.client.request.duration` for each set of attributes, since `start`. What it throws is told of.
    func export(
        _ durations: [[TelemetryAttribute]: DurationHistogram], since start: Date, of resource: [TelemetryAttribute])
        async throws
}

/// Traces and metrics by OpenTelemetry's conventions: a span for each attempt, in that of its call, and how long attempts took.
/// What was decided about a call, such as a retry or what the cache did, are events of its span (``SpanEvent``).
///
/// ```swift
/// let telemetry = Telemetry(
///     "shop", to: OTLPExporter("http://127.0.0.1:4318", by: client), propagatesTo: ["https://shop.example.com"])
/// let watched = client.with {
///     $0.sinks.append(telemetry)
///     $0.attemptInterceptors.append(telemetry)            // so that servers go on with the trace
/// }
/// try await watched.get("/products")
/// ```
///
/// As an interceptor it writes `traceparent` and `tracestate` (W3C "Trace Context") onto what goes to the origins that it was
/// given, and takes them off everything else: who may follow an app through its requests is not everybody's business. A request
/// that has a `traceparent` of the app's own goes on with that trace, also where the cache answers it; of a call that is joined to
/// another one, or that nothing answers and that sends nothing, the field is not seen.
///
/// Spans are sent as soon as there are 512 of them, some seconds after they end, or by ``flush()``, one export after the other.
/// At most 2,048 wait meanwhile; those beyond are dropped, counted and told (``SpanBatching``).
public final class Telemetry: EventSink, Interceptor {
    /// The trace of a call under way.
    private struct Trace: Sendable {
        var context: TraceContext
        /// The ID of the span that the app's own `traceparent` names.
        var parentID: String?

        /// The same span in the trace of the app's own.
        func goingOn(_ incoming: TraceContext) -> Trace {
            Trace(context: incoming.with(spanID: context.spanID), parentID: incoming.spanID)
        }

        /// The same, in the trace of the app's own where that is known from the answer alone, since nothing went through the
        /// interceptor. What an answer to another call belongs to is not this one's trace.
        func goingOn(_ record: CallRecord) -> Trace {
            guard record.attempts.isEmpty, let answer = record.answer, !answer.isJoined,
                [.memory, .disk, .interceptor].contains(answer.source),
                let incoming = answer.request.fields.traceContext, incoming.traceID != context.traceID
            else { return self }
            return goingOn(incoming)
        }
    }

    private struct State: Sendable {
        var collector = CallCollector(content: ContentBudget(longest: -1))
        var traces: [CallID: Trace] = [:]
        var metric = DurationMetric()
        /// Whether there are measurements that were not sent.
        var isMeasured = false
        /// Sends what waits, a while after it has come.
        var sending: Task<Void, Never>?
    }

    private let origins: Set<String>
    private let ratio: Double
    private let knownMethods: Set<String>
    private let batching: SpanBatching
    private let time: TimeSource
    private let random: RandomSource
    private let queue: SpanQueue
    private let metrics: MetricSender
    private let state = Locked(State())

    /// Telemetry of an app.
    ///
    /// - Parameters:
    ///   - service: the app's name, `service.name`.
    ///   - version: the app's version; none by default.
    ///   - exporter: who gets it.
    ///   - origins: `scheme://host` or `scheme://host:port` of the servers that may know the trace; without a scheme it is `https`.
    ///     None by default. What is no origin is named in a warning where ``PlatformLog/standard`` writes.
    ///   - ratio: how many of the traces that begin here are recorded, from 0 to 1. All by default. A trace that goes on here is
    ///     recorded where its `traceparent` says so. Measurements are of all calls.
    ///   - batching: how many spans wait, and when they are sent. As OpenTelemetry has it by default. Measurements are sent
    ///     after its ``SpanBatching/scheduleDelay``.
    ///   - knownMethods: the methods that are told by name; others are `_OTHER`. Unless given, those that
    ///     `OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS` lists in the environment, with commas between them, or else those of the
    ///     semantic conventions (RFC 9110, `PATCH` and `QUERY`). What is given is the whole list.
    ///   - onProblem: told of what was lost and why, from any thread: at once, and then once a minute at most. Unless given, it
    ///     is written as one line to where ``PlatformLog/standard`` writes.
    public init(
        _ service: String, version: String? = nil, to exporter: any TelemetryExporter,
        propagatesTo origins: [String] = [],
        samples ratio: Double = 1, batching: SpanBatching = SpanBatching(), knownMethods: Set<HTTPMethod>? = nil,
        time: TimeSource = .system, random: RandomSource = .system,
        onProblem: (@Sendable (TelemetryProblem) -> Void)? = nil
    ) {
        let (known, unusable) = Self.parsed(origins)
        self.origins = known
        for text in unusable {
            PlatformLog.warn("telemetry: \(Redaction.text(text)) is no origin: no trace goes to it", at: time.date())
        }
        self.ratio = ratio
        self.knownMethods = HTTPSemantics.methods(knownMethods, ProcessInfo.processInfo.environment)
        self.batching = batching
        self.time = time
        self.random = random
        let start = time.date()
        var resource = [
            TelemetryAttribute(.serviceName, service), TelemetryAttribute(.sdkName, "penstock"),
            TelemetryAttribute(.sdkLanguage, "swift"), TelemetryAttribute(.sdkVersion, PenstockVersion.current),
        ]
        if let version { resource.append(TelemetryAttribute(.serviceVersion, version)) }
        let tell = onProblem ?? { PlatformLog.warn("telemetry: \($0)", at: time.date()) }
        queue = SpanQueue(batching, time: time, onProblem: tell) { [resource] spans in
            try await exporter.export(spans, of: resource)
        }
        metrics = MetricSender(within: batching.exportTimeout, time: time, onProblem: tell) { [resource] series in
            try await exporter.export(series, since: start, of: resource)
        }
    }

    static func parsed(_ origins: [String]) -> (origins: Set<String>, unusable: [String]) {
        origins.reduce(into: ([], [])) { parsed, text in
            let url = try? HTTPURL(text.contains("://") ? text : "https://\(text)")
            if let url { parsed.0.insert(url.origin.text) } else { parsed.1.append(text) }
        }
    }

    /// How many spans were lost: the queue was full, or the exporter failed.
    public var lostCount: Int { queue.lostCount }

    /// How many of the lost spans were dropped since the queue was full, or after ``shutdown()``.
    public var droppedCount: Int { queue.droppedCount }

    // MARK: The trace of a request

    public func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await next(traced(request, call.id))
    }

    /// The request with the context of a span of its own, or without any, by where it goes.
    func traced(_ request: HTTPRequest, _ call: CallID) -> HTTPRequest {
        let incoming = request.fields.traceContext
        let fresh = newContext()
        let spanID = newSpanID()
        let context = state.withLock { state -> TraceContext in
            guard var trace = state.traces[call] else { return incoming ?? fresh }
            if let incoming {
                trace = trace.goingOn(incoming)
                state.traces[call] = trace
            }
            return trace.context
        }
        var request = request
        request.fields.remove(.traceParent)
        request.fields.remove(.traceState)
        guard origins.contains(request.url.origin.text) else { return request }
        request.fields[.traceParent] = context.with(spanID: spanID).parent
        if let value = context.state.value { request.fields[.traceState] = value }
        return request
    }

    // MARK: What happened

    public var interest: EventInterest { .calls }

    public func receive(_ event: Event, _ context: EventContext) {
        let fresh: TraceContext? = if case .callStarted = event { newContext() } else { nil }
        let ended = state.withLock { state -> (record: CallRecord, trace: Trace)? in
            if let fresh { state.traces[context.call] = Trace(context: fresh) }
            guard let record = state.collector.take(event, context) else { return nil }
            guard let trace = state.traces.removeValue(forKey: context.call) else { return nil }
            for attempt in record.attempts where attempt.failure != .cancelled {
                state.metric.record(attempt.length, HTTPSemantics.common(attempt, known: knownMethods))
                state.isMeasured = true
            }
            return (record, trace.goingOn(record))
        }
        guard let (record, trace) = ended else { return }
        if trace.context.isSampled {
            queue.add([callSpan(record, trace)] + record.attempts.map { attemptSpan($0, trace) })
        }
        sendLater()
    }

    deinit {
        state.withLock(\.sending)?.cancel()
        // Nobody else can ask for what waits; the queue lives until it is sent.
        queue.sendAll()
        let series = state.withLock { $0.isMeasured ? $0.metric.series : [:] }
        guard !series.isEmpty else { return }
        Task { [metrics] in await metrics.send(series) }
    }

    private func callSpan(_ record: CallRecord, _ trace: Trace) -> Span {
        var attributes: [TelemetryAttribute] = []
        if case .failure(let kind) = record.outcome { attributes.append(TelemetryAttribute(.errorType, kind.name)) }
        return Span(
            traceID: trace.context.traceID, spanID: trace.context.spanID, parentID: trace.parentID,
            traceState: trace.context.state.value, name: record.summary.endpoint, kind: .internal,
            start: record.started,
            duration: record.elapsed, attributes: attributes, isError: !attributes.isEmpty,
            events: record.decisions.map { SpanEvent($0, since: record.started) })
    }

    private func attemptSpan(_ attempt: AttemptRecord, _ trace: Trace) -> Span {
        // What the server was told is the span's own id.
        let told = attempt.request.fields.traceContext
        let spanID = told?.traceID == trace.context.traceID ? told?.spanID : nil
        return Span(
            traceID: trace.context.traceID, spanID: spanID ?? newSpanID(), parentID: trace.context.spanID,
            traceState: trace.context.state.value, name: HTTPSemantics.name(of: attempt, known: knownMethods),
            kind: .client,
            start: attempt.date, duration: attempt.length,
            attributes: HTTPSemantics.common(attempt, known: knownMethods)
                + HTTPSemantics.ofSpan(attempt, known: knownMethods),
            isError: HTTPSemantics.errorType(of: attempt) != nil, events: [])
    }

    // MARK: Sending

    /// Sends what waits, and returns when that is done.
    public func flush() async {
        await queue.flush()
        let series = state.withLock { state in
            state.isMeasured = false
            return state.metric.series
        }
        await metrics.send(series)
    }

    /// Sends what waits, tells of the losses that were not told, and returns when that is done. Spans of calls that end later are
    /// dropped.
    public func shutdown() async {
        await queue.shutdown()
        await flush()
        metrics.tellRest()
    }

    private func sendLater() {
        state.withLock { state in
            guard state.sending == nil else { return }
            state.sending = Task { [weak self, time, end = time.now() + batching.scheduleDelay] in
                try? await time.sleep(until: end)
                guard let self else { return }
                self.state.withLock { $0.sending = nil }
                await flush()
            }
        }
    }

    // MARK: Ids

    private func newContext() -> TraceContext {
        let isSampled = Double(random.next() >> 11) / Double(UInt64(1) << 53) < ratio
        return TraceContext(traceID: newSpanID() + newSpanID(), spanID: newSpanID(), isSampled: isSampled)
    }

    /// 64 random bits, not all of them 0.
    private func newSpanID() -> String {
        let digits = String(max(1, random.next()), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
