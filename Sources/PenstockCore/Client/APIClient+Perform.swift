/// A call that has begun: its endpoint, its context, and the service it goes to.
struct ActiveCall<E: Endpoint>: Sendable {
    let endpoint: E
    let context: CallContext
    /// What this one call wants different.
    let callOptions: CallOptions?
    /// All levels in one: the call's options over the endpoint's, the service's and the client's.
    let options: CallOptions
    let runtime: Result<ServiceRuntime, APIError>
    let scope: WeakScope?
}

/// A scope that a call does not keep alive.
struct WeakScope: Sendable {
    private weak let scope: CallScope?

    init(_ scope: CallScope) {
        self.scope = scope
    }

    func remove(_ call: CallContext) {
        scope?.remove(call)
    }
}

extension APIClient {
    /// Gives a call its number and its settings, and enters it in the table. An unknown service shows when it runs.
    func begin<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions?, in scope: CallScope?, control: ExchangeControl = ExchangeControl()
    ) -> ActiveCall<E> {
        let runtime = Result { () throws(APIError) in try self.runtime(for: endpoint.service) }
        return begin(endpoint, options, in: scope, control: control, runtime: runtime)
    }

    /// The same for a service that is known already.
    func begin<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions?, in scope: CallScope?, control: ExchangeControl = ExchangeControl(),
        runtime: Result<ServiceRuntime, APIError>
    ) -> ActiveCall<E> {
        let merged = layered(options, endpoint, (try? runtime.get())?.options ?? configuration.options)
        let context = CallContext(
            id: .next(), endpoint: E.self, service: endpoint.service,
            environment: merged.environment ?? environment, identity: configuration.identity(),
            settings: CallSettings(merged), control: control, time: configuration.time, sink: configuration.events)
        shared.calls.add(context)
        scope?.add(context)
        return ActiveCall(
            endpoint: endpoint, context: context, callOptions: options, options: merged, runtime: runtime,
            scope: scope.map(WeakScope.init))
    }

    /// Runs a call to its end, and tells of the end once.
    func perform<E: Endpoint>(_ call: ActiveCall<E>) async throws(APIError) -> APIResponse<E.Output> {
        try await perform(call) { () async throws(APIError) in try await self.path(call) }
    }

    /// The same along another path.
    func perform<E: Endpoint>(
        _ call: ActiveCall<E>, along path: () async throws(APIError) -> APIResponse<E.Output>
    ) async throws(APIError) -> APIResponse<E.Output> {
        let context = call.context
        context.emitStart()
        let result = await withTaskCancellationHandler {
            await Result(path)
        } onCancel: {
            context.cancel(.requested)
        }
        shared.calls.remove(context)
        context.hasEnded()
        return try finish(result, call)
    }

    /// Sends a request through the stages.
    func exchange<E: Endpoint>(
        _ request: HTTPRequest, for call: ActiveCall<E>
    ) async throws(APIError) -> Exchange {
        do {
            return try await call.runtime.get().pipeline(for: call.endpoint)(request, call.context)
        } catch {
            throw .wrapping(error)
        }
    }

    private func layered(_ call: CallOptions?, _ endpoint: some Endpoint, _ wider: CallOptions) -> CallOptions {
        var options = endpoint.options.map { $0.over(wider) } ?? wider
        let headers = endpoint.headers
        if !headers.isEmpty { options.headers = options.headers.map { $0.followed(by: headers) } ?? headers }
        return call.map { $0.over(options) } ?? options
    }

    /// Nothing but `cancelled` comes out of a cancelled call; every other error is completed and mapped.
    private func finish<E: Endpoint>(
        _ result: Result<APIResponse<E.Output>, APIError>, _ call: ActiveCall<E>
    ) throws(APIError) -> APIResponse<E.Output> {
        let context = call.context
        switch result {
        case .success(let response) where !context.isCancelled:
            context.emit(.callEnded(.success))
            return response
        case .success:
            throw ended(APIError(.cancelled, stage: .transport), call)
        case .failure(var error):
            if context.isCancelled { error.kind = .cancelled }
            throw ended(error, call)
        }
    }

    private func ended<E: Endpoint>(_ error: APIError, _ call: ActiveCall<E>) -> APIError {
        var error = error
        error.attempts = call.context.attempts
        error.presentation = presentation(of: error, try? call.runtime.get())
        call.context.emit(.callEnded(Event.Outcome(error)))
        return error
    }

    private func presentation(of error: APIError, _ runtime: ServiceRuntime?) -> APIError.Presentation? {
        runtime?.service.errorMapper?.presentation(of: error) ?? configuration.errorMapper?.presentation(of: error)
    }
}

extension Result {
    /// The asynchronous form of `init(catching:)`.
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    init(_ body: () throws(Failure) -> Success) {
        do throws(Failure) {
            self = .success(try body())
        } catch {
            self = .failure(error)
        }
    }
}
