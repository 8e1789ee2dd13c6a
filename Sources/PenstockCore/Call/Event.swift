import Foundation

/// What happens to a call, told while it happens. Log, HAR and metrics are made of these alone.
///
/// The grammar: the first event of a call is ``callStarted(_:)`` and its end is ``callEnded(_:)``, once each; every
/// ``stageStarted(_:)`` has one ``stageEnded(_:_:)``, properly nested; every ``requestSent(_:)`` is followed by one
/// ``responseReceived(_:timings:connection:)`` or ``requestFailed(_:sendState:timings:connection:)`` of the same
/// ``EventContext/attempt``, unless the attempt is given up or the call ends before, and what did come of a response that fails
/// is told right before that, by ``responseBrokeOff(_:)``; nothing follows the end of the call but
/// the end of its delivery. What no sink wants (``EventSink/interest``), such as the events of stages, is left out, and the rest
/// stands in the same order.
///
/// The delivery (``StageName/delivery``) is the last stage of every call, once, also of a call that has failed: its error is
/// delivered like an output. It begins before ``callEnded(_:)``, and it depends on the receiver when it ends:
///
/// - A task that awaits the call: the delivery ends right before ``callEnded(_:)``.
/// - The handle of a call (``Call``), with its closures, delegates, managers and sequences: the delivery ends when all of them
///   have been told, which is after ``callEnded(_:)``. An actor that is busy puts off this end, and no other event.
/// - The reader of streamed content: the delivery begins with the head and ends with the content, before ``callEnded(_:)``.
///
/// A delivery succeeds where its receivers get the result as it is. It ends as ``CallOutcome/cancelled`` where nothing is
/// delivered because the call's scope or a receiver is gone, and with the outcome that is told instead where the call was
/// ended after its response had been judged.
@nonexhaustive
public enum Event: Sendable {
    /// The call has begun; nothing is known of its request yet. Its first event.
    case callStarted(CallSummary)
    /// A stage begins; all that it does and all stages inside it lie between this and its end.
    case stageStarted(StageName)
    /// A stage that wraps others ends after them: `seal` ends when the reply is opened.
    case stageEnded(StageName, Outcome)
    /// The request as it is handed to the transport: an attempt begins, whose number is in the context.
    case requestSent(HTTPRequest)
    /// The response to the attempt, as it came from the transport. It has its body, unless the content is handed over as
    /// it comes or was thrown away unread; printing it shows no secret, its fields and its body hold what came.
    case responseReceived(HTTPResponse, timings: Timings, connection: ConnectionInfo)
    /// The head of a response has come, and its content has broken off or was refused: the attempt fails, as is told next. What
    /// had come of the content is there where the transport hands it over.
    case responseBrokeOff(HTTPResponse)
    /// The attempt brought no response, or only a part of one. `sendState` tells how far the request got.
    case requestFailed(APIError.Kind, sendState: SendState, timings: Timings, connection: ConnectionInfo)
    /// A redirect is followed: `status` is that of the response at `from`, and the next request goes to `to`.
    case redirected(status: Int, from: HTTPURL, to: HTTPURL)
    /// The call begins another pass through the request path, because of what a stage knew about the response of the one
    /// before.
    case replayed(by: StageName, pass: Int)
    /// What the cache does with a request, and why; once more when the answer to what was sent changes it.
    case cacheDecided(CacheReason, CacheStatus)
    /// An attempt has failed, and the next one is made after a wait. `budgetLeft` is what the origin's ``RetryBudget`` holds
    /// once that one is paid for, in tokens (``RetryBudget/Cost/tokens``): 0 and more, and infinity where the policy is
    /// ``RetryBudget/Policy/unlimited``.
    case retried(after: Duration, reason: RetryReason, budgetLeft: Double)
    /// An attempt has failed in a way that another one might mend, and there is none, for this reason.
    case notRetried(RetryRefusal)
    /// A further attempt is sent beside those that are slow.
    case hedged
    /// The circuit breaker of an origin has opened or closed, because of an attempt of this call.
    case circuitChanged(HTTPURL.Origin, CircuitBreaker.State)
    /// An attempt waits for leave to be sent.
    case queued(AdmissionQueue.WaitReason)
    /// An attempt that was queued may be sent.
    case admitted(after: Duration)
    /// What is done about the call because of others of its kind, and why.
    case inFlightDecided(InFlightReason)
    /// What is done about the credential of the call, and why.
    case credentialDecided(CredentialReason)
    /// The stages have brought an answer, which is judged next: what the call makes of it follows. Once in each pass that
    /// brings one.
    case answered(Answer)
    /// The content of a streamed call has ended, was refused, or is read no further: so many bytes of it were handed over.
    case contentEnded(bytes: Int, TransportCompletion)
    /// A property took its default, because its value was absent, `null`, or of a wrong type that the policy lets pass.
    /// `path` leads to it in dotted form, for example `data.items[3].stock`.
    case defaultUsed(path: String)
    /// The call is over: the caller has, or is about to get, the result. The last event, unless the delivery goes on.
    case callEnded(Outcome)

