import Foundation
import PenstockCore

/// Turns what a request carries into JSON Web Encryption, and opens what comes back.
///
/// ```swift
/// let sealer = JWESealer(sealing: .agreement(with: serverKey, id: "server-2026"), opening: [ownKey, ownOldKey])
/// let bank = Service(.bank, [.production: "https://bank.example.com"], sealer: sealer)
///
/// struct Transfer: Endpoint, Encodable {
///     …
///     var options: CallOptions { .sealed }        // or .plain, for one that is not
/// }
/// ```
///
/// - A body becomes a message of the media type `application/jose`, whose `cty` tells its own. A file or a stream is read into
///   memory for it.
/// - A query becomes one parameter, ``queryName``, whose value is a message with the `cty` `x-www-form-urlencoded`. One that is
///   that already stays as it is: a redirect may lead to another path with the query that was sent.
/// - A request without either is sent as it is. Method, path and fields are not sealed.
/// - Digests of the content (`Content-Digest`, `Repr-Digest`, `Digest`, `Content-MD5`) are left out beside a sealed
///   body, since a guess at the content could be tried by them, and of a response, since they speak of what came
///   sealed.
/// - A response of 200 to 299 must be of the media type `application/jose` and open with one of the keys, also where its content
///   is empty: who takes it away on the way must not make a success of that. Those to `HEAD`, 204 and 205 have none. What
///   comes with another status and is not sealed, such as a page of a proxy's, is not read: the status is told, without content.
///
/// Keys are changed by adding the new one to those that open, then sealing with it, then leaving the old one out. A message says
/// by `kid` which key it is for.
public struct JWESealer: Sealer {
    /// The name of the parameter that stands for the whole query; `payload` unless set.
    public var queryName = "payload"
    /// The longest body that is sealed, in bytes, since it is held in memory several times over; 16 MiB unless set.
    public var longestBody = 16 << 20
    /// What is made anew for each message.
    var randomness: @Sendable (SealingKey) throws(CryptographyError) -> JWE.Randomness = JWE.Randomness.init(for:)
    private let key: SealingKey
    private let openingKeys: [SealingKey]

    /// - Parameters:
    ///   - key: seals all that is sent.
    ///   - keys: of which one opens a response.
    public init(sealing key: SealingKey, opening keys: [SealingKey]) {
        self.key = key
        openingKeys = keys
    }

    /// A sealer for a secret that both sides know: it seals and opens.
    public init(_ key: SealingKey) {
        self.init(sealing: key, opening: [key])
    }

    static let mediaType = "application/jose"
    private static let queryType = "application/x-www-form-urlencoded"

    // MARK: Sealing

    public func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        var sealed = request
        if let query = request.url.query, !query.isEmpty, !isSealed(query) {
            let text = try JWE.seal(Data(query.utf8), with: key, contentType: Self.queryType, randomness(key))
            sealed.url = HTTPURL(
                origin: request.url.origin, path: request.url.path,
                query: queryStart + text)
        }
        guard !request.body.isNone else { return sealed }
        guard !request.fields.contains(.contentEncoding) else {
            throw APIError(.unsupported(feature: "a sealed body with a content coding"), stage: .seal)
        }
        let content = try await content(of: request.body)
        let text = try JWE.seal(content, with: key, contentType: request.fields[.contentType], randomness(key))
        sealed.body = .bytes(Data(text.utf8))
        sealed.fields[.contentType] = Self.mediaType
        // A digest speaks of the content in plain, and would tell whether a guess at it is right.
        sealed.fields = sealed.fields.withoutContentDigests()
        return sealed
    }

    private var queryStart: String { "\(PercentEncoding.escaped(queryName))=" }

    /// Whether a query is one message for the key and nothing else.
    private func isSealed(_ query: String) -> Bool {
        query.hasPrefix(queryStart) && JWE.isMessage(query.dropFirst(queryStart.count), for: key)
    }

    private func content(of body: HTTPBody) async throws -> Data {
        var content = Data()
        try await body.forEachPiece(at: .seal) { piece in
            guard piece.count <= longestBody - content.count else {
                throw APIError(.unsupported(feature: "a sealed body of more than \(longestBody) bytes"), stage: .seal)
            }
            content.append(piece)
        }
        return content
    }

    // MARK: Opening

    public func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse {
        let isSuccess = (200...299).contains(response.status)
        // What is not read, a redirect for example, comes without its content.
        if response.body.isEmpty, !isSuccess { return response }
        var opened = response
        // What digests there are speak of what came, in place of which another content is handed on.
        opened.fields = opened.fields.withoutContentDigests()
        opened.trailers = opened.trailers.withoutContentDigests()
        guard Self.isSealed(response) else {
            guard !isSuccess else { throw Self.refusal }
            opened.body = Data()
            opened.fields.remove(.contentType)
            opened.fields[.contentLength] = "0"
            return opened
        }
        guard let text = String(utf8: response.body),
            let message = try? JWE.open(text, with: openingKeys)
        else { throw Self.refusal }
        opened.body = message.content
        opened.fields[.contentType] = message.contentType
        opened.fields[.contentLength] = "\(message.content.count)"
        return opened
    }

    /// The same whatever was wrong, and with nothing underneath.
    private static var refusal: APIError { APIError(.decryption, stage: .seal, sendState: .answered) }

    private static func isSealed(_ response: HTTPResponse) -> Bool {
        let types = response.fields.values(of: .contentType)
        guard types.count == 1, let type = types.first else { return false }
        return type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() == mediaType
    }
}
