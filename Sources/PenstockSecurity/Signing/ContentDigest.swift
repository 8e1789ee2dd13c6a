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
        switch body.source {
        case .none: break
        case .bytes(let data): try digest.update(data)
        case .file(let url):
            let file = try readable { try FileHandle(forReadingFrom: url) }
            defer { try? file.close() }
            while let piece = try readable({ try file.read(upToCount: pieceSize) }), !piece.isEmpty {
                try Task.checkCancellation()
                try digest.update(piece)
            }
        case .stream(let open):
            guard body.isReplayable else {
                throw APIError(
                    .unsupported(feature: "the signature of a body that can be read only once"), stage: .sign)
            }
            var pieces = try readable { try open() }.makeAsyncIterator()
            while let piece = try await nextPiece(&pieces) { try digest.update(piece) }
        @unknown default:
            throw APIError(.unsupported(feature: "the signature of a body of an unknown kind"), stage: .sign)
        }
        return try digest.finish()
    }

    /// Of a file, at once: as much as is cheap to hold, and enough that the calls do not count.
    private static let pieceSize = 65_536

    private static func nextPiece(_ pieces: inout HTTPBody.Chunks.Iterator) async throws -> Data? {
        do {
            return try await pieces.next()
        } catch {
            throw unreadable(error)
        }
    }

    private static func readable<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw unreadable(error) }
    }

    private static func unreadable(_ error: any Error) -> any Error {
        if error is CancellationError || error is APIError { return error }
        return APIError(.transport(.requestBody), stage: .sign, sendState: .unsent, underlying: error)
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
