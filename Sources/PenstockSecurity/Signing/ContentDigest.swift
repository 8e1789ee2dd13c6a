import Foundation
import PenstockCore

/// The digest of what a request carries, and the field that tells it (RFC 9530).
public enum ContentDigest {
    /// The value of `Content-Digest`: `sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:` (RFC 9530 §2).
    public static func fieldValue(_ digest: Data, _ function: HashFunction) -> String {
        "\(function.rawValue)=:\(digest.base64EncodedString()):"
    }

    /// The digest of a body; that of no bytes where there is none. A file and a stream are read once for it, in pieces, and
    /// once more when they are sent.
    ///
    /// - Throws: ``APIError/Kind/unsupported(feature:)`` for a body that can be read only once; an error of the file or of the
    ///   stream as ``APIError/Kind/transport(_:)`` with ``APIError/TransportFault/requestBody``; ``CryptographyError``.
    public static func digest(of body: HTTPBody, by function: HashFunction) async throws -> Data {
        var digest = try platformCryptography.makeDigest(function)
        if case .stream = body.source, !body.isReplayable {
            throw APIError(.unsupported(feature: "the signature of a body that can be read only once"), stage: .sign)
        }
        try await body.forEachPiece(at: .sign) { try digest.update($0) }
        return try digest.finish()
    }
}

extension HTTPFieldName {
    /// The digest of the content as it is sent (RFC 9530 §2).
    public static let contentDigest: HTTPFieldName = "Content-Digest"
    /// What a signature covers, and its parameters (RFC 9421 §4.1).
    public static let signatureInput: HTTPFieldName = "Signature-Input"
    /// The signatures (RFC 9421 §4.2).
    public static let signature: HTTPFieldName = "Signature"
}
