import Foundation
import PenstockCore

/// A public key on the curve P-256, which others seal for.
public struct P256PublicKey: Hashable, Sendable {
    /// The coordinates x and y, 32 bytes each.
    public let point: Data

    /// - Parameter point: the coordinates x and y, 32 bytes each.
    /// - Throws: ``CryptographyError/invalidKey`` for another number of bytes, and for a point that is not on the curve.
    public init(_ point: Data) throws(CryptographyError) {
        // The library looks whether the point is on the curve before it looks at a signature.
        _ = try platformCryptography.isValidP256(Data(count: 64), of: Data(), publicKey: point)
        self.point = point
    }

    /// A key from the text of a PEM file: `PUBLIC KEY` (RFC 5480), as `openssl pkey -pubout` writes it.
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for one on another curve, for a compressed point, which
    ///   `openssl ec -pubin -in key.pem -pubout -conv_form uncompressed -out new.pem` writes anew, and for no key or several.
    public init(pem: String) throws(CryptographyError) {
        try self.init(PrivateKeyFile.p256PublicKey(pem: pem))
    }

    /// A key from a JSON Web Key of the type `EC` (RFC 7518 §6.2.1), whose `kid` and `alg` are left out: ``SealingKey`` has
    /// those, ``SealingKey/init(jwk:encryption:)`` reads them.
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for one on another curve, for a point that is not on it, and for one that says
    ///   that it is not for encryption.
    public init(jwk: Data) throws(CryptographyError) {
        let key = try JSONWebKey(jwk)
        try key.require(
            type: "EC", curve: "P-256", use: "enc", operations: ["deriveKey", "deriveBits", "wrapKey"], needsNone: true,
            algorithms: [KeyManagement.ecdhES.rawValue, KeyManagement.ecdhESA256KW.rawValue])
        try self.init(key.p256Point())
    }

    /// The public part of a key, as ``P256PrivateKey/publicKey`` gives it.
    ///
    /// - Throws: as ``init(jwk:)-(Data)``.
    public init(jwk: [String: String]) throws(CryptographyError) {
        let json = try? JSONEncoder().encode(jwk)
        try self.init(jwk: json ?? Data())
    }
}

/// How the key that encrypts a message comes about (RFC 7518 §4), by the names that `alg` has for it.
public enum KeyManagement: String, Hashable, Sendable, CaseIterable {
    /// Both sides know the key that encrypts every message (§4.5).
    case direct = "dir"
    /// Both sides know a key that wraps a new one for each message (§4.4).
    case a256KW = "A256KW"
    /// A new key for each message, agreed on with the public key of who opens it (§4.6).
    case ecdhES = "ECDH-ES"
    /// The same, which wraps the key of the message (§4.6).
    case ecdhESA256KW = "ECDH-ES+A256KW"

    var agrees: Bool { self == .ecdhES || self == .ecdhESA256KW }
}

/// A key that messages are sealed with or opened with, and the one way in which it is used: what comes by another one is
/// refused, whatever its header says.
///
/// ```swift
/// let server = try SealingKey.agreement(with: P256PublicKey(pem: text), id: "server-2026")
/// let own = try SealingKey.agreement(P256PrivateKey(pem: text), id: "app-7")
/// let shared = try SealingKey.wrapping(bytes, id: "s1")
/// ```
///
/// What is sealed with a secret that both sides know comes from one of them. What is sealed by agreement may come from
/// anybody who knows the public key: there it is TLS alone, or a signature, that tells who sent it.
///
/// Nothing that prints it shows more than its name and its algorithms.
public struct SealingKey: Sendable, Hashable {
    /// Stands in the header of what it seals as `kid`, and says which key opens a message; `nil` for none.
    public let id: String?
    /// How the key of a message comes about.
    public let management: KeyManagement
    /// How the content of a message is encrypted.
    public let encryption: ContentEncryption
    let material: Material

    enum Material: Hashable {
        case secret(Data)
        case privateKey(P256PrivateKey)
        case publicKey(P256PublicKey)
    }

    private init(_ id: String?, _ management: KeyManagement, _ encryption: ContentEncryption, _ material: Material) {
        self.id = id
        self.management = management
        self.encryption = encryption
        self.material = material
    }

