/// A call that has begun: its endpoint, its context, and the service it goes to. A class, so that handing it on costs
/// the same whatever its endpoint holds.
final class ActiveCall<E: Endpoint>: Sendable {
    let context: CallContext
    /// `nil` for a service that the client does not know.
    let runtime: ServiceRuntime?
    /// Where it is in the client's table.
    let place: CallTable.Place
    private let scope: WeakScope?
    /// All levels in one: the call's options over the endpoint's, the service's and the client's.
    let resolved: ResolvedOptions
    /// What this one call wants different of what it carries.
    let own: CallOptions?
    let endpoint: E

    init(
        _ endpoint: E, _ context: CallContext, at place: CallTable.Place, own: CallOptions?, resolved: ResolvedOptions,
        runtime: ServiceRuntime?, scope: WeakScope?
    ) {
        self.endpoint = endpoint
        self.context = context
        self.place = place
        self.own = own
        self.resolved = resolved
        self.runtime = runtime
        self.scope = scope
    }

    /// Its scope need not end it any more.
    func leaveScope() {
        scope?.remove(context)
    }
}

/// A scope that a call does not keep alive, and the call's place in it.
struct WeakScope: Sendable {
    private weak let scope: CallScope?
    private let place: CallTable.Place

    init(_ scope: CallScope, _ call: CallContext) {
        self.scope = scope
        place = scope.add(call)
    }

    func remove(_ call: CallContext) {
        scope?.remove(call, at: place)
    }
}

extension APIClient {
    /// Gives a call its number and its settings, and enters it in the table. An unknown service shows when it runs.
    func begin<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions?, in scope: CallScope?, control: ExchangeControl = ExchangeControl(),
        streams: Bool = false, isSilent: Bool = false
    ) -> ActiveCall<E> {
        begin(
            endpoint, options, in: scope, control: control, streams: streams, isSilent: isSilent,
            runtime: try? runtime(for: endpoint.service))
    }

    /// The same for a service that is known already.
    func begin<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions?, in scope: CallScope?, control: ExchangeControl = ExchangeControl(),
        streams: Bool = false, isRefresh: Bool = false, isSilent: Bool = false, runtime: ServiceRuntime?
    ) -> ActiveCall<E> {
        let resolved = resolve(options, endpoint, runtime)
        let context = CallContext(
            id: .next(), endpoint: E.self, service: endpoint.service,
            environment: resolved.options.environment ?? environment, identity: configuration.identity(),
            options: resolved, control: control, time: configuration.time, sink: isSilent ? nil : configuration.events,
            streams: streams, isRefresh: isRefresh)
        return ActiveCall(
            endpoint, context, at: shared.calls.add(context, of: lineage), own: options, resolved: resolved,
            runtime: runtime,
            scope: scope.map { WeakScope($0, context) })
    }

    /// Runs a call to its end, and tells of the end once.
    @inline(__always)
    func perform<E: Endpoint>(_ call: ActiveCall<E>) async throws(APIError) -> APIResponse<E.Output> {
        try await perform(call) { () async throws(APIError) in try await self.path(call) }
    }

    /// The same along another path, whose end is ``succeed(_:)``.
    @inline(__always)
    func perform<E: Endpoint>(
        _ call: ActiveCall<E>, along path: () async throws(APIError) -> APIResponse<E.Output>
    ) async throws(APIError) -> APIResponse<E.Output> {
        call.context.emitStart()
        do throws(APIError) {
            return try await path()
        } catch {
            isOver(call)
            throw ended(error, call)
        }
    }

    /// The end of a call that has its response. What was cancelled meanwhile is no success.
    func succeed<E: Endpoint>(_ call: ActiveCall<E>) throws(APIError) {
        isOver(call)
        try call.context.checkNotCancelled()
        call.context.emit(.callEnded(.success))
    }

    /// Sends a request through the stages. Cancelling the task closes the wire.
    @inline(__always)
    func exchange<E: Endpoint>(
        _ request: HTTPRequest, for call: ActiveCall<E>
    ) async throws(APIError) -> Exchange {
        let context = call.context
        let pipeline = try runtime(of: call).pipeline(for: call.endpoint)
        do {
            return try await withTaskCancellationHandler {
                try await pipeline(request, context)
            } onCancel: {
                context.cancel(.requested)
            }
        } catch {
            throw .wrapping(error)
        }
    }

    /// The service a call goes to.
    func runtime<E: Endpoint>(of call: ActiveCall<E>) throws(APIError) -> ServiceRuntime {
        if let runtime = call.runtime { return runtime }
        return try runtime(for: call.endpoint.service)
    }

    private func resolve(
        _ call: CallOptions?, _ endpoint: some Endpoint, _ runtime: ServiceRuntime?
    ) -> ResolvedOptions {
        let wider = runtime?.resolved ?? ResolvedOptions(configuration.options)
        let (own, headers) = (endpoint.options, endpoint.headers)
        if call == nil, own == nil, headers.isEmpty { return wider }
        var options = own?.over(wider.options) ?? wider.options
        if !headers.isEmpty { options.headers = options.headers?.followed(by: headers) ?? headers }
        return ResolvedOptions(call?.over(options) ?? options)
    }

    /// Takes a call off the table. A task that was cancelled has cancelled its call, also while nothing was on the wire.
    private func isOver<E: Endpoint>(_ call: ActiveCall<E>) {
        if Task.isCancelled { call.context.cancel(.requested) }
        shared.calls.remove(call.context, at: call.place)
        call.context.hasEnded()
    }

    /// Tells of a call's end. Nothing but `cancelled` comes out of a cancelled call; every other error is completed and
    /// mapped.
    func ended<E: Endpoint>(_ error: APIError, _ call: ActiveCall<E>) -> APIError {
        var error = error
        if call.context.isCancelled { error.kind = .cancelled }
        error.attempts = call.context.attempts
        error.presentation = presentation(of: error, call.runtime)
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
}
