/// What is left of the request path below a stage or an interceptor.
public struct Next: Sendable {
    /// Whether nobody above will look at the content of a response.
    typealias Discards = @Sendable (HTTPResponse) -> Bool

    private let stages: [any Stage]
    private let index: Int
    private let call: CallContext
    /// What the stages above have said of the responses whose content they throw away; `nil` when all content is wanted.
    let discards: Discards?
    /// Where the app's code stands above: what it may do, and what it was given.
    private let passage: Passage?

    init(
        stages: [any Stage], index: Int = 0, call: CallContext, discards: Discards? = nil, passage: Passage? = nil
    ) {
        self.stages = stages
        self.index = index
        self.call = call
        self.discards = discards
        self.passage = passage
    }

    /// Sends a request on its way through the stages below.
    ///
    /// Cancelling the task that waits ends what was sent, and the call goes on. Of a streamed call, a task that sends again gives up
    /// the content of what it was given before: the wire and the place among the requests under way are free for what follows.
    ///
    /// - Throws: what they throw; ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` once the call has ended, and
    ///   ``APIError/Kind/cancelled`` when the task is cancelled.
    @inline(__always)
    public func callAsFunction(_ request: HTTPRequest) async throws(APIError) -> Exchange {
        if let passage { return try await go(on: request, through: passage) }
        return try await run(request)
    }

    @inline(__always)
    private func run(_ request: HTTPRequest) async throws(APIError) -> Exchange {
        try call.checkGoesOn(at: type(of: stages[index]).name)
        let below = Next(stages: stages, index: index + 1, call: call, discards: discards)
        if call.tellsStages { return try await tell(stages[index], request, below) }
        return try await stages[index].run(request, call, below)
    }

    /// Runs a stage between its start and its end event.
    @inline(never)
    private func tell(
        _ stage: any Stage, _ request: HTTPRequest, _ below: Next
    ) async throws(APIError) -> Exchange {
        let name = type(of: stage).name
        call.emit(.stageStarted(name))
        do throws(APIError) {
            let exchange = try await stage.run(request, call, below)
            call.emit(.stageEnded(name, .success))
            return exchange
        } catch {
            call.emit(.stageEnded(name, Event.Outcome(error)))
            throw error
        }
    }

    @inline(never)
    private func go(on request: HTTPRequest, through passage: Passage) async throws(APIError) -> Exchange {
        try passage.enter()
        return passage.note(try await run(request))
    }
}

extension Next {
    /// The same for another context: of an exchange that goes on without its call.
    func on(_ call: CallContext) -> Next {
        Next(stages: stages, index: index, call: call, discards: discards)
    }

    /// The same, for a stage that throws the content of some responses away. The transport reads past it without decoding
    /// it, and no other stage has to know why.
    func discarding(_ isDiscarded: @escaping Discards) -> Next {
        guard let discards else { return Next(stages: stages, index: index, call: call, discards: isDiscarded) }
        return Next(stages: stages, index: index, call: call) { discards($0) || isDiscarded($0) }
    }

    /// The same, as an interceptor of the app's is given it.
    func through(_ passage: Passage) -> Next {
        Next(stages: stages, index: index, call: call, discards: discards, passage: passage)
    }
}

/// One of the app's interceptors on its way through the path: how often it may send, and what the last sending brought.
final class Passage: Sendable {
    private struct State: Sendable {
        var uses = 0
        var last: Exchange.Remains?
        var sent: HTTPRequest?
        /// The content of streamed responses. The interceptor may let go of them at any time.
        var given: [WeakContent] = []
    }

    private struct WeakContent: Sendable {
        weak let content: GivenContent?
    }

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: how often the interceptor may call `next`.
    init(limit: Int = .max) {
        self.limit = limit
    }

    /// How often the interceptor has called `next`.
    var uses: Int { state.withLock { $0.uses } }

    fileprivate func enter() throws(APIError) {
        let (uses, given) = state.withLock { state in
            state.uses += 1
            return (state.uses, state.given)
        }
        guard uses <= limit else {
            throw APIError(
                .blocked(
                    reason: "an attempt may be sent only once: what sends a call anew belongs into callInterceptors"),
                stage: .attemptInterception)
        }
        guard !given.isEmpty else { return }
        // One that sends from several tasks waits for the first good answer, and what another task has just got may be that.
        let task = GivenContent.currentTask
        for content in given.compactMap(\.content) where content.task == task { content.giveUp() }
    }

    /// - Returns: the exchange as the interceptor is given it.
    fileprivate func note(_ exchange: Exchange) -> Exchange {
        var exchange = exchange
        // A wire that has changed its protocol is taken out of its exchange as what it is.
        let given = exchange.content.flatMap { $0 is UpgradedWire ? nil : GivenContent($0) }
        if let given { exchange.content = given }
        state.withLock { state in
            state.last = exchange.remains
            state.sent = exchange.sentRequest
            if let given { state.given.append(WeakContent(content: given)) }
        }
        return exchange
    }

    /// The exchange that the interceptor returns. One that it has made anew takes over what the stages below had left in
    /// the one it was given, so that nothing of theirs goes unsettled.
    func out(_ exchange: Exchange) -> Exchange {
        let (last, sent) = state.withLock { ($0.last, $0.sent) }
        var exchange = exchange
        if exchange.remains.isEmpty, let last { exchange.remains = last }
        // What went to the wire stays what it was.
        if let sent { exchange.sentRequest = sent }
        return exchange
    }
}

/// One step of the request path that Penstock brings itself; the app's own steps are ``Interceptor``s.
///
/// A stage is made once for many calls and keeps nothing of them: what outlives a call is in ``SharedState``. It hands the
/// request to `next` any number of times, waits through its call (``CallContext/wait(for:)``, ``CallContext/sleep(for:)``)
/// so that it ends with it, and leaves a ``Settlement`` in the exchange where it wants to know what became of it.
protocol Stage: Sendable {
    /// The name of the stage in events and errors, which is also that of its file.
    static var name: StageName { get }

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange
}
