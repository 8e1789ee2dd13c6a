/// How a call ends early, and how whatever waits for it ends with it.
extension CallContext {
    /// The party that ended a call early.
    enum Ending: Sendable {
        /// The caller, its task, or the client: the caller is told.
        case requested
        /// The owner died: nobody is left to be told.
        case ownerGone
        /// A newer call of its kind has taken its place.
        case superseded
        /// The total time-out ran out while nothing was on the wire that would have kept it.
        case deadline
        /// It began after its client had been shut down.
        case shutDown

        var kind: APIError.Kind {
            switch self {
            case .requested, .ownerGone: .cancelled
            case .superseded: .dropped(.superseded)
            case .deadline: .timeout(.total)
            case .shutDown: .blocked(reason: "this client was shut down")
            }
        }
    }

    /// Code of the app's that runs for the call.
    struct AppCode {
        let number: Int
        let author: Any.Type
        let stage: StageName
    }

    /// Whether the call has ended early: it was cancelled, its owner has gone, or its time is over. Nothing that is still
    /// done for it reaches the caller.
    public var isCancelled: Bool { state.withLock { $0.ending != nil || $0.isLeft } }

    /// `nil` while the call goes on, and when it has ended with its result.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Ends the call: closes the wire, and wakes whatever waits for it. The first reason stays, and nothing ends what has been delivered.
    func end(_ reason: Ending) { markEnded(reason)?.carryOut() }

    /// Marks the call as ended, and what works for it alone: from now on nothing of it is sent. Nothing is given back yet that others
    /// may have waited for, so that several calls can be marked before the first of them makes room for another one.
    ///
    /// - Returns: what is still to be done; `nil` where the call does not end by this.
    func markEnded(_ reason: Ending) -> EarlyEnd? {
        let woken = state.withLock { state -> (waits: [any CallWait], child: CallContext?)? in
            if state.isDelivered { state.isLeft = true }
            guard state.mayEnd, !(state.isOver && reason == .deadline) else { return nil }
            state.ending = reason
            defer { state.waits = [] }
            return (state.waits, state.child)
        }
        guard let woken else { return nil }
        let child = woken.child?.markEnded(reason)
        let parts = woken.waits.flatMap { $0.markEnded() }
        return EarlyEnd(control: control, parts: (child.map { [$0] } ?? []) + parts, waits: woken.waits)
    }

    /// What is left to be done for a call that is marked as ended.
    struct EarlyEnd {
        fileprivate let control: ExchangeControl
        /// The same of what works for the call alone.
        fileprivate let parts: [EarlyEnd]
        fileprivate let waits: [any CallWait]

        /// Closes the wire, and wakes whatever waits.
        func carryOut() {
            control.cancel()
            for part in parts { part.carryOut() }
            for wait in waits { wait.abandon() }
        }
    }

    /// The call has its result: nothing is done for it any more.
    ///
    /// - Parameter isDelivered: whether whoever waits for the result has it with that.
    /// - Returns: why it had ended before; `nil` where it had not.
    func close(isDelivered: Bool = false) -> Ending? {
        state.withLock { state in
            state.isOver = true
            if isDelivered { state.isDelivered = true }
            state.onRedirect = nil
            state.onCached = nil
            state.urgentWork = []
            return state.ending
        }
    }

    /// All who waited for the result have it: nothing makes another one of it any more.
    func noteDelivered() {
        state.withLock { $0.isDelivered = true }
    }

    /// Whether it could still be ended early.
    var mayEnd: Bool { state.withLock { $0.mayEnd } }

