import Foundation

/// The cryptography that signing and sealing stand on: CryptoKit on Apple's systems, OpenSSL on Linux, and one suite of
/// vectors for both.
///
/// Everything goes in and comes out as bytes in the form that its standard writes, so that no type of a library is seen
/// above this line. A key, a nonce or a tag of another length than the standard's is refused before a library sees it.
package protocol Cryptography: Sendable {
    /// A digest of bytes that come in pieces (FIPS 180-4).
    func makeDigest(_ function: HashFunction) throws(CryptographyError) -> any RunningDigest

    /// HMAC (RFC 2104). The key may be of any length but none.
    func authenticationCode(
        of data: Data, key: Data, by function: HashFunction
    ) throws(CryptographyError) -> Data

    /// AES in Galois/Counter Mode (NIST SP 800-38D): a key of 16, 24 or 32 bytes and a nonce of 12.
    func seal(_ plain: Data, key: Data, nonce: Data, authenticating data: Data) throws(CryptographyError) -> SealedBytes

    /// The plain bytes.
    ///
    /// - Throws: ``CryptographyError/refused``, and nothing more telling, where the tag is not that of the bytes.
    func open(_ sealed: SealedBytes, key: Data, nonce: Data, authenticating data: Data) throws(CryptographyError)
        -> Data

    /// The 32 bytes of the public key that belongs to the 32 bytes of a private one (RFC 8032 §5.1.5).
    func ed25519PublicKey(of privateKey: Data) throws(CryptographyError) -> Data

    /// The 64 bytes of a signature (RFC 8032 §5.1.6).
    func signEd25519(_ data: Data, privateKey: Data) throws(CryptographyError) -> Data

    /// Whether a signature is that of the bytes (RFC 8032 §5.1.7); `false` for one of another length.
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for a key that is not in its one form, and for one of small order.
    func isValidEd25519(_ signature: Data, of data: Data, publicKey: Data) throws(CryptographyError) -> Bool

    /// A new private key on P-256: 32 bytes, from the machine's own randomness.
    func makeP256PrivateKey() throws(CryptographyError) -> Data

    /// The coordinates x and y, 64 bytes together, of the public key that belongs to the 32 bytes of a private one.
    func p256PublicKey(of privateKey: Data) throws(CryptographyError) -> Data

    /// ECDSA with SHA-256 (FIPS 186-5): r and s, 64 bytes together, as RFC 7518 §3.4 writes them.
    func signP256(_ data: Data, privateKey: Data) throws(CryptographyError) -> Data

    /// Whether a signature is that of the bytes; `false` for one of another length.
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for a point that is not on the curve.
    func isValidP256(_ signature: Data, of data: Data, publicKey: Data) throws(CryptographyError) -> Bool

    /// A key wrapped by another one (RFC 3394): eight bytes more. The key is whole blocks of eight bytes, two at least; the one
    /// that wraps it has 16, 24 or 32.
    func wrap(_ key: Data, by wrappingKey: Data) throws(CryptographyError) -> Data

    /// The key that was wrapped.
    ///
    /// - Throws: ``CryptographyError/refused`` where it was not wrapped by this key.
    func unwrap(_ wrapped: Data, by wrappingKey: Data) throws(CryptographyError) -> Data

    /// AES-128 in CBC mode (NIST SP 800-38A), padded to whole blocks (PKCS #7): a key and an initialization vector of 16 bytes.
    /// It does not tell content that was changed.
    func encryptCBC(_ plain: Data, key: Data, iv: Data) throws(CryptographyError) -> Data

    /// The plain bytes. To be asked only once it is known that nothing was changed, since what becomes of a wrong padding would
    /// tell the content byte by byte.
    ///
    /// - Throws: ``CryptographyError/refused`` where the padding is none.
    func decryptCBC(_ bytes: Data, key: Data, iv: Data) throws(CryptographyError) -> Data

    /// The x coordinate, 32 bytes, that both sides of an agreement on P-256 come to (NIST SP 800-56A §5.7.1.2).
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for a point that is not on the curve.
    func agreeP256(privateKey: Data, publicKey: Data) throws(CryptographyError) -> Data
}

/// A digest under way.
package protocol RunningDigest {
    mutating func update(_ data: Data) throws(CryptographyError)
    /// The digest of all that was given; called once, last of all.
    mutating func finish() throws(CryptographyError) -> Data
}

