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
        case .requestFailed(let kind, let sendState, _, _):
            return "\(name) has no response: \(Words.failure(kind)), the request was \(sendState)"
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
        var line = LineWriter()
        if let method = progress.method, let url = progress.url {
            line.add(method.rawValue)
            line.add(" ")
            line.add(url.description)
        } else {
            line.add(name(progress))
        }
        if let status = progress.status {
            line.add(" ")
            line.add(status)
        }
        line.add(" in ")
        line.add(Words.duration(context.elapsed))
        line.add(" (")
        if let source = progress.source {
            line.add(Words.source(source, isStale: progress.isStale, isJoined: progress.isJoined))
        } else {
            line.add("no answer")
        }
        if context.attempt > 0 {
            line.add(", attempt ")
            line.add(context.attempt)
        }
        line.add(")")
        return line.text
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

/// Puts a line together byte by byte: to append to a `String` takes several times as long.
private struct LineWriter {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(120)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// - Parameter number: what has more than three digits is a rarity.
    mutating func add(_ number: Int) {
        guard (0...999).contains(number) else { return add(String(number)) }
        let zero = UInt8(ascii: "0")
        if number >= 100 { bytes.append(zero + UInt8(number / 100)) }
        if number >= 10 { bytes.append(zero + UInt8(number / 10 % 10)) }
        bytes.append(zero + UInt8(number % 10))
    }
}

/// How texts from outside become one line that no terminal obeys.
enum LogText {
    /// Control and format characters, and what breaks lines, are escaped; what is longer than 4,096 characters is cut.
    static func oneLine(_ text: String) -> String {
        // Nearly every line is one already, which is told without taking it apart into characters.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            // Without a way out of the loop, which lets the compiler look at many bytes at a time.
            bytes.count <= 4096 && bytes.reduce(0) { $0 | ($1 &- 0x20 < 0x5F ? 0 : 1) } as UInt8 == 0
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
