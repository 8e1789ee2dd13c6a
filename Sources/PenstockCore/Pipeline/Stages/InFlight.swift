import Foundation

/// Holds a call against the others of its kind that are under way, before any work is done for it.
struct InFlight: Stage {
    static let name = StageName.inFlight

    let flights: Flights
    let credentials: CredentialTable
    let lane = CacheLane()

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        // Others wait for what a renewal brings, and it must not wait for them; and a refresh behind an answer is no newer call, which
        // would end that of a user, nor one that is too soon after it.
        if call.renewsCredential || call.isRefresh { return try await next(request) }
        let policy = call.settings.inFlight
        let identity = policy.needsRequest ? RequestIdentity(request, call, lane, session: credentials.session) : nil
        // What cannot be compared has nothing to do with any other.
        if policy.needsRequest, identity == nil { return try await next(request) }
        guard policy.strategy != .join else { return try await join(identity, request, call, next) }
        switch flights.enter(call, FlightKey(call, request, policy.scope, identity), policy.strategy) {
        case .send, .join: break
        case .drop(let reason):
            call.emit(.inFlightDecided(.dropped(reason)))
            throw APIError(.dropped(reason), stage: Self.name, request: request, sendState: .unsent)
        case .supersede(let quiet) where quiet > .zero:
            call.emit(.inFlightDecided(.waits(quiet)))
            try await call.sleep(for: quiet, at: Self.name)
        case .supersede: break
        }
        return try await next(request)
    }

    // MARK: Joining

    private func join(
        _ identity: RequestIdentity?, _ request: HTTPRequest, _ call: CallContext, _ next: Next
    ) async throws(APIError) -> Exchange {
        // Content that is handed over as it comes has one reader, and what is suspended holds nobody up.
        guard let identity, !call.streams, !call.control.isSuspended else { return try await next(request) }
        for _ in 0..<SharedLeaders.most {
            let (shared, leads) = share(identity, request, call, next)
            switch await shared.outcome(for: call, leads: leads, in: flights.exchanges) {
            case nil:
                try call.checkGoesOn(at: Self.name)
                throw APIError(.cancelled, stage: Self.name)
            case .success(var exchange):
                exchange.remains.isJoined = !leads
                return exchange
            case .failure(let error):
                if leads || error.isOfEqualRequests { throw error }
            }
        }
        return try await next(request)
    }

    /// The exchange to wait for, and whether it is the call's own.
    private func share(
        _ identity: RequestIdentity, _ request: HTTPRequest, _ call: CallContext, _ next: Next
    ) -> (exchange: SharedExchange<RequestIdentity, CallSettings>, leads: Bool) {
        let (shared, leads) = flights.exchanges.exchange(for: identity, where: { Self.isUsable($0.note, for: call) }) {
            SharedExchange(identity, request, for: call, call.settings, tellsNews: true)
        }
        if leads {
            shared.start(next, in: flights.exchanges)
        } else {
            shared.raise(for: call)
            call.emit(.inFlightDecided(.joined(shared.leader)))
        }
        return (shared, leads)
    }

    /// The cache stands below, so that its policy decides on the exchange as well.
    private static func isUsable(_ theirs: CallSettings, for call: CallContext) -> Bool {
        call.settings.mayShareExchange(with: theirs) && call.settings.cache == theirs.cache
    }
}

extension InFlightPolicy {
    fileprivate var needsRequest: Bool { strategy == .join || scope == .request }
}

/// What two requests have in common that ask for the same.
struct RequestIdentity: Hashable, Sendable {
    private let method: HTTPMethod
    private let url: HTTPURL
    private let fields: [ExactText]
    private let content: String
    private let isolation: IsolationKey
    private let service: ServiceID
    private let lane: ObjectIdentifier
    /// Two users of an app that does not say who they are have this to tell them apart.
    private let session: Int
    /// The key that the app has given for the call: calls with two keys are to be done twice.
    private let key: IdempotencyKey?

    /// Fields that tell requests apart and nothing else. Any other one may make the response another one, whatever `Vary`
    /// will say, as it is not known before the response.
    private static let namesOfRequests: HTTPFieldNames = [
        "Traceparent", "Tracestate", "X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Trace-Id", "B3",
        "X-B3-TraceId",
        "X-B3-SpanId", "X-B3-ParentSpanId", "X-B3-Sampled",
    ]

