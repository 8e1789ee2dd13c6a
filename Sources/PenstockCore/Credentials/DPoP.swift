import Foundation

/// A key that a device proves to have: the private part signs and never leaves its place.
public protocol DPoPKey: Sendable {
    /// How it signs, as JSON Web Signatures call it: `ES256`.
    var algorithm: String { get }
    /// The public part as a JSON Web Key (RFC 7517): `kty`, `crv`, `x`, `y`. Nothing private may stand in it.
    var publicKey: [String: String] { get }

    /// - Returns: the signature as JSON Web Signatures have it (RFC 7515): for `ES256` the 32 bytes of R and the 32 of S.
    func sign(_ data: Data) throws -> Data
}

/// Makes the proofs that bind a token to a key (DPoP, RFC 9449): each is for one request, and none is used twice.
///
/// ``OAuth2Authenticator`` does with it all that there is to do, but for the first token, which the app's own login asks for:
///
/// ```swift
/// var request = HTTPRequest(method: .post, url: tokenURL, body: form)
/// var response: HTTPResponse
/// var count = 0
/// repeat {
///     request.fields[.dpop] = try prover.proof(method: .post, url: tokenURL, token: nil, at: Date())
///     response = try await client.send(request, options: .anonymous).http
///     count += 1
/// } while prover.note(response, to: request) && count < 2
/// ```
///
/// A class, since it remembers the nonces that servers give out.
public final class DPoPProver: Sendable {
    private let key: any DPoPKey
    private let random: RandomSource
    private let nonces = Locked(RecentNonces())

    /// - Parameter random: for the names of proofs; the machine's own unless told otherwise.
    public init(_ key: any DPoPKey, random: RandomSource = .system) {
        self.key = key
        self.random = random
    }

    /// A proof for one request (RFC 9449 §4.2), with the nonce that its server gave out last.
    ///
    /// - Parameter token: the access token that the request carries; `nil` for one to the token endpoint.
    public func proof(method: HTTPMethod, url: HTTPURL, token: String?, at date: Date) throws -> String {
        let header = Header(alg: key.algorithm, jwk: key.publicKey)
        var claims = Claims(
            jti: [random.next(), random.next()].map { String($0, radix: 16) }.joined(),
            htm: method.rawValue, htu: url.origin.text + url.path, iat: Int64(date.timeIntervalSince1970.rounded(.down))
        )
        claims.ath = token.map { SHA256.bytes($0.utf8).base64URL }
        claims.nonce = nonces.withLock { $0.nonce(for: url.origin) }
        let signed = try [encoded(header), encoded(claims)].joined(separator: ".")
        return try signed + "." + key.sign(Data(signed.utf8)).base64URL
    }

    private func encoded(_ part: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(part).base64URL
    }

    /// Remembers the nonce of a response, whatever its status, for the next proof to the same origin (RFC 9449 §8.2).
    ///
    /// - Returns: whether the server wants the request once more, with a proof that has the nonce: a 401 whose challenge says so, or
    ///   the 400 of a token endpoint (RFC 9449 §8, §9). A server may say so for ever: one more time is enough.
    @discardableResult
    public func note(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard let nonce = response.fields[.dpopNonce], !nonce.isEmpty else { return false }
        return nonces.withLock { $0.note(nonce, for: request.url.origin) } && Self.wantsNonce(response)
    }

    private static func wantsNonce(_ response: HTTPResponse) -> Bool {
        switch response.status {
        case 401:
            Challenge.all(in: response.fields).contains {
                $0.scheme == "dpop" && $0.parameters["error"] == "use_dpop_nonce"
            }
        case 400: (try? Payload(response.body).json())?["error"]?.word == "use_dpop_nonce"
        default: false
        }
    }

    private struct Header: Encodable {
        let typ = "dpop+jwt"
        let alg: String
        let jwk: [String: String]
    }

    private struct Claims: Encodable {
        let jti: String
        let htm: String
        /// The URL of the request without query and fragment.
        let htu: String
        let iat: Int64
        var ath: String?
        var nonce: String?
    }
}

extension HTTPFieldName {
    /// The proof (RFC 9449 §4.1).
    public static let dpop: HTTPFieldName = "DPoP"
    /// What the next proof must hold (RFC 9449 §8).
    public static let dpopNonce: HTTPFieldName = "DPoP-Nonce"
}

/// The last nonce of each server, of a few servers.
private struct RecentNonces: Sendable {
    /// More than the origins that one key is shown to.
    private static let limit = 32
    private static let longest = 1_024

    private var nonces: [HTTPURL.Origin: String] = [:]
    private var order: [HTTPURL.Origin] = []

    func nonce(for origin: HTTPURL.Origin) -> String? { nonces[origin] }

    /// - Returns: whether it was taken; one that is absurdly long is not.
    mutating func note(_ nonce: String, for origin: HTTPURL.Origin) -> Bool {
        guard nonce.utf8.count <= Self.longest else { return false }
        if nonces.updateValue(nonce, forKey: origin) == nil { order.append(origin) }
        if order.count > Self.limit { nonces[order.removeFirst()] = nil }
        return true
    }
}

extension Data {
    /// Base64 in the alphabet of URLs, without padding (RFC 4648 §5).
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
