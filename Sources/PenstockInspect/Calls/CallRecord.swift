import Foundation
import PenstockCore

/// One call that is over, as its events told of it: what archives, reports and telemetry are made of.
struct CallRecord: Sendable {
    /// Something that was decided, in words.
    struct Decision: Sendable {
        /// The kind in one word, for programs.
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
    /// Its content has been let go unless it is kept, which it is for a call that sent nothing.
    var answer: Event.Answer?
    /// The size of the answer's content.
    var answerSize = 0
    /// Whether the content of the last attempt came by a stream.
    var isStreamed = false
    /// Whether the answer's content was let go because there was no room for it.
    var isAnswerLeftOut = false
    /// How many contents the collector has let go until the call ended, because there was no room for them.
    var leftOutSoFar = 0

    /// How many bytes of content it holds.
    var contentBytes: Int {
        attempts.reduce(answer?.response.body.count ?? 0) { $0 + $1.contentBytes } + (answer?.request.contentBytes ?? 0)
    }
}

/// One request that was handed to the transport, and what came of it.
struct AttemptRecord: Sendable {
    let number: Int
    let date: Date
    /// The time since the call began.
    let started: Duration
    /// Its content has been let go unless it is kept.
    var request: HTTPRequest
    /// The size of its content in bytes; `nil` where nobody knows.
    let requestSize: Int?
    /// When it ended, since the call began; `nil` while it is under way.
    var ended: Duration?
    /// The response; of an attempt that failed, what had come of it.
    var response: HTTPResponse?
    /// The size of the response's content, its codings removed.
    var responseSize = 0
    var failure: APIError.Kind?
    var sendState: SendState?
    var timings = Timings()
    var connection = ConnectionInfo()
    /// Whether content was let go because there was no room for it.
    var isRequestLeftOut = false
    var isResponseLeftOut = false
    /// Whether content of the response came by a stream that was not read to its end.
    var isContentLeft = false

    /// How long it took: as the transport told it, or else as the call saw it. A transport that was told to stop may have looked at
    /// its clock long before.
    var length: Duration {
        let seen = max(.zero, (ended ?? started) - started)
        guard let told = timings.total else { return seen }
        return failure != nil || isContentLeft ? max(told, seen) : max(.zero, told)
    }

    /// How many bytes of content it holds.
    var contentBytes: Int { request.contentBytes + (response?.body.count ?? 0) }

    fileprivate mutating func take(_ response: HTTPResponse, _ content: inout ContentBudget) {
        content.release(self.response?.body.count ?? 0)
        let (kept, isLeftOut) = response.kept(in: &content)
        (self.response, isResponseLeftOut) = (kept, isLeftOut)
        responseSize = response.body.count
    }
}

/// Which content is kept: what is short enough, and has room among what is held already.
struct ContentBudget: Sendable {
    /// How long a content may be, in bytes; below 0 where none is kept.
    let longest: Int
    /// How many bytes may be held at a time.
    let most: Int
    private(set) var held = 0
    /// How many contents found no room.
    private(set) var leftOut = 0

    init(longest: Int, most: Int = .max) {
        (self.longest, self.most) = (longest, most)
    }

    fileprivate enum Decision {
        case kept, tooLong, noRoom
    }

    fileprivate mutating func decide(_ bytes: Int) -> Decision {
        guard bytes <= longest else { return .tooLong }
        guard bytes <= most - held else {
            leftOut += 1
            return .noRoom
        }
        held += bytes
        return .kept
    }

    fileprivate mutating func release(_ bytes: Int) { held -= bytes }
}

/// Makes records of events. What it holds are the calls under way.
struct CallCollector: Sendable {
    /// What is held of content, from when it is told of until ``release(_:)``.
    private(set) var content: ContentBudget
    private var calls: [CallID: CallRecord] = [:]

    init(content: ContentBudget) {
        self.content = content
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
        calls.values[index].take(event, context, &content)
        guard case .callEnded = event else { return nil }
        var record = calls.remove(at: index).value
        record.leftOutSoFar = content.leftOut
        return record
    }

