import Foundation

/// Why a call failed: one type for every failure, thrown by everything that sends.
///
/// ```
/// APIError.Kind
/// ├── before anything is sent
/// │   ├── invalidParameter      a parameter, a header or the path breaks a rule
/// │   ├── invalidConfiguration  no such service or environment, a base URL that is none
/// │   ├── blocked               a policy forbids it: cleartext, a redirect, a veto
/// │   ├── unavailable           a server that fails or asked for a pause is spared
/// │   ├── authentication        there is no credential to go with, and none is to be had
/// │   ├── unsupported           what was asked cannot be done, by this transport or in this combination
/// │   └── cacheMiss             only the cache was to be asked, and it has nothing usable
/// ├── on the network
/// │   ├── unreachable           no connection: offline, no such name, refused, no descriptors
/// │   ├── timeout               which phase
/// │   ├── tls                   the handshake or the certificate
/// │   ├── transport             the connection broke, or the peer broke the protocol
/// │   └── limitExceeded         more, or more slowly, than the limits allow
/// ├── in the answer
/// │   ├── decryption            a sealed reply that does not open, or one that is not sealed
/// │   ├── httpStatus            not the status that means success
/// │   ├── malformedEnvelope     no envelope, or one without a usable code
/// │   ├── business              the server's own code and message
/// │   ├── validation            which rule
/// │   └── decoding              at which coding path
/// ├── on this machine
/// │   └── storage               what came could not be kept in its file
/// ├── dropped                   another call of its kind has taken its place, or was there before
/// └── cancelled                 by the caller, the owner, the client, or the task
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
    /// What went wrong; the table of ``APIError`` tells when. More cases may come.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// `field` names the parameter, header or path argument.
        case invalidParameter(field: String, reason: String)
        /// The client knows no service or environment of that name, or a base URL is no `http` or `https` URL. Nothing
        /// was sent.
        case invalidConfiguration(reason: String)
        /// A policy or the app's own code forbids the request: plain `http` to a host that is not allowed it, a
        /// redirect that must not be followed, a body that can be read only once and is needed again, an interceptor, a
        /// signer or a sealer that threw an error of its own, a client that was shut down. ``APIError/response`` holds
        /// the redirect where it was one.
        case blocked(reason: String)
        /// The transport cannot enforce what was asked, or what was asked does not go together, such as a streamed
        /// response that has to be unsealed. The request was not sent.
        case unsupported(feature: String)
        /// There is no credential, or what there was has been refused and could not be renewed; the error that this came of is
        /// ``APIError/underlying``.
        case authentication(AuthenticationFailure)
        /// ``CachePolicy/Mode/cacheOnly``, and nothing that may be used is stored; or what was stored is erased while it is streamed
        /// (``StreamedResponse``).
        case cacheMiss
        /// Nothing more is sent: the server fails most of the time, or asked to be left alone for longer than the call may
        /// take. As a rule nothing was sent. An attempt that failed before is told of instead; of one that was answered there
        /// are ``APIError/sendState`` and the head in ``APIError/response``.
        case unavailable(reason: String)
        /// No connection could be made to the server or, where there is one, through the proxy.
        case unreachable(TransportError.Reachability)
        /// The phase took longer than ``Timeouts`` allows; ``APIError/sendState`` tells how far the request got.
        case timeout(TimeoutPhase)
        /// The handshake failed, or the server's certificate was refused.
        case tls(TransportError.TLSFailure)
        /// A connection was made and its exchange failed.
        case transport(TransportFault)
        /// The response broke one of ``ResponseLimits``, or what is read of it one of the reader's own. The rest was
        /// not received.
        case limitExceeded(ResponseLimits.Limit)
        /// The reply to a sealed request does not open, or is not sealed. Why is not told, not even in what else the error holds:
        /// who sends replies to see what becomes of them would learn of the keys by it.
        case decryption
        /// The response's status is none of those that ``StatusRule`` accepts; ``APIError/response`` holds the whole of
        /// it. Of a reply that should have been sealed and is not, such as a proxy's page, it holds the head alone: anybody
        /// may have written that body, and it must not be taken for what the service says.
        case httpStatus(Int)
        /// The body is no JSON object, or has no code of the type that its ``Envelope`` asks for.
        case malformedEnvelope(reason: String)
        /// The envelope's code is none of those that mean success. `message` is the server's, and empty where it sent
        /// none.
        case business(code: BusinessCode, message: String)
        /// The content or the output broke a ``Validator``'s rule, which `rule` names.
        case validation(rule: String)
        /// `path` is the coding path in dotted form, for example `data.items[3].price`.
        case decoding(path: String, reason: String)
        /// A file that was downloaded could not be written, or not under its name.
        case storage(StorageFault)
        /// Because of another call of its kind; see ``InFlightPolicy``.
        case dropped(DropReason)
        /// The call was ended early: by its caller or the caller's task, its scope, its client, or because the
        /// transport was shut down.
        case cancelled
    }

    /// How a connection that was made failed its exchange.
    @nonexhaustive
    public enum TransportFault: String, Hashable, Sendable {
        /// The connection was reset, was closed early, or ended before the length that it had announced. Over HTTP/2 on Linux also
        /// where the server broke HTTP/2 itself, which mostly is all that is known of it there.
        case connectionLost
        /// What the server sent breaks HTTP, or is not of the media type without which it cannot be read.
        case protocolViolation
        /// The request's own body could not be read: its file cannot be opened or read any more, or its stream threw.
        case requestBody
        /// None of the others; ``APIError/debugMessage`` tells.
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
        var modelFormat = DecodingOptions()
        var judgement: Kind?
    }

    /// An error of an app's own making, such as that of an interceptor. The call that throws it adds its attempts and
    /// what the ``ErrorMapper`` makes of it.
    ///
    /// - Parameters:
    ///   - stage: where it was found.
    ///   - debugMessage: for developers; printed, so it should hold nothing secret. Empty by default.
    ///   - request: the request as far as there was one.
    ///   - response: the response with its body, when one came.
    ///   - sendState: how far the request got, when there was one to send.
    ///   - underlying: the error that this one was made of.
    public init(
        _ kind: Kind, stage: StageName, debugMessage: String = "", request: HTTPRequest? = nil,
        response: HTTPResponse? = nil, sendState: SendState? = nil, underlying: (any Error)? = nil
    ) {
        parts = Boxed(
            Parts(
                kind: kind, stage: stage, debugMessage: debugMessage, request: request, response: response,
                sendState: sendState, underlying: underlying))
    }

    /// What went wrong, for a `switch`.
    public var kind: Kind {
        get { parts.kind }
        set { parts.kind = newValue }
    }

    /// The stage that found it.
    public var stage: StageName {
        get { parts.stage }
        set { parts.stage = newValue }
    }

    /// What happened, for developers; `localizedDescription` is for users.
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

    /// The error that this one was made of: a ``TransportError``, a `DecodingError`, a ``ParameterEncodingError``, or whatever the
    /// app's own code threw; `nil` where there is none. What the content of the request threw, such as a ``MultipartError``, is
    /// the ``TransportError/underlying`` of the first. Of it only the type is printed, since nobody knows what it holds.
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

    /// How the call that failed decodes models.
    var modelFormat: DecodingOptions {
        get { parts.modelFormat }
        set { parts.modelFormat = newValue }
    }

    /// What was found in the answer: the kind, unless the call failed of something else after that, such as its own end or a
    /// credential that could not be renewed.
    var judgement: Kind {
        get { parts.judgement ?? parts.kind }
        set { parts.judgement = newValue }
    }
}