/// What AES-GCM makes of plain bytes.
package struct SealedBytes: Hashable, Sendable {
    /// The sealed bytes, as many as the plain ones.
    package var bytes: Data
    /// 16 bytes.
    package var tag: Data

    package init(bytes: Data, tag: Data) {
        self.bytes = bytes
        self.tag = tag
    }
}

/// The hash functions that signatures and digests use (FIPS 180-4).
public enum HashFunction: String, Hashable, Sendable, CaseIterable {
    /// 32 bytes.
    case sha256 = "sha-256"
    /// 64 bytes.
    case sha512 = "sha-512"
}

/// Why something cannot be signed, checked, sealed or opened. It tells nothing of what a key or a message holds.
@nonexhaustive
public enum CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key has not the form or the length that its algorithm asks for, or is a point that is not on the curve.
    case invalidKey
    /// A secret of no bytes, which everybody knows.
    case emptySecret
    /// A password protects the key. Take that off first: `openssl pkey -in key.pem -out plain.pem`.
    case encryptedKey
    /// A nonce or a tag of another length than the algorithm's.
    case invalidInput
    /// What was to be opened is not what was sealed with the key.
    case refused
    /// The library failed: there is no memory, or it does not know the algorithm.
    case unavailable

    public var description: String {
        switch self {
        case .invalidKey: "the key is not one for the algorithm"
        case .emptySecret: "the secret has no bytes: what it is read from is empty"
        case .encryptedKey: "a password protects the key, which has to be taken off first"
        case .invalidInput: "a nonce or a tag is of the wrong length"
        case .refused: "the content is not what was sealed with the key"
        case .unavailable: "the cryptographic library failed"
        }
    }
}

extension Cryptography {
    /// The digest of bytes that are all there.
    package func digest(_ data: Data, by function: HashFunction) throws(CryptographyError) -> Data {
        var digest = try makeDigest(function)
        try digest.update(data)
        return try digest.finish()
    }
}

/// The lengths that are checked before a library is asked, so that both libraries refuse the same.
enum KeyLength {
    static func require(_ key: Data, _ lengths: Int...) throws(CryptographyError) {
        guard lengths.contains(key.count) else { throw .invalidKey }
    }

    static func requireSome(_ key: Data) throws(CryptographyError) {
        guard !key.isEmpty else { throw .invalidKey }
    }

    /// Requires a number from 1 up to the order of P-256, which is none any more (FIPS 186-5 §A.2).
    static func requireP256Scalar(_ key: Data) throws(CryptographyError) {
        guard key.count == 32, key.contains(where: { $0 != 0 }), key.lexicographicallyPrecedes(p256Order) else {
            throw .invalidKey
        }
    }

    /// A point in its one form (RFC 8032 §5.1.3) whose order is not small. Under one of those eight, which no private key has,
    /// anybody can sign, and one signature holds for many messages; both libraries take them.
    static func requireEd25519Point(_ key: Data) throws(CryptographyError) {
        try require(key, 32)
        // The topmost bit is the sign of x, and none of y.
        var y = Array(key)
        y[31] &= 0x7F
        guard y.reversed().lexicographicallyPrecedes(ed25519Prime.reversed()), !smallOrders.contains(y) else {
            throw .invalidKey
        }
    }

    /// 2²⁵⁵ - 19, least byte first.
    private static let ed25519Prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

    /// The y of the points of order 1, 2, 4 and 8, least byte first.
    private static let smallOrders: [[UInt8]] = [
        [1] + [UInt8](repeating: 0, count: 31), [0xEC] + ed25519Prime.dropFirst(), [UInt8](repeating: 0, count: 32),
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    /// The number of points on the curve (NIST SP 800-186 §3.2.1.3).
    private static let p256Order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    static func requireNonce(_ nonce: Data) throws(CryptographyError) {
        guard nonce.count == 12 else { throw .invalidInput }
    }

    static func requireBlock(_ iv: Data) throws(CryptographyError) {
        guard iv.count == 16 else { throw .invalidInput }
    }

    /// Whole blocks of eight bytes, two at least (RFC 3394 §2.2).
    static func requireWrappable(_ count: Int) throws(CryptographyError) {
        guard count >= 16, count % 8 == 0 else { throw .invalidInput }
    }

    static func requireTag(_ tag: Data) throws(CryptographyError) {
        guard tag.count == 16 else { throw .invalidInput }
    }
}

extension Data {
    /// Two digits for each byte, in small letters.
    var hexadecimal: String {
        map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
