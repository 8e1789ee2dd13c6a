/// One call on its way: its number, its settings, and how it is stopped. Given to interceptors, signers and sealers.
public final class CallContext: Sendable {
    public let id: CallID
    let endpointType: any Endpoint.Type
    public let service: ServiceID
    /// The environment the call was made in; a later switch does not move it.
    public let environment: ServerEnvironment
    public let partition: ConnectionPartition
    private let options: ResolvedOptions
    public let control: ExchangeControl
    public let time: TimeSource
    /// On ``TimeSource/now``'s clock; `nil` when the call may take for ever. A streamed call keeps it until the head of
    /// its response has come.
    public let deadline: Duration?
    /// Whether the content of the response is handed over as it comes.
    public let streams: Bool
    /// Whether it refreshes what another call was answered with.
    let isRefresh: Bool

    private let started: Duration
    private let sink: (any EventSink)?
    /// Whether there is a sink: asked often, and quicker to ask.
    private let isTold: Bool
    private let state = Locked(State())

    private struct State {
        var attempts: [APIError.Attempt] = []
        var cancelTask: (@Sendable () -> Void)?
        var cancellation: Cancellation?
        var onRedirect: (@Sendable (HTTPURL) -> Void)?
        var onCached: (@Sendable (Exchange) -> Void)?
    }

    /// Who ended a call early.
    enum Cancellation: Sendable {
        /// The caller, its task, or the client: the caller is told.
        case requested
        /// The owner died: nobody is left to be told.
        case ownerGone
    }

    init(
        id: CallID, endpoint: any Endpoint.Type, service: ServiceID, environment: ServerEnvironment, identity: String,
        options: ResolvedOptions, control: ExchangeControl, time: TimeSource, sink: (any EventSink)?,
        streams: Bool = false, isRefresh: Bool = false, deadline: Duration?? = nil
    ) {
        self.id = id
        endpointType = endpoint
        self.service = service
        self.environment = environment
        self.options = options
        self.control = control
        self.time = time
        self.sink = sink
        isTold = sink != nil
        self.streams = streams
        self.isRefresh = isRefresh
        partition = ConnectionPartition(environment: environment.name, identity: identity)
        started = time.now()
        self.deadline = deadline ?? options.settings.timeouts.total.map { [started] in started + $0 }
    }

    /// The same call, for an exchange that goes on without it.
    func detached(_ relay: RelayedEvents) -> CallContext {
        CallContext(
            id: id, endpoint: endpointType, service: service, environment: environment, identity: partition.identity,
            options: options, control: ExchangeControl(onProgress: control.onProgress), time: time,
            sink: isTold ? relay : nil, isRefresh: isRefresh, deadline: .some(deadline))
    }

    /// The endpoint's type name.
    public var endpoint: String { String(describing: endpointType) }

    /// Options with every default filled in.
    public var settings: CallSettings { options.settings }

    /// Every exchange so far.
    public var attempts: [APIError.Attempt] { state.withLock(\.attempts) }

    func record(_ attempt: APIError.Attempt) {
        state.withLock { $0.attempts.append(attempt) }
    }
}

// MARK: Cancellation

extension CallContext {
    public var isCancelled: Bool { cancellation != nil }

    var cancellation: Cancellation? { state.withLock(\.cancellation) }

    /// Closes the wire; the call ends with ``APIError/Kind/cancelled``. The first reason stays.
    func cancel(_ reason: Cancellation) {
        let cancelTask = state.withLock { state in
            state.cancellation = state.cancellation ?? reason
            return state.cancelTask
        }
        control.cancel()
        cancelTask?()
    }

    /// Makes the end of a call that runs in a task of its own the end of that task too.
    func runs(in task: Task<some Sendable, Never>) {
        let isCancelled = state.withLock { state in
            state.cancelTask = { task.cancel() }
            return state.cancellation != nil
        }
        if isCancelled { task.cancel() }
    }

    /// Lets go of the task that is over.
    func hasEnded() {
        state.withLock { state in
            state.cancelTask = nil
            state.onRedirect = nil
            state.onCached = nil
        }
    }

    func checkNotCancelled() throws(APIError) {
        if isCancelled { throw APIError(.cancelled, stage: .transport) }
    }
}

// MARK: Events

extension CallContext {
    @inline(__always)
    func emit(_ event: @autoclosure () -> Event) {
        if isTold { tell(event) }
    }

    /// Out of line with the making of the event, for which a call that waits would keep room.
    @inline(never)
    private func tell(_ event: () -> Event) {
        sink?.receive(event(), EventContext(call: id, elapsed: time.now() - started))
    }

    func emitStart() {
        emit(.callStarted(.init(endpoint: endpoint, service: service, environment: environment)))
    }

    /// Sets who is told of redirects besides the event sink.
    func onRedirect(_ tell: @escaping @Sendable (HTTPURL) -> Void) {
        state.withLock { $0.onRedirect = tell }
    }

    func redirected(status: Int, from: HTTPURL, to: HTTPURL) {
        emit(.redirected(status: status, from: from, to: to))
        state.withLock(\.onRedirect)?(to)
    }

    /// Sets who is given a stored response that comes before the one that is loaded.
    func onCached(_ take: @escaping @Sendable (Exchange) -> Void) {
        state.withLock { $0.onCached = take }
    }

    func cached(_ exchange: Exchange) {
        state.withLock(\.onCached)?(exchange)
    }

    /// Runs a stage between its start and its end event.
    @inline(__always)
    func stage<Result>(_ stage: APIError.Stage, _ body: () async throws -> Result) async throws -> Result {
        emit(.stageStarted(stage))
        do {
            let result = try await body()
            emit(.stageEnded(stage, .success))
            return result
        } catch {
            emit(.stageEnded(stage, Event.Outcome(error)))
            throw error
        }
    }

    /// The same for a stage that does not wait.
    @inline(__always)
    func stage<Result>(
        _ stage: APIError.Stage, _ body: () throws(APIError) -> Result
    ) throws(APIError) -> Result {
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

    /// Runs code of the app's, whose errors become ``APIError``s that name it.
    func appCode<Result>(
        _ code: Any, stage: APIError.Stage = .interceptor, _ body: () async throws -> Result
    ) async throws(APIError) -> Result {
        do {
            return try await body()
        } catch {
            throw APIError.wrapping(error, of: "\(type(of: code))", stage: stage)
        }
    }
}

extension APIError {
    /// The error of code of the app's: an ``APIError`` as it is, another one as a veto of the call.
    static func wrapping(
        _ error: any Error, of author: String = "the app", stage: Stage = .interceptor
    ) -> APIError {
        switch error {
        case let error as APIError: error
        case is CancellationError: APIError(.cancelled, stage: stage)
        default: APIError(.blocked(reason: "\(author) refused the call"), stage: stage, underlying: error)
        }
    }
}
