/// Delivery to those who wait without a task of their own: closures, delegates, methods of an object.
extension Call {
    /// Delivers the result to a closure on the main actor, besides whatever else hears of the call.
    ///
    /// The closure is called once: with ``APIError/Kind/cancelled`` after a cancellation, at once where the call is over
    /// already, and not at all once the scope is gone. It is let go of as soon as the call is over.
    ///
    /// ```swift
    /// client.start(GetUser(), in: page).onResult { result in show(result) }
    /// ```
    @discardableResult
    public func onResult(_ completion: @escaping CallCompletion<Output>) -> Call {
        audience.add(completion)
        return self
    }

    /// Delivers the result to a closure on an actor of the caller's choice, which it is handed; see ``onResult(_:)``. The actor is
    /// not kept alive: once it is gone nothing is delivered.
    @discardableResult
    public func onResult<A: Actor>(
        on actor: A, _ completion: @escaping @Sendable (isolated A, Result<Output, APIError>) -> Void
    ) -> Call {
        audience.add(on: actor, completion)
        return self
    }

    /// Delivers the stored response that comes before the one that is loaded (``CachePolicy/Mode/cacheThenNetwork``) to a
    /// closure on the main actor. It is called before the result is delivered, once or, where nothing usable is stored, not
    /// at all.
    ///
    /// ```swift
    /// client.start(GetCart(), options: .cache(.cacheThenNetwork), in: page)
    ///     .onCached { cart in show(cart.value) }
    ///     .onResult { result in show(result) }
    /// ```
    @discardableResult
    public func onCached(_ take: @escaping @MainActor @Sendable (APIResponse<Output>) -> Void) -> Call {
        audience.hear { news in if case .cached(let response) = news { take(response) } }
        return self
    }

    /// Delivers the result, and a stored response before it, to a delegate on the main actor. The delegate is not kept alive:
    /// once it is gone nothing is delivered.
    @discardableResult
    public func deliver<D: CallDelegate>(to delegate: D) -> Call where D.Output == Output {
        audience.add(delegate)
        return self
    }

    /// Delivers the result to a method of an object, on the main actor. The object is not kept alive: once it is gone nothing
    /// is delivered. So one object can hear of calls with different outputs.
    ///
    /// ```swift
    /// client.start(GetUser()).deliver(to: self, ProfileScreen.showUser)
    /// client.start(GetOrders()).deliver(to: self, ProfileScreen.showOrders)
    /// ```
    @discardableResult
    public func deliver<Target: AnyObject & Sendable>(
        to target: Target, _ method: @escaping @Sendable (Target) -> @MainActor (Result<Output, APIError>) -> Void
    ) -> Call {
        audience.add(target) { target, news in
            if let result = news.result { method(target)(result.map(\.value)) }
        }
        return self
    }
}

/// Everybody who hears of one call.
struct CallAudience<Output: Sendable>: Sendable {
    let context: CallContext
    let feed: CallFeed<Output>
    let owner: CallOwner
    let told: ToldErrors

    func add(_ completion: @escaping CallCompletion<Output>) {
        hear { news in if let result = news.result { completion(result.map(\.value)) } }
    }

    func add<A: Actor>(
        on actor: A, _ completion: @escaping @Sendable (isolated A, Result<Output, APIError>) -> Void
    ) {
        hear(on: actor) { actor, news in
            if let result = news.result { completion(actor, result.map(\.value)) }
            return true
        }
    }

    func add<D: CallDelegate>(_ delegate: D) where D.Output == Output {
        add(delegate) { [id = context.id] delegate, news in
            switch news {
            case .cached(let response): delegate.call(id, didLoadCached: response)
            case .result(let result): delegate.call(id, didFinishWith: result.map(\.value))
            }
        }
    }

