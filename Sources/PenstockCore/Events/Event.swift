/// What happens to a call, told while it happens. Log, HAR and metrics are made of these alone.
///
/// The grammar: the first event of a call is ``callStarted(_:)`` and the last is ``callEnded(_:)``, once each; every
/// ``stageStarted(_:)`` has one ``stageEnded(_:_:)``, properly nested; nothing follows the last.
@nonexhaustive
public enum Event: Sendable {
    case callStarted(CallSummary)
    case stageStarted(StageName)
    /// A stage that wraps others ends after them: `seal` ends when the reply is opened.
    case stageEnded(StageName, Outcome)
    /// The request as it is handed to the transport.
    case requestSent(HTTPRequest)
    case responseReceived(status: Int, timings: Timings, connection: ConnectionInfo)
    case redirected(status: Int, from: HTTPURL, to: HTTPURL)
    /// The call begins another pass through the request path, because of what a stage knew about the response of the one
    /// before.
    case replayed(by: StageName, pass: Int)
    /// What the cache does with a request, and why; once more when the answer to what was sent changes it.
    case cacheDecided(CacheReason, CacheStatus)
    /// A value of the wrong type was replaced by its default.
    case defaultUsed(path: String)
    case callEnded(Outcome)

    @nonexhaustive
    public enum Outcome: Hashable, Sendable {
        case success
        case failure(APIError.Kind)
        case cancelled
    }

    /// What a call is, before anything is known of its request.
    public struct CallSummary: Hashable, Sendable {
        /// The endpoint's type name.
        public let endpoint: String
        public let service: ServiceID
        public let environment: ServerEnvironment

        public init(endpoint: String, service: ServiceID, environment: ServerEnvironment) {
            self.endpoint = endpoint
            self.service = service
            self.environment = environment
        }
    }
}

/// Which call an event belongs to, and when it happened.
public struct EventContext: Hashable, Sendable {
    public let call: CallID
    /// Since the call started.
    public let elapsed: Duration
}

/// Who is told. Called on whatever thread the event happens on, in order for each call; must return soon.
public protocol EventSink: Sendable {
    func receive(_ event: Event, _ context: EventContext)
}

extension Event.Outcome {
    init(_ error: APIError) {
        self = error.kind == .cancelled ? .cancelled : .failure(error.kind)
    }

    init(_ error: any Error) {
        switch error {
        case let error as APIError: self.init(error)
        case is CancellationError: self = .cancelled
        default: self = .failure(.blocked(reason: "an interceptor threw \(type(of: error))"))
        }
    }
}
