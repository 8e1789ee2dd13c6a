extension APIClient {
    /// Starts a call and gives its handle at once.
    ///
    /// - Parameters:
    ///   - options: what this one call wants different.
    ///   - scope: ends the call when it goes. Without one the call ends by itself.
    @discardableResult
    public func start<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<E.Output> {
        start(endpoint, options, in: scope) { _, _ in }
    }

    /// Starts a call and delivers its result to a closure on the main actor.
    ///
    /// The closure is called once, with ``APIError/Kind/cancelled`` after a cancellation; not at all once the scope is
    /// gone. It is let go of as soon as the call is over.
    @discardableResult
    public func start<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping CallCompletion<E.Output>
    ) -> Call<E.Output> {
        start(endpoint, options, in: scope) { context, result in
            await Self.deliver(result.map(\.value), of: context, on: MainActor.shared) { _, result in
                MainActor.assumeIsolated { completion(result) }
            }
        }
    }

    /// Starts a call and delivers its result to a closure on an actor of the caller's choice, which it is handed.
    @discardableResult
    public func start<E: Endpoint, A: Actor>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil, on actor: A,
        completion: @escaping @Sendable (isolated A, Result<E.Output, APIError>) -> Void
    ) -> Call<E.Output> {
        start(endpoint, options, in: scope) { context, result in
            await Self.deliver(result.map(\.value), of: context, on: actor, to: completion)
        }
    }

    /// Starts a call and delivers its result to a delegate on the main actor. The delegate is not kept alive: once it
    /// is gone nothing is delivered, and the call ends with its scope or by itself.
    @discardableResult
    public func start<E: Endpoint, D: CallDelegate>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil, delegate: D
    ) -> Call<E.Output> where D.Output == E.Output {
        let reference = WeakDelegate(delegate)
        return start(endpoint, options, in: scope) { context, result in
            await Self.deliver(result.map(\.value), of: context, on: MainActor.shared) { _, result in
                MainActor.assumeIsolated { reference.delegate?.call(context.id, didFinishWith: result) }
            }
        }
    }

    /// What a call yields as a sequence that owns the call: ending the iteration ends the call.
    public func updates<E: Endpoint>(
        of endpoint: E, options: CallOptions = .init()
    ) -> CallUpdates<E.Output> {
        let call = start(endpoint, options: options)
        let (stream, continuation) = CallUpdates<E.Output>.makeStream()
        let relay = Task {
            do {
                for try await update in call.events { continuation.yield(update) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in
            call.cancel()
            relay.cancel()
        }
        return stream
    }
}

/// A closure that hears the result of a call, on the main actor.
public typealias CallCompletion<Output: Sendable> = @MainActor @Sendable (Result<Output, APIError>) -> Void

/// Who hears the results of calls, on the main actor.
public protocol CallDelegate<Output>: AnyObject, Sendable {
    /// What the calls give back that it hears of: the ``Endpoint/Output`` of their endpoints.
    associatedtype Output: Sendable
    /// Told the result of a call, once: with ``APIError/Kind/cancelled`` after a cancellation, and not at all once the
    /// call's scope or the delegate is gone. An implementation that hears of several calls tells them apart by `id`.
    @MainActor func call(_ id: CallID, didFinishWith result: Result<Output, APIError>)
}

private struct WeakDelegate<D: CallDelegate>: Sendable {
    weak let delegate: D?

    init(_ delegate: D) {
        self.delegate = delegate
    }
}

extension APIClient {
    /// Starts a call and delivers its whole response on the main actor: for managers.
    func startResponse<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions = .init(), in scope: CallScope?,
        completion: @escaping @MainActor @Sendable (CallID, Result<APIResponse<E.Output>, APIError>) -> Void
    ) -> Call<E.Output> {
        start(endpoint, options, in: scope) { context, result in
            await Self.deliver(result, of: context, on: MainActor.shared) { _, result in
                MainActor.assumeIsolated { completion(context.id, result) }
            }
        }
    }

    private func start<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions, in scope: CallScope?,
        then deliver: @escaping @Sendable (CallContext, Result<APIResponse<E.Output>, APIError>) async -> Void
    ) -> Call<E.Output> {
        let feed = CallFeed<E.Output>(time: configuration.time)
        let control = ExchangeControl(onProgress: feed.yield)
        let active = begin(
            endpoint, .init(own: options, scope: scope, control: control, isDeliveredLater: true))
        let context = active.context
        context.onRedirect(feed.yield(redirectedTo:))
        if context.settings.cache.mode == .cacheThenNetwork {
            // One that does not pass is nothing to hear of.
            context.onCached { exchange in
                if let response = try? self.deliver(exchange, for: active) { feed.yield(cached: response) }
            }
        }
        let task = Task {
            let result = await Result { () async throws(APIError) in try await active.response() }
            feed.end(with: result)
            await deliver(context, result)
            // Only now: a scope that goes before the delivery must still find the call.
            active.leaveScope()
            return result
        }
        return Call(context: context, feed: feed, task: task)
    }

    /// The last look before a result leaves: what was cancelled after it was made is not delivered.
    private static func deliver<Value: Sendable, A: Actor>(
        _ result: Result<Value, APIError>, of context: CallContext, on actor: isolated A,
        to completion: @Sendable (isolated A, Result<Value, APIError>) -> Void
    ) {
        switch context.ending {
        case .ownerGone: return
        case .requested, .superseded: completion(actor, .failure(ended(result, context)))
        case .deadline, nil: completion(actor, result)
        }
    }

    private static func ended(_ result: Result<some Sendable, APIError>, _ context: CallContext) -> APIError {
        let kind = context.ending?.kind ?? .cancelled
        guard case .failure(var error) = result else { return APIError(kind, stage: .transport) }
        error.kind = kind
        return error
    }
}
