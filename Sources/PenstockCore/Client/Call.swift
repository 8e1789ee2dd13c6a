/// A call under way, as the object that started it holds it.
///
/// Letting go of the handle does not end the call; its scope does, or ``cancel()``.
public final class Call<Output: Sendable>: Sendable {
    let context: CallContext
    private let task: Task<Result<APIResponse<Output>, APIError>, Never>
    private let feed: CallFeed<Output>

    init(
        context: CallContext, feed: CallFeed<Output>, task: Task<Result<APIResponse<Output>, APIError>, Never>
    ) {
        self.context = context
        self.feed = feed
        self.task = task
    }

    /// The call's number, by which events, delegates and ``APIClient/cancel(_:)-(CallID)`` know it.
    public var id: CallID { context.id }

    /// Ends the call and closes the wire; whoever waits gets ``APIError/Kind/cancelled``. Nothing once it is over.
    public func cancel() {
        context.end(.requested)
    }

    /// Stops the bytes, in both directions, until ``resume()``.
    public func suspend() {
        context.control.suspend()
    }

    /// Lets the bytes go on after ``suspend()``. Nothing where the call is not suspended.
    public func resume() {
        context.control.resume()
    }

    /// The output, once it is there. Any number may wait. A waiting task that is cancelled cancels the call.
    public var value: Output {
        get async throws(APIError) { try await response.value }
    }

    /// The output with everything it was made from.
    public var response: APIResponse<Output> {
        get async throws(APIError) { try await result.get() }
    }

    /// Success or failure as one value.
    public var result: Result<APIResponse<Output>, APIError> {
        get async {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                context.end(.requested)
            }
        }
    }

    /// What the call yields: progress, redirects, and last its response or its error. One who comes late gets the
    /// cached response, the latest progress and the end. Ending the iteration does not end the call.
    public var events: CallUpdates<Output> { feed.subscribe() }
}

/// The sequence of what a call yields. It throws ``APIError`` alone.
public typealias CallUpdates<Output: Sendable> = AsyncThrowingStream<CallUpdate<Output>, any Error>

/// One thing that a call yields.
@nonexhaustive
public enum CallUpdate<Output: Sendable>: Sendable {
    /// Bytes have moved: the first progress of each exchange, then at most thirty a second, and each direction's last. The
    /// numbers never go back within an exchange; a redirect or another attempt counts from the beginning.
    case progress(TransferProgress)
    /// A redirect is followed: the next exchange goes to this URL. Who comes late does not hear of it.
    case redirected(to: HTTPURL)
    /// A stored response that comes before the one that is loaded: ``CachePolicy/Mode/cacheThenNetwork``.
    case cached(APIResponse<Output>)
    /// The last one.
    case response(APIResponse<Output>)
}

/// Hands what a call yields to those who listen.
final class CallFeed<Output: Sendable>: Sendable {
    private struct State {
        var listeners: [CallUpdates<Output>.Continuation] = []
        var progress = ProgressGate()
        var cached: APIResponse<Output>?
        var end: Result<APIResponse<Output>, APIError>?
    }

    private let state = Locked(State())
    private let time: TimeSource

    init(time: TimeSource) {
        self.time = time
    }

    func subscribe() -> CallUpdates<Output> {
        let (stream, continuation) = CallUpdates<Output>.makeStream()
        let (cached, progress, end) = state.withLock { state in
            if state.end == nil { state.listeners.append(continuation) }
            return (state.cached, state.progress.latest, state.end)
        }
        if let cached { continuation.yield(.cached(cached)) }
        if let progress { continuation.yield(.progress(progress)) }
        if let end { Self.finish(continuation, with: end) }
        return stream
    }

    func yield(_ progress: TransferProgress) {
        let now = time.now()
        let listeners = state.withLock { state in state.progress.take(progress, at: now) ? state.listeners : [] }
        for listener in listeners { listener.yield(.progress(progress)) }
    }

    func yield(cached response: APIResponse<Output>) {
        let listeners = state.withLock { state in
            state.cached = response
            return state.listeners
        }
        for listener in listeners { listener.yield(.cached(response)) }
    }

    func yield(redirectedTo url: HTTPURL) {
        for listener in state.withLock(\.listeners) { listener.yield(.redirected(to: url)) }
    }

    func end(with result: Result<APIResponse<Output>, APIError>) {
        let (listeners, progress) = state.withLock { state in
            state.end = result
            defer { state.listeners = [] }
            return (state.listeners, state.progress.rest())
        }
        for listener in listeners {
            if let progress { listener.yield(.progress(progress)) }
            Self.finish(listener, with: result)
        }
    }

    private static func finish(
        _ listener: CallUpdates<Output>.Continuation, with result: Result<APIResponse<Output>, APIError>
    ) {
        switch result {
        case .success(let response):
            listener.yield(.response(response))
            listener.finish()
        case .failure(let error):
            listener.finish(throwing: error)
        }
    }
}
