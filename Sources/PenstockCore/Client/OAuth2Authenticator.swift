import Foundation

/// OAuth 2.0: bearer tokens, or tokens that are bound to a key of the device, renewed by a refresh token (RFC 6749 §6) or asked for
/// with what the client itself is known by (§4.4).
///
/// ```swift
/// let shop = Service(
///     .shop, [.production: "https://shop.example.com"],
///     authenticator: OAuth2Authenticator(tokenURL: "https://id.example.com/token", clientID: "shop-app"))
/// try await client.signIn(Credential(access, refreshToken: refresh, expiresIn: .seconds(3600)), to: .shop)
/// ```
///
/// The form goes to the token endpoint as the standard has it: without the client's common headers, neither sealed nor compressed,
/// whatever the client's options say. What a gateway in front of it wants stands in ``headers``.
///
/// It goes there as requests go to the service: by the trust policy, proxy, resolver and cleartext policy of the service whose calls
/// want the token, whichever origin the token endpoint is on. Those of a single call or endpoint have no part in it, since a token is
/// for all of them. Pins are for the hosts that they name: a token endpoint on another host is pinned where the service's policy has
/// pins for that host too. One that other authorities vouch for than for the service has its own policy in ``trust``.
public struct OAuth2Authenticator: Authenticator {
    /// A status of 401 with no challenge that says otherwise, unless set.
    public var expiry: ExpiryRule
    /// The defaults of ``RefreshPolicy`` unless set.
    public var refreshPolicy: RefreshPolicy
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin>
    /// What each request to the token endpoint carries besides its own fields, such as a gateway's key; nothing unless set.
    public var headers: CommonHeaders = [:]
    /// Whom TLS trusts at the token endpoint, such as ``TrustPolicy/system`` for one of a public provider beside a service with a
    /// company's own authority. `nil`, the default, is the policy of the service.
    public var trust: TrustPolicy?
    private let tokenURL: @Sendable (ServerEnvironment) -> String
    private let clientID: String
    private let clientSecret: String?
    private let scope: String?
    private let prover: DPoPProver?
    private let login: BearerAuthenticator.LogIn?
    private var isForClient = false

    /// - Parameters:
    ///   - tokenURL: of the token endpoint; the same in every environment.
    ///   - clientID: as the authorisation server knows the app.
    ///   - clientSecret: sent as RFC 6749 §2.3.1 says, not in the body. `nil`, the default, for what is installed on devices,
    ///     where nothing is secret.
    ///   - scope: what is asked for; `nil`, the default, asks for what the old token had.
    ///   - prover: binds tokens to its key (DPoP, RFC 9449); `nil`, the default, uses bearer tokens.
    ///   - expiry: 401 by default.
    ///   - logIn: asks the user, where the refresh token will not do; `nil` lets the call fail.
    public init(
        tokenURL: String, clientID: String, clientSecret: String? = nil, scope: String? = nil,
        prover: DPoPProver? = nil,
        expiry: ExpiryRule? = nil, policy: RefreshPolicy = .init(), trustedOrigins: Set<HTTPURL.Origin> = [],
        logIn: BearerAuthenticator.LogIn? = nil
    ) {
        self.init(
            tokenURL: { _ in tokenURL }, clientID: clientID, clientSecret: clientSecret, scope: scope, prover: prover,
            expiry: expiry, policy: policy, trustedOrigins: trustedOrigins, logIn: logIn)
    }

    /// The same with a token endpoint for each environment.
    public init(
        tokenURL: @escaping @Sendable (ServerEnvironment) -> String, clientID: String, clientSecret: String? = nil,
        scope: String? = nil, prover: DPoPProver? = nil, expiry: ExpiryRule? = nil, policy: RefreshPolicy = .init(),
        trustedOrigins: Set<HTTPURL.Origin> = [], logIn: BearerAuthenticator.LogIn? = nil
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scope = scope
        self.prover = prover
        self.expiry = expiry ?? ExpiryRule(scheme: prover == nil ? "bearer" : "dpop")
        refreshPolicy = policy
        self.trustedOrigins = trustedOrigins
        login = logIn
    }

