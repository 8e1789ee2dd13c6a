import Foundation
import PenstockCore

/// A piece of work of a trace (OpenTelemetry, "Tracing API"): a call, or one of its attempts.
public struct Span: Hashable, Sendable {
    /// What kind of work it is.
    public enum Kind: Int, Hashable, Sendable {
        /// Work within the app: a call, from `send` to its result. By the numbers of the protocol.
        case `internal` = 1
        /// A request to a server: an attempt.
        case client = 3
    }

    /// 32 hexadecimal digits.
    public let traceID: String
    /// 16 hexadecimal digits.
    public let spanID: String
    /// The ID of the span it belongs to; `nil` for the first of a trace.
    public let parentID: String?
    /// The state as `tracestate` has it; `nil` where there is none.
    public let traceState: String?
    /// The method of an attempt, the endpoint's type name of a call.
    public let name: String
    /// A call or an attempt.
    public let kind: Kind
    /// When it began.
    public let start: Date
    /// How long it took.
    public let duration: Duration
    /// The attributes by OpenTelemetry's names.
    public let attributes: [TelemetryAttribute]
    /// Whether it failed: of an attempt, also a status of 400 or above.
    public let isError: Bool
    /// What was decided about a call, in order: the first 200. An attempt has none.
    public let events: [SpanEvent]
}

/// Something that happened during a span (OpenTelemetry, "Tracing API"): a decision about a call, for which the conventions have
/// no names.
public struct SpanEvent: Hashable, Sendable {
    /// The kind of decision, with a prefix of our own: `penstock.cache`, `penstock.retry`, `penstock.redirect`, `penstock.replay`,
    /// `penstock.credential`, `penstock.admission`, `penstock.in_flight`, `penstock.hedge`, `penstock.circuit_breaker`,
    /// `penstock.default`. More may come.
    public let name: String
    /// When it was decided.
    public let time: Date
    /// `penstock.decision`: what was decided and why, in the words of the log. `penstock.attempt`: the number of the attempt that
    /// it belongs to, where one had begun.
    public let attributes: [TelemetryAttribute]

    init(_ decision: CallRecord.Decision, since start: Date) {
        name = OwnName.prefix + decision.kind
        time = start.addingTimeInterval(decision.at / .seconds(1))
        var attributes = [TelemetryAttribute(.decision, decision.text)]
        if decision.attempt > 0 { attributes.append(TelemetryAttribute(.attempt, decision.attempt)) }
        self.attributes = attributes
    }
}

/// A name and a value that describe a span, a measurement or an app.
public struct TelemetryAttribute: Hashable, Sendable {
    /// A value.
    @nonexhaustive
    public enum Value: Hashable, Sendable {
        /// A text.
        case string(String)
        /// A whole number.
        case int(Int)
        /// Yes or no.
        case bool(Bool)
    }

    /// The name by OpenTelemetry's semantic conventions, or with the prefix `penstock.` where they have none.
    public let name: String
    /// Nothing secret, by the rules of ``Redaction``.
    public let value: Value

    init(_ name: SemanticName, _ value: Value) {
        self.name = name.rawValue
        self.value = value
    }

    init(_ name: OwnName, _ text: String) {
        (self.name, value) = (name.rawValue, .string(text))
    }

    init(_ name: OwnName, _ number: Int) {
        (self.name, value) = (name.rawValue, .int(number))
    }

    private init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }

    /// What the series has that counts all which found no room of their own (OpenTelemetry, "Metrics SDK", "Overflow attribute").
    static let overflow = TelemetryAttribute("otel.metric.overflow", .bool(true))

    init(_ name: SemanticName, _ text: String) { self.init(name, .string(text)) }
    init(_ name: SemanticName, _ number: Int) { self.init(name, .int(number)) }
}

