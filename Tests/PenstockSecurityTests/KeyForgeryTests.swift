import Foundation
import Testing

@testable import PenstockSecurity

/// Keys in JSON and in DER that are nearly keys, in the way of Project Wycheproof: each is refused by the one error.
@Suite struct KeyForgeryTests {
    /// A private number whose point has an x that begins with a zero, and one whose y does.
    private static let numbers = [
        "000000000000000000000000000000000000000000000000000000000000017b",
        "000000000000000000000000000000000000000000000000000000000000002b",
    ]
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    private static func key(_ number: String = numbers[0]) throws -> P256PrivateKey {
        try P256PrivateKey(bytes(number))
    }

    // MARK: JSON Web Keys

    /// What reads a key of the type `EC` in this package.
    private static func isTaken(_ members: String) throws -> Bool {
        var taken: [Bool] = []
        for read in [
            { _ = try P256PrivateKey(jwk: Data("{\(members)}".utf8)) },
            { _ = try SealingKey(jwk: Data(#"{"alg":"ECDH-ES",\#(members)}"#.utf8)) },
        ] as [() throws -> Void] {
            do {
                try read()
                taken.append(true)
            } catch let error as CryptographyError {
                #expect(error == .invalidKey)
                taken.append(false)
            }
        }
        #expect(Set(taken).count == 1, "\(members)")
        return taken[0]
    }

    private static func members(x: Data, y: Data, d: Data) -> String {
        #""kty":"EC","crv":"P-256","x":"\#(x.base64URLText)","y":"\#(y.base64URLText)","d":"\#(d.base64URLText)""#
    }

    @Test("Each number of a key has 32 bytes: zeros in front are neither left out nor added", arguments: numbers)
    func zeros(number: String) throws {
        let key = try Self.key(number)
        let (x, y) = (Data(key.publicPoint.prefix(32)), Data(key.publicPoint.suffix(32)))
        func short(_ data: Data) -> Data { Data(data.drop { $0 == 0 }) }
        #expect(try Self.isTaken(Self.members(x: x, y: y, d: key.bytes)))
        #expect(x.first == 0 || y.first == 0)
        #expect(try !Self.isTaken(Self.members(x: short(x), y: short(y), d: key.bytes)))
        #expect(try !Self.isTaken(Self.members(x: [0] + x, y: y, d: key.bytes)))
        #expect(try !Self.isTaken(Self.members(x: x, y: [0] + y, d: key.bytes)))
        #expect(try !Self.isTaken(Self.members(x: x, y: y, d: short(key.bytes))))
        #expect(try !Self.isTaken(Self.members(x: x, y: y, d: [0] + key.bytes)))
        #expect(try !Self.isTaken(Self.members(x: x, y: y, d: Data())))
    }

    /// The private numbers 0, the order, one more than it, and the largest.
    static let wrongNumbers = [
        String(repeating: "0", count: 64), order, order.dropLast() + "2", String(repeating: "f", count: 64),
    ]

    @Test("A private number is one to the order, wherever it stands", arguments: wrongNumbers)
    func numbersBeyond(number: String) throws {
        let point = try Self.key().publicPoint
        let (x, y) = (Data(point.prefix(32)), Data(point.suffix(32)))
        #expect(try !Self.isTaken(Self.members(x: x, y: y, d: bytes(number))))
        // With no point that could be another's.
        #expect(try !Self.isTaken(Self.members(x: Data(count: 32), y: Data(count: 32), d: bytes(number))))
        for text in [
            Self.pem(Self.privateKey(number: bytes(number)), "PRIVATE KEY"),
            Self.pem(Self.ecKey(number: bytes(number), curve: Self.curve), "EC PRIVATE KEY"),
        ] {
            #expect(throws: CryptographyError.invalidKey) { try P256PrivateKey(pem: text) }
        }
    }

    /// In place of a member of a good key, whose texts are `X`, `Y` and `D`; or beside them.
    static let changes: [(String, String)] = [
        (#""kty":"EC""#, #""kty":"RSA""#), (#""kty":"EC""#, #""kty":"OKP""#), (#""kty":"EC""#, #""kty":"oct""#),
        (#""kty":"EC""#, #""kty":"AKP""#), (#""kty":"EC""#, #""kty":"ec""#), (#""kty":"EC""#, #""kty":" EC""#),
        (#""kty":"EC""#, #""kty":"""#), (#""kty":"EC""#, #""kty":null"#), (#""kty":"EC""#, #""kty":["EC"]"#),
        (#""kty":"EC""#, #""KTY":"EC""#), (#""kty":"EC""#, #""x5t":"EC""#), (#""kty":"EC""#, #""kty":"EC","kty":"EC""#),
        (#""kty":"EC""#, "\"\u{FEFF}kty\":\"EC\""), (#""kty":"EC""#, "\"kty\":\"\u{FEFF}EC\""),
        (#""x":"X""#, "\"\u{FEFF}x\":\"X\""), (#""kty":"EC""#, #""kty":"EC","\u006bty":"EC""#),
        (#""kty":"EC""#, #""kty":"EC","kty":"RSA""#),
        (#""crv":"P-256""#, #""crv":"P-256K""#), (#""crv":"P-256""#, #""crv":"P-384""#),
        (#""crv":"P-256""#, #""crv":"secp256k1""#), (#""crv":"P-256""#, #""crv":"p-256""#),
        (#""crv":"P-256""#, #""crv":"prime256v1""#), (#""crv":"P-256""#, #""crv":"P-256\u0000""#),
        (#""crv":"P-256""#, #""crv":256"#), (#""crv":"P-256""#, #""crv":"P-256","crv":"P-256""#),
        (#""x":"X""#, #""x":"Y""#), (#""x":"X""#, #""x":"X=""#), (#""x":"X""#, #""x":"X ""#),
        (#""x":"X""#, #""x":" X""#),
        (#""x":"X""#, #""x":"X\n""#), (#""x":"X""#, #""x":"X","x":"X""#), (#""x":"X""#, #""x":"X","\u0078":"Y""#),
        (#""x":"X""#, #""x":["X"]"#), (#""x":"X""#, #""x":"""#), (#""x":"X""#, #""x":null"#),
        (#""y":"Y""#, #""y":"X""#), (#""y":"Y""#, #""y":"Y","y":"Y""#), (#""y":"Y""#, #""y":"YAA""#),
        (#""d":"D""#, #""d":"X""#), (#""d":"D""#, #""d":"D","d":"D""#), (#""d":"D""#, #""d":"D","d":"X""#),
        (#""d":"D""#, #""d":"D","\u0064":"D""#), (#""d":"D""#, #""d":null"#), (#""d":"D""#, #""d":0"#),
        (#""d":"D""#, #""d":"D","use":"sig","use":"enc""#), (#""d":"D""#, #""d":"D","a":{"b":1,"b":1}"#),
        (#""d":"D""#, #""d":"D","key_ops":[]"#), (#""d":"D""#, #""d":"D","key_ops":["verify"]"#),
        (#""d":"D""#, #""d":"D","use":"tls""#),
    ]

    @Test("A key in JSON has each member once, and as the standard has it", arguments: changes)
    func members(old: String, new: String) throws {
        let key = try Self.key()
        let texts = [
            "X": key.publicPoint.prefix(32).base64URLText, "Y": key.publicPoint.suffix(32).base64URLText,
            "D": key.bytes.base64URLText,
        ]
        func filled(_ text: String) -> String {
            texts.reduce(text) { text, entry in
                text.replacingOccurrences(of: "\"\(entry.key)", with: "\"\(entry.value)")
                    .replacingOccurrences(of: "\" \(entry.key)", with: "\" \(entry.value)")
            }
        }
        let good = #""kty":"EC","crv":"P-256","x":"X","y":"Y","d":"D""#
        #expect(try Self.isTaken(filled(good)))
        #expect(good.contains(old))
        #expect(try !Self.isTaken(filled(good.replacingOccurrences(of: old, with: new))))
    }

    /// Of the key of RFC 8037 §A.1.
    private static let okp = [
        "kty": #""OKP""#, "crv": #""Ed25519""#, "d": #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#,
        "x": #""11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#,
    ]

    static let changesOfEd25519: [(String, String)] = [
        ("kty", #""EC""#), ("kty", #""oct""#), ("kty", #""okp""#), ("crv", #""X25519""#), ("crv", #""Ed448""#),
        ("crv", #""ed25519""#), ("x", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#), ("x", #""""#),
        ("x", #""AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#),
        ("x", #""11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp""#),
        ("d", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyufw""#),
        ("d", #""AJ1hsZ3v_VpguoRK9JLsLMRJScVpezJpGXA7rAMcrn9g""#),
        ("d", #""""#), ("d", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2B""#), ("kty", #""OKP","kty":"OKP""#),
        ("d", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","d":"""#), ("alg", #""ES256""#), ("use", #""enc""#),
        ("key_ops", #"["deriveKey"]"#),
    ]

    @Test("A key for Ed25519 in JSON is its own public key's, in 32 bytes", arguments: changesOfEd25519)
    func membersOfEd25519(name: String, value: String) throws {
        func json(_ members: [String: String]) -> Data {
            Data("{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8)
        }
        #expect(throws: Never.self) { try Ed25519PrivateKey(jwk: json(Self.okp)) }
        #expect(throws: CryptographyError.invalidKey) {
            try Ed25519PrivateKey(jwk: json(Self.okp.merging([name: value]) { $1 }))
        }
    }

    @Test(
        "A secret in JSON is base64 for URLs, without anything in between",
        arguments: [
            "", "A", "AB", "AA==", "AA=", "A A", "AA\\n", "\\tAA", "A/8", "A+8", "AA.AA", "\u{FF21}A", "AA\\u0000",
        ])
    func secrets(text: String) throws {
        #expect(try SharedSecret(jwk: Data(#"{"kty":"oct","k":"AA"}"#.utf8)).bytes == Data([0]))
        #expect(throws: CryptographyError.invalidKey) {
            try SharedSecret(jwk: Data("{\"kty\":\"oct\",\"k\":\"\(text)\"}".utf8))
        }
    }

    // MARK: DER

    private static let algorithm = "06072a8648ce3d0201"
    private static let curve = "06082a8648ce3d030107"

    private static func element(_ tag: UInt8, _ content: Data) -> Data {
        let length =
            content.count < 0x80 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
        return [tag] + Data(length) + content
    }

    private static func pem(_ der: Data, _ label: String) -> String {
        "-----BEGIN \(label)-----\n\(der.base64EncodedString())\n-----END \(label)-----"
    }

    /// SEC 1's `ECPrivateKey` (RFC 5915 §3).
    private static func ecKey(
        version: String = "020101", number: Data, curve: String = "", point: Data? = nil
    ) -> Data {
        let parameters = curve.isEmpty ? Data() : element(0xA0, bytes(curve))
        let publicKey = point.map { element(0xA1, element(0x03, [0] + $0)) } ?? Data()
        return element(0x30, bytes(version) + element(0x04, number) + parameters + publicKey)
    }

    /// `PrivateKeyInfo` (RFC 5958 §2).
    private static func privateKey(
        version: String = "020100", algorithm: String = algorithm + curve, number: Data, key: Data? = nil
    ) -> Data {
        let info = bytes(version) + element(0x30, bytes(algorithm)) + element(0x04, key ?? ecKey(number: number))
        return element(0x30, info)
    }

    @Test("A private key in DER has the versions, the curve and the lengths of the standard, and nothing else")
    func privateKeys() throws {
        let number = bytes(Self.numbers[0])
        let point = Data([4]) + (try Self.key().publicPoint)
        func isTaken(_ der: Data, _ label: String = "PRIVATE KEY") throws -> Bool {
            do throws(CryptographyError) {
                return try P256PrivateKey(pem: Self.pem(der, label)).bytes == number
            } catch {
                #expect(error == .invalidKey)
                return false
            }
        }
        #expect(try isTaken(Self.privateKey(number: number)))
        #expect(try isTaken(Self.privateKey(number: number, key: Self.ecKey(number: number, point: point))))
        #expect(try isTaken(Self.privateKey(number: number, key: Self.ecKey(number: number, curve: Self.curve))))
        #expect(try isTaken(Self.ecKey(number: number, curve: Self.curve), "EC PRIVATE KEY"))
        // 2, -1, 0 in two bytes, none, and another type.
        for version in ["020102", "0201ff", "02020000", "0200", "040100", ""] {
            #expect(try !isTaken(Self.privateKey(version: version, number: number)), "\(version)")
        }
        // 0, 2, -1 and 1 in two bytes.
        for version in ["020100", "020102", "0201ff", "02020001", "0200"] {
            let key = Self.ecKey(version: version, number: number)
            #expect(try !isTaken(Self.privateKey(number: number, key: key)), "\(version)")
        }
        let algorithms = [
            // P-384, secp256k1, NULL, no curve, one too many, RSA, and Ed25519.
            Self.algorithm + "06052b81040022", Self.algorithm + "06052b8104000a", Self.algorithm + "0500",
            Self.algorithm,
            Self.algorithm + Self.curve + "0500", "06092a864886f70d0101010500", "06032b6570",
        ]
        for algorithm in algorithms {
            #expect(try !isTaken(Self.privateKey(algorithm: algorithm, number: number)), "\(algorithm)")
        }
        for length in [0, 1, 31] {
            #expect(try !isTaken(Self.privateKey(number: number.suffix(length))), "\(length)")
        }
        #expect(try !isTaken(Self.privateKey(number: [0] + number)))
        #expect(try !isTaken(Self.ecKey(number: number), "EC PRIVATE KEY"))
        #expect(try !isTaken(Self.ecKey(number: number, curve: "06052b8104000a"), "EC PRIVATE KEY"))
        // The point of another number, compressed, at infinity, and off the curve.
        var off = point
        off[64] ^= 1
        let others: [Data] = [
            Data([4]) + (try Self.key(Self.numbers[1]).publicPoint), Data([2]) + point[1...32], Data([0]), off, Data(),
        ]
        for other in others {
            #expect(try !isTaken(Self.privateKey(number: number, key: Self.ecKey(number: number, point: other))))
        }
    }

    @Test("A key for Ed25519 in DER is 32 bytes, with nothing behind them, and no other key's public one beside it")
    func keysOfEd25519() throws {
        let seed = Data(0..<32)
        let own = try Ed25519PrivateKey(seed).publicKey
        func isTaken(
            _ key: Data, version: String = "020100", algorithm: String = "06032b6570", behind: Data = Data()
        ) throws -> Bool {
            let info = bytes(version) + Self.element(0x30, bytes(algorithm)) + Self.element(0x04, key) + behind
            do throws(CryptographyError) {
                return try Ed25519PrivateKey(pem: Self.pem(Self.element(0x30, info), "PRIVATE KEY")).bytes == seed
            } catch {
                #expect(error == .invalidKey)
                return false
            }
        }
        let good = Self.element(0x04, seed)
        #expect(try isTaken(good))
        for key in [
            good + [0], good + [5, 0], seed, Self.element(0x04, seed + [0]), Self.element(0x04, seed.dropLast()),
        ] {
            #expect(try !isTaken(key), "\(key.hexadecimal)")
        }
        for algorithm in ["06032b6571", "06032b656e", "06032b65700500", Self.algorithm + Self.curve] {
            #expect(try !isTaken(good, algorithm: algorithm), "\(algorithm)")
        }
        // Its public key, which only the second version has; attributes before it; and what is none.
        let beside = Self.element(0x81, [0] + own)
        #expect(try isTaken(good, version: "020101", behind: beside))
        #expect(try isTaken(good, version: "020101", behind: Self.element(0xA0, Data()) + beside))
        #expect(try isTaken(good, behind: Self.element(0xA0, Data())))
        #expect(try !isTaken(good, behind: beside))
        #expect(try !isTaken(good, version: "020101", behind: Self.element(0x81, [1] + own)))
        #expect(try !isTaken(good, version: "020101", behind: Self.element(0x81, own)))
        #expect(try !isTaken(good, version: "020101", behind: Self.element(0x81, [0] + seed)))
        #expect(try !isTaken(good, version: "020101", behind: beside + beside))
    }

    @Test("A public key in DER is a point of P-256 that is not compressed, in a whole number of bytes")
    func publicKeys() throws {
        let point = try Self.key().publicPoint
        func info(_ algorithm: String, _ bits: Data) -> Data {
            Self.element(0x30, Self.element(0x30, bytes(algorithm)) + Self.element(0x03, bits))
        }
        func bits(_ first: UInt8..., then point: Data = Data()) -> Data { Data(first) + point }
        func isTaken(_ der: Data) throws -> Bool {
            do throws(CryptographyError) {
                return try P256PublicKey(pem: Self.pem(der, "PUBLIC KEY")).point == point
            } catch {
                #expect(error == .invalidKey)
                return false
            }
        }
        let own = Self.algorithm + Self.curve
        let good = info(own, bits(0, 4, then: point))
        #expect(try isTaken(good))
        let beyond = bytes(
            "ffffffff00000001000000000000000000000001000000000000000000000004"
                + "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc")
        let wrong = [
            bits(0, 2, then: point.prefix(32)), bits(0, 3, then: point.prefix(32)), bits(0, 6, then: point),
            bits(0, 7, then: point), bits(0, 0), bits(0), bits(), bits(1, 4, then: point), bits(8, 4, then: point),
            bits(4, then: point), bits(0, 4, then: point.dropLast()), bits(0, 4, then: point + [0]),
            bits(0, 4, then: Data(count: 64)), bits(0, 4, then: Data(repeating: 0xFF, count: 64)),
            bits(0, 4, then: beyond), bits(0, 4, then: point.suffix(32) + point.prefix(32)),
        ]
        for bits in wrong { #expect(try !isTaken(info(own, bits)), "\(bits.hexadecimal)") }
        for algorithm in [
            Self.algorithm + "06052b8104000a", Self.algorithm + "06052b81040022", Self.algorithm, Self.curve,
            Self.algorithm + "0500", own + "0500", "06032b6570", "06092a864886f70d0101010500",
        ] {
            #expect(try !isTaken(info(algorithm, bits(0, 4, then: point))), "\(algorithm)")
        }
        // Lengths in more bytes than they take, of no end, too long and too short; another tag; something behind.
        let content = good.dropFirst(2)
        for start in ["308159", "30820059", "3080", "305a", "3058", "3159", "7059"] {
            #expect(try !isTaken(bytes(start) + content), "\(start)")
        }
        #expect(try !isTaken(bytes("3080") + content + [0, 0]))
        #expect(try !isTaken(good + [0]))
        #expect(try !isTaken(bytes("305b") + content + [5, 0]))
        for length in 0..<good.count { #expect(try !isTaken(good.prefix(length)), "\(length)") }
    }
}
