/// What becomes of requests below the app: some go to another server, some nowhere, some are answered here. For switching
/// environments and for stubs, without the app's code knowing of it.
///
/// ```swift
/// let rules = try RequestRules([
///     .init("staging", .host("api.example.com"), .reroute(to: HTTPURL("https://staging.example.com:8443"))),
///     .init("no ads", .host("*.ads.example"), .drop),
///     .init("sold out", .path("/cart/*", .post), .respond(HTTPResponse(status: 409), after: .seconds(2))),
/// ])
/// let client = APIClient(configuration, transport: RuleTransport(PlatformTransport.make(), rules: rules))
/// ```
///
/// The first rule that matches decides; a request that none matches goes its way. Sessions of others take the same rules
/// through `install(in:)` of `PenstockURLSession`.
public struct RequestRules: Sendable {
    /// One rule: whom it is for, and what becomes of them.
    public struct Rule: Sendable {
        /// What errors call it.
        public var name: String
        /// Whom it is for.
        public var match: Match
        /// What becomes of them.
        public var action: Action

        /// A rule.
        ///
        /// - Parameter name: what errors call it. Holds no secret.
        public init(_ name: String, _ match: Match, _ action: Action) {
            self.name = name
            self.match = match
            self.action = action
        }
    }

    /// The rules in the order in which they are asked. A rule that is to go before others is inserted at the beginning.
    public var rules: [Rule]
    /// Which hosts a rule may lead to over plain http. This machine alone by default: the app's own policy has judged the URL
    /// that the app asked for, not the one that a rule puts in its place.
    public var cleartext: CleartextPolicy

