/// A call under way, as the object that started it holds it.
///
/// Letting go of the handle does not end the call; its scope does, or ``cancel()``.
public final class Call<Output: Sendable>: Sendable {
    private let task: Task<Result<APIResponse<Output>, APIError>, Never>
    let audience: CallAudience<Output>

    init(_ audience: CallAudience<Output>, _ task: Task<Result<APIResponse<Output>, APIError>, Never>) {
        self.audience = audience
        self.task = task
    }

    /// The call's number, by which events, delegates, ``APIClient/call(_:)`` and ``APIClient/cancel(_:)-(CallID)`` know it.
    public var id: CallID { context.id }
    var context: CallContext { audience.context }

    /// What becomes of the call at the moment.
    public enum State: Hashable, Sendable {
        /// It waits, or bytes move.
        case running
        /// Its bytes stand still until ``Call/resume()``.
        case suspended
        /// It has its result, or has been told to end.
        case over
    }

    /// What becomes of the call at the moment.
    public var state: State {
        if audience.feed.isOver || context.isCancelled { return .over }
        return context.control.isSuspended ? .suspended : .running
    }

    /// How urgent the call is among those that wait to be sent: what its options say, or more, where a more urgent call waits
    /// for the same work.
    public var priority: CallPriority { context.priority }

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
}

/// One thing that a call yields.
@nonexhaustive
public enum CallUpdate<Output: Sendable>: Sendable {
    /// Bytes have moved: the first progress of each exchange, then at most thirty a second, and each direction's last. The
    /// numbers never go back within an exchange; a redirect or another attempt counts from the beginning. The fraction goes back
    /// nowhere, and is 1 in the last progress of a call that succeeds.
    case progress(TransferProgress)
    /// A redirect is followed: the next exchange goes to this URL. Who comes late does not hear of it.
    case redirected(to: HTTPURL)
    /// A stored response that comes before the one that is loaded: ``CachePolicy/Mode/cacheThenNetwork``.
    case cached(APIResponse<Output>)
    /// The last one.
    case response(APIResponse<Output>)
}
