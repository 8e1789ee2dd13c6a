import Foundation

/// Why a call failed: one type for every failure, thrown by everything that sends.
///
/// ```
/// APIError.Kind
/// ├── before anything is sent
/// │   ├── invalidParameter      a parameter, a header or the path breaks a rule
/// │   ├── invalidConfiguration  no such service or environment, a base URL that is none
/// │   ├── blocked               a policy forbids it: cleartext, a redirect, a veto
/// │   ├── unsupported           the transport cannot enforce what was asked
/// │   └── cacheMiss             only the cache was to be asked, and it has nothing usable
/// ├── on the network
/// │   ├── unreachable           no connection: offline, no such name, refused, no descriptors
/// │   ├── timeout               which phase
/// │   ├── tls                   the handshake or the certificate
/// │   ├── transport             the connection broke, or the peer broke the protocol
/// │   └── limitExceeded         more than the limits allow
/// ├── in the answer
/// │   ├── httpStatus            not the status that means success
/// │   ├── malformedEnvelope     no envelope, or one without a usable code
/// │   ├── business              the server's own code and message
/// │   ├── validation            which rule
/// │   └── decoding              at which coding path
/// └── cancelled                 by the caller, the owner, or the task
/// ```
///
/// ```swift
/// switch error.kind {
/// case .business(let code, let message): show(message, code)
/// case .unreachable, .timeout: offerRetry()
/// case .cancelled: break
/// default: show(error.localizedDescription)
/// }
/// ```
///
/// Nothing it prints holds a header value or a body that may be secret; the whole response is in ``response``.
public struct APIError: Error, Sendable {
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// `field` names the parameter, header or path argument.
        case invalidParameter(field: String, reason: String)
        case invalidConfiguration(reason: String)
        case blocked(reason: String)
        case unsupported(feature: String)
        case cacheMiss
        case unreachable(TransportError.Reachability)
        case timeout(TimeoutPhase)
        case tls(TransportError.TLSFailure)
        case transport(TransportFault)
        case limitExceeded(ResponseLimits.Limit)
        case httpStatus(Int)
        case malformedEnvelope(reason: String)
        case business(code: BusinessCode, message: String)
        case validation(rule: String)
        /// `path` is the coding path in dotted form, for example `data.items[3].price`.
        case decoding(path: String, reason: String)
        case cancelled
    }

    /// How a connection that was made failed its exchange.
    @nonexhaustive
    public enum TransportFault: String, Hashable, Sendable {
        case connectionLost
        case protocolViolation
        case requestBody
        case other
    }

    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var kind: Kind
        var stage: StageName
        var debugMessage: String
        var request: HTTPRequest?
        var response: HTTPResponse?
        var sendState: SendState?
        var underlying: (any Error)?
        var attempts: [Attempt] = []
        var presentation: Presentation?
    }

    public init(
        _ kind: Kind, stage: StageName, debugMessage: String = "", request: HTTPRequest? = nil,
        response: HTTPResponse? = nil, sendState: SendState? = nil, underlying: (any Error)? = nil
    ) {
        parts = Boxed(
            Parts(
                kind: kind, stage: stage, debugMessage: debugMessage, request: request, response: response,
                sendState: sendState, underlying: underlying))
    }

    public var kind: Kind {
        get { parts.kind }
        set { parts.kind = newValue }
    }

    /// The stage that found it.
    public var stage: StageName {
        get { parts.stage }
        set { parts.stage = newValue }
    }

    /// For developers; `localizedDescription` is for users.
    public var debugMessage: String {
        get { parts.debugMessage }
        set { parts.debugMessage = newValue }
    }

    /// The request as it was sent, or as far as it was made.
    public var request: HTTPRequest? {
        get { parts.request }
        set { parts.request = newValue }
    }

    /// The response with its body, when one came.
    public var response: HTTPResponse? {
        get { parts.response }
        set { parts.response = newValue }
    }

    /// How far the request got, when there was one to send.
    public var sendState: SendState? {
        get { parts.sendState }
        set { parts.sendState = newValue }
    }

    public var underlying: (any Error)? {
        get { parts.underlying }
        set { parts.underlying = newValue }
    }

    /// Every request of the call that was sent, in order, the failed one last. What the transport sent again by itself
    /// (``ConnectionInfo/resends``) counts each time, and has no status but in the last attempt.
    public var attempts: [Attempt] {
        get { parts.attempts }
        set { parts.attempts = newValue }
    }

    /// What the app's ``ErrorMapper`` makes of it.
    public var presentation: Presentation? {
        get { parts.presentation }
        set { parts.presentation = newValue }
    }
}

extension APIError {
    /// One request of a call that was handed to the transport, and what came of it.
    public struct Attempt: Sendable {
        public var method: HTTPMethod
        public var url: HTTPURL
        /// When it was handed over, by ``TimeSource/date``.
        public var started: Date
        /// Whether a response came, whatever its status; else why none did.
        public var outcome: Event.Outcome
        /// How far the request got.
        public var sendState: SendState
        /// `nil` when no response came.
        public var status: Int?
        public var timings: Timings
        public var connection: ConnectionInfo

        public init(
            method: HTTPMethod, url: HTTPURL, started: Date = Date(), outcome: Event.Outcome = .success,
            sendState: SendState = .answered, status: Int? = nil, timings: Timings = .init(),
            connection: ConnectionInfo = .init()
        ) {
            self.method = method
            self.url = url
            self.started = started
            self.outcome = outcome
            self.sendState = sendState
            self.status = status
            self.timings = timings
            self.connection = connection
        }
    }

    /// What an app wants its users and its developers to see.
    public struct Presentation: Hashable, Sendable {
        /// The app's own number for the failure.
        public var code: Int?
        public var userText: String?
        public var debugText: String?

        public init(code: Int? = nil, userText: String? = nil, debugText: String? = nil) {
            self.code = code
            self.userText = userText
            self.debugText = debugText
        }
    }
}

/// The code of an envelope: servers use numbers or words.
public enum BusinessCode: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    case int(Int)
    case string(String)

    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension BusinessCode: CustomStringConvertible {
    public var description: String {
        switch self {
        case .int(let number): String(number)
        case .string(let text): text
        }
    }
}