    /// Delivers to an object that is not kept alive.
    func add<Object: AnyObject & Sendable>(
        _ object: Object, _ take: @escaping @MainActor @Sendable (Object, CallNews<Output>) -> Void
    ) {
        let reference = WeakReference(object)
        hear(on: MainActor.shared) { _, news in
            guard let object = reference.object else { return false }
            MainActor.assumeIsolated { take(object, news) }
            return true
        }
    }

    func hear(_ take: @escaping @MainActor @Sendable (CallNews<Output>) -> Void) {
        hear(on: MainActor.shared) { _, news in
            MainActor.assumeIsolated { take(news) }
            return true
        }
    }

    /// - Parameters:
    ///   - actor: not kept alive, so that the call ends with it where it owns the call's scope.
    ///   - take: `false` where the receiver is gone.
    private func hear<A: Actor>(
        on actor: A, _ take: @escaping @Sendable (isolated A, CallNews<Output>) -> Bool
    ) {
        let reference = WeakReference(actor)
        feed.add { [told, owner] news in
            guard let actor = reference.object else { return .ownerGone }
            return await Self.deliver(news, told, owner, on: actor, to: take)
        }
    }

    /// The last look before something leaves: what was cancelled after it was made is not delivered.
    ///
    /// - Returns: why it was not delivered as it is; `nil` where it was.
    private static func deliver<A: Actor>(
        _ news: CallNews<Output>, _ told: ToldErrors, _ owner: CallOwner, on actor: isolated A,
        to take: @Sendable (isolated A, CallNews<Output>) -> Bool
    ) -> CallContext.Ending? {
        guard !owner.isGone else { return .ownerGone }
        let ending = told.context.ending
        let (left, refusal): (CallNews<Output>, CallContext.Ending?)
        switch (ending, news) {
        case (nil, _), (.deadline, _): (left, refusal) = (news, nil)
        case (.ownerGone, _), (_, .cached): return ending
        case (let ending?, .result(.success)):
            (left, refusal) = (.result(.failure(told.undelivered(nil, ending))), ending)
        // An error that says so already was made by the end of the call itself.
        case (let ending?, .result(.failure(let error))) where error.kind == ending.kind: (left, refusal) = (news, nil)
        case (let ending?, .result(.failure(let error))):
            (left, refusal) = (.result(.failure(told.undelivered(error, ending))), ending)
        }
        return take(actor, left) ? refusal : .ownerGone
    }
}

/// A closure that hears the result of a call, on the main actor.
public typealias CallCompletion<Output: Sendable> = @MainActor @Sendable (Result<Output, APIError>) -> Void

/// An object that hears the results of calls, on the main actor. A class that hears of several outputs takes
/// ``Call/deliver(to:_:)`` instead.
public protocol CallDelegate<Output>: CallDelegateMembers {
    /// A check by the compiler, not to be declared. Where the compiler asks for it, `call(_:didLoadCached:)` takes something else than an
    /// ``APIResponse`` of the output, and would not be called.
    associatedtype MembersMustHaveTheTypesThatCallDelegateGivesThem: MembersAsDeclared = Members<
        _Cached, APIResponse<Output>
    >
    /// A stored response has come before the one that is loaded (``CachePolicy/Mode/cacheThenNetwork``). Nothing is done by
    /// default.
    @MainActor func call(_ id: CallID, didLoadCached response: APIResponse<Output>)
}

/// What the members of a ``CallDelegate`` are declared with, whatever their types; see ``EndpointMembers``.
public protocol CallDelegateMembers: AnyObject, Sendable {
    /// What its calls give back.
    associatedtype Output: Sendable
    /// A call is over.
    @MainActor func call(_ id: CallID, didFinishWith result: Result<Output, APIError>)
    /// The type of what ``CallDelegate/call(_:didLoadCached:)`` is declared to take.
    associatedtype _Cached
    /// See ``CallDelegate/call(_:didLoadCached:)``.
    @MainActor func call(_ id: CallID, didLoadCached response: _Cached)
}

extension CallDelegate {
    public func call(_ id: CallID, didLoadCached response: APIResponse<Output>) {}
}

