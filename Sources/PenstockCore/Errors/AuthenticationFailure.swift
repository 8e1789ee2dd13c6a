/// Why a call has no credential to go with. Every call that waited for the same one is told the same.
@nonexhaustive
public enum AuthenticationFailure: Error, Hashable, Sendable {
    /// The server will not renew the credential again: it has been deleted, and the user has to sign in.
    case rejected
    /// No answer came to the request for a new one, nor to a second within the grace. The server may have changed the
    /// refresh token or not; using it again could make it revoke the session. Nothing was deleted. It stays so until the app
    /// signs in, or calls ``APIClient/refreshCredential(of:)`` and takes the risk.
    case lost
    /// The server could not be asked, or would not answer now. It is asked again after ``RefreshPolicy/pause``.
    case unavailable
    /// What was given is the same token again, or one that is good for less than ``RefreshPolicy/minimumLifetime``, or was
    /// refused at once.
    case notRenewed
    /// The user did not want to sign in.
    case loginCancelled
    /// The user was signed out meanwhile.
    case signedOut
    /// There is nothing to get a credential with.
    case missing
    /// The vault did not give or take it.
    case vault(VaultError)
}

extension AuthenticationFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected: "the session is over"
        case .lost: "the answer with the new credential was lost"
        case .unavailable: "the credential cannot be renewed now"
        case .notRenewed: "the new credential is no better than the old one"
        case .loginCancelled: "the login was cancelled"
        case .signedOut: "the user was signed out"
        case .missing: "there is no credential"
        case .vault(.invalid): "the credential is not one that may be kept"
        case .vault(let error): "the vault is \(error.rawValue)"
        }
    }
}

extension AuthenticationFailure {
    /// What an error says about the request for a new credential: whether it was refused, is known not to have been
    /// processed, or may have been.
    public init(refreshing error: any Error) {
        self =
            switch error {
            case let failure as AuthenticationFailure: failure
            case let error as APIError: Self.judge(error)
            default: .lost
            }
    }

    /// What an error says about a login.
    public init(loggingIn error: any Error) {
        self =
            switch error {
            case let failure as AuthenticationFailure: failure
            case is CancellationError: .loginCancelled
            case let error as APIError:
                if error.kind == .cancelled { .loginCancelled } else { Self.judgeLogin(error) }
            default: .unavailable
            }
    }

    private static func judgeLogin(_ error: APIError) -> AuthenticationFailure {
        if case .authentication(let failure) = error.kind { failure } else { .unavailable }
    }

    private static func judge(_ error: APIError) -> AuthenticationFailure {
        switch error.kind {
        case .authentication(let failure): return failure
        case .httpStatus(let status): return isInvalidGrant(status, error.response) ? .rejected : judge(status: status)
        case .business: return .unavailable
        case .cancelled, .timeout: return isUnsent(error) && !hasDoubtfulAttempt(error) ? .unavailable : .lost
        default: break
        }
        if hasDoubtfulAttempt(error) { return .lost }
        // Without a state it never got as far as to be sent.
        return error.sendState == nil || isUnsent(error) ? .unavailable : .lost
    }

    /// Whether the server may have given out a new credential for a request of the call. The error says nothing of that where
    /// the app's own code has thrown it after the answer had come.
    private static func hasDoubtfulAttempt(_ error: APIError) -> Bool {
        error.attempts.contains { attempt in
            guard let status = attempt.status else { return attempt.sendState > .unprocessed }
            return judge(status: status) == .lost
        }
    }

    private static func isUnsent(_ error: APIError) -> Bool {
        error.sendState == .unsent || error.sendState == .unprocessed
    }

    /// Whether a server says by the words of OAuth that the refresh token is of no more use (RFC 6749 §5.2). Any other 400 may mean
    /// that the request is wrong, or come from what stands before the server: nothing is deleted for it.
    private static func isInvalidGrant(_ status: Int, _ response: HTTPResponse?) -> Bool {
        guard status == 400, let body = response?.body else { return false }
        let json = try? JSONParser.parse(body, maximumDepth: DecodingOptions().maximumDepth)
        return json?["error"]?.word == "invalid_grant"
    }

    /// 401 and 403 are a refusal. A redirect has done nothing where it was met. 429 and 503 come from servers that did nothing, and so do the other errors of the client.
    /// After 408, and any other 5xx, something may have been done behind the gateway that tells of it.
    private static func judge(status: Int) -> AuthenticationFailure {
        switch status {
        case 401, 403: .rejected
        case 503, 300..<400: .unavailable
        case 408, 500...: .lost
        case 400..<500: .unavailable
        default: .lost
        }
    }
}

extension APIError {
    /// Why a call has no credential to go with, where that is known; any other error itself.
    var withoutCredential: APIError {
        guard case .authentication = kind, let cause = underlying as? APIError else { return self }
        return cause
    }
}

/// Why a vault did not do what it was asked. That there is nothing to be found is no error.
@nonexhaustive
public enum VaultError: String, Error, Hashable, Sendable {
    /// It cannot be read at the moment, but later: the device was not unlocked since it was started, or the keyring is locked.
    case locked
    /// It may not be read by this process: the user or the system forbids it.
    case denied
    /// What is there cannot be understood. It is left as it is.
    case corrupt
    /// What was to be kept may not be: see ``VaultItem/validate(for:)``. Nothing was written.
    case invalid
    /// It failed in another way: a disk that is full, a service that does not answer.
    case unavailable
}
