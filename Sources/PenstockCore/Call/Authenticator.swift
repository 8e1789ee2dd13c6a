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

    /// Whether what it puts onto a request is dated, so that it may be refused for a clock that is wrong. `false` by default.
    /// Where it is `true`, the server's clock is learnt from the responses, for ``CallContext/serverDate(of:)``, and an attempt
    /// that was refused with 400, 401 or 403 is made once more where its date was wrong by 30 s or more.
    var isTimed: Bool { get }

    /// Looks at each response to what it was put on: `true` asks for the same attempt once more, with what the response has
    /// told; not a second time. `false` by default.
    func shouldSendAgain(after response: HTTPResponse, to request: HTTPRequest) -> Bool

    /// Whether ``refresh(_:in:)`` can do something with the credential. `false` by default. It is asked with a lock held, and
    /// must neither wait nor call the client.
    func canRefresh(_ credential: Credential) -> Bool

    /// Asks for a new credential in place of one that is due or refused. It is cancelled after
    /// ``RefreshPolicy/timeout``; the total time-outs of clients and services do not count for what it sends. It is also cancelled when
    /// the user signs out or in meanwhile, unless it does that itself: what it sends from then on ends as cancelled, or fails as
    /// ``APIError/Kind/blocked(reason:)`` with nothing sent.
    ///
    /// - Throws: ``AuthenticationFailure/rejected`` when the old one will never do again: it is deleted. Any other
    ///   ``AuthenticationFailure`` is told as it is, an ``APIError`` is judged by how far its request got, and of any other
    ///   error it is taken that the request may have been processed.
    func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential

    /// Whether ``logIn(after:in:)`` is there to be asked. `false` by default.
    var canLogIn: Bool { get }

    /// Whether ``logIn(after:in:)`` is asked before a request is sent that has no credential, and not first when a request without
    /// one was refused: where it bothers nobody, as ``OAuth2Authenticator/clientCredentials(tokenURL:clientID:clientSecret:scope:prover:expiry:policy:trustedOrigins:)``
    /// does. Then a credential may also live for less than ``RefreshPolicy/minimumLifetime``. `false` by default.
    var logsInAhead: Bool { get }

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
    public var isTimed: Bool { false }
    public func shouldSendAgain(after response: HTTPResponse, to request: HTTPRequest) -> Bool { false }
    public func canRefresh(_ credential: Credential) -> Bool { false }
    public var canLogIn: Bool { false }
    public var logsInAhead: Bool { false }

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
    /// does not carry the credential that is being renewed, and does not wait for the new one. A bare ``HTTPRequest`` belongs to no
    /// service: it goes by the options of the client, and the trust policy of a service has no part in it.
    public let client: APIClient
    /// Whose credential it is.
    public let key: CredentialKey
    /// Where the new credential will be used.
    public let environment: ServerEnvironment
    /// The clock that expiry is judged by: what a new credential was obtained at is its date.
    public let time: TimeSource
    /// How the service whose calls want the credential is reached, as its options have it.
    var connection = CallOptions()
}
