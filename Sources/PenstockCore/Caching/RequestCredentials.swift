import Foundation

/// The parts of a request that say on whose behalf it is made: `Authorization`, `Cookie`, every other field of which ``Redaction``
/// would hide something, by its name or in its value, and those that ``OwnerName`` or a UUID shows to name a user, an account or a device.
/// What stands in the URL is not among them, since the URL is part of a cache key as it is.
struct RequestCredentials: Sendable {
    /// Names and values in one order and one form; empty when there are none.
    let text: [UInt8]

    /// - Parameter cookies: the value of the `Cookie` field that will be joined to the request's own.
    init(_ request: HTTPRequest, _ cookies: String? = nil) {
        // Most requests of those who name nobody have none.
        let fields = request.fields
        guard cookies != nil || fields.indices.contains(where: { Self.isCredential(fields[$0]) }) else {
            text = []
            return
        }
        var found = request.fields.filter(Self.isCredential)
            .map { (name: $0.name.text.lowercased(), value: $0.value) }
        if let cookies {
            let own = found.filter { $0.name == "cookie" }.map(\.value)
            found.removeAll { $0.name == "cookie" }
            found.append((name: "cookie", value: (own + [cookies]).joined(separator: "; ")))
        }
        // Lines of one name keep their order, in which they mean something.
        let ordered = found.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        text = ordered.flatMap { Array($0.element.name.utf8) + [0] + Array($0.element.value.utf8) + [0] }
    }

    var isEmpty: Bool { text.isEmpty }

    // MARK: Fields

    /// Fields that nearly every request has, so that their names need not be looked at. The most frequent come first.
    private static let ordinary: HTTPFieldNames = [
        .accept, .userAgent, .acceptLanguage, .contentType, .acceptEncoding, .cacheControl, .ifModifiedSince,
        .ifNoneMatch, .range,
    ]

    /// Other fields that say nothing of a user, however random their values: those that speak of the exchange, of the content,
    /// or of one request among others.
    private static let harmless: HTTPFieldNames = [
        "Baggage", "B3", "Connection", "Date", "Digest", "DNT", "Early-Data", "Expect", "Host", "Idempotency-Key",
        .ifMatch,
        .ifRange, .ifUnmodifiedSince, "Keep-Alive", "Last-Event-ID", "Max-Forwards", "Origin", .pragma, "Prefer",
        "Priority", "Referer", "Repr-Digest", "Request-Id", "Save-Data", "Sentry-Trace", "TE", "Traceparent",
        "Tracestate",
        "Trailer", "Transfer-Encoding", "Uber-Trace-Id", "Upgrade", "Upgrade-Insecure-Requests", "Via",
        "Want-Content-Digest", "Want-Repr-Digest", "X-Amzn-Trace-Id", "X-B3-Flags", "X-B3-ParentSpanId", "X-B3-Sampled",
        "X-B3-SpanId", "X-B3-TraceId", "X-Cloud-Trace-Context", "X-Correlation-Id", "X-Request-Id", "X-Requested-With",
        "X-Trace-Id",
    ]

    /// What the name of a field says of its value.
    private enum Meaning: Sendable {
        case harmless, secret
        /// It names one request among others, and is another one each time: only what is surely a secret in it counts.
        case passing
        /// Nothing: it may be anybody's way to name a user.
        case unknown
    }

    /// What was found out about names that are not ordinary. Few are ever used.
    private static let known = Locked<[HTTPFieldName: Meaning]>([:])

    private static func meaning(of name: HTTPFieldName) -> Meaning {
        if ordinary.contains(name) { return .harmless }
        if let answer = known.withLock({ $0[name] }) { return answer }
        let answer = lookedUp(name)
        known.withLock { known in
            if known.count >= 512 { known.removeAll() }
            known[name] = answer
        }
        return answer
    }

    private static func lookedUp(_ name: HTTPFieldName) -> Meaning {
        if Redaction.isSecret(name) { return .secret }
        let text = name.text.lowercased()
        if harmless.contains(name) || text.hasPrefix("accept-") || text.hasPrefix("content-") { return .harmless }
        switch OwnerName.meaning(of: name.text) {
        case .owner: return .secret
        case .exchange: return .passing
        case nil: return .unknown
        }
    }

    private static func isCredential(_ field: HTTPField) -> Bool {
        switch meaning(of: field.name) {
        case .harmless: false
        case .secret: true
        case .passing: hidesSecret(field.value)
        case .unknown:
            SecretShape.holdsUUID(field.value) || Redaction.hides(field.value, in: field.name)
        }
    }

    /// Whether there is a secret in a value that may be random.
    private static func hidesSecret(_ value: String) -> Bool { RedactedText.make(of: value, byShape: false) != value }

    /// Whether a stage on the way has set a field that may name a user, whatever it is called.
    static func mayHaveBeenAdded(to asked: HTTPFields, in sent: HTTPFields) -> Bool {
        guard !sent.isWritten(as: asked) else { return false }
        return sent.contains { field in
            // The others are seen for what they are, and stand among the credentials where they name somebody.
            guard case .unknown = meaning(of: field.name) else { return false }
            return sent.values(of: field.name).map(ExactText.init) != asked.values(of: field.name).map(ExactText.init)
        }
    }

    // MARK: URL and content

