import Foundation
import PenstockCore

/// A key in JSON (RFC 7517), as far as this package uses keys.
///
/// Read strictly: no member stands twice, bytes have their one form in base64, and a key that says what it is meant for is
/// used for nothing else.
struct JSONWebKey {
    private let members: [String: JSONValue]

    init(_ json: Data) throws(CryptographyError) {
        // A key has no structure but a list of what it may do.
        guard let members = JSONValue.strict(json, maximumDepth: 4)?.object else { throw .invalidKey }
        self.members = members
    }

    /// A member that is a text, compared and handed on byte by byte: Swift takes texts for equal that Unicode does.
    func text(_ name: String) throws(CryptographyError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw .invalidKey }
        return text
    }

    /// A member that must be there, as bytes.
    func bytes(_ name: String) throws(CryptographyError) -> Data {
        guard let text = try text(name), let bytes = Base64URL.decoded(text) else { throw .invalidKey }
        return bytes
    }

    /// Whether the key has a member.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// Checks the type of the key, its curve, and that it may be used so (RFC 7517 §4.2 to §4.4).
    ///
    /// - Parameters:
    ///   - use: `sig` or `enc`.
    ///   - operations: one of which it has to allow, where it lists any.
    ///   - needsNone: whether a list of nothing will do as well.
    ///   - algorithms: one of which it has to be for, where it names one.
    func require(
        type: String, curve: String? = nil, use: String, operations: [String], needsNone: Bool = false,
        algorithms: [String]
    ) throws(CryptographyError) {
        guard let found = try text("kty"), found.isByteByByte(type) else { throw .invalidKey }
        if let curve {
            guard let found = try text("crv"), found.isByteByByte(curve) else { throw .invalidKey }
        }
        if let found = try text("use"), !found.isByteByByte(use) { throw .invalidKey }
        if let found = try text("alg"), !algorithms.contains(where: found.isByteByByte) { throw .invalidKey }
        if let listed = members["key_ops"] { try requireOperations(listed, of: operations, needsNone, use) }
    }

    /// A list of operations names none twice, and agrees with the use, where both are there (RFC 7517 §4.3).
    private func requireOperations(
        _ listed: JSONValue, of operations: [String], _ needsNone: Bool, _ use: String
    ) throws(CryptographyError) {
        guard let values = listed.array else { throw .invalidKey }
        let names = values.compactMap(\.string).map { Array($0.utf8) }
        guard names.count == values.count, Set(names).count == names.count else { throw .invalidKey }
        let isListed = operations.contains { names.contains(Array($0.utf8)) }
        guard isListed || needsNone && names.isEmpty else { throw .invalidKey }
        guard members["use"] != nil else { return }
        let others = use == "sig" ? Self.ofEncryption : Self.ofSignatures
        guard !others.contains(where: { names.contains(Array($0.utf8)) }) else { throw .invalidKey }
    }

    private static let ofSignatures = ["sign", "verify"]
    private static let ofEncryption = ["encrypt", "decrypt", "wrapKey", "unwrapKey", "deriveKey", "deriveBits"]

    /// The private number on P-256, whose public point, which must be there, has to be its own (RFC 7518 §6.2.2).
    func p256PrivateNumber() throws(CryptographyError) -> Data {
        let number = try bytes("d")
        guard try platformCryptography.p256PublicKey(of: number) == p256Point() else { throw .invalidKey }
        return number
    }

    /// The coordinates of a public point, each in 32 bytes (RFC 7518 §6.2.1).
    func p256Point() throws(CryptographyError) -> Data {
        let (x, y) = (try bytes("x"), try bytes("y"))
        guard x.count == 32, y.count == 32 else { throw .invalidKey }
        return x + y
    }
}

extension P256PrivateKey {
    /// A key from the text of a PEM file: `PRIVATE KEY` (PKCS #8) or `EC PRIVATE KEY` (SEC 1), as
    /// `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` writes it.
    ///
    /// - Throws: ``CryptographyError/encryptedKey`` for one that a password protects; ``CryptographyError/invalidKey``
    ///   for one on another curve, for one whose public point is not its own, for one whose public point is compressed, which
    ///   `openssl ec -in key.pem -conv_form uncompressed -out new.pem` writes anew, and for no key or several.
    public init(pem: String) throws(CryptographyError) {
        try self.init(PrivateKeyFile.p256(pem: pem))
    }

    /// A key from a JSON Web Key of the type `EC` (RFC 7518 §6.2.2).
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for one on another curve, without `d`, whose `x` and `y` are not its own,
    ///   or that says that it is not for signatures.
    public init(jwk: Data) throws(CryptographyError) {
        let key = try JSONWebKey(jwk)
        try key.require(type: "EC", curve: "P-256", use: "sig", operations: ["sign"], algorithms: ["ES256"])
        try self.init(key.p256PrivateNumber())
    }
}

extension Ed25519PrivateKey {
    /// A key from the text of a PEM file: `PRIVATE KEY` (RFC 8410), as `openssl genpkey -algorithm ED25519` writes it.
    ///
    /// - Throws: ``CryptographyError/encryptedKey`` for one that a password protects; ``CryptographyError/invalidKey``
    ///   for one of another kind, for one with a public key that is not its own, and for no key or several.
    public init(pem: String) throws(CryptographyError) {
        try self.init(PrivateKeyFile.ed25519(pem: pem))
    }

    /// A key from a JSON Web Key of the type `OKP` (RFC 8037 §2).
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for one on another curve, without `d`, whose `x` is not its own, or that
    ///   says that it is not for signatures.
    public init(jwk: Data) throws(CryptographyError) {
        let key = try JSONWebKey(jwk)
        try key.require(
            type: "OKP", curve: "Ed25519", use: "sig", operations: ["sign"], algorithms: ["EdDSA", "Ed25519"])
        try self.init(key.bytes("d"))
        guard try key.bytes("x") == publicKey else { throw .invalidKey }
    }
}

extension SharedSecret {
    /// A secret from a JSON Web Key of the type `oct` (RFC 7518 §6.4).
    ///
    /// - Throws: ``CryptographyError/invalidKey`` for one of no bytes, for one that says that it is not for HMAC with
    ///   SHA-256, and for one of less than 32 bytes that says that it is (RFC 7518 §3.2).
    public init(jwk: Data) throws(CryptographyError) {
        let key = try JSONWebKey(jwk)
        try key.require(type: "oct", use: "sig", operations: ["sign"], algorithms: ["HS256"])
        let secret = try key.bytes("k")
        guard !secret.isEmpty, !key.has("alg") || secret.count >= 32 else { throw .invalidKey }
        try self.init(secret)
    }
}

/// Base64 in the alphabet of URLs, without padding (RFC 7515 §2).
enum Base64URL {
    /// - Returns: `nil` for anything but the one text that the bytes have: other characters, white space, padding, a length
    ///   that no bytes have, or bits behind the last byte that are not zero.
    static func decoded(_ text: some StringProtocol) -> Data? {
        var bytes = Data(capacity: text.utf8.count / 4 * 3 + 2)
        var (bits, count): (UInt32, Int) = (0, 0)
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            bits &= 1 << UInt32(count) - 1
        }
        // A single character is six bits, which are no byte.
        return count < 6 && bits == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

extension String {
    /// Whether both have the same bytes. Swift's own comparison takes the sign for Kelvin for a K, as Unicode does.
    func isByteByByte(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
