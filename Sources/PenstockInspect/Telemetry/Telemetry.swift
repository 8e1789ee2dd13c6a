import Foundation
import PenstockCore

/// Who gets spans and measurements: ``OTLPExporter``, or a tracing library that an app has already.
public protocol TelemetryExporter: Sendable {
    /// Takes spans that have ended. What it throws loses them, and is counted.
    func export(_ spans: [Span], of resource: [TelemetryAttribute]) async throws
    /// Takes the histogram of `http.client.request.duration` for each set of attributes, since `start`.
    func export(
        _ durations: [[TelemetryAttribute]: DurationHistogram], since start: Date, of resource: [TelemetryAttribute])
        async throws
}

/// Traces and metrics by OpenTelemetry's conventions: a span for each attempt, in that of its call, and how long attempts took.
/// What was decided about a call, such as a retry or what the cache did, are events of its span (``SpanEvent``).
///
/// ```swift
/// let telemetry = Telemetry("shop", to: OTLPExporter("http://127.0.0.1:4318"), propagatesTo: ["https://shop.example.com"])
/// configuration.sinks.append(telemetry)
/// configuration.attemptInterceptors.append(telemetry)     // so that servers go on with the trace
/// ```
///
/// As an interceptor it writes `traceparent` and `tracestate` (W3C "Trace Context") onto what goes to the origins that it was
/// given, and takes them off everything else: who may follow an app through its requests is not everybody's business. A request
/// that has a `traceparent` of the app's own goes on with that trace.
///
/// Spans are sent some seconds after they end, or by ``flush()``. At most 2,048 wait; those beyond are lost and counted.
public final class Telemetry: EventSink, Interceptor {
    /// As OpenTelemetry's batch processor has it.
    private static let mostWaiting = 2048
    private static let batch = 512

    /// The trace of a call under way.
    private struct Trace: Sendable {
        var context: TraceContext
        /// Of the span that the app's own `traceparent` names.
        var parentID: String?
    }

    private struct State: Sendable {
        var collector = CallCollector(contentLimit: -1)
        var traces: [CallID: Trace] = [:]
        var spans: [Span] = []
        var lost = 0
        var metric = DurationMetric()
        /// Sends what waits, a while after it has come.
        var sending: Task<Void, Never>?
    }

    private let exporter: any TelemetryExporter
    private let origins: Set<String>
    private let resource: [TelemetryAttribute]
    private let ratio: Double
    private let interval: Duration
    private let time: TimeSource
    private let random: RandomSource
    private let start: Date
    private let state = Locked(State())

    /// Telemetry of an app.
    ///
    /// - Parameters:
    ///   - service: the app's name, `service.name`.
    ///   - version: the app's version; none by default.
    ///   - exporter: who gets it.
    ///   - origins: `scheme://host` or `scheme://host:port` of the servers that may know the trace. None by default.
    ///   - ratio: how many of the traces that begin here are recorded, from 0 to 1. All by default. A trace that goes on here is
    ///     recorded where its `traceparent` says so. Measurements are of all calls.
    ///   - interval: after how long spans are sent. 5 s by default, as OpenTelemetry's batch processor has it.
    public init(
        _ service: String, version: String? = nil, to exporter: any TelemetryExporter,
        propagatesTo origins: [String] = [],
        samples ratio: Double = 1, every interval: Duration = .seconds(5), time: TimeSource = .system,
        random: RandomSource = .system
    ) {
        self.exporter = exporter
        self.origins = Set(origins.compactMap { try? HTTPURL($0).origin.text })
        self.ratio = ratio
        self.interval = interval
        self.time = time
        self.random = random
        start = time.date()
        var resource = [
            TelemetryAttribute(.serviceName, service), TelemetryAttribute(.sdkName, "penstock"),
            TelemetryAttribute(.sdkLanguage, "swift"), TelemetryAttribute(.sdkVersion, PenstockVersion.current),
        ]
        if let version { resource.append(TelemetryAttribute(.serviceVersion, version)) }
        self.resource = resource
    }

    /// How many spans were lost: too many waited, or the exporter failed.
    public var lostCount: Int { state.withLock(\.lost) }

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
                let own = trace.context.spanID
                trace = Trace(context: incoming.with(spanID: own), parentID: incoming.spanID)
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

    public func receive(_ event: Event, _ context: EventContext) {
        let fresh: TraceContext? = if case .callStarted = event { newContext() } else { nil }
        let isDue = state.withLock { state -> Bool in
            if let fresh { state.traces[context.call] = Trace(context: fresh) }
            guard let record = state.collector.take(event, context) else { return false }
            guard let trace = state.traces.removeValue(forKey: context.call) else { return false }
            for attempt in record.attempts where attempt.failure != .cancelled {
                state.metric.record(attempt.length, HTTPSemantics.common(attempt))
            }
            keep(record, trace, &state)
            return true
        }
        if isDue { sendLater() }
    }

    deinit {
        state.withLock(\.sending)?.cancel()
    }

    private func keep(_ record: CallRecord, _ trace: Trace, _ state: inout State) {
        guard trace.context.isSampled else { return }
        let spans = [callSpan(record, trace)] + record.attempts.map { attemptSpan($0, trace) }
        let room = max(0, Self.mostWaiting - state.spans.count)
        state.spans += spans.prefix(room)
        state.lost += max(0, spans.count - room)
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
            traceState: trace.context.state.value, name: HTTPSemantics.name(of: attempt), kind: .client,
            start: attempt.date, duration: attempt.length,
            attributes: HTTPSemantics.common(attempt) + HTTPSemantics.ofSpan(attempt),
            isError: HTTPSemantics.errorType(of: attempt) != nil, events: [])
    }

    // MARK: Sending

    /// Sends what waits, and returns when that is done.
    public func flush() async {
        while true {
            let (spans, isLast) = state.withLock { state in
                let spans = Array(state.spans.prefix(Self.batch))
                state.spans.removeFirst(spans.count)
                return (spans, state.spans.isEmpty)
            }
            if !spans.isEmpty {
                do {
                    try await exporter.export(spans, of: resource)
                } catch {
                    state.withLock { $0.lost += spans.count }
                }
            }
            if isLast { break }
        }
        let series = state.withLock(\.metric.series)
        if !series.isEmpty { try? await exporter.export(series, since: start, of: resource) }
    }

    private func sendLater() {
        state.withLock { state in
            guard state.sending == nil else { return }
            state.sending = Task { [weak self, time, interval] in
                try? await time.sleep(interval)
                guard let self else { return }
                self.state.withLock { $0.sending = nil }
                await flush()
            }
        }
    }

    // MARK: Ids

    private func newContext() -> TraceContext {
        let isSampled = Double(random.next() >> 11) / Double(1 << 53) < ratio
        return TraceContext(traceID: newSpanID() + newSpanID(), spanID: newSpanID(), isSampled: isSampled)
    }

    /// 64 random bits, not all of them 0.
    private func newSpanID() -> String {
        let digits = String(max(1, random.next()), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension AttemptRecord {
    /// As the transport told it, or else as the call saw it.
    var length: Duration { max(.zero, timings.total ?? ((ended ?? started) - started)) }
}