    /// - Returns: `nil` for content that cannot be compared: files and streams; and for a request that breaks HTTP's grammar, which
    ///   is never sent and must not fail another one.
    init?(_ request: HTTPRequest, _ call: CallContext, _ lane: CacheLane, session: Int) {
        guard request.fields.rejected.isEmpty else { return nil }
        switch request.body.source {
        case .none: content = ""
        case .bytes(let data): content = SHA256.hex(data)
        default: return nil
        }
        method = request.method
        url = request.url
        // Lines of one name keep their order, in which they mean something; names have none.
        fields = request.fields.without(Self.namesOfRequests).enumerated()
            .map { (name: $0.element.name.text.lowercased(), offset: $0.offset, value: $0.element.value) }
            .sorted { ($0.name, $0.offset) < ($1.name, $1.offset) }
            .flatMap { [ExactText($0.name), ExactText($0.value)] }
        isolation = call.isolation
        service = call.service
        self.lane = ObjectIdentifier(lane)
        self.session = session
        if case .keyed(let own) = call.settings.idempotency { key = own } else { key = nil }
    }
}

/// Calls of one key are of the same kind.
struct FlightKey: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case api(ObjectIdentifier)
        /// An API that has no type of its own, which is known by what is asked for.
        case resource(HTTPMethod, HTTPURL.Origin, path: String)
        case request(RequestIdentity?)
        case group(String)
    }

    private let kind: Kind
    private let service: ServiceID
    private let isolation: IsolationKey

    init(
        _ call: CallContext, _ request: HTTPRequest, _ scope: InFlightPolicy.Scope, _ identity: RequestIdentity?
    ) {
        kind =
            switch scope {
            case .api where call.endpointType is any UntypedEndpoint.Type:
                .resource(request.method, request.url.origin, path: request.url.path)
            case .api: .api(ObjectIdentifier(call.endpointType))
            case .request: .request(identity)
            case .group(let name): .group(name)
            }
        service = call.service
        isolation = call.isolation
    }
}

/// The last call of each kind, and the exchanges that calls share.
final class Flights: Sendable {
    private struct Flight: Sendable {
        /// A call is known until it is gone, and not only until it has its result: that may be yet to be delivered.
        weak let call: CallContext?
        let sent: Duration
        /// How long after it was sent another one is too soon.
        let interval: Duration

        func isOfUse(at now: Duration) -> Bool {
            call != nil || now - sent < interval
        }
    }

    let exchanges = SharedExchanges<RequestIdentity, CallSettings>()
    private let flights = Locked<[FlightKey: Flight]>([:])

    /// Decides on a call, and notes it as the last of its kind where it is sent. One that was let through has been decided
    /// on: its replay neither ends a newer one nor comes too soon after it.
    func enter(_ call: CallContext, _ key: FlightKey, _ strategy: InFlightPolicy.Strategy) -> InFlightDecision {
        if call.state.withLock({ $0.isLetThrough }) { return .send }
        let now = call.time.now()
        let (decision, previous) = flights.withLock { flights -> (InFlightDecision, CallContext?) in
            let last = flights[key]
            let previous = last?.call
            let decision = strategy.decide(
                isUnderWay: previous?.isUnderWay ?? false, sinceLast: last.map { now - $0.sent })
            if case .drop = decision { return (decision, nil) }
            if flights.count >= 64, flights.count.nonzeroBitCount == 1 {
                flights = flights.filter { $0.value.isOfUse(at: now) }
            }
            let interval = if case .throttle(let interval) = strategy { interval } else { Duration.zero }
            flights[key] = Flight(call: call, sent: now, interval: interval)
            if case .supersede = decision { return (decision, previous) }
            return (decision, nil)
        }
        if case .drop = decision { return decision }
        call.state.withLock { $0.isLetThrough = true }
        if let previous, previous.mayEnd {
            call.emit(.inFlightDecided(.supersedes(previous.id)))
            previous.emit(.inFlightDecided(.dropped(.superseded)))
            previous.end(.superseded)
        }
        return decision
    }
}

extension CallContext {
    /// Whether it has neither its result nor been ended.
    var isUnderWay: Bool { state.withLock { $0.ending == nil && !$0.isOver } }
}
