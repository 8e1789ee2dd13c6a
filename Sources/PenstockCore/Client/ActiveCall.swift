/// A call that has begun: its endpoint, its context, and the service it goes to. Everything that sends is one, and goes
/// through ``run(_:)`` and ``path(_:)``. A class, so that handing it on costs the same whatever its endpoint holds.
final class ActiveCall<E: Endpoint>: Sendable {
    /// Where the request of a call comes from.
    enum Making: Sendable {
        /// It is made of the endpoint, anew for each pass.
        case endpoint
        /// It is complete but for what every request of the client carries.
        case raw(HTTPRequest)
        /// Nothing is added to it: another call has made it, which this one repeats, or it carries nothing of the client's.
        case ready(HTTPRequest)
        /// It was made and kept by an outbox.
        case frozen(FrozenWrite)
    }

    let client: APIClient
    let endpoint: E
    let context: CallContext
    let making: Making
    /// How the endpoint makes a value of a response, asked of it once.
    let decoding: ResponseDecoding<E.Output>
    /// The service as the client calls it; the error of one that it does not know shows when the call runs.
    let runtime: Result<ServiceRuntime, APIError>
    /// All levels in one: the call's options over the endpoint's, the service's and the client's.
    let resolved: ResolvedOptions
    /// What this one call wants different of what it carries.
    let own: CallOptions
    /// Where it is in the client's table, and in its scope's; `nil` for a call that another one has adopted.
    private let place: CallTable.Place?
    private let scope: WeakScope?
    private let parent: CallContext?
    /// Whether it is delivered after it has ended, and stays in its scope until then.
    private let isDeliveredLater: Bool

    init(_ endpoint: E, _ making: Making = .endpoint, _ terms: CallTerms, of client: APIClient) {
        self.client = client
        self.endpoint = endpoint
        self.making = making
        decoding = endpoint.decoding
        own = terms.own
        runtime = client.runtime(for: endpoint)
        let lane = RefreshLane.current
        let mayRefuse: (@Sendable (HTTPResponse) -> Bool)? =
            terms.streams
            ? { @Sendable [decoding, runtime] head in endpoint.mayRefuse(head, by: decoding, in: runtime) } : nil
        resolved = client.resolve(terms.own, endpoint, try? runtime.get(), in: lane)
        let origin = terms.origin
        let environment = origin?.environment ?? resolved.settings.environment ?? client.environment
        let isolation = origin?.isolation ?? client.isolation(in: environment, resolved)
        context = CallContext(
            id: .next(), endpoint: E.self, service: endpoint.service, environment: environment, isolation: isolation,
            options: resolved, control: terms.control, in: client.surroundings(isSilent: terms.isSilent),
            streams: terms.streams, mayRefuse: mayRefuse, isRefresh: terms.isRefresh, upgrade: terms.upgrade,
            carrier: terms.carrier, deadline: terms.isEndless ? .some(nil) : nil, lane: lane)
        // What works for a call that has begun, or repeats it, goes where that one does.
        if let home = origin?.home { context.stay(at: home) }
        isDeliveredLater = terms.isDeliveredLater
        parent = terms.isAdopted ? origin : nil
        place = terms.isAdopted ? nil : client.state.calls.add(context, of: client.state.lineage)
        scope = terms.scope.map { [context] in WeakScope($0, context) }
        if let parent, !parent.adopt(context) { context.end(.requested) }
        // After it is in the table, where a shutdown that begins now will find it. Renewals may still begin until all else has ended, and
        // so may calls that work for another one, and what sends nothing.
        let lineage = client.state.lineage
        let isRefused = lane == nil ? lineage.isShutDown : lineage.hasEnded
        if isRefused, place != nil, !terms.isUnsent { context.end(.shutDown) }
    }

    // MARK: The path

    /// The request path, from the business layer to the wire and back.
    @inline(__always)
    func path<Output>(
        _ judge: (Exchange, HTTPRequest) async throws(Rejection) -> Output
    ) async throws(APIError) -> Output {
        let pipeline = try runtime.get().pipeline(for: endpoint, resolved)
        if let refusal = context.settings.refusal(by: client, for: context) { throw refusal }
        var replays = Replays()  // at most one for each reason
        while true {
            let request = try client.prepare(self)  // validate → common parameters → encode → URL, headers, body
            let exchange = try await exchange(request, pipeline)  // the stages in Pipeline.swift, then the transport
            context.emitAnswered(exchange)
            do throws(Rejection) {
                return try await judge(exchange, request)  // status → envelope → validate → decode, then settle
            } catch {
                context.beginPass(for: try replays.take(error))
            }
        }
    }

