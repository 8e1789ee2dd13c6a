import Foundation

/// What of a request says on whose behalf it is made: `Authorization`, `Cookie`, and every other field that
/// ``Redaction`` takes for a secret. What stands in the URL is not among them, since the URL is part of a cache key as it is.
struct RequestCredentials: Sendable {
    /// Names and values in one order and one form; empty when there are none.
    let text: [UInt8]

    /// - Parameter cookies: the value of the `Cookie` field that will be joined to the request's own.
    init(_ request: HTTPRequest, _ cookies: String? = nil) {
        // Most requests of those who name nobody have none.
        let fields = request.fields
        guard cookies != nil || fields.indices.contains(where: { Self.isCredential(fields[$0].name) }) else {
            text = []
            return
        }
        var found = request.fields.filter { Self.isCredential($0.name) }
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

    /// What was found out about other names. Few are ever used.
    private static let known = Locked<[HTTPFieldName: Bool]>([:])

    private static func isCredential(_ name: HTTPFieldName) -> Bool {
        if ordinary.contains(name) { return false }
        if let answer = known.withLock({ $0[name] }) { return answer }
        let answer = Redaction.isSecret(name)
        known.withLock { known in
            if known.count >= 512 { known.removeAll() }
            known[name] = answer
        }
        return answer
    }

    // MARK: URL and content

    /// The query parameters that are secrets by their names, in an order of their own.
    static func parameters(of url: HTTPURL) -> [Substring] {
        (url.query ?? "").split(separator: "&")
            .filter { Redaction.isSecret(parameter: $0.prefix { $0 != "=" }) }.sorted()
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

    /// Whether a request was sent with the credentials that were seen when it was looked up, and with no other ones.
    func isOwner(of sent: HTTPRequest, asked: HTTPRequest) -> Bool {
        let expected: [UInt8]
        switch self {
        case .identity: return true
        case .nobody:
            // As it was made, by far the most often: it was looked at then.
            if sent.isCopy(of: asked) { return true }
            expected = []
        case .bearer(let credentials, _): expected = credentials.text
        case .locked: return false
        }
        guard RequestCredentials(sent).text == expected else { return false }
        if sent.url != asked.url,
            RequestCredentials.parameters(of: sent.url) != RequestCredentials.parameters(of: asked.url)
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

    /// That of the value of one field; `nil` while the key is not known.
    func digest(of value: String, in name: String) -> String? {
        state.withLock { $0.key }.map { SHA256.hex(Array(name.utf8) + [0] + Array(value.utf8), key: $0) }
    }

    /// Whether the key is known.
    var isUnlocked: Bool { state.withLock { $0.key != nil } }

    /// Those of nobody, whose key is never known: for what is decided on apart from a store.
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