    /// A client that speaks for itself and for no user, such as a daemon: it asks for a token with its secret alone (RFC 6749 §4.4),
    /// ahead of the first call and whenever the last one has expired or was refused, once however many calls wait for it. Nobody has to
    /// sign in.
    ///
    /// ```swift
    /// let reports = Service(
    ///     .main, "https://api.example.com",
    ///     authenticator: OAuth2Authenticator.clientCredentials(
    ///         tokenURL: "https://id.example.com/token", clientID: "nightly", clientSecret: secret))
    /// ```
    ///
    /// A refresh token is not used where one is given (§4.4.3). Where no token comes, calls fail as
    /// ``APIError/Kind/authentication(_:)`` with ``AuthenticationFailure/unavailable``, whose ``APIError/underlying`` says what the token
    /// endpoint has answered; it is asked again after ``RefreshPolicy/pause``.
    ///
    /// - Parameters:
    ///   - tokenURL: of the token endpoint; the same in every environment.
    ///   - clientID: as the authorisation server knows the client.
    ///   - clientSecret: sent as RFC 6749 §2.3.1 says, not in the body.
    ///   - scope: what is asked for; `nil`, the default, leaves it to the server.
    ///   - prover: binds tokens to its key (DPoP, RFC 9449); `nil`, the default, uses bearer tokens.
    ///   - expiry: 401 by default.
    public static func clientCredentials(
        tokenURL: String, clientID: String, clientSecret: String, scope: String? = nil, prover: DPoPProver? = nil,
        expiry: ExpiryRule? = nil, policy: RefreshPolicy = .init(), trustedOrigins: Set<HTTPURL.Origin> = []
    ) -> OAuth2Authenticator {
        clientCredentials(
            tokenURL: { _ in tokenURL }, clientID: clientID, clientSecret: clientSecret, scope: scope, prover: prover,
            expiry: expiry, policy: policy, trustedOrigins: trustedOrigins)
    }

    /// The same with a token endpoint for each environment.
    public static func clientCredentials(
        tokenURL: @escaping @Sendable (ServerEnvironment) -> String, clientID: String, clientSecret: String,
        scope: String? = nil, prover: DPoPProver? = nil, expiry: ExpiryRule? = nil, policy: RefreshPolicy = .init(),
        trustedOrigins: Set<HTTPURL.Origin> = []
    ) -> OAuth2Authenticator {
        var authenticator = OAuth2Authenticator(
            tokenURL: tokenURL, clientID: clientID, clientSecret: clientSecret, scope: scope, prover: prover,
            expiry: expiry, policy: policy, trustedOrigins: trustedOrigins)
        authenticator.isForClient = true
        return authenticator
    }

