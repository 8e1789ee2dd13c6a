import Foundation
import Testing

@testable import PenstockSecurity

/// Messages whose parts have another length than they should, and senders' keys in other forms, all made by who has the key: each
/// is refused by the one error, and never by how it is made.
@Suite struct JWEShapeTests {
    private static let secret = Data((0..<32).map { UInt8($0) })

    private static func text(_ header: String, _ parts: [Data]) -> String {
        ([Data(header.utf8)] + parts).map(\.base64URLText).joined(separator: ".")
    }

    private static func header(_ algorithm: String, _ encryption: ContentEncryption, _ more: String = "") -> String {
        #"{"alg":"\#(algorithm)","enc":"\#(encryption.rawValue)"\#(more)}"#
    }

    /// - Returns: the content, or `nil` for ``CryptographyError/refused``.
    private static func opened(_ text: String, _ key: SealingKey) throws -> Data? {
        do throws(CryptographyError) {
            return try JWE.open(text, with: [key]).content
        } catch .refused {
            return nil
        }
    }

    /// A message whose content was sealed well, and then changed.
    private static func direct(
        _ plain: String, _ encryption: ContentEncryption, _ change: (inout ContentEncryption.Sealed) -> Void
    ) throws -> Data? {
        let header = header("dir", encryption)
        var sealed = try encryption.encrypt(
            Data(plain.utf8), key: secret, iv: encryption.newIV(),
            authenticating: Data(Data(header.utf8).base64URLText.utf8))
        change(&sealed)
        return try opened(
            text(header, [Data(), sealed.iv, sealed.bytes, sealed.tag]), .direct(secret, encryption: encryption))
    }

    @Test(
        "No content is content, in as many bytes as the encryption makes of it", arguments: ContentEncryption.allCases)
    func empty(encryption: ContentEncryption) throws {
        var count: Int?
        let opened = try Self.direct("", encryption) { count = $0.bytes.count }
        #expect(opened == Data() && count == (encryption == .a256GCM ? 0 : 16))
        #expect(try Self.direct("plain", encryption) { $0.bytes = Data() } == nil)
        #expect(try Self.direct("", encryption) { $0.bytes = Data(count: 16) } == nil)
        #expect(try Self.direct("", encryption) { ($0.bytes, $0.tag) = (Data(), Data()) } == nil)
    }

    @Test("A tag has 16 bytes: a shorter one is easier to guess", arguments: ContentEncryption.allCases)
    func tags(encryption: ContentEncryption) throws {
        #expect(try Self.direct("plain", encryption) { _ in } == Data("plain".utf8))
        for length in 0..<16 {
            #expect(try Self.direct("plain", encryption) { $0.tag = $0.tag.prefix(length) } == nil, "\(length)")
        }
        #expect(try Self.direct("plain", encryption) { $0.tag.append(0) } == nil)
        #expect(try Self.direct("plain", encryption) { $0.tag += $0.tag } == nil)
        #expect(try Self.direct("plain", encryption) { $0.tag = Data(count: 16) } == nil)
    }

