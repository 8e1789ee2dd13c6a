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
        let (isShown, filter, progress) = state.withLock { state -> (Bool, Filter?, CallProgress) in
            // A call that began while the log was off is told of with what is known since.
            guard state.level != .off else {
                state.calls = [:]
                return (false, nil, CallProgress())
            }
            guard let progress = note(event, context, &state) else { return (false, nil, CallProgress()) }
            return (eventLevel <= state.level, state.filter, progress)
        }
        // Nothing is formatted of what is not said.
        guard isShown else { return }
        let entry = entry(event, context, progress, eventLevel)
        guard filter?(entry) ?? true else { return }
        destination.write(entry)
    }

    /// - Returns: `nil` for an event that is neither noted nor shown.
    private func note(_ event: Event, _ context: EventContext, _ state: inout State) -> CallProgress? {
        switch event {
        case .stageEnded(.delivery, _): return noteDelivered(context.call, &state)
        case .stageStarted where state.level < .trace, .stageEnded where state.level < .trace: return nil
        case .stageStarted(.delivery): state.calls[context.call]?.isBeingDelivered = true
        case .callStarted(let summary): state.calls[context.call, default: CallProgress()].endpoint = summary.endpoint
        case .requestSent(let request):
            state.calls[context.call, default: CallProgress()].method = request.method
            state.calls[context.call, default: CallProgress()].url = request.url
            state.calls[context.call, default: CallProgress()].status = nil
        case .responseReceived(let response, _, _):
            state.calls[context.call, default: CallProgress()].status = response.status
        case .answered(let answer):
            // The head is enough: content is not kept for as long as it is judged.
            var head = answer.response
            head.body = Data()
            state.calls[context.call, default: CallProgress()].answer = Event.Answer(
                request: answer.request, response: head, source: answer.source, isJoined: answer.isJoined,
                isStale: answer.isStale)
            state.calls[context.call, default: CallProgress()].method = answer.request.method
            state.calls[context.call, default: CallProgress()].url = answer.request.url
            state.calls[context.call, default: CallProgress()].status = answer.response.status
        case .callEnded: return noteEnd(context.call, &state)
        default: break
        }
        return state.calls[context.call] ?? CallProgress()
    }

    /// A call is let go of with its end, or with the end of its delivery where that is shown and comes later.
    private func noteEnd(_ call: CallID, _ state: inout State) -> CallProgress {
        let progress = state.calls[call] ?? CallProgress()
        if progress.isBeingDelivered { state.calls[call]?.isOver = true } else { state.calls[call] = nil }
        return progress
    }

    private func noteDelivered(_ call: CallID, _ state: inout State) -> CallProgress? {
        let progress = state.calls[call] ?? CallProgress()
        if progress.isOver { state.calls[call] = nil } else { state.calls[call]?.isBeingDelivered = false }
        return state.level < .trace ? nil : progress
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