    /// How a call, a stage or an attempt ended.
    public typealias Outcome = CallOutcome

    /// What the stages of the request path have brought, wherever it came from.
    public struct Answer: Sendable {
        /// The request that was answered, as it was sent where it was.
        public let request: HTTPRequest
        /// The response; of a streamed call, only the head.
        public let response: HTTPResponse
        /// The server, the cache, or an interceptor.
        public let source: ResponseSource
        /// Whether it is the response to another call that asked for the same.
        public let isJoined: Bool
        /// Whether it was stored, is past its freshness, and was not validated (RFC 9111 §4.2.4).
        public let isStale: Bool

        /// An answer made by hand, to try a sink with: from the network, unless told otherwise.
        public init(
            request: HTTPRequest, response: HTTPResponse, source: ResponseSource = .network, isJoined: Bool = false,
            isStale: Bool = false
        ) {
            self.request = request
            self.response = response
            self.source = source
            self.isJoined = isJoined
            self.isStale = isStale
        }
    }

    /// What a call is, before anything is known of its request.
    public struct CallSummary: Hashable, Sendable {
        /// The endpoint's type name.
        public let endpoint: String
        /// The service that the endpoint names; `none` for a request that belongs to no service.
        public let service: ServiceID
        /// The environment that the call was made in; a later switch does not move it.
        public let environment: ServerEnvironment

        /// A summary made by hand, to try a sink with.
        ///
        /// - Parameter endpoint: the endpoint's type name.
        public init(endpoint: String, service: ServiceID, environment: ServerEnvironment) {
            self.endpoint = endpoint
            self.service = service
            self.environment = environment
        }
    }
}

/// What is known of a call at the moment of an event, so that a sink need not remember it from one event to the next.
public struct CallProgress: Sendable {
    /// The call's endpoint; `nil` in what is made by hand.
    public var endpointType: (any Endpoint.Type)?
    /// The method of the request that was sent last, or that was answered without being sent; `nil` while there is none.
    public var method: HTTPMethod?
    /// The URL of the same request, with its secrets; print it to have it without.
    public var url: HTTPURL?
    /// The status of the response to that request; `nil` while there is none.
    public var status: Int?
    /// Where the answer came from that the stages brought last; `nil` while they have brought none.
    public var source: ResponseSource?
    /// Whether that is the answer to another call, which asked for the same.
    public var isJoined = false
    /// Whether that was stored, is past its freshness, and was not validated (RFC 9111 §4.2.4).
    public var isStale = false

    /// The progress of a call that has just begun; ``note(_:)`` goes on from there.
    ///
    /// - Parameter endpointType: `nil` where it does not matter, to try a sink with.
    public init(endpointType: (any Endpoint.Type)? = nil) {
        self.endpointType = endpointType
    }

    /// The endpoint's type name; empty where the endpoint is not known.
    public var endpoint: String { endpointType.map { String(describing: $0) } ?? "" }

    /// Takes from an event what is to be known of the call from then on, with the event itself.
    public mutating func note(_ event: Event) {
        switch event {
        case .requestSent(let request): noteSent(request)
        case .responseReceived(let response, _, _), .responseBrokeOff(let response): status = response.status
        case .answered(let answer):
            noteAnswer(
                answer.request, answer.response.status, answer.source, isJoined: answer.isJoined,
                isStale: answer.isStale)
        default: break
        }
    }

    mutating func noteSent(_ request: HTTPRequest) {
        (method, url, status) = (request.method, request.url, nil)
    }