    /// A secret that encrypts every message itself (`dir`). With ``ContentEncryption/a256GCM`` no more than 2³² messages may be
    /// sealed with it, by both sides together: see ``wrapping(_:encryption:id:)`` for more.
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for other than 32 bytes.
    public static func direct(
        _ secret: Data, encryption: ContentEncryption = .a256GCM, id: String? = nil
    ) throws(CryptographyError) -> SealingKey {
        try KeyLength.require(secret, ContentEncryption.keySize)
        return SealingKey(id, .direct, encryption, .secret(secret))
    }

    /// A secret that wraps a new key for each message (`A256KW`).
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for other than 32 bytes.
    public static func wrapping(
        _ secret: Data, encryption: ContentEncryption = .a256GCM, id: String? = nil
    ) throws(CryptographyError) -> SealingKey {
        try KeyLength.require(secret, 32)
        return SealingKey(id, .a256KW, encryption, .secret(secret))
    }

    /// The public key of who opens what is sealed with it; it opens nothing itself.
    ///
    /// - Parameter wraps: whether the key that is agreed on wraps that of the message (`ECDH-ES+A256KW`), or encrypts it itself
    ///   (`ECDH-ES`); it does unless told otherwise.
    public static func agreement(
        with key: P256PublicKey, wraps: Bool = true, encryption: ContentEncryption = .a256GCM, id: String? = nil
    ) -> SealingKey {
        SealingKey(id, wraps ? .ecdhESA256KW : .ecdhES, encryption, .publicKey(key))
    }

    /// A private key that opens what was sealed with its public one.
    ///
    /// - Parameter wraps: as in ``agreement(with:wraps:encryption:id:)``.
    public static func agreement(
        _ key: P256PrivateKey, wraps: Bool = true, encryption: ContentEncryption = .a256GCM, id: String? = nil
    ) -> SealingKey {
        SealingKey(id, wraps ? .ecdhESA256KW : .ecdhES, encryption, .privateKey(key))
    }

    /// A key from a JSON Web Key (RFC 7517) with `alg`: one of ``KeyManagement``, or of ``ContentEncryption`` for one that is
    /// used directly. Its `kid` becomes its ``id``.
    ///
    /// - Parameter encryption: of the content, ``ContentEncryption/a256GCM`` unless told otherwise. Where `alg` names one, it is
    ///   that one.
    /// - Throws: ``CryptographyError/invalidKey`` for a key without `alg` or with another one, of another type or size, whose
    ///   public point is not on P-256 or not its own, or that says that it is not for encryption.
    public init(jwk: Data, encryption: ContentEncryption = .a256GCM) throws(CryptographyError) {
        let key = try JSONWebKey(jwk)
        guard let algorithm = try key.text("alg") else { throw .invalidKey }
        let named = ContentEncryption.allCases.first { $0.rawValue.isByteByByte(algorithm) }
        let known = KeyManagement.allCases.first { $0.rawValue.isByteByByte(algorithm) }
        guard let management = named == nil ? known : .direct else { throw .invalidKey }
        let encryption = named ?? encryption
        let id = try key.text("kid")
        guard management.agrees else {
            let operations =
                management == .direct ? ["encrypt", "decrypt"] : ["wrapKey", "unwrapKey"]
            try key.require(type: "oct", use: "enc", operations: operations, algorithms: [algorithm])
            let secret = try key.bytes("k")
            self =
                management == .direct
                ? try .direct(secret, encryption: encryption, id: id)
                : try .wrapping(secret, encryption: encryption, id: id)
            return
        }
        let wraps = management == .ecdhESA256KW
        guard key.has("d") else {
            // A public key of an agreement lists nothing, or what is made with it (RFC 7517 §4.3).
            try key.require(
                type: "EC", curve: "P-256", use: "enc", operations: ["deriveKey", "deriveBits", "wrapKey"],
                needsNone: true, algorithms: [algorithm])
            self = .agreement(with: try P256PublicKey(key.p256Point()), wraps: wraps, encryption: encryption, id: id)
            return
        }
        try key.require(
            type: "EC", curve: "P-256", use: "enc", operations: ["deriveKey", "deriveBits", "unwrapKey"],
            algorithms: [algorithm])
        let own = try P256PrivateKey(key.p256PrivateNumber())
        self = .agreement(own, wraps: wraps, encryption: encryption, id: id)
    }
}

extension SealingKey: CustomStringConvertible, CustomReflectable {
    /// Its name and its algorithms.
    public var description: String {
        "a key for \(management.rawValue) with \(encryption.rawValue)" + (id.map { ", \($0)" } ?? "")
    }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["id": id as Any, "management": management, "encryption": encryption], displayStyle: .struct
        )
    }
}