extension APIError {
    /// One request of a call that was handed to the transport, and what came of it.
    public struct Attempt: Sendable {
        /// The method as it was sent: a redirect may have made a GET of it.
        public var method: HTTPMethod
        /// Where it went: after a redirect, the URL that the redirect led to.
        public var url: HTTPURL
        /// When it was handed over, by ``TimeSource/date``.
        public var started: Date
        /// Whether a response came, whatever its status; else why none did.
        public var outcome: CallOutcome
        /// How far the request got.
        public var sendState: SendState
        /// `nil` when no response came.
        public var status: Int?
        /// When its phases ended, counted from the moment it was handed over. Empty for what the transport sent again
        /// by itself.
        public var timings: Timings
        /// What it went over; all default values where no connection was made, or the platform does not tell.
        public var connection: ConnectionInfo

        /// An attempt, for tests and previews; calls make their own.
        ///
        /// - Parameters:
        ///   - started: when it was handed to the transport. Now by default.
        ///   - outcome: whether a response came. It did by default.
        ///   - sendState: how far the request got. ``SendState/answered`` by default.
        ///   - status: of the response; `nil` by default.
        ///   - timings: none by default.
        public init(
            method: HTTPMethod, url: HTTPURL, started: Date = Date(), outcome: CallOutcome = .success,
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
        /// What a user may read; ``APIError/userText`` and `localizedDescription` show it. `nil` leaves that to the
        /// server's own message or the text of the kind.
        public var userText: String?
        /// What a developer reads when the error is printed, in place of ``APIError/debugMessage``. `nil` leaves it at
        /// that.
        public var debugText: String?

        /// What an ``ErrorMapper`` makes of one error. What is left out stays as the library has it.
        public init(code: Int? = nil, userText: String? = nil, debugText: String? = nil) {
            self.code = code
            self.userText = userText
            self.debugText = debugText
        }
    }
}

/// The code of an envelope: servers use numbers or words.
public enum BusinessCode: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// A number, as `{"retcode": 0}` has it.
    case int(Int)
    /// A word, as `{"code": "OK"}` has it. One of digits is not the number.
    case string(String)

    /// A code that is a number, so that it can be written as one.
    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    /// A code that is a word, so that it can be written as one.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension BusinessCode: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number, or the word as it is.
    public var description: String {
        switch self {
        case .int(let number): String(number)
        case .string(let text): text
        }
    }

    /// The number, or the word in quotes: `"0"` is not `0`. Lists of codes and errors print it so.
    public var debugDescription: String {
        switch self {
        case .int(let number): String(number)
        case .string(let text): String(reflecting: text)
        }
    }
}

/// Why a call was not sent, or its response is not wanted any more, because of another call.
@nonexhaustive
public enum DropReason: String, Hashable, Sendable {
    /// One is under way already.
    case alreadyLoading
    /// A newer one has taken its place.
    case superseded
    /// The last one was sent too short a time ago.
    case tooSoon
}
