import Foundation

/// One call on its way: its number, its settings, and how it ends. Given to interceptors, signers and sealers.
public final class CallContext: Sendable {
    /// The call's number, which its events and its handle have too.
    public let id: CallID
    /// The endpoint's type, for interceptors that treat some otherwise.
    ///
    /// ```swift
    /// guard call.endpointType != Login.self else { return try await next(request) }
    /// ```
    public let endpointType: any Endpoint.Type
    /// The service that the endpoint names; `none` for a request that belongs to no service.
    public let service: ServiceID
    /// The environment the call was made in; a later switch does not move it.
    public let environment: ServerEnvironment
    /// Whose the call is, and by what way it goes: what it shares with others, it shares with calls of the same key.
    public let isolation: IsolationKey
    private let options: ResolvedOptions
    let control: ExchangeControl
    /// Where the client takes the time from; code that waits or measures for the call should use it, so that tests can
    /// move it.
    public let time: TimeSource
    /// When the call must have ended, on ``TimeSource/now``'s clock; `nil` when the call may take for ever. A streamed call keeps it until
    /// the head of its response has come.
    public let deadline: Duration?
    /// Whether the content of the response is handed over as it comes.
    public let streams: Bool
    /// Whether content behind this head could be refused if it were collected; `nil` for a call that collects its content.
    private let mayRefuse: (@Sendable (HTTPResponse) -> Bool)?
    /// Whether it refreshes what another call was answered with.
    let isRefresh: Bool
    /// What its request asks its connection to change to; `nil` for an exchange like any other.
    let upgrade: HTTPUpgrade?
    /// What carries its request in place of the client's transport; `nil` for that one.
    let carrier: (any Transport)?
    /// `nil` when nobody is told of anything.
    let events: CallEvents?
    /// Whether ``events`` is there. It is stored because it is read at every step, and reading a flag takes less time than reading
    /// the reference.
    let isTold: Bool
    /// Whether starts and ends of stages are among what is told.
    let tellsStages: Bool
    let deadlines: Deadlines
    /// The lineage of the client that made it.
    let lineage: ClientLineage
    let clocks: ServerClocks
    /// What is told each time that a request is handed to the transport; `nil` when nobody waits for that.
    let onSend: (@Sendable () -> Void)?
    /// The lane that it was begun in; `nil` for a call that renews no credential.
    let lane: RefreshLane?
    /// Whether it is there for an exchange that may go on without the call.
    let isDetached: Bool
    let state = Locked(State())

    struct State {
        var attempts: [APIError.Attempt] = []
        /// Those that a detached call has handed to the transport, and of which nothing is known yet.
        var open: [APIError.Attempt] = []
        var pass = 1
        /// Why there was a pass after the first, once for each.
        var replays: [StageName] = []
        /// Whether it was held against others of its kind, and may go on.
        var isLetThrough = false
        /// Why the call has ended early.
        var ending: Ending?
        /// Whether the call has its result.
        var isOver = false
        /// Whether all who waited for the result have it.
        var isDelivered = false
        /// Whether somebody has ended it after that. Its result stands, and nothing else of it reaches the caller.
        var isLeft = false
        /// Everything that waits for something on behalf of the call.
        var waits: [any CallWait] = []
        /// The app's code that runs for the call, the innermost last.
        var appCode: [AppCode] = []
        var lastAppCode = 0
        /// When the last answer or failure came from below the app's code.
        var lastReply: Duration?
        /// The call that does the work of this one at the moment: a connection of an event stream.
        var child: CallContext?
        var onRedirect: (@Sendable (HTTPURL) -> Void)?
        var onCached: (@Sendable (Exchange) -> Void)?
        /// How many cookies the call's redirects have set.
        var redirectCookies = 0
        /// What the app has asked for, once a redirect was followed from there.
        var initiator: HTTPURL?
        /// Where its first pass went, of a service whose base URL may be another one each time.
        var home: HTTPURL?
        /// The key, made when the first attempt needs it, and the same for all that follow, also in a detached context of the call.
        var idempotencyKey: Locked<IdempotencyKey?>?
        /// What was decided about attempts at the heads of their responses, until their stage asks for it.
        var verdicts: [ObjectIdentifier: (status: Int, decision: RetryDecision)] = [:]
        /// The leave of the attempt that is under way, where it is one to find out whether its server works again.
        var probe: (any ProbingAttempt)?
        /// When it last found a way to other networks after it had waited for one.
        var foundWay: Duration?
        /// `nil` while it is what the options say.
        var priority: CallPriority?
        /// What is as urgent as the call, and hears of a new priority.
        var urgentWork: [any UrgentWork] = []