/// The names that are used, of OpenTelemetry's stable semantic conventions for HTTP clients.
package enum SemanticName: String, CaseIterable, Sendable {
    case errorType = "error.type"
    case method = "http.request.method"
    case originalMethod = "http.request.method_original"
    case resendCount = "http.request.resend_count"
    case status = "http.response.status_code"
    case peerAddress = "network.peer.address"
    case peerPort = "network.peer.port"
    case protocolName = "network.protocol.name"
    case protocolVersion = "network.protocol.version"
    case serverAddress = "server.address"
    case serverPort = "server.port"
    case urlFull = "url.full"
    case urlScheme = "url.scheme"
    case serviceName = "service.name"
    case serviceVersion = "service.version"
    case sdkLanguage = "telemetry.sdk.language"
    case sdkName = "telemetry.sdk.name"
    case sdkVersion = "telemetry.sdk.version"

    /// The name of the metric.
    package static let requestDuration = "http.client.request.duration"
}

/// Names that no convention has.
enum OwnName: String {
    static let prefix = "penstock."

    case decision = "penstock.decision"
    case attempt = "penstock.attempt"
}

/// What an attempt is by the semantic conventions for HTTP client spans and metrics.
enum HTTPSemantics {
    /// The methods that are told by name, unless an app says others: those of the conventions. Others are `_OTHER`, so that a server's or
    /// an attacker's inventions do not make a series each.
    static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
    ]

    /// What the app says takes the place of the conventions' list as a whole, as does what the environment says where the app says
    /// nothing.
    static func methods(_ given: Set<HTTPMethod>?, _ environment: [String: String]) -> Set<String> {
        if let given { return Set(given.map(\.rawValue)) }
        let named = environment["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", default: ""].split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        // A variable without a value is one that is not set ("OpenTelemetry Environment Variable Specification").
        return named.isEmpty ? knownMethods : Set(named)
    }

    static func name(of attempt: AttemptRecord, known knownMethods: Set<String> = HTTPSemantics.knownMethods) -> String
    {
        let method = attempt.request.method.rawValue
        return knownMethods.contains(method) ? method : "HTTP"
    }

    /// Whether the attempt counts as failed: no response, or a status of 400 or above.
    static func errorType(of attempt: AttemptRecord) -> String? {
        if let failure = attempt.failure { return failure.name }
        guard let status = attempt.response?.status, status >= 400 else { return nil }
        return String(status)
    }

    /// What both the span and the metric have. Few values each.
    static func common(
        _ attempt: AttemptRecord, known knownMethods: Set<String> = HTTPSemantics.knownMethods
    ) -> [TelemetryAttribute] {
        let (request, url) = (attempt.request, attempt.request.url)
        let isKnown = knownMethods.contains(request.method.rawValue)
        var attributes = [
            TelemetryAttribute(.method, isKnown ? request.method.rawValue : "_OTHER"),
            TelemetryAttribute(.serverAddress, url.host), TelemetryAttribute(.serverPort, url.port),
            TelemetryAttribute(.urlScheme, url.scheme.rawValue),
        ]
        if let status = attempt.response?.status { attributes.append(TelemetryAttribute(.status, status)) }
        if let error = errorType(of: attempt) { attributes.append(TelemetryAttribute(.errorType, error)) }
        if let version = version(attempt.response?.version) {
            attributes.append(TelemetryAttribute(.protocolName, "http"))
            attributes.append(TelemetryAttribute(.protocolVersion, version))
        }
        return attributes
    }

    /// What the span has besides.
    static func ofSpan(
        _ attempt: AttemptRecord, known knownMethods: Set<String> = HTTPSemantics.knownMethods
    ) -> [TelemetryAttribute] {
        var attributes = [TelemetryAttribute(.urlFull, "\(attempt.request.url)")]
        let method = attempt.request.method.rawValue
        if !knownMethods.contains(method) { attributes.append(TelemetryAttribute(.originalMethod, method)) }
        if attempt.number > 1 { attributes.append(TelemetryAttribute(.resendCount, attempt.number - 1)) }
        if let address = attempt.connection.remoteAddress {
            attributes.append(TelemetryAttribute(.peerAddress, address))
            if let port = attempt.connection.remotePort { attributes.append(TelemetryAttribute(.peerPort, port)) }
        }
        return attributes
    }

    private static func version(_ version: HTTPVersion?) -> String? {
        switch version {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        case .http3: "3"
        default: nil
        }
    }
}
