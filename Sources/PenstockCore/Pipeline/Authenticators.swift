import Foundation

/// A token in the field `Authorization` (RFC 6750 §2.1).
///
/// ```swift
/// BearerAuthenticator { old, context in
///     let pair = try await context.client.send(RenewTokens(old.refreshToken))
///     return Credential(pair.access, refreshToken: pair.refresh, expiresIn: .seconds(pair.seconds))
/// }
/// ```
///
/// Whether the session is over, only the server's own words can tell: a status of 401 or 403, or a 400 with OAuth's
/// `invalid_grant`, is taken for that. Where the server says it by a code of its own, the closure throws
/// ``AuthenticationFailure/rejected``; then the credential is deleted, and `logIn` asked.
public struct BearerAuthenticator: Authenticator {
    /// Gives a new credential for an old one.
    public typealias Refresh = @Sendable (Credential, RefreshContext) async throws -> Credential
    /// Asks the user.
    public typealias LogIn = @Sendable (Credential?, RefreshContext) async throws -> Credential

    /// A status of 401 with no challenge that says otherwise, unless set.
    public var expiry: ExpiryRule
    /// The defaults of ``RefreshPolicy`` unless set.
    public var refreshPolicy: RefreshPolicy
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin>
    private let refresh: Refresh?
    private let login: LogIn?

    /// - Parameters:
    ///   - refresh: `nil` when tokens cannot be renewed.
    ///   - logIn: asks the user, where nothing else helps; `nil` lets the call fail.
    public init(
        expiry: ExpiryRule = ExpiryRule(scheme: "bearer"), policy: RefreshPolicy = .init(),
        trustedOrigins: Set<HTTPURL.Origin> = [], refresh: Refresh? = nil, logIn: LogIn? = nil
    ) {
        self.expiry = expiry
        refreshPolicy = policy
        self.trustedOrigins = trustedOrigins
        self.refresh = refresh
        login = logIn
    }

    public func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest {
        var request = request
        request.fields[.authorization] = "Bearer \(credential.token)"
        return request
    }

    public func canRefresh(_ credential: Credential) -> Bool { refresh != nil }

    public func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential {
        guard let refresh else { throw AuthenticationFailure.missing }
        return try await refresh(credential, context)
    }

    public var canLogIn: Bool { login != nil }

    public func logIn(after credential: Credential?, in context: RefreshContext) async throws -> Credential {
        guard let login else { throw AuthenticationFailure.missing }
        return try await login(credential, context)
    }
}

/// A key in a field of the service's choice. It stands in no URL, where logs and proxies would keep it.
public struct APIKeyAuthenticator: Authenticator {
    /// The field that the key stands in.
    public let field: HTTPFieldName
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin>

    /// - Parameter field: `X-API-Key` unless the service has another name for it.
    public init(field: HTTPFieldName = "X-API-Key", trustedOrigins: Set<HTTPURL.Origin> = []) {
        self.field = field
        self.trustedOrigins = trustedOrigins
    }

    public func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest {
        var request = request
        request.fields[field] = credential.token
        return request
    }
}

/// A name and a password in the field `Authorization` (RFC 7617), as UTF-8. The password is the credential's token.
public struct BasicAuthenticator: Authenticator {
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin>

    /// - Parameter trustedOrigins: who is shown the password besides the service; nobody unless set.
    public init(trustedOrigins: Set<HTTPURL.Origin> = []) {
        self.trustedOrigins = trustedOrigins
    }

    /// - Throws: ``APIError/Kind/invalidParameter(field:reason:)`` for a credential of no user, for a name with a colon in it, which
    ///   would end there, and for control characters in name or password. An empty name is one (RFC 7617 §2).
    public func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) throws -> HTTPRequest {
        guard let user = credential.user else {
            throw APIError(
                .invalidParameter(field: "user", reason: "is missing: Credential(\"password\", user: \"alice\")"),
                stage: .authenticate)
        }
        var request = request
        request.fields[.authorization] = try Self.value(user, credential.token)
        return request
    }

    static func value(_ user: String, _ password: String) throws(APIError) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw APIError(
                .invalidParameter(field: "user", reason: "must not have a colon in it"), stage: .authenticate)
        }
        for (field, text) in [("user", user), ("password", password)] {
            guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
                throw APIError(
                    .invalidParameter(field: field, reason: "must not have a control character in it"),
                    stage: .authenticate)
            }
        }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