    /// - Parameter stage: what would go on, and does not.
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` once the call has ended.
    func checkGoesOn(at stage: @autoclosure () -> StageName) throws(APIError) {
        let kind = state.withLock { $0.ending?.kind ?? ($0.isOver ? .cancelled : nil) }
        if let kind { throw APIError(kind, stage: stage()) }
    }

    /// The error of what was ended with the call, at the innermost code of the app's that had not returned.
    ///
    /// - Parameter stage: what was ended, where no code of the app's was at work.
    private func interruption(at stage: StageName) -> APIError {
        let (kind, code) = state.withLock { ($0.ending?.kind ?? .cancelled, $0.appCode.last) }
        guard let code else { return APIError(kind, stage: stage) }
        return APIError(kind, stage: code.stage, debugMessage: "\(code.author) had not returned")
    }
}

extension CallContext.State {
    /// Whether the call could still be ended early: also with its result, until that is delivered.
    fileprivate var mayEnd: Bool { ending == nil && !isDelivered }
}

// MARK: Calls that serve another one

extension CallContext {
    /// Makes a call the one that works for this one: it ends with it.
    ///
    /// - Returns: `false` when this one has ended.
    func adopt(_ child: CallContext) -> Bool {
        state.withLock { state in
            guard state.ending == nil, !state.isOver else { return false }
            state.child = child
            return true
        }
    }

    /// The call that worked for this one is over.
    func release(_ child: CallContext) {
        state.withLock { state in
            if state.child === child { state.child = nil }
        }
    }

    /// Whether an id is this call's, or that of the call that works for it.
    func isKnown(as id: CallID) -> Bool {
        self.id == id || state.withLock { $0.child?.id == id }
    }
}

// MARK: Waiting

/// Something that is waited for on behalf of a call.
protocol CallWait: AnyObject, Sendable {
    /// Marks what works for the call alone as ended, before ``abandon()``. It makes no room for anybody.
    ///
    /// - Returns: what is left to be done for what it has marked.
    func markEnded() -> [CallContext.EarlyEnd]
    /// Ends the wait.
    func abandon()
}

extension CallWait {
    func markEnded() -> [CallContext.EarlyEnd] { [] }
}

extension Promise: CallWait {}

/// A task that is cancelled with its call.
private final class BoundTask: CallWait {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
        self.task = task
    }

    func abandon() {
        task.cancel()
    }
}

extension CallContext {
    /// Makes the early end of the call the end of a task, too.
    func endsWithCall(_ task: Task<Void, Never>) { endsWithCall(BoundTask(task)) }

    /// Makes the early end of the call the end of something else, too.
    func endsWithCall(_ wait: any CallWait) {
        let goesOn = state.withLock { state in
            if state.ending == nil { state.waits.append(wait) }
            return state.ending == nil
        }
        guard !goesOn else { return }
        for part in wait.markEnded() { part.carryOut() }
        wait.abandon()
    }

    /// What was to end with the call is over.
    func doesNotEnd(_ wait: any CallWait) {
        state.withLock { state in state.waits.removeAll { $0 === wait } }
    }

    /// Waits. The wait ends with the call: when it is cancelled, its scope goes, its user is signed out, or its total
    /// time-out runs out.
    ///
    /// - Throws: ``APIError/Kind/cancelled``, also when the task is cancelled; ``APIError/Kind/timeout(_:)`` at the call's
    ///   deadline, where that comes first.
    public func sleep(for duration: Duration) async throws(APIError) {
        try await sleep(for: duration, at: state.withLock { $0.appCode.last?.stage } ?? .callInterception)
    }

    /// The same.
    ///
    /// - Parameter stage: what waits.
    func sleep(for duration: Duration, at stage: StageName) async throws(APIError) {
        let end = time.now() + duration
        let isShort = deadline.map { $0 < end } ?? false
        let moment = isShort ? deadline ?? end : end
        let slept = Promise<Void>()
        let sleeper = Task { [time] in
            do {
                try await time.sleep(until: moment)
                slept.keep(())
            } catch {
                slept.abandon()
            }
        }
        defer { sleeper.cancel() }
        guard await wait(for: slept) != nil else { throw interruption(at: stage) }
        if isShort { throw APIError(.timeout(.total), stage: stage) }
    }

    /// Waits for a promise, for the end of the call, or until the task is cancelled: an interceptor may wait no longer for what
    /// it has sent, in a call that goes on.
    ///
    /// - Returns: `nil` where nothing was given.
    func wait<Value>(for promise: Promise<Value>) async -> Value? {
        let goesOn = state.withLock { state in
            if state.ending == nil { state.waits.append(promise) }
            return state.ending == nil
        }
        guard goesOn else { return nil }
        defer { state.withLock { state in state.waits.removeAll { $0 === promise } } }
        return await withTaskCancellationHandler {
            await promise.value()
        } onCancel: {
            promise.abandon()
        }
    }

    /// Waits for a promise: no longer than the call goes on, and not past its deadline.
    ///
    /// - Parameter stage: what waits.
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first, or its task is
    ///   cancelled.
    func value<Value>(of promise: Promise<Value>, at stage: StageName) async throws(APIError) -> Value {
        try checkGoesOn(at: stage)
        let alarm = deadline.map { endsAt($0, mayWait: false) }
        let value = await wait(for: promise)
        if let alarm { deadlines.remove(alarm.withLock { $0 }) }
        guard let value else { throw interruption(at: stage) }
        return value
    }

    /// Runs something that may not end when it is told to, and returns at the latest when the call ends or the task is
    /// cancelled; it then goes on in a task that is cancelled, and what it brings is dropped. It costs a task.
    ///
    /// - Parameter stage: what is run.
    /// - Throws: what `body` throws; ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first.
    func interruptible<Value: Sendable>(
        at stage: StageName, _ body: @escaping @Sendable () async throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        try checkGoesOn(at: stage)
        let promise = Promise<Result<Value, APIError>>()
        let task = Task { promise.keep(await Result(body)) }
        let alarm = deadline.map { endsAt($0, mayWait: true) }
        let result = await wait(for: promise)
        if let alarm { deadlines.remove(alarm.withLock { $0 }) }
        guard let result else {
            task.cancel()
            throw interruption(at: stage)
        }
        return try result.get()
    }

    /// What a time-out of the transport leaves the stages above to make something of it: an answer from what is stored, or
    /// one of the app's.
    private static let grace = Duration.milliseconds(50)

    /// Ends the call at its deadline, unless the transport is about to do so, or has just done it.
    ///
    /// - Parameter mayWait: whether the call may have a little longer in that case.
    private func endsAt(_ moment: Duration, mayWait: Bool) -> Locked<Deadlines.Ticket> {
        let alarm = Locked(Deadlines.Ticket.none)
        ring(at: moment, mayWait: mayWait, alarm)
        return alarm
    }

    private func ring(at moment: Duration, mayWait: Bool, _ alarm: Locked<Deadlines.Ticket>) {
        let ticket = deadlines.add(moment) { [weak self] in
            guard let self else { return }
            guard mayWait, isOnWire(at: moment) else { return end(.deadline) }
            ring(at: moment + Self.grace, mayWait: false, alarm)
        }
        alarm.withLock { $0 = ticket }
    }

    private func isOnWire(at moment: Duration) -> Bool {
        if control.isBusy { return true }
        return state.withLock { $0.lastReply.map { moment - $0 < Self.grace } ?? false }
    }

    /// The transport has answered or failed.
    func noteReply() {
        guard deadline != nil else { return }
        let now = time.now()
        state.withLock { $0.lastReply = now }
    }

    /// Waits for something that is done in any case: not past the end of the call, and no longer than its deadline leaves.
    /// What is not done by then goes on without the call.
    ///
    /// - Parameter limit: how long to wait at most; `nil` for as long as the call may.
    func patiently(upTo limit: Duration? = nil, _ body: @escaping @Sendable () async -> Void) async {
        let promise = Promise<Void>()
        Task {
            await body()
            promise.keep(())
        }
        let end = limit.map { min(time.now() + $0, deadline ?? .seconds(Int64.max)) } ?? deadline
        let alarm = end.map { deadlines.add($0) { promise.abandon() } }
        _ = await wait(for: promise)
        if let alarm { deadlines.remove(alarm) }
    }

    /// Returns when the call is not suspended.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first, or its task is
    ///   cancelled.
    func untilResumed() async throws(APIError) {
        let alarm = deadline.map { endsAt($0, mayWait: false) }
        await control.untilResumed()
        if let alarm { deadlines.remove(alarm.withLock { $0 }) }
        try checkGoesOn(at: .transport)
        if Task.isCancelled { throw APIError(.cancelled, stage: .transport) }
    }

    /// Runs code of the app's, whose errors become ``APIError``s that name it.
    func appCode<Value>(
        _ code: Any, stage: StageName, _ body: () async throws -> Value
    ) async throws(APIError) -> Value {
        let number = state.withLock { state in
            state.lastAppCode += 1
            state.appCode.append(AppCode(number: state.lastAppCode, author: type(of: code), stage: stage))
            return state.lastAppCode
        }
        defer { state.withLock { state in state.appCode.removeAll { $0.number == number } } }
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
        _ error: any Error, of author: String = "the app", stage: StageName = .callInterception
    ) -> APIError {
        switch error {
        case let error as APIError: error
        case is CancellationError: APIError(.cancelled, stage: stage)
        default: APIError(.blocked(reason: "\(author) refused the call"), stage: stage, underlying: error)
        }
    }
}
