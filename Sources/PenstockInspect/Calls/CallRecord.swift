import Foundation
import PenstockCore

/// One call that is over, as its events told of it: what archives, reports and telemetry are made of.
struct CallRecord: Sendable {
    /// Something that was decided, in words.
    struct Decision: Sendable {
        /// In one word, for programs.
        let kind: String
        let at: Duration
        let attempt: Int
        let text: String
    }

    /// A call may last for days and be retried for ever: the first so many attempts and decisions of one are kept, and the last
    /// attempts, so that one call has a bound.
    static let mostDecisions = 200
    static let mostAttempts = 100

    let call: CallID
    let summary: Event.CallSummary
    let started: Date
    var elapsed = Duration.zero
    var outcome = Event.Outcome.success
    var attempts: [AttemptRecord] = []
    var decisions: [Decision] = []
    /// Its content has been let go unless it is kept.
    var answer: Event.Answer?
    /// The size of the answer's content.
    var answerSize = 0
}

/// One request that was handed to the transport, and what came of it.
struct AttemptRecord: Sendable {
    let number: Int
    let date: Date
    /// Since the call began.
    let started: Duration
    /// Its content has been let go unless it is kept.
    var request: HTTPRequest
    /// In bytes; `nil` where nobody knows.
    let requestSize: Int?
    /// Since the call began; `nil` while it is under way.
    var ended: Duration?
    var response: HTTPResponse?
    /// The size of the response's content, its codings removed.
    var responseSize = 0
    var failure: APIError.Kind?
    var sendState: SendState?
    var timings = Timings()
    var connection = ConnectionInfo()
}

/// Makes records of events. What it holds are the calls under way.
struct CallCollector: Sendable {
    /// Whether content is kept until the record is made. Content that is longer is let go.
    let contentLimit: Int
    private var calls: [CallID: CallRecord] = [:]

    init(contentLimit: Int) {
        self.contentLimit = contentLimit
    }

    /// How many calls are under way.
    var count: Int { calls.count }

    /// Takes the next event.
    ///
    /// - Returns: the record of the call that it ends.
    mutating func take(_ event: Event, _ context: EventContext) -> CallRecord? {
        if case .callStarted(let summary) = event {
            calls[context.call] = CallRecord(call: context.call, summary: summary, started: context.date)
            return nil
        }
        if case .stageStarted = event { return nil }
        if case .stageEnded = event { return nil }
        // A call that began before is not told of: what is known of it is not whole.
        guard let index = calls.index(forKey: context.call) else { return nil }
        calls.values[index].take(event, context, contentLimit)
        guard case .callEnded = event else { return nil }
        return calls.remove(at: index).value
    }
}

extension CallRecord {
    fileprivate mutating func take(_ event: Event, _ context: EventContext, _ contentLimit: Int) {
        switch event {
        case .requestSent(let request):
            if attempts.count >= Self.mostAttempts { attempts.removeFirst() }
            attempts.append(
                AttemptRecord(
                    number: context.attempt, date: context.date, started: context.elapsed,
                    request: request.keeping(contentLimit), requestSize: request.body.length))
        case .responseReceived(let response, let timings, let connection):
            update(context.attempt) { attempt in
                attempt.ended = context.elapsed
                attempt.response = response.keeping(contentLimit)
                attempt.responseSize = response.body.count
                attempt.timings = timings
                attempt.connection = connection
                attempt.sendState = .answered
            }
        case .requestFailed(let kind, let sendState, let timings, let connection):
            update(context.attempt) { attempt in
                attempt.ended = context.elapsed
                attempt.failure = kind
                attempt.sendState = sendState
                attempt.timings = timings
                attempt.connection = connection
            }
        case .contentEnded(let bytes, let completion): streamed(bytes, completion, context)
        case .answered(let answer):
            answerSize = answer.response.body.count
            self.answer = Event.Answer(
                request: answer.request.keeping(contentLimit), response: answer.response.keeping(contentLimit),
                source: answer.source, isJoined: answer.isJoined, isStale: answer.isStale)
        case .callEnded(let outcome): end(outcome, context)
        default: note(event, context)
        }
    }

    private mutating func update(_ number: Int, _ change: (inout AttemptRecord) -> Void) {
        guard let index = attempts.lastIndex(where: { $0.number == number }) else { return }
        change(&attempts[index])
    }

    /// The content of a streamed call comes after the response of its last attempt, or out of the cache.
    private mutating func streamed(_ bytes: Int, _ completion: TransportCompletion, _ context: EventContext) {
        answerSize = bytes
        guard answer?.source == .network, let last = attempts.last else { return }
        update(last.number) { attempt in
            attempt.ended = context.elapsed
            attempt.responseSize = bytes
            attempt.timings = completion.timings
            attempt.connection = completion.connection
        }
    }

    private mutating func end(_ outcome: Event.Outcome, _ context: EventContext) {
        elapsed = context.elapsed
        self.outcome = outcome
        // Nobody told of the end of an attempt that was given up: a slower hedge, or one of a call that was ended.
        for index in attempts.indices where attempts[index].ended == nil {
            attempts[index].ended = context.elapsed
            attempts[index].failure = .cancelled
        }
    }

    private mutating func note(_ event: Event, _ context: EventContext) {
        guard decisions.count < Self.mostDecisions, let kind = Words.kind(event), let text = Words.decision(event)
        else {
            return
        }
        decisions.append(
            Decision(
                kind: kind, at: context.elapsed, attempt: context.attempt,
                text: LogText.oneLine(Redaction.text(text))))
    }
}

extension HTTPRequest {
    fileprivate func keeping(_ limit: Int) -> HTTPRequest {
        if case .bytes(let data) = body.source, data.count <= limit { return self }
        guard !body.isNone else { return self }
        var request = self
        request.body = .none
        return request
    }
}

extension HTTPResponse {
    fileprivate func keeping(_ limit: Int) -> HTTPResponse {
        guard !body.isEmpty, body.count > limit else { return self }
        var response = self
        response.body = Data()
        return response
    }
}
