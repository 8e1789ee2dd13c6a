import PenstockCore

/// How much a ``CallLog`` says. Each level says all that the one above it says, and more.
public enum LogLevel: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Nothing.
    case off
    /// Calls that failed.
    case error
    /// Attempts that failed and were not cancelled, what was sent again or refused to be, and origins that are spared.
    case warning
    /// Each call that ended, on one line: the level for every day.
    case info
    /// Each request and response, and every decision with its reason.
    case debug
    /// Each stage of the request path, and each call's start.
    case trace

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

extension LogLevel {
    /// The level from which on an event is told. It depends on the event alone, so that what one level says is a part of what the
    /// next one says.
    public init(of event: Event) {
        switch event {
        case .callEnded(.failure): self = .error
        // The call that was cancelled tells of it.
        case .requestFailed(.cancelled, _, _, _): self = .debug
        case .requestFailed, .retried, .notRetried, .circuitChanged: self = .warning
        case .callEnded: self = .info
        case .requestSent, .responseReceived, .responseBrokeOff, .redirected, .replayed, .cacheDecided, .hedged,
            .queued, .admitted, .inFlightDecided, .credentialDecided, .defaultUsed, .contentEnded:
            self = .debug
        case .callStarted, .stageStarted, .stageEnded, .answered: self = .trace
        }
    }
}