    @Test("An initialization vector has the length of its encryption", arguments: ContentEncryption.allCases)
    func vectors(encryption: ContentEncryption) throws {
        let own = encryption == .a256GCM ? 12 : 16
        for length in [0, 1, 8, 11, 12, 13, 15, 16, 17, 24, 32] where length != own {
            #expect(
                try Self.direct("plain", encryption) { $0.iv = Data(($0.iv + $0.iv + $0.iv).prefix(length)) } == nil,
                "\(length)")
        }
    }

    /// Blocks with a good tag over them, made by who has the key, and with a padding that is none.
    @Test("In CBC mode nothing is opened but whole blocks with their padding, though the tag is good")
    func blocks() throws {
        let header = Self.header("dir", .a128CBCHS256)
        let protected = Data(Data(header.utf8).base64URLText.utf8)
        let iv = Data(count: 16)
        func opened(_ bytes: Data) throws -> Data? {
            let bits = UInt64(protected.count) * 8
            let length = withUnsafeBytes(of: bits.bigEndian) { Data($0) }
            let code = try platformCryptography.authenticationCode(
                of: protected + iv + bytes + length, key: Data(Self.secret.prefix(16)), by: .sha256)
            return try Self.opened(
                Self.text(header, [Data(), iv, bytes, code.prefix(16)]),
                .direct(Self.secret, encryption: .a128CBCHS256))
        }
        let good = try platformCryptography.encryptCBC(
            Data(repeating: 1, count: 20), key: Data(Self.secret.suffix(16)), iv: iv)
        #expect(try opened(good) == Data(repeating: 1, count: 20))
        for length in [0, 1, 15, 17, 31] { #expect(try opened(good.prefix(length)) == nil, "\(length)") }
        // The padding of the second block is not that of the first.
        #expect(try opened(good.prefix(16)) == Data(repeating: 1, count: 15))
        #expect(try opened(good.suffix(16)) == nil)
        #expect(try opened(good + good.suffix(16)) == nil)
        #expect(try opened(good + [0]) == nil)
    }

    @Test(
        "A wrapped key has 40 bytes, whatever else the wrapping key makes of them",
        arguments: ["A256KW", "ECDH-ES+A256KW"])
    func wrappedKeys(algorithm: String) throws {
        let (own, ephemeral) = (
            try P256PrivateKey(Data(repeating: 9, count: 32)), try P256PrivateKey(Data(repeating: 4, count: 32))
        )
        let agrees = algorithm != "A256KW"
        let shared = try platformCryptography.agreeP256(privateKey: ephemeral.bytes, publicKey: own.publicPoint)
        let wrapping = agrees ? try ConcatKDF.key(from: shared, for: algorithm, size: 32) : Self.secret
        let key = agrees ? SealingKey.agreement(own) : try .wrapping(Self.secret)
        let header = Self.header(algorithm, .a256GCM, agrees ? ",\"epk\":\(Self.jwk(ephemeral.publicPoint))" : "")
        let protected = Data(Data(header.utf8).base64URLText.utf8)
        func opened(_ encryptedKey: Data, _ contentKey: Data = Self.secret) throws -> Data? {
            let sealed = try ContentEncryption.a256GCM.encrypt(
                Data("plain".utf8), key: contentKey, iv: Data(count: 12), authenticating: protected)
            return try Self.opened(Self.text(header, [encryptedKey, sealed.iv, sealed.bytes, sealed.tag]), key)
        }
        let good = try platformCryptography.wrap(Self.secret, by: wrapping)
        #expect(try opened(good) == Data("plain".utf8))
        for length in [0, 1, 8, 16, 24, 32, 39] { #expect(try opened(good.prefix(length)) == nil, "\(length)") }
        for more in [1, 8, 24] { #expect(try opened(good + Data(count: more)) == nil, "\(more)") }
        for length in [16, 24, 40, 48] {
            #expect(try opened(platformCryptography.wrap(Data(count: length), by: wrapping)) == nil, "\(length)")
        }
        // Bytes that were not wrapped, the key in plain among them, and no key but zeros.
        for other in [Data(count: 40), Self.secret, Self.secret + Data(count: 8), Data(good.reversed())] {
            #expect(try opened(other) == nil)
            #expect(try opened(other, Data(count: 32)) == nil)
        }
    }

    // MARK: Agreement

    private static func jwk(_ point: Data) -> String { jwk(x: point.prefix(32), y: point.suffix(32)) }

    private static func jwk(x: Data, y: Data) -> String {
        #"{"kty":"EC","crv":"P-256","x":"\#(x.base64URLText)","y":"\#(y.base64URLText)"}"#
    }

    /// A message sealed for the x of a point, which who makes it knows without a private key where the point is of small order.
    private static func agreed(_ epk: String, on secret: Data) throws -> Data? {
        let header = header("ECDH-ES", .a256GCM, ",\"epk\":\(epk)")
        let key = try ConcatKDF.key(from: secret, for: "A256GCM", size: 32)
        let sealed = try ContentEncryption.a256GCM.encrypt(
            Data("plain".utf8), key: key, iv: Data(count: 12),
            authenticating: Data(Data(header.utf8).base64URLText.utf8))
        let own = try P256PrivateKey(Data(repeating: 9, count: 32))
        return try opened(
            text(header, [Data(), sealed.iv, sealed.bytes, sealed.tag]), .agreement(own, wraps: false))
    }

    /// Private numbers whose x, and whose y, begins with a zero.
    static let zeros: [UInt16] = [379, 43]

    @Test("A coordinate has 32 bytes, those of zeros too", arguments: zeros)
    func leadingZeros(number: UInt16) throws {
        let ephemeral = try P256PrivateKey(Data(count: 30) + [UInt8(number >> 8), UInt8(number & 0xFF)])
        let (x, y) = (ephemeral.publicPoint.prefix(32), Data(ephemeral.publicPoint.suffix(32)))
        #expect(x.first == 0 || y.first == 0)
        let own = try P256PrivateKey(Data(repeating: 9, count: 32))
        let secret = try platformCryptography.agreeP256(privateKey: ephemeral.bytes, publicKey: own.publicPoint)
        #expect(try Self.agreed(Self.jwk(x: x, y: y), on: secret) == Data("plain".utf8))
        let (shortX, shortY) = (Data(x.drop { $0 == 0 }), Data(y.drop { $0 == 0 }))
        #expect(shortX.count == 31 || shortY.count == 31)
        #expect(try Self.agreed(Self.jwk(x: shortX, y: shortY), on: secret) == nil)
        #expect(try Self.agreed(Self.jwk(x: [0] + x, y: y), on: secret) == nil)
        #expect(try Self.agreed(Self.jwk(x: x, y: [0] + y), on: secret) == nil)
    }

    /// What a message could be sealed for whose sender's key is no point of the curve.
    static let offCurve = [
        // (0, 0), (0, 1), x = 5 and the prime, and the base point of secp256k1.
        (String(repeating: "0", count: 64), String(repeating: "0", count: 64)),
        (String(repeating: "0", count: 64), String(repeating: "0", count: 63) + "1"),
        (
            "ffffffff00000001000000000000000000000001000000000000000000000004",
            "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc"
        ),
        (
            "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
            "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
        ),
        ("", ""),
    ]

    @Test("A sender's key that is no point of the curve agrees on nothing", arguments: offCurve)
    func pointsOffTheCurve(x: String, y: String) throws {
        let epk = Self.jwk(x: bytes(x), y: bytes(y))
        for secret in [Data(count: 32), bytes(x), Data(repeating: 0xFF, count: 32)] {
            #expect(try Self.agreed(epk, on: secret) == nil)
        }
    }

    // MARK: The header

    /// Beside `alg` and `enc`, in a message that opens without.
    static let extras: [(String, Bool)] = [
        ("", true), (#","b64":false"#, true), (#","b64":true,"crit":["b64"]"#, false),
        (#","crit":["b64"],"b64":false"#, false),
        (#","crit":[]"#, false), (#","crit":["enc"]"#, false), (#","crit":["x","x"],"x":1"#, false),
        (#","crit":["x"]"#, false), (#","crit":"x","x":1"#, false), (#","crit":{}"#, false), (#","crit":[1]"#, false),
        (#","crit":[""]"#, false), (#","crit":true"#, false), (#","zip":"DEF""#, false), (#","zip":"""#, false),
        (#","zip":"none""#, false), (#","\u007aip":"DEF""#, false), (#","cr\u0069t":["x"]"#, false),
        (#","enc":"A256GCM""#, false), (#","\u0065nc":"A256GCM""#, false), (#","x":1,"x":1"#, false),
        (#","x":[{"a":1,"a":1}]"#, false), (#","epk":{}"#, false), (#","epk":"x""#, false), (#","epk":null"#, false),
        (#","apu":"A""#, false), (#","apu":"AB""#, false), (#","apv":"A A""#, false), (#","apv":"AA==""#, false),
        (#","kid":"\ud800""#, false), (#","x":"\ud800""#, false), (#","x":1e999"#, false), (#","x":01"#, false),
        (#","x":.5"#, false), (#","x":+1"#, false), (#","x":NaN"#, false), (#","x":tru"#, false), (#",,"x":1"#, false),
        (",\"x\":\"\u{0}\"", false), (",\"x\":\"\n\"", false), (#","x":"\x41""#, false), (#","x":1/**/"#, false),
        (#","x":"\u0000""#, true),
    ]

    @Test("A header says nothing twice, and asks for nothing that is not understood", arguments: extras)
    func headers(extra: String, isFine: Bool) throws {
        let header = Self.header("dir", .a256GCM, extra)
        let sealed = try ContentEncryption.a256GCM.encrypt(
            Data("plain".utf8), key: Self.secret, iv: Data(count: 12),
            authenticating: Data(Data(header.utf8).base64URLText.utf8))
        let text = Self.text(header, [Data(), sealed.iv, sealed.bytes, sealed.tag])
        #expect(try Self.opened(text, .direct(Self.secret)) == (isFine ? Data("plain".utf8) : nil))
    }
}
