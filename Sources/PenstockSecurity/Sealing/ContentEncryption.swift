import Foundation
import PenstockCore

/// How the content of a sealed message is encrypted (RFC 7518 §5), by the names that `enc` has for it. Both take a key of 32
/// bytes, and tell content that was changed.
public enum ContentEncryption: String, Hashable, Sendable, CaseIterable {
    /// AES-256 in Galois/Counter Mode (§5.3).
    case a256GCM = "A256GCM"
    /// AES-128 in CBC mode with HMAC-SHA256, 16 bytes of the key for each (§5.2.3).
    case a128CBCHS256 = "A128CBC-HS256"

    /// The length of a key, in bytes.
    static let keySize = 32
    /// The length of a tag, in bytes.
    private static let tagSize = 16

    private var ivSize: Int { self == .a256GCM ? 12 : 16 }

    /// What encryption makes of plain bytes.
    struct Sealed: Hashable {
        var iv: Data
        var bytes: Data
        var tag: Data
    }

    /// A fresh random initialization vector goes with every message: one that is used twice with a key gives the key away.
    func newIV() -> Data { Data.random(ivSize) }

    func encrypt(
        _ plain: Data, key: Data, iv: Data, authenticating data: Data
    ) throws(CryptographyError) -> Sealed {
        try KeyLength.require(key, Self.keySize)
        switch self {
        case .a256GCM:
            let sealed = try platformCryptography.seal(plain, key: key, nonce: iv, authenticating: data)
            return Sealed(iv: iv, bytes: sealed.bytes, tag: sealed.tag)
        case .a128CBCHS256:
            let bytes = try platformCryptography.encryptCBC(plain, key: Data(key.suffix(16)), iv: iv)
            return Sealed(iv: iv, bytes: bytes, tag: try Self.tag(of: bytes, key, iv, data))
        }
    }

    /// - Throws: ``CryptographyError/refused`` for everything that was not encrypted with the key. The tag is looked at before
    ///   a byte is decrypted, so that nobody learns from the padding.
    func decrypt(
        _ sealed: Sealed, key: Data, authenticating data: Data
    ) throws(CryptographyError) -> Data {
        guard sealed.iv.count == ivSize, sealed.tag.count == Self.tagSize else { throw .refused }
        switch self {
        case .a256GCM:
            return try platformCryptography.open(
                SealedBytes(bytes: sealed.bytes, tag: sealed.tag), key: key, nonce: sealed.iv, authenticating: data)
        case .a128CBCHS256:
            try KeyLength.require(key, Self.keySize)
            let tag = try Self.tag(of: sealed.bytes, key, sealed.iv, data)
            guard tag.isEqualInConstantTime(to: sealed.tag) else { throw .refused }
            return try platformCryptography.decryptCBC(sealed.bytes, key: Data(key.suffix(16)), iv: sealed.iv)
        }
    }

    /// The first half of the authentication code of all that must not change (RFC 7518 §5.2.2.1).
    private static func tag(of bytes: Data, _ key: Data, _ iv: Data, _ data: Data) throws(CryptographyError) -> Data {
        let bits = UInt64(data.count) * 8
        let length = Data((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) })
        let code = try platformCryptography.authenticationCode(
            of: data + iv + bytes + length, key: Data(key.prefix(16)), by: .sha256)
        return Data(code.prefix(tagSize))
    }
}

/// The key that two keys on P-256 agree on, made into one for a purpose (RFC 7518 §4.6.2, NIST SP 800-56A §5.8.2.1).
enum ConcatKDF {
    /// - Parameters:
    ///   - algorithm: what the key is for, by its name in the header.
    ///   - size: in bytes, 32 at most: then SHA-256 is asked once.
    static func key(
        from secret: Data, for algorithm: String, size: Int, partyU: Data = Data(), partyV: Data = Data()
    ) throws(CryptographyError) -> Data {
        guard (1...32).contains(size) else { throw .invalidKey }
        let parts = [number(1), secret] + [Data(algorithm.utf8), partyU, partyV].flatMap { [number($0.count), $0] }
        let input = parts.reduce(Data(), +) + number(size * 8)
        return Data(try platformCryptography.digest(input, by: .sha256).prefix(size))
    }

    /// A number in four bytes, the most significant one first.
    private static func number(_ value: Int) -> Data {
        Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
    }
}

extension Data {
    /// Random bytes from the machine's own randomness.
    static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Whether both have the same bytes, by a look at all of them: how long it takes tells nothing of where they differ.
    func isEqualInConstantTime(to other: Data) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
