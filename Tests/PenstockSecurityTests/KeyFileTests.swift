import Foundation
import Testing

@testable import PenstockSecurity

/// Keys in the files that OpenSSL writes and in JSON (RFC 7468, 5958, 5915, 8410, 7517), and what is no such key.
@Suite struct KeyFileTests {
    private static let number = "a5d7a5cf264048075c726547f6da1dc98d358a31f412b497f67c06ec45351926"
    private static let point =
        "79e6775b2f49c5867fc7c36da0447703c9d665dc579b2f6e083da88ec0bb67e7"
        + "3a136c69d9f44f6ef723a3d82e60d40805c24cfc261dddd45e79318c3aa971a3"
    private static let seed = "c00d4797df4175ce5d4e6ceb5d6a4ffe5b39e2a0c71c2cfe7d0d692a0250d6ee"

    /// `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
    static let pkcs8 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpdelzyZASAdccmVH
        9todyY01ijH0ErSX9nwG7EU1GSahRANCAAR55ndbL0nFhn/Hw22gRHcDydZl3Feb
        L24IPaiOwLtn5zoTbGnZ9E9u9yOj2C5g1AgFwkz8Jh3d1F55MYw6qXGj
        -----END PRIVATE KEY-----
        """
    /// The same by `openssl ec`.
    static let sec1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIKXXpc8mQEgHXHJlR/baHcmNNYox9BK0l/Z8BuxFNRkmoAoGCCqGSM49
        AwEHoUQDQgAEeeZ3Wy9JxYZ/x8NtoER3A8nWZdxXmy9uCD2ojsC7Z+c6E2xp2fRP
        bvcjo9guYNQIBcJM/CYd3dReeTGMOqlxow==
        -----END EC PRIVATE KEY-----
        """
    /// The same by `openssl ec -no_public`.
    static let sec1WithoutPoint = """
        -----BEGIN EC PRIVATE KEY-----
        MDECAQEEIKXXpc8mQEgHXHJlR/baHcmNNYox9BK0l/Z8BuxFNRkmoAoGCCqGSM49
        AwEH
        -----END EC PRIVATE KEY-----
        """
    static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeeZ3Wy9JxYZ/x8NtoER3A8nWZdxX
        my9uCD2ojsC7Z+c6E2xp2fRPbvcjo9guYNQIBcJM/CYd3dReeTGMOqlxow==
        -----END PUBLIC KEY-----
        """
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIMANR5ffQXXOXU5s611qT/5bOeKgxxws/n0NaSoCUNbu
        -----END PRIVATE KEY-----
        """
    static let encryptedPKCS8 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjOTeZQcqYwDQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEANYHwvafx0eVsK3IE3WpuUEgZCG
        V0+a4KdGUoc/8dYv0JGqSAuD3dPeCF+0UNWb9CO+iwhSB57TfFGP2CqhphKVMQin
        FvuUeCu8JoeVhYsO4o6iY5h4jSW/H+YYbQZd/aH5tXVSzq0P+gbH8N9X8nUvfc5p
        psk8BsBK8hOrLqx83xa6kLEPPEKuKHgPVEMyBhj4reEH28S0IQv/jnz3KgMkWEc=
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let encryptedSEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,9BCB34C58F0FB31E9E4FE01B9EDF7BA2

        dFgDpKP+UD3ld+VRcMEhpLEFstmENCTAtlhsNbdT56JuW6ubgLZP7Psjh0hEuJ77
        oiFJIO+h6xTgMIeV0ELYxw2VcyHsl4WmnTQdXYg/k/qLxabBOhlzQI8O3KyDYPv1
        6GCwlwsFwdnT7olvWmgmEBADMtOYv4f7M70kGy2A1SA=
        -----END EC PRIVATE KEY-----
        """
    static let secp256k1 = """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgi5wBlMql+cxX3MX1JAYL
        ThLf5RspSR2PLG++IddfDBahRANCAATWAJeBlEzRZ9nw5+XNh/pAHRpQXwmzalsC
        lgI9643SBNJ2qmE4cu8LgDgTXDQvmed8LYtTs8fbYOALSrwawC3p
        -----END PRIVATE KEY-----
        """
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAwY2FMbC75AgXrWnrG
        xTo3VVO+m2yBcBuhaYPEgs9U13CGRx7cVJiFBgTMyREkBUShZANiAAQJFo6Q+SBu
        z4TTJZ/s27jeTjCY83f7IouXppHIAyaTiXpMruLyhzNWkUU3yBRNt+j18Zee5KKF
        qA/JqNbryJ2ZKJkpjt5c8erZFDuoz4PrXtd5QY15NOk3Y8OZbocl4pk=
        -----END PRIVATE KEY-----
        """
    /// The curve by its numbers in place of its name, which have been forged before.
    static let explicitCurve = """
        -----BEGIN EC PRIVATE KEY-----
        MIIBaAIBAQQgpdelzyZASAdccmVH9todyY01ijH0ErSX9nwG7EU1GSaggfowgfcC
        AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
        MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
        vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
        axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
        K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
        YyVRAgEBoUQDQgAEeeZ3Wy9JxYZ/x8NtoER3A8nWZdxXmy9uCD2ojsC7Z+c6E2xp
        2fRPbvcjo9guYNQIBcJM/CYd3dReeTGMOqlxow==
        -----END EC PRIVATE KEY-----
        """