    /// Runs the call to its end, and tells of the end once.
    ///
    /// A streamed call has only begun when it has a head: it ends with its content, by ``finish(_:)``.
    @inline(__always)
    func run<Output>(_ body: () async throws(APIError) -> Output) async throws(APIError) -> Output {
        context.emitStart()
        let output: Output
        do {
            output = try await withTaskCancellationHandler {
                try await body()
            } onCancel: {
                context.end(.requested)
            }
        } catch {
            let error = APIError.wrapping(error)
            throw finish(error) ?? error
        }
        guard !context.streams || context.isCancelled else {
            if context.tellsStages { context.emit(.stageStarted(.delivery)) }  // lasts as long as the content is read
            return output
        }
        // What was ended after its answer had been judged was about to be delivered.
        if let error = finish(nil, at: context.streams ? .transport : .delivery) { throw error }
        return output
    }

    /// The end of the call, whatever came of it; to be called once.
    ///
    /// - Parameters:
    ///   - error: what it failed of; `nil` for a success.
    ///   - stage: what it was doing, where it was ended early and nothing of it had failed.
    /// - Returns: what the caller is told. What was ended early is no success, and whatever it failed of, it failed of that;
    ///   every error is completed and mapped.
    @discardableResult
    func finish(_ error: APIError?, at stage: StageName = .transport) -> APIError? {
        // The content of a streamed call may be read to its end, and its wire be open.
        let ending = context.close(isDelivered: !isDeliveredLater && !context.streams)
        if let place { client.state.calls.remove(context, at: place) }
        parent?.release(context)
        if !isDeliveredLater { leaveScope() }
        let isRefused = error == nil && ending != nil
        let error = (error ?? ending.map { APIError($0.kind, stage: stage) }).map { told.completed($0, ending) }
        if let events = context.events { tellEnd(events, error, isRefused) }
        return error
    }

    /// - Parameter isRefused: whether there was an output, and the call was ended before it was delivered.
    @inline(never)
    private func tellEnd(_ events: CallEvents, _ error: APIError?, _ isRefused: Bool) {
        let outcome = error.map(Event.Outcome.init) ?? .success
        events.end(outcome, delivery: isRefused ? outcome : .success, isDeliveredLater: isDeliveredLater)
    }

    /// All who hear of the call by its handle have been told.
    ///
    /// - Parameter refusal: why one of them did not get the result as it was; `nil` where all did.
    func delivered(_ refusal: CallContext.Ending?) {
        context.noteDelivered()
        context.events?.endDelivery(refusal.map { Event.Outcome($0.kind) })
    }

    /// Its scope need not end it any more.
    func leaveScope() {
        scope?.remove(context)
    }

    /// What makes of an error of the call the one that is told.
    var told: ToldErrors {
        ToldErrors(context: context, mappers: client.mappers(of: (try? runtime.get())?.service))
    }

    /// Sends a request through the stages. Where code of the app's is among them, the call does not wait for it past its
    /// own end.
    @inline(__always)
    private func exchange(_ request: HTTPRequest, _ pipeline: Pipeline) async throws(APIError) -> Exchange {
        if pipeline.runsAppCode { return try await interruptible(request, pipeline) }
        return try await pipeline(request, context)
    }

    @inline(never)
    private func interruptible(
        _ request: HTTPRequest, _ pipeline: Pipeline
    ) async throws(APIError) -> Exchange {
        try await context.interruptible(at: .transport) { [context] () async throws(APIError) in
            try await pipeline(request, context)
        }
    }
}

extension CallSettings {
    /// What stands against sending a request, where an option asks for what the client cannot keep: nothing is sent that an
    /// option says is not to be, and none is passed over in silence.
    func refusal(by client: APIClient, for call: CallContext) -> APIError? {
        if cache.mode == .cacheOnly, client.state.cache == nil, !call.renewsCredential {
            return APIError(.cacheMiss, stage: .cache, debugMessage: "the client has no cache", sendState: .unsent)
        }
        if waitsForConnectivity.isWaiting, client.configuration.reachability == nil {
            let reason = "waitsForConnectivity takes a client whose configuration.reachability is set, as to .system"
            return APIError(.invalidConfiguration(reason: reason), stage: .connectivity, sendState: .unsent)
        }
        return nil
    }

    /// Why nothing is sent of a call of which the cache has no part, where the policy is never to send.
    var cacheMissWithoutCache: APIError? {
        guard cache.mode == .cacheOnly else { return nil }
        return APIError(
            .cacheMiss, stage: .cache, debugMessage: "the cache has no part in this call", sendState: .unsent)
    }
}

/// What a call is made for besides its endpoint.
struct CallTerms {
    var own = CallOptions()
    var scope: CallScope?
    var control = ExchangeControl()
    var streams = false
    var isRefresh = false
    /// Whether nobody is told of it.
    var isSilent = false
    /// Whether its request is made only, and not sent.
    var isUnsent = false
    var isDeliveredLater = false
    /// Whether it may last as long as it likes.
    var isEndless = false
    /// The call whose user and environment it shares.
    var origin: CallContext?
    /// Whether it works for its origin, and is known by that one.
    var isAdopted = false
    /// What its request asks its connection to change to.
    var upgrade: HTTPUpgrade?
    /// What carries its request in place of the client's transport.
    var carrier: (any Transport)?
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