    mutating func noteAnswer(
        _ request: HTTPRequest, _ status: Int, _ source: ResponseSource, isJoined: Bool, isStale: Bool
    ) {
        (method, url, self.status) = (request.method, request.url, status)
        (self.source, self.isJoined, self.isStale) = (source, isJoined, isStale)
    }
}

extension CallProgress: Hashable {
    private struct Identity: Hashable {
        let endpoint: ObjectIdentifier?
        let method: HTTPMethod?
        let url: HTTPURL?
        let status: Int?
        let source: ResponseSource?
        let flags: [Bool]
    }

    private var identity: Identity {
        Identity(
            endpoint: endpointType.map { ObjectIdentifier($0) }, method: method, url: url, status: status,
            source: source,
            flags: [isJoined, isStale])
    }

    public static func == (left: CallProgress, right: CallProgress) -> Bool { left.identity == right.identity }

    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Which call an event belongs to, when it happened, and what is known of the call by then.
public struct EventContext: Hashable, Sendable {
    /// The call's number.
    public let call: CallID
    /// The number of the attempt that the event belongs to, counted from 1 in the order in which the call's requests were
    /// handed to the transport; what belongs to no attempt of its own has the number of the last, and 0 before the first.
    public let attempt: Int
    /// When it happened, by ``TimeSource/date``.
    public let date: Date
    /// How long after the call started it happened, by ``TimeSource/now``.
    public let elapsed: Duration
    /// What is known of the call, the event itself included.
    public let progress: CallProgress

    /// Makes a context by hand, to try a sink with.
    ///
    /// - Parameter progress: nothing is known unless given.
    public init(
        call: CallID, attempt: Int = 0, date: Date = Date(), elapsed: Duration = .zero,
        progress: CallProgress = CallProgress()
    ) {
        self.call = call
        self.attempt = attempt
        self.date = date
        self.elapsed = elapsed
        self.progress = progress
    }
}

/// How much of what happens to a call a sink wants to hear.
public enum EventInterest: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Nothing: a call is made as if there were no sink.
    case nothing
    /// The ends of calls, and what went wrong on the way to them: ``Event/callEnded(_:)``,
    /// ``Event/requestFailed(_:sendState:timings:connection:)``, ``Event/retried(after:reason:budgetLeft:)``,
    /// ``Event/notRetried(_:)`` and ``Event/circuitChanged(_:_:)``. What is known of a call stands in
    /// ``EventContext/progress``, and a call costs little more than without a sink.
    case outcomes
    /// Everything but ``Event/stageStarted(_:)`` and ``Event/stageEnded(_:_:)``, which are most of a call's events.
    case calls
    /// Everything.
    case stages

    public static func < (one: EventInterest, other: EventInterest) -> Bool { one.rawValue < other.rawValue }

    /// Whether who wants so much hears of an event.
    func covers(_ event: Event) -> Bool {
        switch event {
        case .callEnded, .requestFailed, .retried, .notRetried, .circuitChanged: self >= .outcomes
        case .stageStarted, .stageEnded: self >= .stages
        default: self >= .calls
        }
    }
}

/// A receiver of what happens: a log, a recorder, a counter.
public protocol EventSink: Sendable {
    /// How much it wants to hear of a call that begins now, asked once for each call: what no sink of the client wants is not
    /// made. Where another sink wants more, this one is told of that as well. ``EventInterest/stages`` by default.
    var interest: EventInterest { get }

    /// Called on whatever thread the event happens on, in order and by one thread at a time for each call. It must return
    /// soon, since the call waits for it.
    func receive(_ event: Event, _ context: EventContext)
}

extension EventSink {
    public var interest: EventInterest { .stages }
}

/// Tells several sinks, in their order.
struct EventFork: EventSink {
    let sinks: [any EventSink]

    /// One sink for several; `nil` for none.
    static func of(_ sinks: [any EventSink]) -> (any EventSink)? {
        sinks.count > 1 ? EventFork(sinks: sinks) : sinks.first
    }

    /// The interest of the sink that wants most.
    var interest: EventInterest { sinks.lazy.map(\.interest).max() ?? .nothing }

    func receive(_ event: Event, _ context: EventContext) {
        for sink in sinks { sink.receive(event, context) }
    }
}
