import Foundation
import PenstockCore

/// One event as a log shows it: a line for people, and the same in fields for machines. Nothing secret is in it, by the rules
/// of ``Redaction``.
public struct LogEntry: Sendable {
    /// The level from which on it is shown.
    public let level: LogLevel
    private let context: EventContext
    /// What happened, on one line: no control characters, no line breaks.
    public let message: String
    /// What went wrong, by the name of its ``APIError/Kind``; `nil` where nothing did.
    public let failure: String?

    init(level: LogLevel, context: EventContext, message: String, failure: String?) {
        self.level = level
        self.context = context
        self.message = message
        self.failure = failure
    }

    /// When it happened.
    public var date: Date { context.date }
    /// The call's number.
    public var call: CallID { context.call }
    /// The number of the attempt; 0 before the first.
    public var attempt: Int { context.attempt }
    /// The endpoint's type name; empty where it is not known.
    public var endpoint: String { context.progress.endpoint }
    /// The method of the call's last request; `nil` while there is none.
    public var method: HTTPMethod? { context.progress.method }
    /// The URL of the call's last request, with its secrets; print it to have it without.
    public var url: HTTPURL? { context.progress.url }
    /// The status of the call's last response; `nil` while there is none.
    public var status: Int? { context.progress.status }
    /// The time since the call began.
    public var elapsed: Duration { context.elapsed }
    /// Where the answer came from, once there is one.
    public var source: ResponseSource? { context.progress.source }

    /// What the line says, by name: for logs that keep fields. The names are small letters and underscores.
    public var fields: [(name: String, value: String)] {
        let milliseconds = (elapsed / .microseconds(1)).rounded() / 1000
        let known: [(name: String, value: String?)] = [
            ("call", "\(call.rawValue)"), ("attempt", "\(attempt)"), ("endpoint", endpoint),
            ("method", method?.rawValue), ("url", url.map { "\($0)" }), ("status", status.map(String.init)),
            ("elapsed_ms", "\(milliseconds)"), ("source", source?.rawValue), ("error", failure),
        ]
        return known.compactMap { field in field.value.map { (field.name, $0) } }
    }
}

/// Where a log goes: standard error, the system's log, or a logging library that an app has already.
///
/// ```swift
/// struct SwiftLog: LogDestination {
///     let logger: Logger
///     func write(_ entry: LogEntry) {
///         let level: Logger.Level =
///             switch entry.level {
///             case .error: .error
///             case .warning: .warning
///             case .info: .info
///             case .debug: .debug
///             default: .trace
///             }
///         let metadata = entry.fields.map { ($0.name, Logger.MetadataValue.string($0.value)) }
///         logger.log(level: level, "\(entry.message)", metadata: Dictionary(uniqueKeysWithValues: metadata))
///     }
/// }
/// ```
public protocol LogDestination: Sendable {
    /// Called on whatever thread the event happens on, for one call by one thread at a time; the call waits meanwhile.
    func write(_ entry: LogEntry)
}
