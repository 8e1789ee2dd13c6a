import Foundation
import PenstockCore

/// JSON Web Encryption in its compact form (RFC 7516).
///
/// ```swift
/// let text = try JWE.seal(data, with: key, contentType: "application/json")
/// let message = try JWE.open(text, with: [newKey, oldKey])
/// ```
///
/// Of the algorithms of RFC 7518 those are known that ``KeyManagement`` and ``ContentEncryption`` name. A key opens what is
/// sealed in its own way alone; a header that asks for another one, for compression, or for an extension (`crit`) is refused.
public enum JWE {
    /// What a message holds.
    public struct Message: Hashable, Sendable {
        /// The content in plain.
        public let content: Data
        /// What kind of content it is, as a media type; `nil` where the header does not tell (RFC 7516 §4.1.12), or tells what is no
        /// media type.
        public let contentType: String?
    }

    /// Seals content for who has the key.
    ///
    /// - Parameter contentType: a media type, which the header tells in plain; `nil`, the default, for none.
    /// - Throws: ``CryptographyError`` where the library fails.
    public static func seal(
        _ content: Data, with key: SealingKey, contentType: String? = nil
    ) throws(CryptographyError) -> String {
        try seal(content, with: key, contentType: contentType, Randomness(for: key))
    }

    /// Opens a message with the one of some keys that it was sealed for: with that of its `kid`, or, where it names none, with
    /// any whose algorithms are those of the message.
    ///
    /// - Parameter keys: none of them is asked to do anything but what it is for.
    /// - Throws: ``CryptographyError/refused``, always that, and nothing that tells why: who sends messages to see what becomes
    ///   of them learns nothing.
    public static func open(_ text: String, with keys: [SealingKey]) throws(CryptographyError) -> Message {
        guard let parts = Parts(text[...]) else { throw .refused }
        for key in keys where parts.header.isFor(key) {
            if let content = try? content(of: parts, key) {
                return Message(content: content, contentType: parts.header.contentType)
            }
        }
        throw .refused
    }

    /// Whether a text is a message for a key, as far as its form and its header tell.
    static func isMessage(_ text: Substring, for key: SealingKey) -> Bool {
        Parts(text)?.header.isFor(key) ?? false
    }

    // MARK: Sealing

    /// All that is made anew for a message.
    struct Randomness {
        /// The key of the content, of no use where the key is agreed on or known.
        var contentKey: Data
        var iv: Data
        /// The sender's key for an agreement.
        var ephemeral: P256PrivateKey?
    }

    /// The same with randomness that is known, as the examples of the standards have it.
    static func seal(
        _ content: Data, with key: SealingKey, contentType: String?, _ random: Randomness
    ) throws(CryptographyError) -> String {
        let protected = header(of: key, contentType, random.ephemeral)
        let (contentKey, encrypted) = try contentKey(for: key, random)
        let sealed = try key.encryption.encrypt(
            content, key: contentKey, iv: random.iv, authenticating: Data(protected.utf8))
        return ([protected] + [encrypted, sealed.iv, sealed.bytes, sealed.tag].map(\.base64URLText))
            .joined(separator: ".")
    }

