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

    private struct State: Sendable {
        var level: LogLevel
        var filter: Filter?
        var calls: [CallID: CallProgress] = [:]
    }

    private let state: Locked<State>
    private let destination: any LogDestination
    private let message: MessageMaker

    /// Makes the message of an event.
    typealias MessageMaker = @Sendable (Event, EventContext, CallProgress) -> String

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
        message = LogMessage.text
    }

    init(level: LogLevel, to destination: any LogDestination, message: @escaping MessageMaker) {
        state = Locked(State(level: level, filter: nil))
        self.destination = destination
        self.message = message
    }

    /// How much is said, from the next event on.
    public var level: LogLevel {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// Which of the entries of the level are shown, from the next event on; `nil` for all.
    public var filter: Filter? {
        get { state.withLock { $0.filter } }
        set { state.withLock { $0.filter = newValue } }
    }

    /// How many calls it remembers something of.
    package var callsUnderWay: Int { state.withLock { $0.calls.count } }

    /// Nothing while the log is off: a call that begins then costs no more than without a log, and is not told of if the level
    /// is raised before it ends. Of stages only ``LogLevel/trace`` says something.
    public var interest: EventInterest {
        switch level {
        case .off: .nothing
        case .trace: .stages
        default: .calls
        }
    }

    public func receive(_ event: Event, _ context: EventContext) {
        let eventLevel = LogLevel(of: event)
        let shown = state.withLock { state -> (filter: Filter?, progress: CallProgress)? in
            // A call that began while the log was off is told of with what is known since.
            guard state.level != .off else {
                state.calls = [:]
                return nil
            }
            let isShown = eventLevel <= state.level
            switch event {
            // With these the call may be let go of.
            case .callEnded:
                let progress = noteEnd(context.call, &state)
                return isShown ? (state.filter, progress) : nil
            case .stageEnded(.delivery, _):
                let progress = noteDelivered(context.call, &state)
                return isShown ? (state.filter, progress) : nil
            default:
                note(event, context.call, &state)
                return isShown ? (state.filter, state.calls[context.call] ?? CallProgress()) : nil
            }
        }
        // Nothing is formatted of what is not said.
        guard let (filter, progress) = shown else { return }
        let entry = entry(event, context, progress, eventLevel)
        guard filter?(entry) ?? true else { return }
        destination.write(entry)
    }

    /// Keeps what the lines of later events need.
    private func note(_ event: Event, _ call: CallID, _ state: inout State) {
        func update(_ change: (inout CallProgress) -> Void) { change(&state.calls[call, default: CallProgress()]) }
        switch event {
        // Where no line tells of stages a call is let go of with its end.
        case .stageStarted(.delivery) where state.level == .trace: state.calls[call]?.isBeingDelivered = true
        case .callStarted(let summary): update { $0.endpoint = summary.endpoint }
        case .requestSent(let request): update { ($0.method, $0.url, $0.status) = (request.method, request.url, nil) }
        case .responseReceived(let response, _, _): update { $0.status = response.status }
        case .answered(let answer):
            // The head is enough: content is not kept for as long as it is judged.
            var head = answer.response
            head.body = Data()
            update { progress in
                progress.answer = Event.Answer(
                    request: answer.request, response: head, source: answer.source, isJoined: answer.isJoined,
                    isStale: answer.isStale)
                progress.method = answer.request.method
                progress.url = answer.request.url
                progress.status = answer.response.status
            }
        default: break
        }
    }

    /// A call is let go of with its end, or with the end of its delivery where that is shown and comes later.
    private func noteEnd(_ call: CallID, _ state: inout State) -> CallProgress {
        let progress = state.calls[call] ?? CallProgress()
        if progress.isBeingDelivered { state.calls[call]?.isOver = true } else { state.calls[call] = nil }
        return progress
    }

    private func noteDelivered(_ call: CallID, _ state: inout State) -> CallProgress {
        let progress = state.calls[call] ?? CallProgress()
        if progress.isOver { state.calls[call] = nil } else { state.calls[call]?.isBeingDelivered = false }
        return progress
    }

    private func entry(
        _ event: Event, _ context: EventContext, _ progress: CallProgress, _ level: LogLevel
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
}
