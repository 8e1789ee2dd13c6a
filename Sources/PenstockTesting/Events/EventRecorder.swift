import PenstockCore

/// Keeps the events of calls, for tests to look at.
///
/// ```swift
/// let recorder = EventRecorder()
/// configuration.sinks = [recorder]
/// …
/// #expect(recorder.grammarViolations.isEmpty)
/// ```
public final class EventRecorder: EventSink {
    /// One event as it was told.
    public struct Record: Sendable {
        /// What happened.
        public let event: Event
        /// Which call it happened to, and when.
        public let context: EventContext
    }

    private let state = Locked<[Record]>([])

    /// A recorder that has heard of nothing. It keeps everything until it goes.
    public init() {}

    public func receive(_ event: Event, _ context: EventContext) {
        state.withLock { $0.append(Record(event: event, context: context)) }
    }

    /// Everything so far, in the order it came.
    public var records: [Record] { state.withLock { $0 } }

    /// The calls that were heard of, in the order they began.
    public var calls: [CallID] {
        var seen: Set<CallID> = []
        return records.map(\.context.call).filter { seen.insert($0).inserted }
    }

    /// The events of one call.
    public func events(of call: CallID) -> [Event] {
        records.filter { $0.context.call == call }.map(\.event)
    }

    /// The stages that started and ended, in order, as `name` and `/name`.
    public func trace(of call: CallID) -> [String] {
        events(of: call).compactMap { event in
            switch event {
            case .stageStarted(let stage): stage.rawValue
            case .stageEnded(let stage, _): "/" + stage.rawValue
            default: nil
            }
        }
    }

    /// What is wrong with the events of all calls that began, by the grammar of ``Event``; empty when nothing is. A delivery that
    /// still goes on after the end of its call is nothing wrong.
    public var grammarViolations: [String] {
        calls.flatMap { call in EventGrammar.violations(in: events(of: call)).map { "\(call): \($0)" } }
    }
}

/// The grammar of one call's events: one start first, one end last, stages nested. The end of the one delivery may follow the end
/// of the call, or be still to come.
public enum EventGrammar {
    /// Checks the events of one call.
    ///
    /// - Returns: each rule that `events`, those of one call that is over, break; in words.
    public static func violations(in events: [Event]) -> [String] {
        var checker = Checker()
        for event in events { checker.take(event) }
        checker.finish()
        return checker.violations
    }

    private struct Checker {
        var violations: [String] = []
        private var hasStarted = false
        private var hasEnded = false
        private var hasDelivered = false
        private var open: [StageName] = []

        mutating func take(_ event: Event) {
            if hasEnded, !endsDelivery(event) { violations.append("an event follows the end") }
            switch event {
            case .callStarted:
                if hasStarted { violations.append("the call starts twice") }
                hasStarted = true
            case .callEnded: hasEnded = true
            case .stageStarted(let stage): begin(stage)
            case .stageEnded(let stage, _): close(stage)
            default: break
            }
            if !hasStarted { violations.append("the first event is not the start") }
        }

        mutating func finish() {
            if !hasEnded { violations.append("the call has no end") }
            for stage in open where stage != .delivery { violations.append("the stage \(stage) has no end") }
        }

        private func endsDelivery(_ event: Event) -> Bool {
            if case .stageEnded(.delivery, _) = event { open == [.delivery] } else { false }
        }

        private mutating func begin(_ stage: StageName) {
            if stage == .delivery {
                if hasDelivered { violations.append("the result is delivered twice") }
                hasDelivered = true
            }
            open.append(stage)
        }

        private mutating func close(_ stage: StageName) {
            guard open.last == stage else {
                violations.append("the stage \(stage) ends where \(open.last?.rawValue ?? "none") is open")
                return
            }
            open.removeLast()
        }
    }
}