    /// The protected header. Its members stand in one order, so that equal messages have equal headers.
    private static func header(of key: SealingKey, _ contentType: String?, _ ephemeral: P256PrivateKey?) -> String {
        var members = [("alg", key.management.rawValue), ("enc", key.encryption.rawValue)]
        if let id = key.id { members.append(("kid", id)) }
        if let contentType { members.append(("cty", JWEMediaType.short(contentType))) }
        var texts = members.map { "\(JSONText.quoted($0.0)):\(JSONText.quoted($0.1))" }
        if let point = ephemeral?.publicPoint {
            let (x, y) = (point.prefix(32).base64URLText, point.suffix(32).base64URLText)
            texts.append(#""epk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#)
        }
        return Data("{\(texts.joined(separator: ","))}".utf8).base64URLText
    }

    /// The key of the content, and in what form it goes along; no bytes where the other side comes by it otherwise.
    private static func contentKey(
        for key: SealingKey, _ random: Randomness
    ) throws(CryptographyError) -> (key: Data, encrypted: Data) {
        switch (key.management, key.material) {
        case (.direct, .secret(let secret)):
            return (secret, Data())
        case (.a256KW, .secret(let secret)):
            return (random.contentKey, try platformCryptography.wrap(random.contentKey, by: secret))
        case (.ecdhES, _), (.ecdhESA256KW, _):
            guard let ephemeral = random.ephemeral, let point = key.material.point else { throw .invalidKey }
            let secret = try platformCryptography.agreeP256(privateKey: ephemeral.bytes, publicKey: point)
            let agreed = try key.agreedKey(from: secret)
            guard key.management == .ecdhESA256KW else { return (agreed, Data()) }
            return (random.contentKey, try platformCryptography.wrap(random.contentKey, by: agreed))
        case (.direct, _), (.a256KW, _):
            throw .invalidKey
        }
    }

    // MARK: Opening

    private static func content(of parts: Parts, _ key: SealingKey) throws(CryptographyError) -> Data {
        let contentKey = try contentKey(of: parts, key)
        return try key.encryption.decrypt(parts.sealed, key: contentKey, authenticating: parts.protected)
    }

    private static func contentKey(of parts: Parts, _ key: SealingKey) throws(CryptographyError) -> Data {
        switch (key.management, key.material) {
        case (.direct, .secret(let secret)):
            guard parts.encryptedKey.isEmpty else { throw .refused }
            return secret
        case (.a256KW, .secret(let secret)):
            return unwrapped(parts.encryptedKey, by: secret)
        case (.ecdhES, .privateKey(let own)), (.ecdhESA256KW, .privateKey(let own)):
            guard let point = parts.header.ephemeralPoint else { throw .refused }
            let secret = try platformCryptography.agreeP256(privateKey: own.bytes, publicKey: point)
            let agreed = try key.agreedKey(
                from: secret, partyU: parts.header.partyU, partyV: parts.header.partyV)
            guard key.management == .ecdhES else { return unwrapped(parts.encryptedKey, by: agreed) }
            guard parts.encryptedKey.isEmpty else { throw .refused }
            return agreed
        default:
            throw .refused
        }
    }

    /// The key that was wrapped. In place of one that was not wrapped so stands a random one, with which everything goes on as
    /// usual until the tag is wrong: not even the time it takes tells which of both was (RFC 7516 §11.5).
    private static func unwrapped(_ wrapped: Data, by key: Data) -> Data {
        let random = Data.random(ContentEncryption.keySize)
        guard let found = try? platformCryptography.unwrap(wrapped, by: key), found.count == random.count else {
            return random
        }
        return found
    }
}

extension JWE.Randomness {
    /// What is made anew for a message to a key, from the machine's own randomness.
    init(for key: SealingKey) throws(CryptographyError) {
        contentKey = .random(ContentEncryption.keySize)
        iv = key.encryption.newIV()
        ephemeral = key.management.agrees ? try P256PrivateKey() : nil
    }
}

extension SealingKey {
    /// The key that was agreed on, for what this key uses it for.
    fileprivate func agreedKey(
        from secret: Data, partyU: Data = Data(), partyV: Data = Data()
    ) throws(CryptographyError) -> Data {
        let purpose = management == .ecdhES ? encryption.rawValue : management.rawValue
        return try ConcatKDF.key(from: secret, for: purpose, size: 32, partyU: partyU, partyV: partyV)
    }
}

extension SealingKey.Material {
    /// The point of the public key that is sealed for.
    fileprivate var point: Data? {
        switch self {
        case .publicKey(let key): key.point
        case .privateKey(let key): key.publicPoint
        case .secret: nil
        }
    }
}

extension JWE.Message: CustomStringConvertible, CustomReflectable {
    /// How long the content is, and of what kind; nothing of what is in it.
    public var description: String { "\(content.count) bytes" + (contentType.map { " of \($0)" } ?? "") }

    public var customMirror: Mirror {
        Mirror(self, children: ["bytes": content.count, "contentType": contentType as Any], displayStyle: .struct)
    }
}

// MARK: Reading

extension JWE {
    /// The five parts of a message, each strictly in base64 for URLs.
    fileprivate struct Parts {
        let protected: Data
        let header: Header
        let encryptedKey: Data
        let sealed: ContentEncryption.Sealed

        /// The longest protected header, in bytes of its base64: it is read before anything tells who wrote it.
        private static let longestHeader = 16 << 10

        init?(_ text: Substring) {
            // One more than there are, so that a text of dots is not cut up all the way.
            let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0].count <= Self.longestHeader else { return nil }
            let bytes = parts.compactMap { Base64URL.decoded(Substring($0)) }
            guard bytes.count == 5, let header = Header(bytes[0]) else { return nil }
            protected = Data(parts[0])
            self.header = header
            encryptedKey = bytes[1]
            sealed = ContentEncryption.Sealed(iv: bytes[2], bytes: bytes[3], tag: bytes[4])
        }
    }