/// What is delivered of a call.
enum CallNews<Output: Sendable>: Sendable {
    case cached(APIResponse<Output>)
    case result(Result<APIResponse<Output>, APIError>)

    var result: Result<APIResponse<Output>, APIError>? {
        if case .result(let result) = self { result } else { nil }
    }
}

/// Whether the scope that a call was started in is still there.
struct CallOwner: Sendable {
    private let wasGiven: Bool
    private weak let scope: CallScope?

    init(_ scope: CallScope?) {
        wasGiven = scope != nil
        self.scope = scope
    }

    var isGone: Bool { wasGiven && scope == nil }
}

private struct WeakReference<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    init(_ object: Object) {
        self.object = object
    }
}

/// Hands what a call yields to those who listen.
final class CallFeed<Output: Sendable>: Sendable {
    /// Delivers one thing, and returns when that is done: `nil`, or why it was not delivered as it is.
    typealias Handler = @Sendable (CallNews<Output>) async -> CallContext.Ending?

    private struct State {
        var listeners: [CallUpdates<Output>.Base.Continuation] = []
        /// The listeners who hear of the progress alone, and of the latest where they are busy, each with its task.
        var watchers: [(continuation: AsyncStream<TransferProgress>.Continuation, task: Task<Void, Never>)] = []
        var handlers: [Handler] = []
        /// What is being delivered: each waits for the one before it.
        var lane: Task<Void, Never>?
        var progress = ProgressGate()
        var cached: APIResponse<Output>?
        var end: Result<APIResponse<Output>, APIError>?

        mutating func send(_ news: CallNews<Output>, to handler: @escaping Handler) {
            lane = Task { [lane] in
                await lane?.value
                _ = await handler(news)
            }
        }

        /// Has what is delivered from now on wait until those have heard of all progress.
        mutating func wait(for tasks: [Task<Void, Never>]) {
            guard !tasks.isEmpty else { return }
            lane = Task { [lane] in
                await lane?.value
                for task in tasks { await task.value }
            }
        }
    }

    private let state = Locked(State())
    private let time: TimeSource

    init(time: TimeSource) {
        self.time = time
    }

    /// Whether the call has its result.
    var isOver: Bool { state.withLock { $0.end != nil } }

    func subscribe(told: ToldErrors) -> CallUpdates<Output> {
        let (stream, continuation) = CallUpdates<Output>.make(for: told)
        let (cached, progress, end) = state.withLock { state in
            if state.end == nil { state.listeners.append(continuation) }
            return (state.cached, state.progress.latest, state.end)
        }
        if let cached { continuation.yield(.init(.cached(cached))) }
        if let progress { continuation.yield(.init(.progress(progress))) }
        if let end { Self.finish(continuation, with: end) }
        return stream
    }

    /// Has a task hear of the progress alone, as far as it is told: of the latest where more has come since it took the last. The
    /// result is delivered when the task has ended.
    ///
    /// - Parameter listen: begins a task that ends with the sequence.
    func watch(_ listen: (AsyncStream<TransferProgress>) -> Task<Void, Never>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let task = listen(stream)
        let (progress, isOver) = state.withLock { state in
            let isOver = state.end != nil
            if isOver { state.wait(for: [task]) } else { state.watchers.append((continuation, task)) }
            return (state.progress.latest, isOver)
        }
        if let progress { continuation.yield(progress) }
        if isOver { continuation.finish() }
    }

    /// Has a handler hear of the stored response and of the result, also where they have come already.
    func add(_ handler: @escaping Handler) {
        state.withLock { state in
            if let cached = state.cached { state.send(.cached(cached), to: handler) }
            if let end = state.end { state.send(.result(end), to: handler) } else { state.handlers.append(handler) }
        }
    }

