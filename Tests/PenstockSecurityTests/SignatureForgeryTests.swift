import Foundation
import Testing

@testable import PenstockSecurity

/// Signatures and public keys that are none, in the way of Project Wycheproof. The numbers are our own: a signature with a small r
/// or s is made by choosing it first, and then the public key that it holds under.
@Suite struct SignatureForgeryTests {
    private static let message = Data("forged".utf8)
    /// The order of P-256, and what both coordinates are below.
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    private static let prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    private static let zero = String(repeating: "0", count: 64)
    private static let most = String(repeating: "f", count: 64)

    private static func number(_ value: UInt8) -> String {
        String(zero.dropLast(2)) + (value < 16 ? "0" : "") + String(value, radix: 16)
    }

    struct ECDSA: Sendable, CustomTestStringConvertible {
        let name: String
        let key: String
        let r: String
        let s: String
        var isValid = false

        var testDescription: String { name }
    }

    /// Of the key of RFC 6979 §A.2.5.
    private static let key =
        "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    private static let r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
    private static let s = "2a89c3989bc547ac7c244b99988b6aeb7d2941cb102cea8ade06b201877604af"
    /// Under which r is 5.
    private static let smallR =
        "86bf0d2acdcb79a971f6a63d073019276be9712110f192f831e827e37908e577f584f622ffad8d3f37ca2415d7b0c5849866dede34ec5599a6703332bb2c154a"
    /// Under which r is 5 and s is 1.
    private static let smallS =
        "5ad84a5f7f408d01a92e28536f70adf1799dc4d116c7e636be4230a3a58e2dbf5b6b0606ff4f0972591e616aed6da40239bf988c53f00b101bab7ec914564aff"
    /// Under which the point's x is 3 more than the order.
    private static let largeX =
        "78bba38110f20cb4d2ee23ec1bb8320f3d3f51e6c2c8ee4e10dc3e265a12c6d448ca4e1eeb9faf715eb5964199e69e1fae914ef1d9a737597b5ffeb3ffe6ae47"
    private static let chosenS = "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"

    static let signatures = [
        ECDSA(name: "good", key: key, r: r, s: s, isValid: true),
        // The standard takes both (FIPS 186-5 §6.4.2): who counts signatures counts messages instead.
        ECDSA(
            name: "n - s", key: key, r: r, s: "d5763c66643ab85483dbb466677495143fbdb8e296eab3fa15b318c174ed20a2",
            isValid: true),
        ECDSA(name: "small r", key: smallR, r: number(5), s: chosenS, isValid: true),
        ECDSA(name: "small r and s", key: smallS, r: number(5), s: number(1), isValid: true),
        ECDSA(name: "x beyond the order", key: largeX, r: number(3), s: chosenS, isValid: true),
        ECDSA(
            name: "r + n", key: smallR, r: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632556",
            s: chosenS),
        ECDSA(
            name: "s + n", key: smallS, r: number(5),
            s: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552"),
        ECDSA(
            name: "x in place of r", key: largeX,
            r: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632554", s: chosenS),
        ECDSA(name: "r = 0", key: key, r: zero, s: s), ECDSA(name: "s = 0", key: key, r: r, s: zero),
        ECDSA(name: "both 0", key: key, r: zero, s: zero), ECDSA(name: "r = n", key: key, r: order, s: s),
        ECDSA(name: "s = n", key: key, r: r, s: order), ECDSA(name: "both n", key: key, r: order, s: order),
        ECDSA(name: "r = p", key: key, r: prime, s: s), ECDSA(name: "r = 2^256 - 1", key: key, r: most, s: s),
        ECDSA(name: "s = 2^256 - 1", key: key, r: r, s: most),
        ECDSA(name: "both 1", key: key, r: number(1), s: number(1)),
        ECDSA(name: "s and r", key: key, r: s, s: r), ECDSA(name: "another key", key: smallR, r: r, s: s),
    ]

    @Test("A signature by ECDSA is two numbers from one to the order, and no other ones", arguments: signatures)
    func ecdsa(signature: ECDSA) throws {
        let isValid = try platformCryptography.isValidP256(
            bytes(signature.r + signature.s), of: Self.message, publicKey: bytes(signature.key))
        #expect(isValid == signature.isValid)
    }

    /// DER has a length of its own, which is never that of the two numbers; nor has a signature on another curve.
    static let otherForms = [
        "3045022100" + r + "0220" + s, "3081450221" + "00" + r + "0220" + s, r + s + "00", "00" + r + s,
        "00" + r + "00" + s, String((r + s).dropLast(2)), r, "", "04" + r + s, r + r + s, "3006020101020101",
        String(repeating: "01", count: 96), String(repeating: "01", count: 132),
    ]

    @Test("A signature by ECDSA has 64 bytes, and neither DER nor another curve's", arguments: otherForms)
    func formOfECDSA(signature: String) throws {
        #expect(try !platformCryptography.isValidP256(bytes(signature), of: Self.message, publicKey: bytes(Self.key)))
    }

    /// With x = 5 there is a point on the curve.
    private static let y = "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc"

    static let points = [
        // The same numbers once more, each larger than the prime, or its negative.
        "ffffffff00000001000000000000000000000001000000000000000000000004" + y,
        number(5) + most, most + y, prime + y, number(5) + prime, zero + zero, zero + number(1), prime + prime,
        number(5) + number(5),
        // The base point of secp256k1, and x and y in each other's place.
        "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
        y + number(5),
        // As SEC 1 has points: at infinity, compressed, with the one in front that both lack.
        "", "00", "02" + number(5), "03" + number(5), "04" + number(5) + y, "06" + number(5) + y, number(5), y + y + y,
    ]

    @Test("A public key on P-256 is a point of it, in coordinates below the prime", arguments: points)
    func publicKeys(point: String) throws {
        #expect(try P256PublicKey(bytes(Self.number(5) + Self.y)).point.count == 64)
        #expect(throws: CryptographyError.invalidKey) { try P256PublicKey(bytes(point)) }
        #expect(throws: CryptographyError.invalidKey) {
            try platformCryptography.agreeP256(privateKey: Data(repeating: 1, count: 32), publicKey: bytes(point))
        }
        #expect(throws: CryptographyError.invalidKey) {
            try platformCryptography.isValidP256(Data(count: 64), of: Data(), publicKey: bytes(point))
        }
    }

