import Foundation
import PenstockCore

/// What makes signatures: a shared secret, a private key at hand, or one in a place that it never leaves, such as the Secure
/// Enclave, for which an app conforms a type of its own.
public protocol SigningKey: Sendable {
    /// How it signs.
    var signatureAlgorithm: SignatureAlgorithm { get }

    /// The signature in the form of RFC 9421 §3.3.
    ///
    /// - Throws: whatever keeps it from signing; nothing is sent then.
    func sign(_ data: Data) async throws -> Data
}

/// How signatures are made, by the names of RFC 9421 §6.2.
public struct SignatureAlgorithm: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// An algorithm by its name; one that is not among those below is the business of the key that has it.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// HMAC with SHA-256 (RFC 9421 §3.3.3): both sides know the secret.
    public static let hmacSHA256 = SignatureAlgorithm(rawValue: "hmac-sha256")
    /// Ed25519 (RFC 9421 §3.3.6, RFC 8032).
    public static let ed25519 = SignatureAlgorithm(rawValue: "ed25519")
    /// ECDSA on P-256 with SHA-256 (RFC 9421 §3.3.4): r and s, 64 bytes together.
    public static let ecdsaP256SHA256 = SignatureAlgorithm(rawValue: "ecdsa-p256-sha256")

    public var description: String { rawValue }
}

/// A secret that client and server share, for HMAC with SHA-256. Nothing that prints it shows what is in it.
public struct SharedSecret: SigningKey, Hashable {
    let bytes: Data

    /// - Throws: ``CryptographyError/emptySecret`` for no bytes at all.
    public init(_ bytes: Data) throws(CryptographyError) {
        guard !bytes.isEmpty else { throw .emptySecret }
        self.bytes = bytes
    }

    /// A secret that is given out as text: its UTF-8.
    ///
    /// - Throws: as ``init(_:)`` does.
    public init(text: String) throws(CryptographyError) {
        try self.init(Data(text.utf8))
    }

    public var signatureAlgorithm: SignatureAlgorithm { .hmacSHA256 }

    /// The 32 bytes of the authentication code (RFC 2104).
    public func sign(_ data: Data) throws(CryptographyError) -> Data {
        try platformCryptography.authenticationCode(of: data, key: bytes, by: .sha256)
    }
}

/// A private key for Ed25519 (RFC 8032). Nothing that prints it shows more than that it is one.
public struct Ed25519PrivateKey: SigningKey, Hashable {
    let bytes: Data
    /// The 32 bytes that verifiers need.
    public let publicKey: Data

    /// - Parameter bytes: the 32 bytes of RFC 8032 §5.1.5, which JSON Web Keys call `d` (RFC 8037 §2).
    /// - Throws: ``CryptographyError/invalidKey`` for another number of bytes.
    public init(_ bytes: Data) throws(CryptographyError) {
        publicKey = try platformCryptography.ed25519PublicKey(of: bytes)
        self.bytes = bytes
    }

    public var signatureAlgorithm: SignatureAlgorithm { .ed25519 }

    /// 64 bytes: the same for the same data on Linux, while CryptoKit makes another valid signature each time.
    public func sign(_ data: Data) throws(CryptographyError) -> Data {
        try platformCryptography.signEd25519(data, privateKey: bytes)
    }
}

/// A private key for ECDSA on the curve P-256 (FIPS 186-5), which also proves possession of tokens (DPoP, RFC 9449).
///
/// ```swift
/// let key = try P256PrivateKey()            // or from a vault: P256PrivateKey(stored)
/// let prover = DPoPProver(key)
/// ```
///
/// Nothing that prints it shows more than that it is one.
public struct P256PrivateKey: SigningKey, DPoPKey, Hashable {
    /// The 32 bytes of the private number, to be kept where nobody else reads them.
    public let bytes: Data
    /// The coordinates x and y, 32 bytes each.
    public let publicPoint: Data

    /// A new key, from the machine's own randomness.
    ///
    /// - Throws: ``CryptographyError/unavailable``.
    public init() throws(CryptographyError) {
        try self.init(platformCryptography.makeP256PrivateKey())
    }

    /// - Parameter bytes: the private number in 32 bytes, which JSON Web Keys call `d` (RFC 7518 §6.2.2).
    /// - Throws: ``CryptographyError/invalidKey`` for another number of bytes, for 0, and for what is not below the curve's
    ///   order.
    public init(_ bytes: Data) throws(CryptographyError) {
        publicPoint = try platformCryptography.p256PublicKey(of: bytes)
        self.bytes = bytes
    }

    public var signatureAlgorithm: SignatureAlgorithm { .ecdsaP256SHA256 }

    /// `ES256` (RFC 7518 §3.4).
    public var algorithm: String { "ES256" }

    /// The public part as a JSON Web Key (RFC 7518 §6.2.1).
    public var publicKey: [String: String] {
        [
            "kty": "EC", "crv": "P-256", "x": publicPoint.prefix(32).base64URLText,
            "y": publicPoint.suffix(32).base64URLText,
        ]
    }

    /// 64 bytes, r and s: another signature each time.
    public func sign(_ data: Data) throws(CryptographyError) -> Data {
        try platformCryptography.signP256(data, privateKey: bytes)
    }
}

// MARK: Printing

extension SharedSecret: CustomStringConvertible, CustomReflectable {
    public var description: String { "a shared secret" }
    public var customMirror: Mirror { Mirror(self, children: [:] as KeyValuePairs<String, Any>, displayStyle: .struct) }
}

extension Ed25519PrivateKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "a private key for Ed25519" }
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey], displayStyle: .struct) }
}

extension P256PrivateKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "a private key for P-256" }
    public var customMirror: Mirror { Mirror(self, children: ["publicPoint": publicPoint], displayStyle: .struct) }
}

extension Data {
    /// Base64 in the alphabet of URLs, without padding (RFC 4648 §5).
    var base64URLText: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
