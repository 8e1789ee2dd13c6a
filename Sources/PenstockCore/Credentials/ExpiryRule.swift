import Foundation

/// What means that a credential is out of date.
///
/// ```swift
/// ExpiryRule(statuses: [401, 423], codes: [40101, "TOKEN_EXPIRED"])
/// ```
public struct ExpiryRule: Hashable, Sendable {
    /// 401 unless set.
    public var statuses: Set<Int>
    /// Codes of the service's envelope, as its ``Envelope/codeType`` gives them: `"40101"` where they are strings, and `40101` where
    /// they are integers. None unless set.
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
    /// How long a failure is told to everyone without asking again, and how often the vault is looked at for the session of
    /// another process where there is none to go with. 5 s by default, so that a screen of calls fails once, and the user's
    /// next attempt is a real one.
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