        /// Where the call's key is, or will be.
        mutating func sharedKey() -> Locked<IdempotencyKey?> {
            let place = idempotencyKey ?? Locked(nil)
            idempotencyKey = place
            return place
        }
    }

    /// What the calls of one client and their parts have in common.
    struct Surroundings {
        let time: TimeSource
        let deadlines: Deadlines
        /// The lineage of the client that made the call.
        let lineage: ClientLineage
        let clocks: ServerClocks
        /// `nil` when nobody is told of anything.
        let sink: (any EventSink)?
        /// What is told each time that a request is handed to the transport; `nil` when nobody waits for that.
        var onSend: (@Sendable () -> Void)?
    }

    /// - Parameter deadline: in place of what the options say; `.some(nil)` for none.
    init(
        id: CallID, endpoint: any Endpoint.Type, service: ServiceID, environment: ServerEnvironment,
        isolation: IsolationKey, options: ResolvedOptions, control: ExchangeControl,
        in surroundings: Surroundings, streams: Bool = false,
        mayRefuse: (@Sendable (HTTPResponse) -> Bool)? = nil, isRefresh: Bool = false, upgrade: HTTPUpgrade? = nil,
        carrier: (any Transport)? = nil, deadline: Duration?? = nil, lane: RefreshLane? = nil,
        isDetached: Bool = false
    ) {
        self.id = id
        endpointType = endpoint
        self.service = service
        self.environment = environment
        self.isolation = isolation
        self.options = options
        self.control = control
        time = surroundings.time
        deadlines = surroundings.deadlines
        lineage = surroundings.lineage
        clocks = surroundings.clocks
        onSend = surroundings.onSend
        events = surroundings.sink.flatMap { CallEvents(of: id, endpoint, to: $0, surroundings.time) }
        isTold = events != nil
        tellsStages = events?.tellsStages ?? false
        self.streams = streams
        self.mayRefuse = mayRefuse
        self.isRefresh = isRefresh
        self.upgrade = upgrade
        self.carrier = carrier
        self.lane = lane
        self.isDetached = isDetached
        self.deadline = deadline ?? options.settings.timeouts.total.map { [time] in time.now() + $0 }
    }

    /// The same call, for an exchange that goes on without it.
    ///
    /// - Parameter onSend: told each time that a request of it is handed to the transport.
    func detached(_ relay: RelayedEvents, onSend: (@Sendable () -> Void)? = nil) -> CallContext {
        let detached = CallContext(
            id: id, endpoint: endpointType, service: service, environment: environment, isolation: isolation,
            options: options, control: ExchangeControl(onProgress: control.onProgress, onInterim: control.onInterim),
            in: Surroundings(
                time: time, deadlines: deadlines, lineage: lineage, clocks: clocks, sink: isTold ? relay : nil,
                onSend: onSend),
            isRefresh: isRefresh, carrier: carrier, deadline: .some(deadline), lane: lane,
            isDetached: true)
        let (pass, replays, key, cookies, initiator, home, priority) = state.withLock { state in
            (
                state.pass, state.replays, state.sharedKey(), state.redirectCookies, state.initiator, state.home,
                state.priority
            )
        }
        detached.state.withLock { state in
            (state.pass, state.replays, state.idempotencyKey, state.redirectCookies) = (pass, replays, key, cookies)
            (state.initiator, state.home, state.priority) = (initiator, home, priority)
        }
        return detached
    }

    /// Whether it serves to renew a credential, for which other calls wait. It goes before them: whatever holds requests back
    /// lets it pass.
    public var renewsCredential: Bool { lane?.isOpen ?? false }

    /// Whether it hands over content behind this head which it would have judged if it had collected it.
    func leavesUnjudged(_ head: HTTPResponse) -> Bool { mayRefuse?(head) ?? false }

