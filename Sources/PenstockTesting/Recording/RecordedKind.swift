import PenstockCore

/// Names for the kinds of transport errors, which a file can hold.
enum RecordedKind {
    static func text(_ kind: TransportError.Kind) -> String {
        switch kind {
        case .unreachable(let reason): "unreachable:\(reason.rawValue)"
        case .timeout(let phase): "timeout:\(phase.rawValue)"
        case .tls(let failure): "tls:\(failure.rawValue)"
        case .limitExceeded(let limit): "limitExceeded:\(limit.rawValue)"
        case .unsupported(let what): "unsupported:\(what)"
        case .blocked(let reason): "blocked:\(reason)"
        case .cancelled, .connectionLost, .protocolViolation, .requestBody, .other: "\(kind)"
        }
    }

    /// A name that is not known, from a later version perhaps, stands for ``TransportError/Kind/other``.
    static func kind(_ text: String) -> TransportError.Kind {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 ? kind(parts[0], about: parts[1]) : plain[text] ?? .other
    }

    private static let plain: [String: TransportError.Kind] = [
        "cancelled": .cancelled, "connectionLost": .connectionLost, "protocolViolation": .protocolViolation,
        "requestBody": .requestBody,
    ]

    private static func kind(_ name: String, about detail: String) -> TransportError.Kind {
        switch name {
        case "unreachable": TransportError.Reachability(rawValue: detail).map { .unreachable($0) } ?? .other
        case "timeout": TimeoutPhase(rawValue: detail).map { .timeout($0) } ?? .other
        case "tls": TransportError.TLSFailure(rawValue: detail).map { .tls($0) } ?? .other
        case "limitExceeded": ResponseLimits.Limit(rawValue: detail).map { .limitExceeded($0) } ?? .other
        case "unsupported": .unsupported(detail)
        case "blocked": .blocked(reason: detail)
        default: .other
        }
    }
}