    /// Rules, in the order in which they are asked.
    ///
    /// - Parameters:
    ///   - cleartext: which hosts a rule may lead to over plain http. This machine alone by default.
    ///   - allowsRelease: whether there may be rules in a release build. `false` by default, since whoever can change them
    ///     can send users' data anywhere.
    ///   - build: how the app was built. By default it is how the package was built.
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` in a release build that does not allow them, and for a rule whose
    ///   host or path no request can have, such as a URL in place of a host.
    public init(
        _ rules: [Rule], cleartext: CleartextPolicy = .loopback, allowsRelease: Bool = false,
        build: BuildFlavor = .current
    ) throws(APIError) {
        guard build == .debug || allowsRelease else {
            throw APIError(
                .invalidConfiguration(
                    reason: "rules below the app are not for release builds; allowsRelease allows them"),
                stage: .prepare)
        }
        for rule in rules {
            guard let fault = rule.match.fault else { continue }
            throw APIError(
                .invalidConfiguration(reason: "the rule \(rule.name) is for no request: \(fault)"), stage: .prepare)
        }
        self.rules = rules
        self.cleartext = cleartext
    }
}

extension RequestRules {
    /// Which requests a rule is for: those of which all that is named is so.
    public struct Match: Sendable {
        /// `api.example.com`, `[::1]`, or `*.example.com` for every host below `example.com`; `nil` for every host. An address of
        /// IPv6 and an international name may be written in any of their forms.
        public var host: String?
        /// `/cart`, or `/cart/*` for every path below it; `nil` for every path. With its percent-escapes.
        public var path: String?
        /// Empty for every method.
        public var methods: Set<HTTPMethod>

        /// Requests of which all that is named is so; every request by default.
        ///
        /// - Parameters:
        ///   - host: in any case of letters; `*.example.com` for every host below `example.com`.
        ///   - path: compared with its percent-escapes, byte by byte; `/cart/*` for every path below `/cart/`.
        ///   - methods: empty, the default, for every method.
        public init(host: String? = nil, path: String? = nil, methods: Set<HTTPMethod> = []) {
            self.host = host?.lowercased()
            self.path = path
            self.methods = methods
        }

        /// Every request.
        public static let all = Match()

        /// Every request to a host, or to those below one: `*.example.com`.
        public static func host(_ host: String) -> Match { Match(host: host) }

        /// Every request to a path of any host, or to those below one: `/cart/*`. By any method unless some are named.
        public static func path(_ path: String, _ methods: HTTPMethod...) -> Match {
            Match(path: path, methods: Set(methods))
        }

        /// Why no request can match; `nil` where one can.
        var fault: String? {
            if let host, Self.normalised(host) == nil {
                return "a host is a name or an address, without scheme, port and path"
            }
            return path.flatMap(Self.fault(ofPath:))
        }

        /// Why no URL has a path; `nil` where one can.
        package static func fault(ofPath path: String) -> String? {
            if !path.hasPrefix("/") { return "a path begins with /" }
            if path.contains(where: { "?#".contains($0) }) { return "a path has no query" }
            return PercentEncoding.completed(path) == path ? nil : "a path is written with its percent-escapes"
        }

        /// A host as ``HTTPURL`` has it, and what its hosts end with for a pattern: `.example.com` for `*.example.com`. `nil` where
        /// it has none such, as below an address.
        private static func normalised(_ pattern: String) -> String? {
            guard canBeHost(pattern) else { return nil }
            guard pattern.hasPrefix("*.") else { return try? HTTPHostParser.parse(pattern[...]) }
            let below = "x" + String(pattern.dropFirst())
            return (try? HTTPHostParser.parse(below[...])).map { String($0.dropFirst()) }
        }

        /// An IPv6 address stands in brackets.
        private static func canBeHost(_ host: String) -> Bool {
            let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
            let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
            return !name.isEmpty && !name.contains { "/*?#@ ".contains($0) } && (isBracketed || !name.contains(":"))
        }

        func matches(_ request: HTTPRequest) -> Bool {
            (methods.isEmpty || methods.contains(request.method))
                && host.map { Self.isHost(request.url.host, of: $0) } ?? true
                && path.map { Self.isPath(request.url.path, of: $0) } ?? true
        }

        private static func isHost(_ host: String, of pattern: String) -> Bool {
            guard let name = normalised(pattern) else { return false }
            guard pattern.hasPrefix("*.") else { return host == name }
            let end = name.utf8
            return host.utf8.count > end.count && host.utf8.suffix(end.count).elementsEqual(end)
        }

        private static func isPath(_ path: String, of pattern: String) -> Bool {
            guard pattern.hasSuffix("/*") else { return path.utf8.elementsEqual(pattern.utf8) }
            let start = pattern.utf8.dropLast()
            return path.utf8.count > start.count && path.utf8.starts(with: start)
        }
    }

    /// What a rule does.
    @nonexhaustive
    public enum Action: Sendable {
        /// Sends the request as it is, credentials included, to the scheme, host and port of this URL: another environment of
        /// the same service. What path the URL has is put before the request's own.
        case reroute(to: HTTPURL)
        /// Sends another request instead.
        case redirect(Redirection)
        /// Sends nothing: the caller gets an error that names the rule.
        case drop
        /// Sends nothing: the caller gets this response, after a while. Its content is what the app is to read, without
        /// content codings.
        case respond(HTTPResponse, after: Duration = .zero)
    }

    /// What is sent instead of a request.
    ///
    /// Where it goes to another origin, it has only the fields that every redirect keeps: no `Authorization`, no `Cookie`, no
    /// key of an API. Those that it is to have there are set here.
    public struct Redirection: Sendable {
        /// Where it goes: all of it, the request's own path and query are not kept.
        public var url: HTTPURL
        /// `nil` for the request's own.
        public var method: HTTPMethod?
        /// Fields in place of the request's own of these names.
        public var fields: HTTPFields
        /// `nil` for the request's own.
        public var body: HTTPBody?

        /// A redirection; all that is not named is the request's own.
        ///
        /// - Parameters:
        ///   - authorization: the value of `Authorization`. `nil` by default: the request's own within its origin, and none at
        ///     another.
        ///   - fields: in place of the request's own fields of these names. None by default.
        public init(
            to url: HTTPURL, method: HTTPMethod? = nil, authorization: String? = nil, fields: HTTPFields = [:],
            body: HTTPBody? = nil
        ) {
            self.url = url
            self.method = method
            self.fields = fields
            self.body = body
            if let authorization { self.fields[.authorization] = authorization }
        }
    }
}

/// What becomes of one request by the rules: pure, so that it is tested as a table.
@nonexhaustive
public enum RuleDecision: Sendable {
    /// No rule is for it.
    case pass
    /// This is sent instead.
    case send(HTTPRequest)
    /// Nothing is sent; the reason names the rule.
    case block(reason: String)
    /// Nothing is sent, and this is the response.
    case respond(HTTPResponse, after: Duration)

    /// Whether a rule is for the request.
    public var isTaken: Bool {
        if case .pass = self { false } else { true }
    }
}

extension RequestRules {
    /// Decides on a request by the first rule that is for it.
    public func decide(on request: HTTPRequest) -> RuleDecision {
        guard let rule = rules.first(where: { $0.match.matches(request) }) else { return .pass }
        switch rule.action {
        case .drop: return .block(reason: "the rule \(rule.name) drops the request")
        case .respond(let response, let delay): return .respond(response, after: delay)
        case .reroute(let target): return send(Self.rerouted(request, to: target), by: rule)
        case .redirect(let redirection): return send(Self.redirected(request, by: redirection), by: rule)
        }
    }

    private func send(_ request: HTTPRequest, by rule: Rule) -> RuleDecision {
        guard cleartext.allows(request.url) else {
            return .block(
                reason: "the rule \(rule.name) leads to plain http at \(request.url.host), which is not allowed")
        }
        return .send(request)
    }

    private static func rerouted(_ request: HTTPRequest, to target: HTTPURL) -> HTTPRequest {
        var request = request
        let folder = target.path.hasSuffix("/") ? String(target.path.dropLast()) : target.path
        request.url = HTTPURL(origin: target.origin, path: folder + request.url.path, query: request.url.query)
        return request
    }

    private static func redirected(_ request: HTTPRequest, by redirection: Redirection) -> HTTPRequest {
        var redirected = request
        redirected.url = redirection.url
        if request.url.origin != redirection.url.origin { RedirectPolicy.follow.keepHarmlessFields(of: &redirected) }
        if let method = redirection.method { redirected.method = method }
        if let body = redirection.body { redirected.body = body }
        redirected.fields.merge(redirection.fields)
        return redirected
    }
}

extension RequestRules.Redirection: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Where it goes, and nothing of what it takes there.
    public var description: String { "to \(url)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["url": url], displayStyle: .struct) }
}
