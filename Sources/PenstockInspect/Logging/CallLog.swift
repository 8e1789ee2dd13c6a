import Foundation
import PenstockCore

/// A log of calls, one line for each event that a person wants to read. Level and filter may be changed at any time.
///
/// ```swift
/// let log = CallLog()                                    // standard error, or the system's log on Apple's systems
/// configuration.sinks.append(log)
/// log.level = .debug
/// log.filter = { $0.url?.host == "shop.example.com" }
/// ```
///
/// ```
/// 12:00:01.123 info  call 7  GET https://shop.example.com/products 200 in 41 ms (network, attempt 1)
/// ```
public final class CallLog: EventSink {
    /// Whether an entry is shown.
    public typealias Filter = @Sendable (LogEntry) -> Bool

    /// What is known of a call under way, for the lines of its later events.
    private struct Progress: Sendable {
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

    private struct State: Sendable {
        var level: LogLevel
        var filter: Filter?
        var calls: [CallID: Progress] = [:]
    }

    private let state: Locked<State>
    private let destination: any LogDestination

    /// A log.
    ///
    /// - Parameters:
    ///   - level: ``LogLevel/info`` by default: a line for each call.
    ///   - destination: standard error on Linux, `os.Logger` on Apple's systems unless given.
    ///   - filter: shows everything unless given.
    public init(
        level: LogLevel = .info, to destination: any LogDestination = PlatformLog.standard, filter: Filter? = nil
    ) {
        state = Locked(State(level: level, filter: filter))
        self.destination = destination
    }

    /// How much is said, from the next event on.
    public var level: LogLevel {
        get { state.withLock(\.level) }
        set { state.withLock { $0.level = newValue } }
    }

    /// Which of the entries of the level are shown, from the next event on; `nil` for all.
    public var filter: Filter? {
        get { state.withLock(\.filter) }
        set { state.withLock { $0.filter = newValue } }
    }

    /// How many calls it remembers something of.
    package var callsUnderWay: Int { state.withLock(\.calls.count) }

    public func receive(_ event: Event, _ context: EventContext) {
        let eventLevel = LogLevel(of: event)
        let (isShown, filter, progress) = state.withLock { state -> (Bool, Filter?, Progress) in
            // A call that began while the log was off is told of with what is known since.
            guard state.level != .off else {
                state.calls = [:]
                return (false, nil, Progress())
            }
            guard let progress = note(event, context, &state) else { return (false, nil, Progress()) }
            return (eventLevel <= state.level, state.filter, progress)
        }
        guard isShown else { return }
        let entry = entry(event, context, progress, eventLevel)
        guard filter?(entry) ?? true else { return }
        destination.write(entry)
    }

    /// - Returns: `nil` for an event that is neither noted nor shown.
    private func note(_ event: Event, _ context: EventContext, _ state: inout State) -> Progress? {
        switch event {
        case .stageEnded(.delivery, _): return noteDelivered(context.call, &state)
        case .stageStarted where state.level < .trace, .stageEnded where state.level < .trace: return nil
        case .stageStarted(.delivery): state.calls[context.call]?.isBeingDelivered = true
        case .callStarted(let summary): state.calls[context.call, default: Progress()].endpoint = summary.endpoint
        case .requestSent(let request):
            state.calls[context.call, default: Progress()].method = request.method
            state.calls[context.call, default: Progress()].url = request.url
            state.calls[context.call, default: Progress()].status = nil
        case .responseReceived(let response, _, _):
            state.calls[context.call, default: Progress()].status = response.status
        case .answered(let answer):
            // The head is enough: content is not kept for as long as it is judged.
            var head = answer.response
            head.body = Data()
            state.calls[context.call, default: Progress()].answer = Event.Answer(
                request: answer.request, response: head, source: answer.source, isJoined: answer.isJoined,
                isStale: answer.isStale)
            state.calls[context.call, default: Progress()].method = answer.request.method
            state.calls[context.call, default: Progress()].url = answer.request.url
            state.calls[context.call, default: Progress()].status = answer.response.status
        case .callEnded: return noteEnd(context.call, &state)
        default: break
        }
        return state.calls[context.call] ?? Progress()
    }

    /// A call is let go of with its end, or with the end of its delivery where that is shown and comes later.
    private func noteEnd(_ call: CallID, _ state: inout State) -> Progress {
        let progress = state.calls[call] ?? Progress()
        if progress.isBeingDelivered { state.calls[call]?.isOver = true } else { state.calls[call] = nil }
        return progress
    }

    private func noteDelivered(_ call: CallID, _ state: inout State) -> Progress? {
        let progress = state.calls[call] ?? Progress()
        if progress.isOver { state.calls[call] = nil } else { state.calls[call]?.isBeingDelivered = false }
        return state.level < .trace ? nil : progress
    }

    private func entry(
        _ event: Event, _ context: EventContext, _ progress: Progress, _ level: LogLevel
    ) -> LogEntry {
        LogEntry(
            level: level, date: context.date, call: context.call, attempt: context.attempt,
            endpoint: progress.endpoint, method: progress.method, url: progress.url, status: progress.status,
            elapsed: context.elapsed, source: progress.answer?.source,
            message: LogText.oneLine(message(event, context, progress)), failure: failure(event))
    }

    private func failure(_ event: Event) -> String? {
        switch event {
        case .callEnded(.failure(let kind)), .requestFailed(let kind, _, _, _): kind.name
        default: nil
        }
    }

    private func message(_ event: Event, _ context: EventContext, _ progress: Progress) -> String {
        let what = [progress.method?.rawValue, progress.url.map { "\($0)" }].compactMap(\.self).joined(separator: " ")
        let name = what.isEmpty ? progress.endpoint : what
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

    private func status(_ progress: Progress) -> String { progress.status.map { " \($0)" } ?? "" }

    private func attempts(_ context: EventContext) -> String {
        switch context.attempt {
        case 0: ", before anything was sent"
        case 1: ", attempt 1"
        default: ", after \(context.attempt) attempts"
        }
    }

    private func words(_ outcome: Event.Outcome) -> String {
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