    /// What the protected header says.
    fileprivate struct Header {
        let contentType: String?
        /// The point of the sender's key for this one message; `nil` where there is none.
        let ephemeralPoint: Data?
        let partyU: Data
        let partyV: Data
        private let algorithm: String
        private let encryption: String
        private let keyID: String?

        /// `nil` for what is no header, or one that asks for something that is not done here.
        init?(_ json: Data) {
            // Nothing that is read here nests deeper than a key does; and a header is no place for a mark of byte order.
            guard json.first == UInt8(ascii: "{"), let members = JSONValue.strict(json, maximumDepth: 4)?.object
            else { return nil }
            // Extensions, of which none is known, and compression, which tells of the content by its length.
            guard members["crit"] == nil, members["zip"] == nil else { return nil }
            guard let algorithm = members["alg"]?.string, let encryption = members["enc"]?.string else { return nil }
            self.algorithm = algorithm
            self.encryption = encryption
            do {
                keyID = try Self.text("kid", members)
                contentType = try Self.text("cty", members).flatMap(JWEMediaType.full)
                partyU = try Self.bytes("apu", members)
                partyV = try Self.bytes("apv", members)
                ephemeralPoint = try members["epk"].map(Self.point)
            } catch {
                return nil
            }
        }

        /// Whether a key is the one that the message was sealed for, as far as the header tells.
        func isFor(_ key: SealingKey) -> Bool {
            guard algorithm.isByteByByte(key.management.rawValue), encryption.isByteByByte(key.encryption.rawValue)
            else { return false }
            guard let keyID else { return true }
            return key.id.map(keyID.isByteByByte) ?? false
        }

        private static func text(
            _ name: String, _ members: [String: JSONValue]
        ) throws(CryptographyError) -> String? {
            guard let value = members[name] else { return nil }
            guard let text = value.string else { throw .refused }
            return text
        }

        private static func bytes(_ name: String, _ members: [String: JSONValue]) throws(CryptographyError) -> Data {
            guard let text = try text(name, members) else { return Data() }
            guard let bytes = Base64URL.decoded(text) else { throw .refused }
            return bytes
        }

        /// A public key on P-256 and nothing else (RFC 7518 §4.6.1.1).
        private static func point(_ value: JSONValue) throws(CryptographyError) -> Data {
            guard let members = value.object, members["d"] == nil, let type = members["kty"]?.string,
                let curve = members["crv"]?.string, type.isByteByByte("EC"), curve.isByteByByte("P-256"),
                let x = members["x"]?.string.flatMap({ Base64URL.decoded($0) }),
                let y = members["y"]?.string.flatMap({ Base64URL.decoded($0) }), x.count == 32, y.count == 32
            else { throw .refused }
            return x + y
        }
    }
}

/// A media type as `cty` has it: `application/` is left out where nothing else has a slash (RFC 7515 §4.1.10).
enum JWEMediaType {
    private static let prefix = "application/"

    static func short(_ type: String) -> String {
        guard type.hasPrefix(prefix) else { return type }
        let rest = String(type.dropFirst(prefix.count))
        return rest.isEmpty || rest.contains("/") ? type : rest
    }

    /// - Returns: `nil` for what is no media type (RFC 9110 §8.3.1), which would stand in a `Content-Type` that no message may have.
    static func full(_ text: String) -> String? {
        let type = text.contains("/") ? text : prefix + text
        let essence = HTTPSyntax.trimmed(String(type.prefix { $0 != ";" }))
        let names = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ HTTPSyntax.isToken(String($0)) }), HTTPSyntax.isFieldValue(type)
        else { return nil }
        return type
    }
}

/// A text as JSON has it (RFC 8259 §7).
enum JSONText {
    static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\" + String(scalar)
            case "\u{0}"..."\u{1F}":
                output += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