    /// The endpoint's type name.
    public var endpoint: String { String(describing: endpointType) }

    /// Options with every default filled in.
    public var settings: CallSettings { options.settings }

    /// Every exchange so far.
    public var attempts: [APIError.Attempt] { state.withLock { $0.attempts } }

    /// The same, and those that are under way: whoever leaves them does not hear how they end, and their server may have them.
    var attemptsLeft: [APIError.Attempt] { state.withLock { $0.attempts + $0.open } }

    func record(_ attempt: APIError.Attempt) {
        state.withLock { state in
            state.attempts.append(attempt)
            let index = state.open.firstIndex { $0.started == attempt.started && $0.url == attempt.url }
            if let index { state.open.remove(at: index) }
        }
    }

    /// Notes an attempt that is handed to the transport, until it is recorded. Only an exchange that may be left has to know.
    func open(_ request: HTTPRequest, at started: Date) {
        guard isDetached else { return }
        let attempt = APIError.Attempt(
            method: request.method, url: request.url, started: started, outcome: .cancelled, sendState: .maybeProcessed)
        state.withLock { $0.open.append(attempt) }
    }

    /// Counts one more cookie of a redirect.
    ///
    /// - Returns: `false` where there have been so many already.
    func countCookie(upTo limit: Int) -> Bool {
        state.withLock { state in
            guard state.redirectCookies < limit else { return false }
            state.redirectCookies += 1
            return true
        }
    }

    /// Notes that what follows is asked for by a redirect that the app's own request has led to.
    func initiate(by url: HTTPURL) {
        state.withLock { $0.initiator = url }
    }

    /// What the connection of a request must have in common with others. A server that a redirect has led to, and that the app has
    /// not asked itself, is not shown the client's certificate: that is a credential as well.
    func isolation(for url: HTTPURL) -> IsolationKey {
        guard isolation.trust.identity != nil, let asked = state.withLock({ $0.initiator }), asked.origin != url.origin
        else {
            return isolation
        }
        var isolation = isolation
        isolation.trust = isolation.trust.identified(by: nil)
        return isolation
    }

    /// The base URL of a service that may name another one each time, as the call's first pass had it: a call that is under
    /// way stays where it is.
    var home: HTTPURL? { state.withLock { $0.home } }

    /// Has a call that has sent nothing yet go to the base URL of another one.
    func stay(at home: HTTPURL) {
        state.withLock { $0.home = home }
    }

    /// The base URL that all passes go to.
    ///
    /// - Parameter read: asked in the first pass.
    func home(_ read: () throws(APIError) -> HTTPURL) throws(APIError) -> HTTPURL {
        if let home { return home }
        let new = try read()
        return state.withLock { state in
            let first = state.home ?? new
            state.home = first
            return first
        }
    }

    /// Which cookies go with a request of this call.
    func cookieQuery(for request: HTTPRequest) -> CookieQuery {
        CookieQuery(request.url, method: request.method, initiator: state.withLock { $0.initiator })
    }

    /// The call's key, made when it is first asked for: every attempt and every pass has the same.
    func idempotencyKey(using random: RandomSource) -> IdempotencyKey {
        let place = state.withLock { $0.sharedKey() }
        if let known = place.withLock({ $0 }) { return known }
        var random = random
        let new = IdempotencyKey(using: &random)
        return place.withLock { key in
            let first = key ?? new
            key = first
            return first
        }
    }

    /// How urgent it is: what its options say, or more, where others wait for it as well.
    public var priority: CallPriority { state.withLock { $0.priority } ?? settings.priority }

    /// Makes it as urgent as the most urgent of those that wait for it, and no less than its options say, also while it waits to
    /// be sent.
    ///
    /// - Parameter others: `nil` where no other waits for it.
    func prioritise(by others: CallPriority?) {
        prioritise(as: max(settings.priority, others ?? settings.priority))
    }

    /// Makes it just as urgent, also while it waits to be sent.
    func prioritise(as new: CallPriority) {
        let told = state.withLock { state in
            defer { state.priority = new }
            return (state.priority ?? settings.priority) == new ? [] : state.urgentWork
        }
        for work in told { work.follow(self) }
    }

