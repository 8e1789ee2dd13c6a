import Foundation
import PenstockCore

/// Sends spans and measurements to a collector as OTLP/HTTP has it, in JSON (OpenTelemetry Protocol 1.x, "OTLP/HTTP").
///
/// ```swift
/// let exporter = OTLPExporter("http://127.0.0.1:4318", by: client)
/// ```
public struct OTLPExporter: TelemetryExporter {
    private let url: String
    private let client: APIClient
    private let headers: HTTPFields

    /// An exporter.
    ///
    /// - Parameters:
    ///   - url: of the collector, without `/v1/traces` and `/v1/metrics`.
    ///   - headers: what the collector wants besides, such as a key.
    ///   - client: sends it by its time, without its own headers, cookies and interceptors, past its cache and plain, whatever its
    ///     options seal. Plain `http` is for this machine alone, unless the
    ///     client's options allow more. What it tells its sinks is not told to this exporter again: it should have no telemetry itself.
    public init(_ url: String, headers: HTTPFields = [:], by client: APIClient) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.headers = headers
        self.client = client.with { configuration in
            configuration.sinks = []
            configuration.callInterceptors = []
            configuration.attemptInterceptors = []
            // What goes to the app's own servers with every call is none of the collector's business.
            configuration.headers = [:]
            configuration.options.headers = HeaderEdits()
            configuration.cookies = nil
            if configuration.options.cleartext == nil { configuration.options.cleartext = .loopback }
        }
    }

    /// Sends spans to `/v1/traces`. A collector that is overloaded is asked again, not before its `Retry-After`.
    ///
    /// - Throws: also where the collector has rejected some of them. ``Telemetry/lostCount`` counts those alone then.
    public func export(_ spans: [Span], of resource: [TelemetryAttribute]) async throws {
        let answer = try await post(OTLP.traces(spans, of: resource), to: "/v1/traces")
        try answer?.check("rejectedSpans", of: spans.count)
    }

    /// Sends histograms to `/v1/metrics`.
    public func export(
        _ durations: [[TelemetryAttribute]: DurationHistogram], since start: Date, of resource: [TelemetryAttribute]
    ) async throws {
        let now = client.configuration.time.date()
        let answer = try await post(OTLP.metrics(durations, since: start, at: now, of: resource), to: "/v1/metrics")
        try answer?.check("rejectedDataPoints", of: durations.count)
    }

    /// Two messages may be alike, and each of them is sent, whatever the app has said of its own calls. What the protocol calls
    /// retryable is sent again, also where the collector may have it twice then (OTLP, "Failures" and "Duplicate Data").
    private static let options = CallOptions.with {
        $0.timeouts = Timeouts(connect: .seconds(10), firstByte: .seconds(10), idle: .seconds(10), total: .seconds(30))
        $0.cache = .networkOnly
        // Of the services it is that they open what is sealed, and the collector is none of them.
        $0.sealing = .plain
        $0.inFlight = .independent
        $0.retry = RetryPolicy(limit: 4, statuses: [429, 502, 503, 504])
        $0.idempotency = .declared
    }

    /// - Returns: what the collector says of it; `nil` where that is no such message.
    private func post(_ value: JSONValue, to path: String) async throws -> OTLPAnswer? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var request = HTTPRequest(method: .post, url: try HTTPURL(url + path), body: .bytes(try encoder.encode(value)))
        request.fields = headers
        request.fields[.contentType] = "application/json"
        let response = try await client.send(request, options: Self.options)
        guard (200...299).contains(response.http.status) else {
            throw APIError(.httpStatus(response.http.status), stage: .status, request: request, response: response.http)
        }
        return try? JSONDecoder().decode(OTLPAnswer.self, from: response.data)
    }
}

/// An `ExportTraceServiceResponse`, or that for metrics.
private struct OTLPAnswer: Decodable {
    /// How many were rejected, and why.
    let partialSuccess: [String: JSONValue]?

    /// - Throws: ``TelemetryRejection`` where some were rejected.
    func check(_ member: String, of total: Int) throws {
        let rejected: Int? =
            switch partialSuccess?[member] {
            case .string(let digits): Int(digits)
            case .int(let number): Int(number)
            default: nil
            }
        guard let rejected, rejected > 0 else { return }
        let reason: String = if case .string(let text) = partialSuccess?["errorMessage"] { text } else { "" }
        throw TelemetryRejection(count: min(rejected, total), total: total, reason: reason)
    }
}

