import Foundation
import PenstockCore

/// What is known of a call under way, for the lines of its later events.
struct CallProgress: Sendable {
    var endpoint = ""
    var method: HTTPMethod?
    var url: HTTPURL?
    var status: Int?
    var answer: Event.Answer?
    /// Whether its delivery is under way, and is shown.
    var isBeingDelivered = false
    /// Whether the call is over, so that nothing but the end of its delivery is to come.
    var isOver = false
}

/// What happened, in words.
enum LogMessage {
    static func text(_ event: Event, _ context: EventContext, _ progress: CallProgress) -> String {
        let name = name(progress)
        // Of a call that began while the log was off, there may be no name.
        let lead = name.isEmpty ? "" : "\(name): "
        let elapsed = Words.duration(context.elapsed)
        switch event {
        case .callStarted(let summary): return "\(summary.endpoint) begins, in \(summary.environment)"
        case .stageStarted(let stage): return "\(lead)\(stage) begins"
        case .stageEnded(let stage, let outcome): return "\(lead)\(stage) ends, \(words(outcome))"
        case .requestSent(let request): return "\(request.method) \(request.url) sent (\(request.body))"
        case .responseReceived(let response, let timings, let connection):
            let time = timings.total ?? timings.responseStart
            return "\(name) \(response.status), \(connection.bytesReceived) bytes"
                + (time.map { " in \(Words.duration($0))" } ?? "")
        case .requestFailed(let kind, let sendState, _, _):
            return "\(name) has no response: \(Words.failure(kind)), the request was \(sendState)"
        case .answered(let answer): return "\(name) \(answer.response.status) from \(Words.source(answer))"
        case .contentEnded(let bytes, _): return "\(lead)\(bytes) bytes were read"
        case .callEnded(.failure(let kind)):
            return "\(name)\(status(progress)) failed: \(Words.failure(kind)), in \(elapsed)\(attempts(context))"
        case .callEnded(.cancelled): return "\(name)\(status(progress)) cancelled after \(elapsed)\(attempts(context))"
        case .callEnded:
            let source = progress.answer.map(Words.source) ?? "no answer"
            let attempt = context.attempt > 0 ? ", attempt \(context.attempt)" : ""
            return "\(name)\(status(progress)) in \(elapsed) (\(source)\(attempt))"
        default: return lead + (Words.decision(event) ?? "\(event)")
        }
    }

    /// The method and the URL, or the endpoint where there is no request yet.
    private static func name(_ progress: CallProgress) -> String {
        switch (progress.method, progress.url) {
        case (let method?, let url?): "\(method) \(url)"
        case (let method?, nil): method.rawValue
        case (nil, let url?): "\(url)"
        case (nil, nil): progress.endpoint
        }
    }

    private static func status(_ progress: CallProgress) -> String { progress.status.map { " \($0)" } ?? "" }

    private static func attempts(_ context: EventContext) -> String {
        switch context.attempt {
        case 0: ", before anything was sent"
        case 1: ", attempt 1"
        default: ", after \(context.attempt) attempts"
        }
    }

    private static func words(_ outcome: Event.Outcome) -> String {
        switch outcome {
        case .failure(let kind): "failed: \(Words.failure(kind))"
        case .cancelled: "cancelled"
        default: "done"
        }
    }
}

/// How texts from outside become one line that no terminal obeys.
enum LogText {
    /// Control and format characters, and what breaks lines, are escaped; what is longer than 4,096 characters is cut.
    static func oneLine(_ text: String) -> String {
        // Nearly every line is one already, which is told without taking it apart into characters.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.count <= 4096 && bytes.allSatisfy { $0 &- 0x20 < 0x5F }
        }
        if isPlain == true { return text }
        let head = text.prefix(4096)
        let line = head.unicodeScalars.reduce(into: "") { line, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return head.endIndex < text.endIndex ? line + "…" : line
    }
}