    func yield(_ progress: TransferProgress) {
        let now = time.now()
        let (listeners, watchers, told) = state.withLock { state in
            let isTold = state.progress.take(progress, at: now)
            let told = state.progress.latest ?? progress
            return isTold ? (state.listeners, state.watchers, told) : ([], [], told)
        }
        for listener in listeners { listener.yield(.init(.progress(told))) }
        for watcher in watchers { watcher.continuation.yield(told) }
    }

    func yield(cached response: APIResponse<Output>) {
        let listeners = state.withLock { state in
            state.cached = response
            for handler in state.handlers { state.send(.cached(response), to: handler) }
            return state.listeners
        }
        for listener in listeners { listener.yield(.init(.cached(response))) }
    }

    func yield(redirectedTo url: HTTPURL) {
        for listener in state.withLock({ $0.listeners }) { listener.yield(.init(.redirected(to: url))) }
    }

    /// Ends everything that listens, and returns when the result has been delivered to all who are to hear of it.
    ///
    /// - Returns: why the first to whom it was not delivered as it is did not get it; `nil` where all did.
    @discardableResult
    func end(with result: Result<APIResponse<Output>, APIError>) async -> CallContext.Ending? {
        let (listeners, watchers, progress, handlers, lane) = state.withLock { state in
            state.end = result
            let progress = state.progress.rest(succeeded: result.isSuccess)
            state.wait(for: state.watchers.map(\.task))
            defer { (state.listeners, state.watchers, state.handlers) = ([], [], []) }
            // Nobody else waits for those who look at the progress: their actor may be busy for ever.
            let lane = state.handlers.isEmpty ? nil : state.lane
            return (state.listeners, state.watchers, progress, state.handlers, lane)
        }
        for watcher in watchers {
            if let progress { watcher.continuation.yield(progress) }
            watcher.continuation.finish()
        }
        for listener in listeners {
            if let progress { listener.yield(.init(.progress(progress))) }
            Self.finish(listener, with: result)
        }
        await lane?.value
        var refusal: CallContext.Ending?
        for handler in handlers {
            let new = await handler(.result(result))
            refusal = refusal ?? new
        }
        return refusal
    }

    private static func finish(
        _ listener: CallUpdates<Output>.Base.Continuation, with result: Result<APIResponse<Output>, APIError>
    ) {
        switch result {
        case .success(let response):
            listener.yield(.init(.response(response), isLast: true))
            listener.finish()
        case .failure(let error):
            listener.finish(throwing: error)
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

/// Which progress of a call is told: no more often than a view can follow.
///
/// The first is told, then at most thirty a second, and what ends a direction (the whole request sent, the whole response
/// received). Within an exchange the bytes never go back; where they do, a redirect or another attempt has begun, and that
/// one's first progress is told as well. The fraction is that of the whole call, and goes back nowhere.
struct ProgressGate: Sendable {
    private static let interval = Duration.seconds(1) / 30

    /// The latest progress, told or not.
    private(set) var latest: TransferProgress?
    private var told: TransferProgress?
    private var lastTime: Duration = .zero

    /// Takes a progress at a moment.
    ///
    /// - Returns: whether it is to be told.
    mutating func take(_ progress: TransferProgress, at now: Duration) -> Bool {
        let isFirst = latest.map { progress.sent < $0.sent || progress.received < $0.received } ?? true
        let progress = progress.following(latest)
        latest = progress
        guard isFirst || progress.ends(more: told) || now - lastTime >= Self.interval else { return false }
        (told, lastTime) = (progress, now)
        return true
    }

    /// What is still to be told when the call ends: of one that has succeeded, that it is complete.
    mutating func rest(succeeded: Bool = false) -> TransferProgress? {
        if succeeded { latest = latest?.completed() }
        guard latest != told else { return nil }
        told = latest
        return latest
    }
}

extension TransferProgress {
    /// Whether it ends a direction that `earlier` did not.
    fileprivate func ends(more earlier: TransferProgress?) -> Bool {
        (sent == expectedToSend && sent != earlier?.sent)
            || (received == expectedToReceive && received != earlier?.received)
    }
}