    /// The query parameters that are secrets by their names, or that look like it, in an order of their own.
    ///
    /// - Parameter isSealed: whether the query is sealed, so that its values are random by nature.
    static func parameters(of url: HTTPURL, isSealed: Bool = false) -> [Substring] {
        (url.query ?? "").split(separator: "&")
            .filter { parameter in
                let name = parameter.prefix { $0 != "=" }
                return Redaction.isSecret(parameter: name)
                    || !isSealed && Redaction.looksSecret(parameter.dropFirst(name.count + 1))
            }
            .sorted()
    }

    /// Whether a request's content may hold a secret: a form or JSON with a name that says so, or what cannot be looked
    /// into, such as a file.
    static func mayStand(in request: HTTPRequest) -> Bool {
        switch request.body.source {
        case .none: false
        case .file, .stream: true
        case .bytes(let data): hasSecretName(data, request.fields[.contentType]?.lowercased() ?? "")
        }
    }

    private static func hasSecretName(_ content: Data, _ type: String) -> Bool {
        if content.isEmpty || type.hasPrefix("text/") { return false }
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return content.split(separator: UInt8(ascii: "&")).contains { pair in
                isSecret(String(decoding: pair.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
            }
        }
        guard type.contains("json"), let value = try? Payload(content).json() else { return true }
        return hasSecretName(value)
    }

    private static func hasSecretName(_ value: JSONValue) -> Bool {
        if let object = value.object { return object.contains { isSecret($0.key) || hasSecretName($0.value) } }
        return value.array?.contains(where: hasSecretName) ?? false
    }

    private static func isSecret(_ name: String) -> Bool {
        Redaction.isSecret(parameter: name.removingPercentEncoding ?? name)
    }
}

/// Whose a request is, as far as the cache can see: what parts one user's stored responses from another's.
enum CacheOwner: Sendable {
    /// The client names a user, whose partition keeps them apart. What is sent on the user's behalf is the client's matter.
    case identity
    /// The client names nobody, and the request carries no credentials.
    case nobody
    /// The client names nobody, so the credentials do, by their digest.
    case bearer(RequestCredentials, String)
    /// The same while the key of the digests is not known yet.
    case locked

    var credentialDigest: String? {
        if case .bearer(_, let digest) = self { digest } else { nil }
    }

    var isLocked: Bool {
        if case .locked = self { true } else { false }
    }

    /// Whether the client names a user.
    var isNamed: Bool {
        if case .identity = self { true } else { false }
    }

    /// Whether a request was sent with the credentials that were seen when it was looked up, and with nothing more that may name
    /// a user: a field that a stage on the way has set may do so whatever it is called.
    ///
    /// - Parameter isSealed: whether the request was sealed on the way.
    func isOwner(of sent: HTTPRequest, asked: HTTPRequest, isSealed: Bool = false) -> Bool {
        let expected: [UInt8]
        switch self {
        case .identity: return true
        case .nobody:
            // By far the most often it is as it was made: it was looked at then.
            if sent.isCopy(of: asked) { return true }
            expected = []
        case .bearer(let credentials, _): expected = credentials.text
        case .locked: return false
        }
        guard RequestCredentials(sent).text == expected,
            !RequestCredentials.mayHaveBeenAdded(to: asked.fields, in: sent.fields)
        else { return false }
        if sent.url != asked.url,
            RequestCredentials.parameters(of: sent.url, isSealed: isSealed)
                != RequestCredentials.parameters(of: asked.url, isSealed: isSealed)
        {
            return false
        }
        return Self.isSame(sent.body, asked.body) || !RequestCredentials.mayStand(in: sent)
    }

    private static func isSame(_ sent: HTTPBody, _ asked: HTTPBody) -> Bool {
        switch (sent.source, asked.source) {
        case (.none, .none), (.stream, .stream): true
        case (.bytes(let left), .bytes(let right)): left == right
        case (.file(let left), .file(let right)): left == right
        default: false
        }
    }
}

/// Digests that stand for credentials in a store. They are keyed, so that a token cannot be guessed from what is stored,
/// and remembered, since calls seldom change their credentials.
final class CredentialDigests: Sendable {
    private struct State: Sendable {
        var key: Data?
        var digests: [[UInt8]: String] = [:]
    }

    private let state = Locked(State())

    /// `nil` while the key is not known.
    func digest(of credentials: RequestCredentials) -> String? {
        let (key, known) = state.withLock { ($0.key, $0.digests[credentials.text]) }
        guard let key else { return nil }
        if let known { return known }
        let digest = SHA256.hex(credentials.text, key: key)
        state.withLock { state in
            if state.digests.count >= 64 { state.digests.removeAll() }
            state.digests[credentials.text] = digest
        }
        return digest
    }

    /// The digest of the value of one field; `nil` while the key is not known.
    func digest(of value: String, in name: String) -> String? {
        state.withLock { $0.key }.map { SHA256.hex(Array(name.utf8) + [0] + Array(value.utf8), key: $0) }
    }

    /// Whether the key is known.
    var isUnlocked: Bool { state.withLock { $0.key != nil } }

    /// The digests of nobody, whose key is never known: for what is decided on apart from a store.
    static let locked = CredentialDigests()

    /// Takes the key of the store, or one of its own where the store has none. The first one stays.
    func unlock(with key: Data?) {
        let key = key.flatMap { $0.count < 16 ? nil : $0 } ?? Self.newKey()
        state.withLock { if $0.key == nil { $0.key = key } }
    }

    /// 32 bytes of the system's random numbers.
    static func newKey() -> Data {
        Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    }
}
