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
    }

    private let state: Locked<State>
    private let destination: any LogDestination
    private let message: MessageMaker

    /// Makes the message of an event.
    typealias MessageMaker = @Sendable (Event, EventContext) -> String

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

    /// How much is said: less from the next event on. A call under way was asked when it began what the log takes ``interest`` in,
    /// so that a level that is raised says of it no more than that; it says all of the calls that begin then.
    public var level: LogLevel {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// Which of the entries of the level are shown, from the next event on; `nil` for all.
    public var filter: Filter? {
        get { state.withLock { $0.filter } }
        set { state.withLock { $0.filter = newValue } }
    }

    /// What the level says something of, and no more: a call that begins while the log is off costs no more than without a log.
    /// It is asked when a call begins, so that a level that is raised says more of the calls that begin after that.
    public var interest: EventInterest {
        switch level {
        case .off: .nothing
        case .error, .warning, .info: .outcomes
        case .debug: .calls
        case .trace: .stages
        }
    }

    public func receive(_ event: Event, _ context: EventContext) {
        let eventLevel = LogLevel(of: event)
        let (level, filter) = state.withLock { ($0.level, $0.filter) }
        // Nothing is formatted of what is not said.
        guard eventLevel <= level else { return }
        let entry = LogEntry(
            level: eventLevel, context: context, message: LogText.oneLine(message(event, context)),
            failure: failure(event))
        guard filter?(entry) ?? true else { return }
        destination.write(entry)
    }

    private func failure(_ event: Event) -> String? {
        switch event {
        case .callEnded(.failure(let kind)), .requestFailed(let kind, _, _, _): kind.name
        default: nil
        }
    }
}