    public func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) throws -> HTTPRequest {
        var request = request
        guard let prover else {
            request.fields[.authorization] = "Bearer \(credential.token)"
            return request
        }
        request.fields[.authorization] = "DPoP \(credential.token)"
        request.fields[.dpop] = try prover.proof(
            method: request.method, url: request.url, token: credential.token,
            at: call.serverDate(of: request.url.origin))
        return request
    }

    /// Proofs are dated (RFC 9449 §4.2), and bearer tokens are not.
    public var isTimed: Bool { prover != nil }

    public func shouldSendAgain(after response: HTTPResponse, to request: HTTPRequest) -> Bool {
        prover?.note(response, to: request) ?? false
    }

    // MARK: The refresh-token grant

    public func canRefresh(_ credential: Credential) -> Bool { !isForClient && credential.refreshToken != nil }

    public func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential {
        guard let refreshToken = credential.refreshToken else { throw AuthenticationFailure.missing }
        var form = [("grant_type", "refresh_token"), ("refresh_token", refreshToken)]
        if let scope { form.append(("scope", scope)) }
        if clientSecret == nil { form.append(("client_id", clientID)) }
        let response = try await send(form, context)
        do {
            // The clock of the device is all that expiry is judged by.
            return try TokenResponse(response, needsProof: prover != nil).credential(
                after: credential, at: context.time.date())
        } catch {
            throw APIError(
                .authentication(error), stage: .authenticate, underlying: TokenResponse.error(of: response))
        }
    }

    /// Sends a form to the token endpoint, and once more where the server wants a nonce in the proof (RFC 9449 §8), or where its
    /// clock is another one than the proof was dated by (§11.1).
    private func send(_ form: [(name: String, value: String)], _ context: RefreshContext) async throws -> HTTPResponse {
        let url = try endpoint(in: context.environment)
        let body = form.map { "\($0.name)=\(PercentEncoding.escaped($0.value))" }.joined(separator: "&")
        var request = HTTPRequest(
            method: .post, url: url,
            fields: [
                .contentType: "application/x-www-form-urlencoded", .accept: "application/json",
                .userAgent: UserAgent.standard,
            ],
            body: .bytes(Data(body.utf8)))
        for field in headers.read() where !request.fields.contains(field.name) { request.fields.append(field) }
        if let clientSecret {
            request.fields[.authorization] = try BasicAuthenticator.value(
                PercentEncoding.escaped(clientID), PercentEncoding.escaped(clientSecret))
        }
        let options = context.connection.with { options in
            if let trust { options.trust = trust }
            // A refresh token goes to the one place that it is for.
            options.redirects = .never
            options.cache = .networkOnly
            // An answer that is lost is the coordinator's business, who knows of other processes and of the grace.
            options.idempotency = .byMethod
            // Of the services it is that they open what is sealed and remove what is coded. The form is plain (RFC 6749 §6).
            options.sealing = .plain
            options[dynamicMember: \.requestCompression] = .some(nil)
        }
        guard let prover else { return try await exchange(request, options, context) }
        let (time, clocks) = (context.time, context.client.state.clocks)
        var (hadNonce, hadClock) = (false, false)
        while true {
            let sent = time.date()
            request.fields[.dpop] = try prover.proof(
                method: .post, url: url, token: nil, at: clocks.date(of: url.origin, at: sent))
            let response = try await exchange(request, options, context)
            let error = clocks.learn(from: response, of: url.origin, sent: sent, received: time.date())
            if prover.note(response, to: request) {
                guard !hadNonce else { throw AuthenticationFailure.unavailable }
                hadNonce = true
            } else if !hadClock, ClockRefusal.isLikely(response.status, error) {
                hadClock = true
            } else {
                return response
            }
            // Counted and not refused, as at the API (`Authenticate`): without this no request would ever pass.
            _ = context.client.state.origins.withdraw(.replay, for: url.origin)
        }
    }

    /// Sends a request as it stands. What every request of the client carries is for its services, and the token endpoint may be
    /// somebody else's.
    private func exchange(
        _ request: HTTPRequest, _ options: CallOptions, _ context: RefreshContext
    ) async throws -> HTTPResponse {
        let call = ActiveCall(
            RawRequest(method: request.method), .ready(request), CallTerms(own: options, scope: nil),
            of: context.client)
        return try await call.response().http
    }

    private func endpoint(in environment: ServerEnvironment) throws -> HTTPURL {
        let text = tokenURL(environment)
        do {
            return try HTTPURL(text)
        } catch {
            let reason = "the token endpoint is no URL: \(error)"
            throw APIError(.invalidConfiguration(reason: reason), stage: .authenticate, underlying: error)
        }
    }

    public var canLogIn: Bool { login != nil || isForClient }

    public var logsInAhead: Bool { isForClient }

    public func logIn(after credential: Credential?, in context: RefreshContext) async throws -> Credential {
        if isForClient { return try await clientToken(in: context) }
        guard let login else { throw AuthenticationFailure.missing }
        return try await login(credential, context)
    }
}

