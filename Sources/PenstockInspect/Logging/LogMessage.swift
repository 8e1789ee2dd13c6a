import Foundation
import PenstockCore

/// What happened, in words.
enum LogMessage {
    static func text(_ event: Event, _ context: EventContext) -> String {
        let progress = context.progress
        if case .callEnded(.success) = event { return success(context, progress) }
        let name = name(progress)
        // Of an event that was made by hand, there may be no name.
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
        case .responseBrokeOff(let response): return "\(name) \(response.status) broke off"
        case .requestFailed(let kind, let sendState, _, _):
            let what = sendState == .answered ? "has no whole response" : "has no response"
            return "\(name) \(what): \(Words.failure(kind)), the request was \(sendState)"
        case .answered(let answer): return "\(name) \(answer.response.status) from \(Words.source(answer))"
        case .contentEnded(let bytes, _): return "\(lead)\(bytes) bytes were read"
        case .callEnded(.failure(let kind)):
            return "\(name)\(status(progress)) failed: \(Words.failure(kind)), in \(elapsed)\(attempts(context))"
        case .callEnded(.cancelled): return "\(name)\(status(progress)) cancelled after \(elapsed)\(attempts(context))"
        default: return lead + (Words.decision(event) ?? "\(event)")
        }
    }

    /// The line of nearly every call.
    private static func success(_ context: EventContext, _ progress: CallProgress) -> String {
        let method = progress.url == nil ? nil : progress.method?.rawValue
        let name = method == nil ? name(progress) : progress.url?.description ?? ""
        let source =
            progress.source.map { Words.source($0, isStale: progress.isStale, isJoined: progress.isJoined) }
            ?? "no answer"
        let room = (method?.utf8.count ?? 0) + name.utf8.count + source.utf8.count + 128
        return LineWriter.line(room: room) { line in
            if let method {
                line.add(method)
                line.add(" ")
            }
            line.add(name)
            if let status = progress.status {
                line.add(" ")
                line.add(status)
            }
            line.add(" in ")
            line.add(context.elapsed)
            line.add(" (")
            line.add(source)
            if context.attempt > 0 {
                line.add(", attempt ")
                line.add(context.attempt)
            }
            line.add(")")
        }
    }

    /// The method and the URL, or the endpoint where there is no request yet.
    private static func name(_ progress: CallProgress) -> String {
        switch (progress.method, progress.url) {
        case (let method?, let url?): method.rawValue + " " + url.description
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
    /// Control and format characters, and what breaks lines, are escaped; what is longer than 4,096 scalars is cut.
    static func oneLine(_ text: String) -> String {
        // Nearly every line is one already, which is told without taking it apart into characters.
        if text.utf8.withContiguousStorageIfAvailable({ isPlain(UnsafeRawBufferPointer($0)) }) == true { return text }
        let head = text.head(4096)
        let line = head.unicodeScalars.reduce(into: "") { line, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return head.endIndex < text.endIndex ? line + "…" : line
    }

    /// Whether all of it is printable ASCII, and it is not too long.
    private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= 4096 else { return false }
        let ones: UInt64 = 0x0101_0101_0101_0101
        var (index, signs) = (0, 0 as UInt64)
        // Eight bytes at a time: the highest bit of each shows that it is below a space, a delete, or above.
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            signs |= word | (word &- ones &* 0x20) | (word &+ ones)
            index += 8
        }
        return signs & (ones &* 0x80) == 0 && bytes[index...].allSatisfy { (0x20..<0x7F).contains($0) }
    }
}
