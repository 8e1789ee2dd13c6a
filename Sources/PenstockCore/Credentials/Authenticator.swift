import Foundation

/// How a service wants to know on whose behalf it is called: what goes onto a request, what means that it is out of date,
/// and how a new credential is had.
///
/// ```swift
/// let shop = Service(.shop, […], authenticator: BearerAuthenticator { old, context in
///     let pair = try await context.client.send(RenewTokens(old.refreshToken))
///     return Credential(pair.access, refreshToken: pair.refresh, expiresIn: .seconds(pair.seconds))
/// })
/// ```
///
/// ``BearerAuthenticator``, ``APIKeyAuthenticator``, ``BasicAuthenticator`` and ``OAuth2Authenticator`` are ready made.
/// Which credential is used, and that it is renewed once however many calls need it, is not its business.
public protocol Authenticator: Sendable {
    /// What means that a credential is refused. A status of 401 by default.
    var expiry: ExpiryRule { get }

    /// How credentials are renewed.
    var refreshPolicy: RefreshPolicy { get }

    /// Origins that are shown the credential besides the service's own; none by default. A redirect to any other one goes
    /// without.
    var trustedOrigins: Set<HTTPURL.Origin> { get }

    /// Puts the credential onto a request; asked anew for each attempt.
    func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) throws -> HTTPRequest

    /// Looks at the response to an attempt: `true` asks for the same attempt once more, with what the response has told.
    /// `false` by default.
    func shouldSendAgain(after response: HTTPResponse, to request: HTTPRequest) -> Bool

    /// Whether ``refresh(_:in:)`` can do something with the credential. `false` by default. It is asked with a lock held, and
    /// must neither wait nor call the client.
    func canRefresh(_ credential: Credential) -> Bool

    /// Asks for a new credential in place of one that is due or refused. It is cancelled after
    /// ``RefreshPolicy/timeout``.
    ///
    /// - Throws: ``AuthenticationFailure/rejected`` when the old one will never do again: it is deleted. Any other
    ///   ``AuthenticationFailure`` is told as it is, an ``APIError`` is judged by how far its request got, and of any other
    ///   error it is taken that the request may have been processed.
    func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential

    /// Whether ``logIn(after:in:)`` is there to be asked. `false` by default.
    var canLogIn: Bool { get }

    /// Asks the user, once however many calls wait for it, and for as long as it takes.
    ///
    /// - Parameter credential: the one that is of no more use; `nil` when there was none.
    /// - Throws: `CancellationError` or ``AuthenticationFailure/loginCancelled`` when the user does not want to.
    func logIn(after credential: Credential?, in context: RefreshContext) async throws -> Credential
}

extension Authenticator {
    public var expiry: ExpiryRule { .standard }
    public var refreshPolicy: RefreshPolicy { RefreshPolicy() }
    public var trustedOrigins: Set<HTTPURL.Origin> { [] }
    public func shouldSendAgain(after response: HTTPResponse, to request: HTTPRequest) -> Bool { false }
    public func canRefresh(_ credential: Credential) -> Bool { false }
    public var canLogIn: Bool { false }

    public func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential {
        throw AuthenticationFailure.missing
    }

    public func logIn(after credential: Credential?, in context: RefreshContext) async throws -> Credential {
        throw AuthenticationFailure.missing
    }
}

/// What an ``Authenticator`` has to renew a credential with.
public struct RefreshContext: Sendable {
    /// Sends for the same user in the same environment. What it sends, and what any other client sends in the same task,
    /// does not carry the credential that is being renewed, and does not wait for the new one.
    public let client: APIClient
    /// Whose credential it is.
    public let key: CredentialKey
    /// Where the new credential will be used.
    public let environment: ServerEnvironment
    /// The clock that expiry is judged by: what a new credential was obtained at is its date.
    public let time: TimeSource
}

/// What means that a credential is out of date.
///
/// ```swift
/// ExpiryRule(statuses: [401, 423], codes: [40101, "TOKEN_EXPIRED"])
/// ```
public struct ExpiryRule: Hashable, Sendable {
    /// 401 unless set.
    public var statuses: Set<Int>
    /// Codes of the service's envelope; none unless set.
    public var codes: Set<BusinessCode>
    /// The scheme of the credentials, in small letters. A challenge of this scheme may say that the credential is not what
    /// the response is about; `nil` believes none.
    public var scheme: String?

    /// What a challenge says when another token would be refused just the same (RFC 6750 §3.1, RFC 9449 §7.1 and §9).
    private static let otherErrors: Set<String> = [
        "insufficient_scope", "invalid_request", "use_dpop_nonce", "invalid_dpop_proof",
    ]

    /// The statuses, the codes, or both; the scheme is compared without regard to case.
    public init(statuses: Set<Int> = [401], codes: Set<BusinessCode> = [], scheme: String? = nil) {
        self.statuses = statuses
        self.codes = codes
        self.scheme = scheme?.lowercased()
    }

    /// The status 401 (RFC 9110 §15.5.2).
    public static let standard = ExpiryRule()

    /// Whether a response says so by its status. A challenge of another scheme is not believed, whatever it says.
    public func matches(_ response: HTTPResponse) -> Bool {
        guard statuses.contains(response.status) else { return false }
        guard let scheme else { return true }
        return !Challenge.all(in: response.fields).contains { challenge in
            challenge.scheme == scheme && challenge.parameters["error"].map(Self.otherErrors.contains) ?? false
        }
    }

    /// Whether an error says so by the code of the envelope, or by the status of its response.
    public func matches(_ error: APIError) -> Bool {
        if case .business(let code, _) = error.kind, codes.contains(code) { return true }
        return error.response.map(matches) ?? false
    }
}

/// How credentials are renewed: a value.
public struct RefreshPolicy: Hashable, Sendable {
    /// How long before its expiry a credential is renewed. 30 s by default: more than a request takes to arrive, and what
    /// clocks commonly differ by.
    public var leeway: Duration
    /// What a new credential must be good for at the least, and how old one must be before a refusal means that it has
    /// expired. 5 s by default: a token of less is refused again before its replay is answered.
    public var minimumLifetime: Duration
    /// How long one request for a new credential may take. 20 s by default, so that two of them end within the minute that
    /// a call may take.
    public var timeout: Duration
    /// How long after the refresh token was first sent it may be sent once more when no answer came. 30 s by default, which
    /// is what authorisation servers that rotate refresh tokens commonly allow for.
    public var grace: Duration
    /// How long a failure that may pass is told to everyone without asking again. 5 s by default, so that a screen of
    /// calls fails once, and the user's next attempt is a real one.
    public var pause: Duration
    /// How often is looked whether another process has renewed the credential. 250 ms by default, which nobody notices.
    public var pollInterval: Duration

    /// The defaults are those of the properties.
    public init(
        leeway: Duration = .seconds(30), minimumLifetime: Duration = .seconds(5), timeout: Duration = .seconds(20),
        grace: Duration = .seconds(30), pause: Duration = .seconds(5), pollInterval: Duration = .milliseconds(250)
    ) {
        self.leeway = leeway
        self.minimumLifetime = minimumLifetime
        self.timeout = timeout
        self.grace = grace
        self.pause = pause
        self.pollInterval = pollInterval
    }

    /// How long writing a claim may take, so that the request which it is for ends before the claim does.
    static let writingTime = Duration.seconds(5)

    /// How long a claim holds: for the time of one request, and what comes before it.
    var lease: Duration { timeout + Self.writingTime }
}