extension OAuth2Authenticator {
    /// The client-credentials grant (RFC 6749 §4.4.2).
    private func clientToken(in context: RefreshContext) async throws -> Credential {
        var form = [("grant_type", "client_credentials")]
        if let scope { form.append(("scope", scope)) }
        let response = try await send(form, context)
        do throws(AuthenticationFailure) {
            let answer = try TokenResponse(response, needsProof: prover != nil)
            return Credential(answer.token, expiresIn: answer.lifetime, obtained: context.time.date())
        } catch {
            // Nothing was used up, whatever became of it.
            throw APIError(
                .authentication(.unavailable), stage: .authenticate, underlying: TokenResponse.error(of: response))
        }
    }
}

extension OAuth2Authenticator: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The client as the authorisation server knows it, without its secret.
    public var description: String { "OAuth 2 for the client \(clientID)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["client": clientID], displayStyle: .struct) }
}

/// What a token endpoint has answered (RFC 6749 §5).
struct TokenResponse {
    let token: String
    let refreshToken: String?
    let lifetime: Duration?

    /// - Parameter needsProof: whether a token is of use only if it is bound to a key (RFC 9449 §5).
    /// - Throws: ``AuthenticationFailure``.
    init(_ response: HTTPResponse, needsProof: Bool) throws(AuthenticationFailure) {
        let json = try? Payload(response.body).json()
        guard response.status == 200 else { throw Self.failure(response.status, json?["error"]?.word) }
        let type = json?["token_type"]?.string?.lowercased()
        // Whatever else it is, it is not known what has become of the refresh token.
        guard let token = json?["access_token"]?.string, !token.isEmpty, HTTPSyntax.isFieldValue(token),
            type == nil && !needsProof || type?.isWritten(as: needsProof ? "dpop" : "bearer") ?? false
        else { throw .lost }
        self.token = token
        refreshToken = json?["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let seconds = json?["expires_in"]
        // A number by the standard, and a text in practice.
        let number = seconds?.double ?? seconds?.string.flatMap(Double.init)
        // As a text it may be "nan", which says nothing.
        lifetime = number.flatMap { $0.isFinite ? Credential.lifetime($0) : nil }
    }

    /// The credential that the response gives, with the old refresh token where no new one was given (RFC 6749 §6).
    func credential(after old: Credential, at date: Date) -> Credential {
        Credential(
            token, user: old.user, refreshToken: refreshToken ?? old.refreshToken, expiresIn: lifetime,
            values: old.values,
            obtained: date)
    }

    /// What was wrong with an answer that brought no token. Of what the server has written only the names of the standard are
    /// taken over: the rest may hold anything, and is printed.
    static func error(of response: HTTPResponse) -> APIError {
        let name = (try? Payload(response.body).json())?["error"]?.word.flatMap { errors.contains($0) ? $0 : nil }
        let message = "the token endpoint has answered \(response.status)" + (name.map { ", \($0)" } ?? "")
        let kind =
            response.status == 200 ? .validation(rule: "token response") : APIError.Kind.httpStatus(response.status)
        return APIError(kind, stage: .authenticate, debugMessage: message, sendState: .answered)
    }

    /// RFC 6749 §5.2, RFC 9449 §5.
    private static let errors: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "invalid_dpop_proof", "use_dpop_nonce",
    ]

    /// An error that the server names is believed where it comes with the status that the standard gives it (RFC 6749 §5.2).
    static func failure(_ status: Int, _ error: String?) -> AuthenticationFailure {
        switch (status, error) {
        case (400, "invalid_grant"), (401, "invalid_grant"): .rejected
        // What is answered by a redirect is not done there, and a refresh token follows none.
        case (503, _), (300..<400, _): .unavailable
        case (400..<500, _) where status != 408: .unavailable
        default: .lost
        }
    }
}