    /// Makes something as urgent as the call is, now and whenever that changes, until it is let go of by ``doesNotLead(_:)``.
    func leads(_ work: any UrgentWork) {
        state.withLock { $0.urgentWork.append(work) }
        // The call may have become more urgent before it was heard of.
        work.follow(self)
    }

    /// Something need not be as urgent as the call any more.
    func doesNotLead(_ work: any UrgentWork) {
        state.withLock { state in state.urgentWork.removeAll { $0 === work } }
    }

    /// Which pass through the request path this is: 1, or one more for each time that a stage has had the request made and
    /// sent anew after its response was judged. The same request sent again by a stage or an interceptor is no new pass.
    public var pass: Int { state.withLock { $0.pass } }

    /// Whether this is, or comes after, the pass that a stage has asked for.
    func hasReplayed(for reason: StageName) -> Bool {
        state.withLock { $0.replays.contains(reason) }
    }

    func beginPass(for replay: Replay) {
        let pass = state.withLock { state in
            state.pass += 1
            state.replays.append(replay.reason)
            return state.pass
        }
        emit(.replayed(by: replay.reason, pass: pass))
    }
}

/// Something that is done for calls, and is as urgent as they are.
protocol UrgentWork: AnyObject, Sendable {
    /// The call may have become more urgent, or less. Of several words at once any may come last, so what counts is what the call
    /// says when it is asked.
    func follow(_ call: CallContext)
}

// MARK: Events

extension CallContext {
    @inline(__always)
    func emit(_ event: @autoclosure () -> Event) {
        if isTold { tell(event) }
    }

    /// How much of it is told.
    var interest: EventInterest { events?.interest ?? .nothing }

    /// Makes an event and tells of it, out of line: a call that waits would keep room for the making.
    @inline(never)
    private func tell(_ event: () -> Event) {
        events?.tell(event())
    }

    @inline(__always)
    func emitSent(_ request: HTTPRequest) {
        if isTold { events?.sent(request) }
    }

    @inline(__always)
    func emitReceived(_ reply: TransportResponse) {
        if isTold { events?.received(reply) }
    }

    @inline(__always)
    func emitAnswered(_ exchange: Exchange) {
        if isTold { events?.answered(exchange) }
    }

    func emitStart() {
        guard interest >= .calls else { return }
        emit(.callStarted(summary))
    }

    var summary: Event.CallSummary { .init(endpoint: endpoint, service: service, environment: environment) }

    /// Sets who is told of redirects besides the event sink.
    func onRedirect(_ tell: @escaping @Sendable (HTTPURL) -> Void) {
        state.withLock { $0.onRedirect = tell }
    }

    func redirected(status: Int, from: HTTPURL, to: HTTPURL) {
        emit(.redirected(status: status, from: from, to: to))
        followed(to: to)
    }

    /// A redirect was followed, of which the event sink is told elsewhere.
    func followed(to url: HTTPURL) {
        state.withLock { $0.onRedirect }?(url)
    }

    /// Sets who is given a stored response that comes before the one that is loaded.
    func onCached(_ take: @escaping @Sendable (Exchange) -> Void) {
        state.withLock { $0.onCached = take }
    }

    func cached(_ exchange: Exchange) {
        state.withLock { $0.onCached }?(exchange)
    }

    /// Runs a part of the call that does not wait between its start and its end event.
    @inline(__always)
    func stage<Result>(
        _ stage: StageName, _ body: () throws(APIError) -> Result
    ) throws(APIError) -> Result {
        guard tellsStages else { return try body() }
        emit(.stageStarted(stage))
        do throws(APIError) {
            let result = try body()
            emit(.stageEnded(stage, .success))
            return result
        } catch {
            emit(.stageEnded(stage, Event.Outcome(error)))
            throw error
        }
    }
}

/// An attempt that is to find out whether its origin works again, of a call that may be held back.
protocol ProbingAttempt: AnyObject, Sendable {
    /// Lets another attempt find out.
    func giveBack()
    /// Asks once more to find out.
    ///
    /// - Returns: why it may not; `nil` where it may, or gave nothing back.
    func renew() -> String?
}
