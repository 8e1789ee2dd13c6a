import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Nothing that prints tells a secret, wherever in it the secret stands.
@Suite(.timeLimit(.minutes(5))) struct PrintingTests {
    /// Planted wherever a name says that a secret stands.
    static let canary = "hunter2"

    /// Every way in which a value becomes text.
    static func texts(of value: Any) -> [String] { PrintedForms.texts(of: value) }

    // MARK: Places

    static let parameterNames = [
        "token", "access_token", "loginToken", "password", "passwd", "pwd", "secret", "client_secret", "api_key",
        "apiKey",
        "code", "key", "sig", "jwt", "otp", "sid", "connect.sid", "PHPSESSID", "pass", "ticket", "assertion",
        "client_assertion", "id_token_hint", "%74oken", "%2574oken", "to%6Ben", "SAMLResponse", "code_verifier", "auth",
        "pw", "user_pw",
        "hdnea", "__hdnea__", "security_code", "recoveryCodes", "one-time-code", "cvv", "card_number", "sign",
        "passkey",
        // The seven that OpenTelemetry's conventions have redacted.
        "AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature", "X-Amz-Signature", "X-Amz-Credential",
        "X-Amz-Security-Token",
    ]

    static let fieldNames: [HTTPFieldName] = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, "Set-Cookie2", "WWW-Authenticate",
        "Proxy-Authenticate",
        "Authentication-Info", "Proxy-Authentication-Info", "X-API-Key", "Api-Key", "X-Auth-Token", "X-Access-Token",
        "X-Csrf-Token", "X-Xsrf-Token", "X-Amz-Security-Token", "Private-Token", "X-Session-Id", "DPoP",
        "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Goog-Iap-Jwt-Assertion", "X-My-Secret", "User-Password",
        "X-Signature", "X-OTP", "X-Sid", "X-MFA-Code", "X-Device-Key", "Application-Key", "X-Refresh",
    ]

    static var query: String { parameterNames.map { "\($0)=\(canary)" }.joined(separator: "&") }
    static var reference: String {
        "https://user:\(canary)@a.example/p;jsessionid=\(canary)/x?a=1&\(query)"
            + "&redirect_uri=https%3A%2F%2Fb.example%2F%3Ftoken%3D\(canary)#access_token=\(canary)"
    }

    static func fields() -> HTTPFields {
        var fields = HTTPFields(fieldNames.map { HTTPField(name: $0, value: canary) })
        for name in ["Location", "Content-Location", "Referer", "X-Callback"] as [HTTPFieldName] {
            fields.append(reference, for: name)
        }
        fields.append("//user:\(canary)@a.example/?sig=\(canary)", for: .location)
        fields.append("next?code=\(canary)", for: .location)
        fields.append("/next#id_token=\(canary)", for: .location)
        fields.append("<\(reference)>; rel=\"next\", </y?sig=\(canary)>; rel=\"prev\"", for: "Link")
        fields.append("5; url=\(reference)", for: "Refresh")
        fields.append("0;url='/?token=\(canary)'", for: "Refresh")
        fields.append("user=1; password=\(canary), token=\"\(canary) \(canary)\"", for: "X-Info")
        fields.append("Bearer \(canary)", for: "X-Forwarded-Credentials-Of")
        fields.append("Basic \(canary)", for: "X-Upstream")
        fields.append("[{\"name\": \"pin\", \"value\": \"\(canary) \(canary)\"}]", for: "X-Pairs")
        fields.append("{&quot;pin&quot;: &quot;\(canary) \(canary)&quot;}", for: "X-Page")
        return fields
    }

    static func url() throws -> HTTPURL {
        try HTTPURL("https://a.example/p;jsessionid=\(canary)/x?\(query)")
    }

    static func parameters() -> ParameterObject {
        var object = ParameterObject(parameterNames.map { ($0, .string(canary)) })
        object["nested"] = ["deep": ["password": .string(canary), "list": [["token": .string(canary)]]]]
        object["tokens"] = [.string(canary), .string(canary)]
        object["next"] = .string(reference)
        object["told"] = .string("{\"loc\":[\"body\",\"pin\"],\"input\":\"\(canary) \(canary)\"}")
        return object
    }

    static func options() throws -> CallOptions {
        let proxy = try HTTPURL("http://proxy.example/")
        return .with {
            $0.baseURL = reference
            $0.headers = HeaderEdits().setting(.authorization, canary).adding("Location", reference)
            $0.parameters = parameters()
            $0.proxy = .http(proxy, credentials: .init(user: canary, password: canary))
        }
    }

    static func service() throws -> Service {
        Service(
            .main, [.development: reference, .production: reference], headers: .init(fields()), options: try options())
    }

    static func cached() throws -> CachedResponse {
        let vary = fieldNames.map(\.text).joined(separator: ", ")
        let response: HTTPFields = [
            "Cache-Control": "max-age=9, stale-while-revalidate=9", "ETag": "\"1\"", "Vary": vary,
        ]
        var all = fields()
        all.merge(response)
        let request = HTTPRequest(method: .get, url: try url(), fields: fields())
        let key = CacheKey(url: request.url, partition: .init(identity: "u-1"))
        let arrival = CacheFixtures.arrival(all)
        let query = CacheQuery(request, key: key, candidates: [], policy: .http)
        return try #require(query.receive(arrival).insertion?.response)
    }

    // MARK: Values

    static func httpValues() throws -> [Any] {
        let request = HTTPRequest(
            method: .post, url: try url(), fields: fields(), body: .bytes(Data("password=\(canary)".utf8)))
        var response = HTTPResponse(status: 302, fields: fields(), body: Data(canary.utf8))
        response.trailers = fields()
        let failure = TransportError(
            .connectionLost, sendState: .answered, message: reference, partialResponse: response)
        let attempt = APIError.Attempt(method: .get, url: request.url)
        var error = APIError(
            .httpStatus(302), stage: .status, debugMessage: reference, request: request, response: response,
            underlying: failure)
        error.attempts = [attempt]
        error.presentation = .init(debugText: reference)
        let json = #"{"data":{"token":"\#(canary)","pin":[{"a":"\#(canary)"}]}}"#
        let said = APIError.Kind.business(code: 7, message: "\(reference) \(json)")
        let invalid = APIError.Kind.invalidConfiguration(reason: reference)
        let redirection = RequestRules.Redirection(
            to: request.url, authorization: canary, fields: fields(), body: request.body)
        let rules = try RequestRules(
            [.init("a", .path("/b"), .redirect(redirection)), .init("c", .all, .respond(response))], build: .debug)
        let envelope = APIError(.malformedEnvelope(reason: "no code"), stage: .envelope, debugMessage: canary)
        let exchange = Exchange(request: request, response: response)
        var progress = CallProgress(endpointType: Hello.self)
        progress.note(.requestSent(request))
        return try [
            progress, EventContext(call: .next(), progress: progress),
            fields(), try url(), request, response, request.body, failure, attempt, error, envelope, exchange,
            MultipartPart("a", fields: fields(), content: request.body),
            rules, rules.rules[0].match, redirection, rules.decide(on: request), RuleDecision.send(request),
            RuleTransport(ScriptedTransport([]), rules: rules),
            said, invalid, APIError(said, stage: .envelope, debugMessage: json), Event.callEnded(.failure(said)),
            Event.requestSent(request),
            Event.answered(Event.Answer(request: request, response: HTTPResponse(status: 200, fields: request.fields))),
            Event.redirected(status: 302, from: url(), to: url()), RedirectHop(request),
            RedirectDecision.follow(request), TransportRequest(request), TransportResponse(response),
            TransportCompletion(trailers: fields()),
            TransportStream(response, content: BufferedContent([response.body], completion: .init(trailers: fields()))),
            Payload(response.body), JSONValue.object(["password": .string(canary), "a": [["token": .string(canary)]]]),
            ServerSentEvent(data: canary), eventParser(), RoutePath("/reset/\(canary)"), Route.get("/reset/\(canary)"),
        ] + fields().map { $0 as Any }
    }

    static func listValues() throws -> [Any] {
        let link = try #require(WebLink.links(in: ["<\(reference)>; rel=next; token=\(canary)"]).first)
        let results = CallGraphResults([1: .success(canary), 2: .failure(.notInGraph)])
        return try [
            link, PagePosition.cursor(canary), PagePosition.link(url()), PagingError.repeated(.cursor(canary)), results,
            EventLog<String, Hello>.Batch(id: "b-1", events: [canary]),
        ] + link.parameters.map { $0 as Any }
    }

    static func outboxValues() throws -> [Any] {
        let content = OutboxContent(
            head: .init(
                name: "like", lane: "l", fold: nil, service: "main", method: "POST", url: reference,
                fields: [["Authorization", canary]], endpoint: Data(canary.utf8), numberField: nil),
            body: Data(canary.utf8))
        let owner = OutboxOwner(identity: "alice", environment: "test")
        let row = OutboxRow(
            id: OutboxID(), owner: owner, lane: "l", payload: try content.encoded(), created: CacheFixtures.start,
            expires: CacheFixtures.start + 9, intent: Data(canary.utf8), rollback: Data(canary.utf8))
        return [
            row, OutboxEntry(row: row, content: content), OutboxPlacement(row: row, replaced: []),
            OutboxAnswer(status: 409, payload: Payload(Data(canary.utf8))),
        ]
    }

    private static func eventParser() throws -> ServerSentEventParser {
        var parser = ServerSentEventParser()
        parser.push(Data("data: \(canary)\n".utf8))
        _ = try parser.next()
        return parser
    }

    static func clientValues() throws -> [Any] {
        let (options, service) = try (options(), service())
        let identity = ClientIdentity.pem(
            certificates: Data(canary.utf8), key: Data(canary.utf8), passphrase: canary)
        let cookies = MemoryCookieStore()
        cookies.receive(["session=\(canary); Secure"], from: try HTTPURL("https://a.example/"), in: .init())
        var configuration = APIClient.Configuration(services: [service], build: .debug)
        configuration.headers = .init(fields())
        configuration.parameters = .init { parameters() }
        configuration.options = options
        configuration.cookies = cookies
        configuration.cache = .store(MemoryCacheStore())
        let client = APIClient(configuration, transport: ScriptedTransport([]))
        return [
            options, CallSettings(options), parameters(), ParameterValue.object(parameters()), service, cookies,
            ServiceRegistry([service]), configuration, client, client.with { $0.headers = [:] }, configuration.headers,
            configuration.parameters, HeaderEdits().setting("X-Api-Key", canary),
            ParameterLayers(call: parameters(), endpoint: .object(parameters()), client: parameters()),
            ProxyCredentials(user: canary, password: canary), options.proxy ?? .none, try cookie(), try jar(),
            identity, identity.form, TrustPolicy.system.identified(by: identity),
            IsolationKey(trust: .system.identified(by: identity)),
            CookieQuery(try url()),
            AdHocEndpoint(.get("/x"), parameters: parameters(), decoding: .payload),
            BaseURLs("https://a.example/?token=\(canary)"), try CallOptions.at(url()),
        ]
    }

    private static let setCookie = "sid=\(canary); Max-Age=1000"

    static func cookie() throws -> Cookie {
        try #require(Cookie(setCookie: setCookie, from: url(), at: CacheFixtures.start))
    }

    static func jar() throws -> CookieJar {
        var jar = CookieJar(suffixes: nil)
        jar.receive([setCookie], from: try url(), at: CacheFixtures.start)
        return jar
    }

    static func cacheValues() throws -> [Any] {
        let stored = try cached()
        let request = HTTPRequest(method: .get, url: try url(), fields: fields())
        let query = CacheQuery(request, key: stored.key, candidates: [stored], policy: .http)
        let arrival = CacheFixtures.arrival(fields())
        var status = CacheStatus(query.load(.uriMiss))
        status.key = stored.key.url
        return [
            stored, stored.key, stored.variant, stored.variant.selectors, query, arrival, status,
            query.decide(now: CacheFixtures.start), query.decide(now: CacheFixtures.start + 12),
            query.decide(now: CacheFixtures.start + 100), query.plan(now: CacheFixtures.start + 12),
            query.receive(arrival), CacheSelection.url(try url()), CacheSelection.key(stored.key),
            CacheUpdate(stored: stored, updated: stored), CacheInsertion(response: stored, pieces: []),
            StoredResponse(stored, entry: .init(row: 1, version: 1), body: Data(canary.utf8)),
        ]
    }

    /// What a call hands to the app's code while it is on its way.
    struct Witness: Interceptor {
        let seen: Locked<[@Sendable () -> Any]>

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let exchange = try await next(request)
            seen.withLock { $0 += [{ call }, { next }, { exchange }, { request }] }
            return exchange
        }
    }

    static func callValues() async throws -> [Any] {
        let seen = Locked<[@Sendable () -> Any]>([])
        var (response, options) = (CallSupport.greeting, try options())
        response.fields = fields()
        options.baseURL = nil
        options.parameters = parameters()
        let transport = ScriptedTransport([.respond(response), .stream(response, [response.body])])
        let client = CallSupport.client(transport) { configuration in
            configuration.callInterceptors = [Witness(seen: seen)]
            configuration.identity = { "u-1" }
            configuration.cache = .store(MemoryCacheStore())
        }
        options.redirects = .never
        let answer = try await client.response(for: Hello(), options: options)
        let stream = try await client.stream(Hello(), options: options)
        return [answer, stream, client.events(of: Hello(), options: options)] + seen.withLock { $0 }.map { $0() }
    }

    static func credentialValues() async throws -> [Any] {
        let credential = Credential(canary, user: "alice", refreshToken: canary, values: ["key": canary])
        var coordinator = RefreshCoordinator()
        let record = coordinator.signIn(credential)
        let vault = MemoryVault()
        let key = CredentialKey(service: "main", environment: "Test", origin: "https://a.example")
        try await vault.save(record.item, for: key, over: .anything)
        return [
            credential, record, record.item, coordinator, vault, RefreshCoordinator.Action.refresh(credential),
            RefreshCoordinator.Action.save(record, over: .absent), RefreshCoordinator.Event.obtained(credential),
            RefreshCoordinator.Answer.use(credential), RefreshCoordinator.Outcome.use(credential),
            Challenge("Negotiate", token68: canary), Challenge("Bearer", parameters: ["nonce": canary]),
            OAuth2Authenticator(tokenURL: "https://a.example/token", clientID: "shop", clientSecret: canary),
        ]
    }

    static func values() async throws -> [Any] {
        try await httpValues() + clientValues() + cacheValues() + listValues() + callValues()
            + credentialValues() + outboxValues()
    }

    @Test func `no printable value tells a secret that its name gives away`() async throws {
        let values = try await Self.values()
        for value in values {
            for text in Self.texts(of: value) {
                let leak = text.range(of: Self.canary).map { text[..<$0.lowerBound].suffix(200) }
                #expect(leak == nil, "\(type(of: value))")
            }
        }
    }

    /// Public types that no secret can be planted in.
    static let harmless: [String: Set<String>] = [
        "names, numbers, dates and choices of the library": [
            "Anchors", "Arrays", "BuildFlavor", "Bools", "CacheChoice", "CacheEntryID", "CacheLimits",
            "CachePolicy", "CacheReason", "CacheStatistics", "CachedPart", "CallID",
            "CallSummary",
            "CleartextPolicy", "CodeType", "ConnectionInfo", "Dates", "Decision", "DecodingNote", "DecodingOptions",
            "Duplicate", "Ending", "Envelope", "EventStreamReconnection", "FormCharacters",
            "FormFormat",
            "Forward", "HTTPFieldName", "HTTPMethod", "HTTPVersion", "Invalid", "JSONFormat", "Keys", "Lifetime",
            "Limit",
            "Mode", "Nesting", "NilProperties", "Nulls", "Order", "Origin", "Outcome", "ParameterEncoding",
            "ParameterEncodingError", "ParameterStyle", "Part", "ParseError", "Piece", "Purpose", "Reachability",
            "Reason", "RulesAreStatic", "Sent",
            "ResponseLimits", "ResponseSource", "Scheme", "SendState", "ServerEnvironment", "ServiceID", "Spaces",
            "Stage",
            "StatusRule", "StreamLimitError", "TLSFailure", "Throughput", "TimeoutPhase", "Timeouts", "Timings",
            "TransferProgress", "TransportCapabilities", "TransportFault", "TrustPolicy", "WrongTypePolicy", "Binary",
            "IsolationKey", "CachePartition", "Owner", "RedirectPolicy", "AlreadyRead", "EnvelopeChoice", "Limits",
            "NoParameters",
            "Output",
            "ParameterPlacement", "StageName", "AdaptiveThrottle", "Admission", "AdmissionPolicy", "AdmissionQueue",
            "Backoff", "CallOutcome", "CallPriority", "CallSelection", "CircuitBreaker", "Cost", "FinishedAttempt",
            "HedgingPolicy",
            "Idempotency", "IdempotencyKey", "Pass", "Policy", "RateLimiter", "RetryAfter", "RetryBudget",
            "RetryDecision", "RetryPolicy", "RetryReason", "RetryRefusal", "ServerRateLimit", "Situation", "State",
            "Verdict", "WaitReason", "BatchError", "CallGraphError", "CallNodeError", "ConnectivityWait",
            "EventLogError",
            "EventLogPolicy", "Interface", "MergeError", "NetworkStatus", "PagingLimits",
            "ClockSkew", "APIKeyAuthenticator", "AuthenticationChoice", "AuthenticationFailure",
            "BasicAuthenticator", "CredentialKey", "CredentialReason", "CredentialVersion", "DropReason", "ExpiryRule",
            "InFlightDecision", "InFlightPolicy", "InFlightReason", "Moment", "RefreshClaim", "RefreshPolicy",
            "Refused",
            "Scope", "SealingChoice", "Strategy", "VaultCondition", "VaultError", "ContentDisposition",
            "DownloadDestination",
            "DownloadedFile", "FileNameRules", "MediaType", "MultipartError", "Overwriting", "SourceFileError",
            "StorageFault", "TransferState",
            "Agreement", "PinError", "PinList", "PinReport", "PinReportLimiter",
            "PinSet", "PinVerdict", "PublicKeyPin", "Revocation", "Version", "AddressRanking", "Finding", "HostAddress",
            "HostAnswer", "HostCache", "HostSourceError", "Key", "StaticHosts",
            "ChannelReconnection", "Counts", "DatagramLimits", "FrameError", "FrameInput", "Heartbeat",
            "LengthPrefixCodec", "LineCodec", "Peer", "Role", "Subscription", "TCPOptions", "WebSocketCloseCode",
            "WebSocketClosure", "WebSocketDeflate", "WebSocketFailure", "WebSocketHandshake", "WebSocketLimits",
            "WebSocketOptions", "Width", "WireProtocol",
            "CookieFileError", "PublicSuffixList", "SameSite",
            "ResumableUploadError", "ResumableUploadPolicy", "ResumableUploadProtocol", "EventInterest",
        ],
        "names, numbers, dates and digests of the outbox": [
            "AfterFailure", "OutboxChange", "OutboxCipherUnavailable", "OutboxCounts", "OutboxDecider", "OutboxError",
            "OutboxFailure", "OutboxFate", "OutboxFold", "OutboxID", "OutboxLane", "OutboxLease", "OutboxOutcome",
            "OutboxOwner", "OutboxPolicy", "OutboxSelection", "OutboxState", "OutboxStep", "OutboxStoreError",
            "OutboxThrottle", "OutboxVerdict", "OutboxWait", "Reason", "Result", "Rule", "SignOut",
        ],
        "made of functions, or of nothing": [
            "Abilities", "BearerAuthenticator",
            "BackgroundTransfers", "Default", "Empty", "ErrorMapper", "False", "ParameterEncoder", "ParameterRule",
            "ParameterRules",
            "PenstockVersion", "RandomSource", "Redaction", "ResponseDecoding", "TimeSource", "True", "Validator",
            "Zero",
            "ClosureReformer", "ClosureInterceptor", "Members", "NullParameter", "State",
            "ClosureReformer", "CallGraph", "CallGroup", "CallNode", "PageSource", "PagedItems", "Pages",
            "RequestCompression",
        ],
        "all that it holds is behind a lock, or is among the values above": [
            "ChannelMessages", "DatagramChannel", "DatagramListener", "DatagramMachine", "ReplyChannel", "TCPChannel",
            "WebSocket", "WebSocketMachine", "WebSocketMessage", "DNSOverHTTPS", "DPoPProver", "HostResolver",
            "PinReporter", "RefreshContext",
            "BufferedContent", "Step", "Answer", "Call",
            "CallScope", "CallStream", "CallUpdate", "ContentPipe", "ExchangeControl", "Interpolation", "Iterator",
            "JSONLinesParser",
            "TieredCacheStore", "MemoryCacheStore", "StreamedLines", "Selector", "Kind", "ProxyPolicy", "Source",
            "EventLog", "Pager", "RequestMerger", "MemoryOutboxStore", "FileCookieStore", "Outbox", "OutboxReceipt",
            "OutboxToggle",
            "Configuration", "Update",
            "Values", "Receipt", "ResumableUpload", "StringInterpolation",
        ],
        "a value of the app's own, which prints as it does anywhere": ["PathArgument", "Item", "TransferList"],
        "a text for users, from the app or the server": ["BusinessCode", "LegacyEnvelope", "Presentation"],
    ]

    @Test func `every public type is among those that are tried, or is known to hold no secret`() async throws {
        let values = try await Self.values()
        let tried = values.map { String("\(type(of: $0))".prefix { $0 != "<" }) }
        let known = Self.harmless.values.reduce(Set(tried)) { $0.union($1) }
        let declared = try PrintedForms.publicTypes(ofTarget: "PenstockCore")
        #expect(declared.count > 100)
        #expect(declared.subtracting(known).sorted() == [])
    }
}
