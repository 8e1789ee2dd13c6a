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
        start(endpoint, .endpoint, options, in: scope)
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
        start(endpoint, .endpoint, options, in: scope) { $0.add(completion) }
    }

    /// Starts a call and delivers its result to a closure on an actor of the caller's choice, which it is handed. The actor is not
    /// kept alive: once it is gone nothing is delivered, and the call ends with its scope or by itself.
    @discardableResult
    public func start<E: Endpoint, A: Actor>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil, on actor: A,
        completion: @escaping @Sendable (isolated A, Result<E.Output, APIError>) -> Void
    ) -> Call<E.Output> {
        start(endpoint, .endpoint, options, in: scope) { $0.add(on: actor, completion) }
    }

    /// Starts a call and delivers its result to a delegate on the main actor. The delegate is not kept alive: once it
    /// is gone nothing is delivered, and the call ends with its scope or by itself.
    @discardableResult
    public func start<E: Endpoint>(
        _ endpoint: E, delegate: any CallDelegate<E.Output>, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<E.Output> {
        start(endpoint, .endpoint, options, in: scope) { $0.add(delegate) }
    }

    /// What a call yields as a sequence that owns the call: leaving the loop ends the call, and so does letting go of the sequence.
    ///
    /// - Parameter scope: ends the call when it goes.
    public func updates<E: Endpoint>(
        of endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> CallUpdates<E.Output> {
        .owning(start(endpoint, options: options, in: scope)) { $0 }
    }
}

extension APIClient {
    /// Starts a call and delivers what comes of it to an object, on the main actor: for managers.
    ///
    /// - Parameter manager: not kept alive; once it is gone nothing is delivered.
    func start<E: Endpoint, Manager: AnyObject & Sendable>(
        _ endpoint: E, _ options: CallOptions = .init(), in scope: CallScope?, for manager: Manager,
        _ take: @escaping @MainActor @Sendable (Manager, CallID, CallNews<E.Output>) -> Void
    ) -> Call<E.Output> {
        start(endpoint, .endpoint, options, in: scope) { audience in
            audience.add(manager) { [id = audience.context.id] manager, news in take(manager, id, news) }
        }
    }

    /// - Parameter gather: adds who hears of the call, before it begins.
    func start<E: Endpoint>(
        _ endpoint: E, _ making: ActiveCall<E>.Making, _ options: CallOptions, in scope: CallScope?,
        for gather: (CallAudience<E.Output>) -> Void = { _ in }
    ) -> Call<E.Output> {
        let feed = CallFeed<E.Output>(time: configuration.time)
        let control = ExchangeControl(onProgress: feed.yield)
        let active = ActiveCall(
            endpoint, making, .init(own: options, scope: scope, control: control, isDeliveredLater: true), of: self)
        let context = active.context
        context.onRedirect(feed.yield(redirectedTo:))
        if context.settings.cache.mode == .cacheThenNetwork {
            // One that does not pass is nothing to hear of.
            context.onCached { exchange in
                if let response = try? self.deliver(exchange, for: active) { feed.yield(cached: response) }
            }
        }
        let audience = CallAudience(context: context, feed: feed, owner: CallOwner(scope), told: active.told)
        gather(audience)
        let task = Task {
            let result = await Result { () async throws(APIError) in try await active.response() }
            active.delivered(await feed.end(with: result))
            // Only now: a scope that goes before the delivery must still find the call.
            active.leaveScope()
            return result
        }
        return Call(audience, task)
    }
}