    // MARK: Ed25519

    /// RFC 8032 §7.1, the first.
    private static let edKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    private static let edSignature =
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"

    private static func isValid(_ signature: Data) throws -> Bool {
        try platformCryptography.isValidEd25519(signature, of: Data(), publicKey: bytes(edKey))
    }

    @Test("The second half of a signature by Ed25519 is below the order of the group")
    func malleability() throws {
        #expect(try Self.isValid(bytes(Self.edSignature)))
        // Least byte first.
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var signature = bytes(Self.edSignature)
        for multiple in 1...15 {
            var carry = 0
            for index in 0..<32 {
                carry += Int(signature[32 + index]) + Int(order[index])
                signature[32 + index] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
            #expect(carry == 0)
            #expect(try !Self.isValid(signature), "\(multiple)")
        }
        #expect(try !Self.isValid(bytes(Self.edSignature).prefix(32) + order))
        #expect(try !Self.isValid(bytes(Self.edSignature).prefix(32) + Data(count: 32)))
        #expect(try !Self.isValid(bytes(Self.edSignature).prefix(32) + Data(repeating: 0xFF, count: 32)))
    }

    /// Made with the private key, of the neutral point in forms that it does not have.
    static let wrongForms = [
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f3fdd9411ef77c7b937c975b1193128983db0482a002663080c0dd63cf3466c06",
        "0100000000000000000000000000000000000000000000000000000000000080071a5da496e94c66afbb4e14651192a3dbaabae7118b915c182ec4f3c2aace0a",
        edKey + String(repeating: "00", count: 32), String(repeating: "00", count: 64), edSignature + "00",
        String(edSignature.dropLast(2)), "00" + edSignature, "", edKey, String(repeating: "ff", count: 64),
    ]

    @Test("The first half of a signature by Ed25519 is a point in its one form", arguments: wrongForms)
    func formOfEd25519(signature: String) throws {
        #expect(try !Self.isValid(bytes(signature)))
    }

    static let weakKeys = [
        // Of order 1, 2, 4 and 8, with either sign.
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        // y is the prime or more: 0, 1 and 3 once more.
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ]

    @Test("A key for Ed25519 under which anybody can sign, or that is in another form, is none", arguments: weakKeys)
    func keysOfEd25519(key: String) {
        // The neutral point and 0: under the key of order 1 that holds for every message.
        let signature = Data([1] + [UInt8](repeating: 0, count: 63))
        for text in ["", "any"] {
            #expect(throws: CryptographyError.invalidKey) {
                try platformCryptography.isValidEd25519(signature, of: Data(text.utf8), publicKey: bytes(key))
            }
        }
    }
}