    // MARK: PEM

    @Test func `a key on P-256 is read from what OpenSSL writes`() throws {
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let texts = [
            Self.pkcs8, Self.sec1, Self.sec1WithoutPoint, parameters + Self.sec1,
            "Key of the shop:\n" + Self.pkcs8 + "\n\n",
            Self.pkcs8.replacingOccurrences(of: "\n", with: "\r\n"), Self.publicPEM + "\n" + Self.sec1,
        ]
        for text in texts {
            let key = try P256PrivateKey(pem: text)
            #expect(key.bytes.hexadecimal == Self.number)
            #expect(key.publicPoint.hexadecimal == Self.point)
        }
    }

    @Test func `a key for Ed25519 is read from what OpenSSL writes`() throws {
        let key = try Ed25519PrivateKey(pem: Self.ed25519)
        #expect(key.bytes.hexadecimal == Self.seed)
        #expect(
            key.publicKey.hexadecimal == "e208180d66d62318846e962bfa7018655d2b2e7da04e36b9b210bd1556c32b7a")
    }

    @Test func `a public key on P-256 is read from what OpenSSL writes`() throws {
        #expect(try PrivateKeyFile.p256PublicKey(pem: Self.publicPEM).hexadecimal == Self.point)
        for text in [Self.pkcs8, Self.publicPEM + "\n" + Self.publicPEM, ""] {
            #expect(throws: CryptographyError.invalidKey) { try PrivateKeyFile.p256PublicKey(pem: text) }
        }
    }

    @Test func `a key that a password protects is refused as such`() {
        for text in [Self.encryptedPKCS8, Self.encryptedSEC1] {
            #expect(throws: CryptographyError.encryptedKey) { try P256PrivateKey(pem: text) }
            #expect(throws: CryptographyError.encryptedKey) { try Ed25519PrivateKey(pem: text) }
        }
        #expect("\(CryptographyError.encryptedKey)".contains("password"))
    }

    @Test func `a file with no key of the kind, with several, or that is cut off is refused`() {
        let lines = Self.pkcs8.split(separator: "\n")
        let texts = [
            "", "no key", Self.publicPEM, Self.secp256k1, Self.p384, Self.explicitCurve, Self.pkcs8 + "\n" + Self.sec1,
            lines.dropLast().joined(separator: "\n"), lines.dropFirst().joined(separator: "\n"),
            Self.pkcs8.replacingOccurrences(of: "END PRIVATE", with: "END EC PRIVATE"),
            Self.pkcs8.replacingOccurrences(of: "PRIVATE KEY", with: "RSA PRIVATE KEY"),
            Self.pkcs8.replacingOccurrences(of: "PRIVATE KEY", with: "PRIVATE \u{212A}EY"),
            Self.pkcs8.replacingOccurrences(of: "PRIVATE KEY", with: "PRIVATE\u{A0}KEY"),
            Self.pkcs8.replacingOccurrences(of: "\nM", with: "\n=M"),
            Self.pkcs8.replacingOccurrences(of: "\nM", with: "\n*M"),
            "-----BEGIN PRIVATE KEY-----\n" + Self.pkcs8, "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
            Self.pkcs8.replacingOccurrences(of: "MIGH", with: "M*GH"),
        ]
        for text in texts {
            #expect(throws: CryptographyError.invalidKey, "\(text)") { try P256PrivateKey(pem: text) }
        }
        for text in [Self.pkcs8, Self.sec1, Self.ed25519 + "\n" + Self.ed25519] {
            #expect(throws: CryptographyError.invalidKey) { try Ed25519PrivateKey(pem: text) }
        }
        #expect(throws: CryptographyError.invalidKey) { try P256PrivateKey(pem: Self.ed25519) }
    }

    /// A file around bytes.
    private static func pem(_ bytes: Data, _ label: String = "PRIVATE KEY") -> String {
        "-----BEGIN \(label)-----\n\(bytes.base64EncodedString())\n-----END \(label)-----"
    }

    private static func der(_ pem: String) -> Data {
        base64(pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined())
    }

    @Test func `no byte of a file can be changed, left out or added and it still is the key of the file`() throws {
        for (text, label) in [(Self.pkcs8, "PRIVATE KEY"), (Self.sec1, "EC PRIVATE KEY")] {
            let file = Self.der(text)
            #expect(try P256PrivateKey(pem: Self.pem(file, label)).bytes.hexadecimal == Self.number)
            for index in file.indices {
                for bit in 0..<8 {
                    var changed = file
                    changed[index] ^= 1 << bit
                    let key = try? P256PrivateKey(pem: Self.pem(changed, label))
                    // A version of 1 in place of 0 is allowed, and says that a public key may follow.
                    let isVersion = label == "PRIVATE KEY" && index == 5 && bit == 0
                    #expect((key != nil) == isVersion, "\(label) \(index) \(bit)")
                }
            }
            for length in 0..<file.count {
                #expect(throws: CryptographyError.invalidKey) {
                    try P256PrivateKey(pem: Self.pem(file.prefix(length), label))
                }
            }
            #expect(throws: CryptographyError.invalidKey) { try P256PrivateKey(pem: Self.pem(file + [0], label)) }
        }
    }

    @Test func `lengths stand in their shortest form, and nothing stands behind the key`() throws {
        let file = Self.der(Self.ed25519)
        #expect(file.prefix(2).hexadecimal == "302e")
        #expect(try Ed25519PrivateKey(pem: Self.pem(file)).bytes.hexadecimal == Self.seed)
        let content = file.dropFirst(2)
        let others: [Data] = [
            Data([0x30, 0x81, 0x2E]) + content, Data([0x30, 0x82, 0x00, 0x2E]) + content, Data([0x30, 0x80]) + content,
            Data([0x30, 0x83, 0x00, 0x00, 0x2E]) + content, Data([0x30, 0x2F]) + content, Data([0x30, 0x2D]) + content,
            Data([0x30, 0x2F]) + content + [0], Data([0x31, 0x2E]) + content,
        ]
        for other in others {
            #expect(throws: CryptographyError.invalidKey) { try Ed25519PrivateKey(pem: Self.pem(other)) }
        }
    }

    /// `0x80` begins the indefinite form (X.690 §8.1.3.6), and is not the length of 128 bytes.
    @Test func `a length of 127 bytes takes one byte, and one of 128 bytes takes two`() throws {
        let content = Self.der(Self.ed25519).dropFirst(2)
        /// The key with attributes behind it, which fill the file up to a length.
        func key(_ length: [UInt8], _ count: Int) throws -> String {
            let attributes = [0xA0, UInt8(count - content.count - 2)] + Data(count: count - content.count - 2)
            return try Ed25519PrivateKey(pem: Self.pem([0x30] + length + content + attributes)).bytes.hexadecimal
        }
        #expect(try key([0x7F], 127) == Self.seed)
        #expect(try key([0x81, 0x80], 128) == Self.seed)
        for (length, count) in [([0x80], 128), ([0x81, 0x7F], 127), ([0x82, 0x00, 0x80], 128)] as [([UInt8], Int)] {
            #expect(throws: CryptographyError.invalidKey) { try key(length, count) }
        }
    }

    /// Attributes and, in the second version, a public key may follow (RFC 5958 §2), each once and in that order.
    @Test func `what follows a key for Ed25519 is attributes, and the public key that is its own`() throws {
        let content = Self.der(Self.ed25519).dropFirst(5)
        let own = try Ed25519PrivateKey(pem: Self.ed25519).publicKey
        func element(_ key: Data, unused: UInt8 = 0) -> Data { [0x81, UInt8(key.count + 1), unused] + key }
        let attributes = Data([0xA0, 0x00]), publicKey = element(own)
        var other = own
        other[31] ^= 1
        let followed: [(version: UInt8, Data, Bool)] = [
            (0, Data(), true), (0, attributes, true), (0, publicKey, false), (0, attributes + publicKey, false),
            (1, Data(), true), (1, attributes, true), (1, publicKey, true), (1, attributes + publicKey, true),
            (1, publicKey + attributes, false), (1, publicKey + publicKey, false), (1, attributes + attributes, false),
            (1, Data([0x05, 0x00]), false), (1, element(other), false), (1, element(own, unused: 1), false),
            (1, element(own.dropLast()), false), (1, element(own + [0]), false), (1, element(Data()), false),
            (1, Data([0x81, 0x00]), false), (1, Data([0xA1, 0x23, 0x03, 0x21, 0x00]) + own, false),
        ]
        for (version, rest, isFine) in followed {
            let text = Self.pem(Data([0x30, UInt8(0x2E + rest.count), 0x02, 0x01, version]) + content + rest)
            #expect(((try? Ed25519PrivateKey(pem: text)) != nil) == isFine, "\(version) \(rest.hexadecimal)")
        }
    }

    @Test func `what follows a key on P-256 is the public point that is its own, not compressed`() throws {
        let content = Self.der(Self.pkcs8).dropFirst(6)
        let (own, other) = (bytes(Self.point), try P256PrivateKey(bytes(Self.seed)).publicPoint)
        func element(_ bits: Data) -> Data { [0x81, UInt8(bits.count)] + bits }
        let followed: [(version: UInt8, Data, Bool)] = [
            (1, element([0, 4] + own), true), (0, element([0, 4] + own), false), (1, element([0, 4] + other), false),
            (1, element([0, 3] + own.prefix(32)), false), (1, element([1, 4] + own), false),
            (1, element([0, 4] + own.dropLast()), false), (1, element([0, 4] + own + [0]), false),
        ]
        for (version, rest, isFine) in followed {
            let length = 3 + content.count + rest.count
            let head = Data([0x30, 0x81, UInt8(length), 0x02, 0x01, version])
            let key = try? P256PrivateKey(pem: Self.pem(head + content + rest))
            #expect((key != nil) == isFine, "\(version) \(rest.hexadecimal)")
        }
    }

    @Test func `an element of 128 bytes or more has its length in one byte, one of 256 or more in two`() throws {
        for (count, head) in [(127, "047f"), (128, "048180"), (255, "0481ff"), (256, "04820100")] {
            var reader = DERReader(Array(bytes(head) + Data(count: count))[...])
            #expect(try reader.read(DERReader.octetString).count == count)
            try reader.end()
        }
        for head in ["04817f", "048200ff", "0483010000", "0485", "0481", "04", ""] {
            var reader = DERReader(Array(bytes(head) + Data(count: head.count > 4 ? 65_536 : 0))[...])
            #expect(throws: CryptographyError.invalidKey, "\(head)") { try reader.read(DERReader.octetString) }
        }
    }

    // MARK: JWK

    private static func jwk(_ members: [String: Any], without name: String = "") throws -> Data {
        try JSONSerialization.data(withJSONObject: members.filter { $0.key != name })
    }

    private static let ec: [String: String] = [
        "kty": "EC", "crv": "P-256", "d": "pdelzyZASAdccmVH9todyY01ijH0ErSX9nwG7EU1GSY",
        "x": "eeZ3Wy9JxYZ_x8NtoER3A8nWZdxXmy9uCD2ojsC7Z-c", "y": "OhNsadn0T273I6PYLmDUCAXCTPwmHd3UXnkxjDqpcaM",
    ]
    private static let okp: [String: String] = [
        "kty": "OKP", "crv": "Ed25519", "d": "wA1Hl99Bdc5dTmzrXWpP_ls54qDHHCz-fQ1pKgJQ1u4",
        "x": "4ggYDWbWIxiEbpYr-nAYZV0rLn2gTja5shC9FVbDK3o",
    ]
    private static let oct: [String: String] = ["kty": "oct", "k": "c2VjcmV0"]

    @Test func `keys are read from JSON`() throws {
        #expect(try P256PrivateKey(jwk: Self.jwk(Self.ec)).bytes.hexadecimal == Self.number)
        #expect(try Ed25519PrivateKey(jwk: Self.jwk(Self.okp)).bytes.hexadecimal == Self.seed)
        #expect(try SharedSecret(jwk: Self.jwk(Self.oct)) == SharedSecret(text: "secret"))
    }

    @Test func `a key that lacks a member, or has one of another kind, is none`() throws {
        for name in Self.ec.keys {
            #expect(throws: CryptographyError.invalidKey) { try P256PrivateKey(jwk: Self.jwk(Self.ec, without: name)) }
        }
        for name in Self.okp.keys {
            #expect(throws: CryptographyError.invalidKey) {
                try Ed25519PrivateKey(jwk: Self.jwk(Self.okp, without: name))
            }
        }
        for name in Self.oct.keys {
            #expect(throws: CryptographyError.invalidKey) { try SharedSecret(jwk: Self.jwk(Self.oct, without: name)) }
        }
        let changes: [(String, Any)] = [
            ("kty", "RSA"), ("kty", "ec"), ("kty", 1), ("crv", "P-384"), ("crv", "P-256 "), ("x", Self.ec["y"] ?? ""),
            ("y", Self.ec["x"] ?? ""), ("d", Self.okp["d"] ?? ""), ("d", ""), ("d", 5), ("d", "AQ"), ("d", NSNull()),
            ("d", (Self.ec["d"] ?? "") + "="), ("d", (Self.ec["d"] ?? "") + "AA"), ("x", "A" + (Self.ec["x"] ?? "")),
        ]
        for (name, value) in changes {
            var members: [String: Any] = Self.ec
            members[name] = value
            #expect(throws: CryptographyError.invalidKey, "\(name)") { try P256PrivateKey(jwk: Self.jwk(members)) }
        }
        for text in ["", "[]", "1", "{", "\"EC\"", #"{"kty":"oct","k":"c2VjcmV0","k":"c2VjcmV0"}"#] {
            #expect(throws: CryptographyError.invalidKey) { try SharedSecret(jwk: Data(text.utf8)) }
        }
    }

    @Test func `a key that says what it is for is used for nothing else`() throws {
        func isTaken(_ name: String, _ value: Any) -> Bool {
            var members: [String: Any] = Self.ec
            members[name] = value
            return (try? P256PrivateKey(jwk: Self.jwk(members))) != nil
        }
        let table: [(String, Any, Bool)] = [
            ("use", "sig", true), ("use", "enc", false), ("use", 1, false), ("alg", "ES256", true),
            ("alg", "ES384", false),
            ("alg", "ECDH-ES", false), ("alg", "none", false), ("key_ops", ["sign"], true),
            ("key_ops", ["verify", "sign"], true), ("key_ops", ["verify"], false), ("key_ops", [String](), false),
            ("key_ops", "sign", false), ("key_ops", ["sign", 1] as [Any], false), ("kid", "k", true),
            ("key_ops", ["sign", "sign"], false), ("key_ops", ["sign", "wrapKey"], true),
            ("x5c", ["a"], true),
        ]
        for (name, value, isFine) in table { #expect(isTaken(name, value) == isFine, "\(name) \(value)") }
        for (operations, isFine) in [(["sign"], true), (["sign", "verify"], true), (["sign", "deriveKey"], false)] {
            let members = (Self.ec as [String: Any]).merging(["use": "sig", "key_ops": operations]) { $1 }
            #expect(((try? P256PrivateKey(jwk: Self.jwk(members))) != nil) == isFine, "\(operations)")
        }
        let algorithms = [("EdDSA", true), ("Ed25519", true), ("ES256", false)]
        for (algorithm, isFine) in algorithms {
            let members = Self.okp.merging(["alg": algorithm]) { $1 }
            #expect(((try? Ed25519PrivateKey(jwk: Self.jwk(members))) != nil) == isFine)
        }
        for (algorithm, isFine) in [("HS256", true), ("HS512", false), ("A256KW", false)] {
            for length in [31, 32] {
                let secret = Data(repeating: 7, count: length).base64URLText
                let members = Self.oct.merging(["alg": algorithm, "k": secret]) { $1 }
                #expect(((try? SharedSecret(jwk: Self.jwk(members))) != nil) == (isFine && length == 32))
            }
        }
    }

    // MARK: Base64

    @Test func `bytes have one text in base64 for URLs, and no other is taken`() {
        let table: [(String, String?)] = [
            ("", ""), ("AA", "00"), ("AQ", "01"), ("_w", "ff"), ("-_8", "fbff"), ("AAAA", "000000"), ("____", "ffffff"),
            ("A", nil), ("AAAAA", nil), ("AB", nil), ("AP", nil), ("AAB", nil), ("AAD", nil), ("_x", nil),
            ("AA==", nil),
            ("AA=", nil), ("+A", nil), ("/w", nil), ("A A", nil), ("AA\n", nil), (" AA", nil), ("AÁ", nil),
            ("A\0", nil),
        ]
        for (text, digits) in table { #expect(Base64URL.decoded(text)?.hexadecimal == digits, "\(text)") }
        for length in 0..<64 {
            let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) })
            #expect(Base64URL.decoded(data.base64URLText) == data)
        }
    }
}
