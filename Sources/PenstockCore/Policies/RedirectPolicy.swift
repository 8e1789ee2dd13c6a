/// How far redirects are followed, and with what.
///
/// The content of a redirect that is followed is never looked at: interceptors see such a response without it.
public struct RedirectPolicy: Hashable, Sendable {
    /// Whether any is followed; otherwise the 3xx response is the answer.
    public var isFollowing: Bool
    /// How many hops a call may take. 20 by default.
    public var limit: Int
    /// Whether a request body may go to another origin (307 and 308). Refused by default: a body often holds what
    /// was meant for the first server alone.
    public var sendsBodyAcrossOrigins: Bool
    /// Fields that may go to another origin besides those that every redirect keeps.
    public var crossOriginFields: Set<HTTPFieldName>

    /// The defaults, but for what is named.
    ///
    /// - Parameters:
    ///   - isFollowing: whether any redirect is followed. `true` by default.
    ///   - limit: how many hops a call may take. 20 by default.
    ///   - sendsBodyAcrossOrigins: whether a request body may go to another origin. `false` by default.
    ///   - crossOriginFields: what may go to another origin besides the fields that every redirect keeps, such as a
    ///     trace id. None by default.
    public init(
        isFollowing: Bool = true, limit: Int = 20, sendsBodyAcrossOrigins: Bool = false,
        crossOriginFields: Set<HTTPFieldName> = []
    ) {
        self.isFollowing = isFollowing
        self.limit = limit
        self.sendsBodyAcrossOrigins = sendsBodyAcrossOrigins
        self.crossOriginFields = crossOriginFields
    }

    /// Follows what leads somewhere, 20 hops at most, and takes neither a body nor fields with secrets to another
    /// origin. The default.
    public static let follow = RedirectPolicy()
    /// Follows none: a 3xx response is the answer, which ``StatusRule`` judges.
    public static let never = RedirectPolicy(isFollowing: false)
}

/// What to do with a response that may be a redirect: pure, so that it is tested as a table.
@nonexhaustive
public enum RedirectDecision: Sendable {
    /// The response is the answer.
    case answer
    /// This request is to be sent next: with the method, the fields and the body that may go there (RFC 9110 §15.4).
    case follow(HTTPRequest)
    /// The redirect must not be followed; the reason is for people.
    case refuse(reason: String)
}

extension RedirectPolicy {
    /// Content fields that describe a body and go when it goes (RFC 9110 §15.4).
    private static let bodyFields: Set<HTTPFieldName> = [
        .contentType, .contentLength, .contentEncoding, .transferEncoding, "Content-Language", "Content-Location",
        "Content-Range", "Content-Disposition", "Digest", "Content-Digest", "Repr-Digest", "Last-Modified",
    ]

    /// The only fields that go to another origin.
    private static let harmlessFields: Set<HTTPFieldName> = [
        .accept, .acceptEncoding, .acceptLanguage, .userAgent, .contentType, .contentEncoding, "Content-Language",
    ]

    private static let statuses = [301, 302, 303, 307, 308]

    /// Whether a response leads to another one, so that nobody will look at its content.
    static let leadsOn: @Sendable (HTTPResponse) -> Bool = { response in
        statuses.contains(response.status) && response.fields.contains(.location)
    }

    /// Decides on `response` to `request`.
    ///
    /// A redirect that would send again what the call sent before is refused. One that leads back to a URL with other
    /// cookies is followed, since it may be answered otherwise: so do pages that look whether cookies are kept. The limit
    /// ends it if it is not.
    ///
    /// - Parameters:
    ///   - visited: every request of the call so far, `request` included.
    ///   - cookies: the value of the `Cookie` field that the client itself adds to a request for a URL. None by default.
    public func decide(
        on response: HTTPResponse, to request: HTTPRequest, visited: [RedirectHop],
        cookies: (HTTPURL) -> String? = { _ in nil }
    ) -> RedirectDecision {
        guard isFollowing, Self.statuses.contains(response.status),
            let location = response.fields[.location]
        else { return .answer }
        guard response.fields.values(of: .location).count == 1 else {
            return .refuse(reason: "the response holds several Location fields")
        }
        do throws(HTTPURL.ParseError) {
            let url = try request.url.resolving(location)
            return follow(url, status: response.status, from: request, visited: visited, cookies)
        } catch {
            return .refuse(reason: "its Location cannot be followed: \(error)")
        }
    }

    private func follow(
        _ url: HTTPURL, status: Int, from request: HTTPRequest, visited: [RedirectHop], _ cookies: (HTTPURL) -> String?
    ) -> RedirectDecision {
        guard !(request.url.scheme == .https && url.scheme == .http) else {
            return .refuse(reason: "it leads from https to http")
        }
        guard visited.count <= limit else { return .refuse(reason: "the call took \(limit) redirects already") }
        var next = request
        next.url = url
        Self.changeMethod(of: &next, status: status)
        if let reason = refusalToResend(next.body, crossing: url.origin != request.url.origin) {
            return .refuse(reason: reason)
        }
        if url.origin != request.url.origin { keepHarmlessFields(of: &next) }
        guard !visited.contains(RedirectHop(next, cookies: cookies(url))) else {
            return .refuse(reason: "it leads back to \(url)")
        }
        return .follow(next)
    }

    private func refusalToResend(_ body: HTTPBody, crossing: Bool) -> String? {
        if body.isNone { return nil }
        if !body.isReplayable { return "it needs the body again, which can be read only once" }
        return crossing && !sendsBodyAcrossOrigins ? "it would send the body to another origin" : nil
    }

    /// Whether a redirect would make a GET of a request of which it does not say that it was done: 301 and 302 after a POST
    /// (RFC 9110 §15.4.2, §15.4.3).
    static func makesGet(of request: HTTPRequest, status: Int) -> Bool {
        request.method == .post && (status == 301 || status == 302)
    }

    /// 303 always, and 301 and 302 after a POST, become GET without a body; 307 and 308 keep both (RFC 9110 §15.4).
    private static func changeMethod(of request: inout HTTPRequest, status: Int) {
        let becomesGet = request.method == .post ? status < 307 : status == 303 && request.method != .head
        guard becomesGet else { return }
        request.method = .get
        request.body = .none
        for name in bodyFields { request.fields.remove(name) }
    }

    func keepHarmlessFields(of request: inout HTTPRequest) {
        let kept = request.fields.filter {
            Self.harmlessFields.contains($0.name) || crossOriginFields.contains($0.name)
        }
        request.fields = HTTPFields(kept)
    }
}

/// One request of a call, as loops are told by: its method, its URL and the cookies that go with it.
public struct RedirectHop: Hashable, Sendable {
    /// The method as it was sent. The same URL by another method is another hop.
    public let method: HTTPMethod
    /// Where the request went.
    public let url: HTTPURL
    private let cookies: String

    /// The hop that a request makes.
    ///
    /// - Parameter cookies: the value of the `Cookie` field that the client adds to what the request has of its own. `nil`,
    ///   which is the default, for none.
    public init(_ request: HTTPRequest, cookies: String? = nil) {
        let own = request.fields.values(of: .cookie)
        self.init(request.method, request.url, cookies: own + (cookies.map { [$0] } ?? []))
    }

    init(_ method: HTTPMethod, _ url: HTTPURL, cookies: [String]) {
        self.method = method
        self.url = url
        self.cookies = cookies.joined(separator: "; ")
    }
}

extension RedirectHop: CustomReflectable {
    /// Method and URL, without the cookies.
    public var customMirror: Mirror { Mirror(self, children: ["method": method, "url": url], displayStyle: .struct) }
}