    /// Gives back the room of a record's content; to be called once nobody holds the record any more.
    mutating func release(_ record: CallRecord) { content.release(record.contentBytes) }
}

extension CallRecord {
    fileprivate mutating func take(_ event: Event, _ context: EventContext, _ content: inout ContentBudget) {
        switch event {
        case .requestSent(let request):
            if attempts.count >= Self.mostAttempts { content.release(attempts.removeFirst().contentBytes) }
            let (kept, isLeftOut) = request.kept(in: &content)
            attempts.append(
                AttemptRecord(
                    number: context.attempt, date: context.date, started: context.elapsed, request: kept,
                    requestSize: request.body.length, isRequestLeftOut: isLeftOut))
        case .responseReceived(let response, let timings, let connection):
            update(context.attempt) { attempt in
                attempt.ended = context.elapsed
                attempt.take(response, &content)
                attempt.timings = timings
                attempt.connection = connection
                attempt.sendState = .answered
            }
        case .responseBrokeOff(let response):
            update(context.attempt) { $0.take(response, &content) }
        case .requestFailed(let kind, let sendState, let timings, let connection):
            update(context.attempt) { attempt in
                attempt.ended = context.elapsed
                attempt.failure = kind
                attempt.sendState = sendState
                attempt.timings = timings
                attempt.connection = connection
            }
        case .contentEnded(let bytes, let completion): streamed(bytes, completion, context)
        case .answered(let answer): take(answer, &content)
        case .callEnded(let outcome): end(outcome, context)
        default: note(event, context)
        }
    }

    /// The attempts have the content of a call that sent something.
    private mutating func take(_ answer: Event.Answer, _ content: inout ContentBudget) {
        var (request, response) = (answer.request.withoutContent, answer.response.withoutContent)
        if attempts.isEmpty {
            let (sent, got) = (answer.request.kept(in: &content), answer.response.kept(in: &content))
            (request, response) = (sent.request, got.response)
            isAnswerLeftOut = sent.isLeftOut || got.isLeftOut
        }
        answerSize = answer.response.body.count
        content.release((self.answer?.request.contentBytes ?? 0) + (self.answer?.response.body.count ?? 0))
        self.answer = Event.Answer(
            request: request, response: response, source: answer.source, isJoined: answer.isJoined,
            isStale: answer.isStale)
    }

    private mutating func update(_ number: Int, _ change: (inout AttemptRecord) -> Void) {
        guard let index = attempts.lastIndex(where: { $0.number == number }) else { return }
        change(&attempts[index])
    }

    /// The content of a streamed call comes after the response of its last attempt, or out of the cache.
    private mutating func streamed(_ bytes: Int, _ completion: TransportCompletion, _ context: EventContext) {
        answerSize = bytes
        guard answer?.source == .network, let last = attempts.last else { return }
        isStreamed = true
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
        guard outcome != .success, isStreamed, let last = attempts.indices.last else { return }
        attempts[last].isContentLeft = true
        // What its reader gave up has not failed by that.
        if case .failure(let kind) = outcome { attempts[last].failure = kind }
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
    /// The length of content that is in memory, in bytes; 0 for any other.
    fileprivate var contentBytes: Int {
        if case .bytes(let data) = body.source { data.count } else { 0 }
    }

    fileprivate var withoutContent: HTTPRequest {
        guard !body.isNone else { return self }
        var request = self
        request.body = .none
        return request
    }

    /// The request, without its content unless that is kept, and whether it was left out for want of room.
    fileprivate func kept(in content: inout ContentBudget) -> (request: HTTPRequest, isLeftOut: Bool) {
        guard case .bytes(let data) = body.source else { return (withoutContent, false) }
        let decision = content.decide(data.count)
        return (decision == .kept ? self : withoutContent, decision == .noRoom)
    }
}

extension HTTPResponse {
    fileprivate var withoutContent: HTTPResponse {
        guard !body.isEmpty else { return self }
        var response = self
        response.body = Data()
        return response
    }

    /// The response, without its content unless that is kept, and whether it was left out for want of room.
    fileprivate func kept(in content: inout ContentBudget) -> (response: HTTPResponse, isLeftOut: Bool) {
        guard !body.isEmpty else { return (self, false) }
        let decision = content.decide(body.count)
        return (decision == .kept ? self : withoutContent, decision == .noRoom)
    }
}