/// The messages of the protocol in its JSON encoding: ids in hexadecimal, 64-bit numbers as text, enumerations as numbers.
package enum OTLP {
    /// An `ExportTraceServiceRequest`.
    package static func traces(_ spans: [Span], of resource: [TelemetryAttribute]) -> JSONValue {
        let spans = JSONValue.array(spans.map(span))
        return [
            "resourceSpans": [
                ["resource": ["attributes": attributes(resource)], "scopeSpans": [["scope": scope, "spans": spans]]]
            ]
        ]
    }

    /// An `ExportMetricsServiceRequest`.
    package static func metrics(
        _ durations: [[TelemetryAttribute]: DurationHistogram], since start: Date, at now: Date,
        of resource: [TelemetryAttribute]
    ) -> JSONValue {
        let points = durations.map { key, histogram -> JSONValue in
            [
                "attributes": attributes(key), "startTimeUnixNano": nanoseconds(start),
                "timeUnixNano": nanoseconds(now),
                "count": .string("\(histogram.count)"), "sum": .double(histogram.sum),
                "bucketCounts": .array(histogram.counts.map { .string("\($0)") }),
                "explicitBounds": .array(DurationHistogram.bounds.map(JSONValue.double)),
            ]
        }
        // 2 is AGGREGATION_TEMPORALITY_CUMULATIVE.
        let metric: JSONValue = [
            "name": .string(SemanticName.requestDuration), "unit": "s",
            "description": "Duration of HTTP client requests.",
            "histogram": ["aggregationTemporality": 2, "dataPoints": .array(points)],
        ]
        return [
            "resourceMetrics": [
                [
                    "resource": ["attributes": attributes(resource)],
                    "scopeMetrics": [["scope": scope, "metrics": [metric]]],
                ]
            ]
        ]
    }

    private static var scope: JSONValue { ["name": "penstock", "version": .string(PenstockVersion.current)] }

    private static func span(_ span: Span) -> JSONValue {
        var members: [String: JSONValue] = [
            "traceId": .string(span.traceID), "spanId": .string(span.spanID), "name": .string(span.name),
            "kind": .int(span.kind.rawValue), "startTimeUnixNano": nanoseconds(span.start),
            "endTimeUnixNano": nanoseconds(span.start, plus: span.duration), "attributes": attributes(span.attributes),
            // 2 is STATUS_CODE_ERROR, 0 STATUS_CODE_UNSET: a success is not said by a client.
            "status": ["code": span.isError ? 2 : 0],
        ]
        if !span.events.isEmpty { members["events"] = .array(span.events.map(event)) }
        members["parentSpanId"] = span.parentID.map(JSONValue.string)
        members["traceState"] = span.traceState.map(JSONValue.string)
        return .object(members)
    }

    private static func event(_ event: SpanEvent) -> JSONValue {
        [
            "timeUnixNano": nanoseconds(event.time), "name": .string(event.name),
            "attributes": attributes(event.attributes),
        ]
    }

    private static func attributes(_ attributes: [TelemetryAttribute]) -> JSONValue {
        .array(
            attributes.map { attribute in
                let value: JSONValue =
                    switch attribute.value {
                    case .string(let text): ["stringValue": .string(text)]
                    case .int(let number): ["intValue": .string("\(number)")]
                    case .bool(let flag): ["boolValue": .bool(flag)]
                    }
                return ["key": .string(attribute.name), "value": value]
            })
    }

    private static func nanoseconds(_ date: Date, plus duration: Duration = .zero) -> JSONValue {
        let microseconds = Int64((date.timeIntervalSince1970 * 1_000_000).rounded()) + Int64(duration.microseconds)
        return .string("\(max(0, microseconds))000")
    }
}

extension OTLPExporter: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The collector's URL without its secrets. Fields are left out.
    public var description: String { "OTLPExporter to \(Redaction.text(url))" }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(self, children: ["collector": Redaction.text(url)], displayStyle: .struct)
    }
}
