import Foundation
import PenstockCore
import Testing

@testable import PenstockSecurity

/// RFC 3394, RFC 7516, RFC 7518 and RFC 7520 by their own examples, and all that is no message for a key.
@Suite struct JWETests {
    private let library = platformCryptography

    private static func url(_ text: String) -> Data { Base64URL.decoded(text) ?? Data() }

    // MARK: Key wrap

    /// RFC 3394 §4.1, §4.4 and §4.6.
    static let wrapped: [(key: String, data: String, wrapped: String)] = [
        (
            "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
            "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"
        ),
        (
            "000102030405060708090a0b0c0d0e0f1011121314151617", "00112233445566778899aabbccddeeff0001020304050607",
            "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"
        ),
        (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
            "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"
        ),
    ]

    @Test(arguments: wrapped) func `a key is wrapped as the standard has it, and no other bytes are unwrapped`(
        key: String, data: String, wrapped: String
    ) throws {
        #expect(try library.wrap(bytes(data), by: bytes(key)).hexadecimal == wrapped)
        #expect(try library.unwrap(bytes(wrapped), by: bytes(key)).hexadecimal == data)
        for index in bytes(wrapped).indices {
            var other = bytes(wrapped)
            other[index] ^= 1
            #expect(throws: CryptographyError.refused) { try library.unwrap(other, by: bytes(key)) }
        }
        var otherKey = bytes(key)
        otherKey[0] ^= 1
        #expect(throws: CryptographyError.refused) { try library.unwrap(bytes(wrapped), by: otherKey) }
    }

    @Test func `what is wrapped is whole blocks of eight bytes, two at least`() throws {
        let key = Data(count: 32)
        for length in [0, 1, 8, 15, 17, 23] {
            #expect(throws: CryptographyError.invalidInput) { try library.wrap(Data(count: length), by: key) }
            #expect(throws: CryptographyError.invalidInput) { try library.unwrap(Data(count: length), by: key) }
        }
        #expect(throws: CryptographyError.refused) { try library.unwrap(Data(count: 24), by: key) }
        #expect(try library.wrap(Data(count: 16), by: key).count == 24)
        for length in [0, 15, 17, 31, 33] {
            #expect(throws: CryptographyError.invalidKey) {
                try library.wrap(Data(count: 16), by: Data(count: length))
            }
            #expect(throws: CryptographyError.invalidKey) {
                try library.unwrap(Data(count: 24), by: Data(count: length))
            }
        }
    }

    // MARK: Content

    /// RFC 7518 §B.1.
    @Test func `A128CBC-HS256 is as the standard has it`() throws {
        let key = Data((0..<32).map { UInt8($0) })
        let iv = bytes("1af38c2dc2b96ffdd86694092341bc04")
        let known = Data("The second principle of Auguste Kerckhoffs".utf8)
        let plain = Data(
            "A cipher system must not be required to be secret, and it must be able to fall into the hands of the enemy without inconvenience"
                .utf8)
        let sealed = try ContentEncryption.a128CBCHS256.encrypt(plain, key: key, iv: iv, authenticating: known)
        #expect(
            sealed.bytes.hexadecimal
                == "c80edfa32ddf39d5ef00c0b468834279a2e46a1b8049f792f76bfe54b903a9c9a94ac9b47ad2655c5f10f9aef71427e2"
                + "fc6f9b3f399a221489f16362c703233609d45ac69864e3321cf82935ac4096c86e133314c54019e8ca7980dfa4b9cf1b"
                + "384c486f3a54c51078158ee5d79de59fbd34d848b3d69550a67646344427ade54b8851ffb598f7f80074b9473c82e2db")
        #expect(sealed.tag.hexadecimal == "652c3fa36b0a7c5b3219fab3a30bc1c4")
        #expect(try ContentEncryption.a128CBCHS256.decrypt(sealed, key: key, authenticating: known) == plain)
    }

    @Test(arguments: ContentEncryption.allCases) func `one bit that is wrong anywhere decrypts nothing`(
        encryption: ContentEncryption
    ) throws {
        let key = Data((0..<32).map { UInt8($0) })
        for length in [0, 1, 15, 16, 17] {
            let plain = Data(repeating: 7, count: length)
            let sealed = try encryption.encrypt(plain, key: key, iv: encryption.newIV(), authenticating: Data([1, 2]))
            #expect(try encryption.decrypt(sealed, key: key, authenticating: Data([1, 2])) == plain)
            func opens(_ change: (inout ContentEncryption.Sealed, inout Data, inout Data) -> Void) -> CryptographyError?
            {
                var (other, ownKey, known) = (sealed, key, Data([1, 2]))
                change(&other, &ownKey, &known)
                do throws(CryptographyError) {
                    _ = try encryption.decrypt(other, key: ownKey, authenticating: known)
                    return nil
                } catch {
                    return error
                }
            }
            for index in sealed.tag.indices {
                #expect(opens { sealed, _, _ in sealed.tag[index] ^= 0x10 } == .refused)
            }
            for index in sealed.bytes.indices {
                #expect(opens { sealed, _, _ in sealed.bytes[index] ^= 1 } == .refused)
            }
            for index in sealed.iv.indices { #expect(opens { sealed, _, _ in sealed.iv[index] ^= 1 } == .refused) }
            // The tag of AES-CBC-HMAC says nothing of the half that encrypts: of 256 wrong ones one leaves padding that may be.
            let authenticating = encryption == .a128CBCHS256 ? key.indices.prefix(key.count / 2) : key.indices
            for index in authenticating { #expect(opens { _, key, _ in key[index] ^= 0x80 } == .refused) }
            #expect(opens { _, _, known in known[1] ^= 1 } == .refused)
            #expect(opens { _, _, known in known = Data([1]) } == .refused)
            #expect(opens { sealed, _, _ in sealed.tag.removeLast() } == .refused)
            #expect(opens { sealed, _, _ in sealed.tag = Data() } == .refused)
            #expect(opens { sealed, _, _ in sealed.tag += [0] } == .refused)
            #expect(opens { sealed, _, _ in sealed.iv.removeLast() } == .refused)
            #expect(opens { sealed, _, _ in sealed.iv += [0] } == .refused)
            #expect(opens { sealed, _, _ in sealed.bytes += Data(count: 16) } == .refused)
        }
        for length in [0, 16, 31, 33, 64] {
            #expect(throws: CryptographyError.invalidKey) {
                try encryption.encrypt(Data(), key: Data(count: length), iv: encryption.newIV(), authenticating: Data())
            }
        }
    }

    /// Where the tag is right and the padding is not, which only who has the key can bring about.
    @Test func `a padding that is none is refused like everything else`() throws {
        let key = Data((0..<32).map { UInt8($0) }), iv = Data(count: 16)
        for length in [0, 8, 15] {
            let bytes = Data(count: length)
            let code = try library.authenticationCode(
                of: iv + bytes + Data(count: 8), key: Data(key.prefix(16)), by: .sha256)
            let sealed = ContentEncryption.Sealed(iv: iv, bytes: bytes, tag: Data(code.prefix(16)))
            #expect(throws: CryptographyError.refused) {
                try ContentEncryption.a128CBCHS256.decrypt(sealed, key: key, authenticating: Data())
            }
        }
        #expect(throws: CryptographyError.invalidInput) {
            try library.encryptCBC(Data(), key: Data(count: 16), iv: Data(count: 12))
        }
        #expect(throws: CryptographyError.invalidKey) {
            try library.decryptCBC(Data(count: 16), key: Data(count: 32), iv: Data(count: 16))
        }
    }

    /// RFC 7516 §A.1 and §A.3: content keys that are wrapped by what is not known here.
    @Test func `the content of the examples of RFC 7516 opens with their content keys`() throws {
        let gcm = ContentEncryption.Sealed(
            iv: Self.url("48V1_ALb6US04U3b"),
            bytes: Self.url(
                "5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX_EFShS8iB7j6jiSdiwkIr3ajwQzaBtQD_A"),
            tag: Self.url("XFBoMYUZodetZdvTiFvSkQ"))
        let first = try ContentEncryption.a256GCM.decrypt(
            gcm, key: bytes("b1a1f480548fe1733fb403ff6b9ad4f68a076e5b702e22692f82cb2e7aea40fc"),
            authenticating: Data("eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ".utf8))
        #expect(first == Data("The true sign of intelligence is not knowledge but imagination.".utf8))
        let contentKey = try library.unwrap(
            Self.url("6KB707dM9YTIgHtLvtgWQ8mKwboJW3of9locizkDTHzBC2IlrT1oOQ"), by: Self.url("GawgguFyGrWKav7AX4VKUg"))
        let cbc = ContentEncryption.Sealed(
            iv: Self.url("AxY8DCtDaGlsbGljb3RoZQ"), bytes: Self.url("KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY"),
            tag: Self.url("U0m_YmjN04DJvceFICbCVQ"))
        let third = try ContentEncryption.a128CBCHS256.decrypt(
            cbc, key: contentKey, authenticating: Data("eyJhbGciOiJBMTI4S1ciLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0".utf8))
        #expect(third == Data("Live long and prosper.".utf8))
    }

    // MARK: Agreement

    @Test func `a public key is read from the JSON Web Key that the private one shows`() throws {
        let own = try P256PrivateKey()
        var jwk = own.publicKey
        let key = try P256PublicKey(jwk: jwk)
        #expect(key.point == own.publicPoint)
        #expect(try P256PublicKey(jwk: JSONEncoder().encode(jwk)) == key)
        let changes = [
            ("crv", "P-384"), ("kty", "OKP"), ("x", "AA"), ("y", jwk["x"] ?? ""), ("use", "sig"), ("alg", "ES256"),
        ]
        for (name, value) in changes {
            jwk[name] = value
            #expect(throws: CryptographyError.invalidKey, "\(name)") { try P256PublicKey(jwk: jwk) }
            jwk = own.publicKey
        }
        #expect(throws: CryptographyError.invalidKey) { try P256PublicKey(jwk: [:]) }
    }

    /// RFC 7518 appendix C.
    @Test func `two keys agree on the key of the standard's example`() throws {
        let alice = Self.url("0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo")
        let bob = Self.url("VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw")
        let (alicePoint, bobPoint) = (try library.p256PublicKey(of: alice), try library.p256PublicKey(of: bob))
        let secret = try library.agreeP256(privateKey: alice, publicKey: bobPoint)
        #expect(secret.hexadecimal == "9e56d91d817135d372834283bf84269cfb316ea3da806a48f6daa7798cfe90c4")
        #expect(try library.agreeP256(privateKey: bob, publicKey: alicePoint) == secret)
        let key = try ConcatKDF.key(
            from: secret, for: "A128GCM", size: 16, partyU: Data("Alice".utf8), partyV: Data("Bob".utf8))
        #expect(key.base64URLText == "VqqN6vgjbSBcIijNcacQGg")
        for (size, isFine) in [(0, false), (1, true), (32, true), (33, false)] {
            #expect(((try? ConcatKDF.key(from: secret, for: "a", size: size))?.count == size) == isFine)
        }
        var off = bobPoint
        off[63] ^= 1
        for point in [off, Data(count: 64), bobPoint.dropLast(), Data()] {
            #expect(throws: CryptographyError.invalidKey) {
                try library.agreeP256(privateKey: alice, publicKey: point)
            }
            #expect(throws: CryptographyError.invalidKey) { try P256PublicKey(point) }
        }
    }

    /// RFC 7520 §5.5.
    private static let frodo =
        "eyJhbGciOiJFQ0RILUVTIiwia2lkIjoibWVyaWFkb2MuYnJhbmR5YnVja0BidWNrbGFuZC5leGFtcGxlIiwiZXBrIjp7Imt0eSI6IkVDIiwiY3J2"
        + "IjoiUC0yNTYiLCJ4IjoibVBVS1RfYkFXR0hJaGcwVHBqanFWc1AxclhXUXVfdndWT0hIdE5rZFlvQSIsInkiOiI4QlFBc0ltR2VBUzQ2ZnlXdzVN"
        + "aFlmR1RUMElqQnBGdzJTUzM0RHY0SXJzIn0sImVuYyI6IkExMjhDQkMtSFMyNTYifQ..yc9N8v5sYyv3iGQT926IUg.BoDlwPnTypYq-ivjmQvA"
        + "YJLb5Q6l-F3LIgQomlz87yW4OPKbWE1zSTEFjDfhU9IPIOSA9Bml4m7iDFwA-1ZXvHteLDtw4R1XRGMEsDIqAYtskTTmzmzNa-_q4F_evAPUmwlO"
        + "-ZG45Mnq4uhM1fm_D9rBtWolqZSF3xGNNkpOMQKF1Cl8i8wjzRli7-IXgyirlKQsbhhqRzkv8IcY6aHl24j03C-AR2le1r7URUhArM79BY8soZU0"
        + "lzwI-sD5PZ3l4NDCCei9XkoIAfsXJWmySPoeRb2Ni5UZL4mYpvKDiwmyzGd65KqVw7MsFfI_K767G9C9Azp73gKZD0DyUn1mn0WW5LmyX_yJ-3AR"
        + "Oq8p1WZBfG-ZyJ6195_JGG2m9Csg.WCCkNa-x4BeB9hIDIfFuhg"
    private static let frodoPlain =
        "You can trust us to stick with you through thick and thin\u{2013}to the bitter end. And you can trust us to keep any "
        + "secret of yours\u{2013}closer than you keep it yourself. But you cannot trust us to let you face trouble alone, and "
        + "go off without a word. We are your friends, Frodo."
    private static let frodoKey =
        #"{"kty":"EC","kid":"meriadoc.brandybuck@buckland.example","use":"enc","crv":"P-256","alg":"ECDH-ES","#
        + #""x":"Ze2loSV3wrroKUN_4zhwGhCqo3Xhu1td4QjeQ5wIVR0","y":"HlLtdXARY_f55A3fnzQbPcm6hgr34Mp8p-nuzQCE0Zw","#
        + #""d":"r_kHyZ-a06rmxM3yESK84r1otSg-aQcVStkRhA-iCM8"}"#

    @Test func `the example of RFC 7520 with ECDH-ES and A128CBC-HS256 opens, and is made again`() throws {
        let key = try SealingKey(jwk: Data(Self.frodoKey.utf8), encryption: .a128CBCHS256)
        #expect(key.id == "meriadoc.brandybuck@buckland.example")
        let message = try JWE.open(Self.frodo, with: [key])
        #expect(message.content == Data(Self.frodoPlain.utf8))
        #expect(message.contentType == nil)
        let random = JWE.Randomness(
            contentKey: Data(), iv: Self.url("yc9N8v5sYyv3iGQT926IUg"),
            ephemeral: try P256PrivateKey(Self.url("AtH35vJsQ9SGjYfOsjUxYXQKrPH3FjZHmEtSKoSN8cM")))
        let made = try JWE.seal(message.content, with: key, contentType: nil, random)
        // The members of the header stand in another order, of which the tag knows.
        #expect(made.split(separator: ".")[2] == Self.frodo.split(separator: ".")[2])
        #expect(made.split(separator: ".")[1] == Self.frodo.split(separator: ".")[1])
        #expect(try JWE.open(made, with: [key]) == message)
    }

    // MARK: Every key

    private static let secret = Data((0..<32).map { UInt8($0 * 3) })
    private static let own = try? P256PrivateKey(Data(repeating: 5, count: 32))

    /// A key for each pair of algorithms, as it seals and as it opens.
    static func keys(_ id: String? = "k1") throws -> [(sealing: SealingKey, opening: SealingKey)] {
        let own = try #require(Self.own)
        let point = try P256PublicKey(own.publicPoint)
        return try ContentEncryption.allCases.flatMap { encryption in
            let direct = try SealingKey.direct(secret, encryption: encryption, id: id)
            let wrapping = try SealingKey.wrapping(secret, encryption: encryption, id: id)
            return [(direct, direct), (wrapping, wrapping)]
                + [true, false].map { wraps in
                    (
                        .agreement(with: point, wraps: wraps, encryption: encryption, id: id),
                        .agreement(own, wraps: wraps, encryption: encryption, id: id)
                    )
                }
        }
    }

    @Test func `what is sealed for a key opens with it, and with no key for another algorithm`() throws {
        let keys = try Self.keys()
        #expect(keys.count == 8)
        let content = Data("a=1&b=2".utf8)
        for (sealing, opening) in keys {
            for type in [nil, "application/json", "text/plain; charset=utf-8", "application/a; b=c/d"] {
                let text = try JWE.seal(content, with: sealing, contentType: type)
                let message = try JWE.open(text, with: [opening])
                #expect(message.content == content)
                #expect(message.contentType == type)
            }
            let text = try JWE.seal(Data(), with: sealing)
            #expect(try JWE.open(text, with: [opening]).content.isEmpty)
            let others = keys.map(\.opening).filter { $0 != opening }
            #expect(others.count == 7)
            #expect(throws: CryptographyError.refused) { try JWE.open(text, with: others) }
            #expect(throws: CryptographyError.refused) { try JWE.open(text, with: []) }
            #expect(try JWE.open(text, with: others + [opening]).content.isEmpty)
            // Nothing is made twice.
            #expect(try JWE.seal(Data(), with: sealing) != text)
        }
    }

    @Test func `who seals for a public key cannot open what was sealed with it`() throws {
        for (sealing, opening) in try Self.keys() where sealing != opening {
            let text = try JWE.seal(Data([1]), with: sealing)
            #expect(throws: CryptographyError.refused) { try JWE.open(text, with: [sealing]) }
            // With the private key both can be done.
            #expect(try JWE.open(JWE.seal(Data([1]), with: opening), with: [opening]).content == Data([1]))
        }
    }

    @Test func `keys are changed one after the other, and a message says which it is for`() throws {
        func key(_ number: UInt8, _ id: String?) throws -> SealingKey {
            try .wrapping(Data(repeating: number, count: 32), id: id)
        }
        let (old, new) = (try key(1, "old"), try key(2, "new"))
        let text = try JWE.seal(Data([7]), with: old)
        #expect(try JWE.open(text, with: [new, old]).content == Data([7]))
        #expect(throws: CryptographyError.refused) { try JWE.open(text, with: [new]) }
        // The same bytes by another name are another key.
        #expect(throws: CryptographyError.refused) { try JWE.open(text, with: [key(1, "older")]) }
        #expect(throws: CryptographyError.refused) { try JWE.open(text, with: [key(1, nil)]) }
        // A message that names none is for any of them.
        let unnamed = try JWE.seal(Data([7]), with: key(1, nil))
        #expect(try JWE.open(unnamed, with: [new, old]).content == Data([7]))
        #expect(throws: CryptographyError.refused) { try JWE.open(unnamed, with: [new]) }
        // Texts that Unicode takes for equal are two names.
        let kelvin = try JWE.seal(Data([7]), with: key(1, "\u{212A}"))
        #expect(throws: CryptographyError.refused) { try JWE.open(kelvin, with: [key(1, "K")]) }
        #expect(try JWE.open(kelvin, with: [key(1, "\u{212A}")]).content == Data([7]))
    }

    @Test func `names and types stand in the header whatever is in them`() throws {
        let id = "a\"b\\c\nd\u{1}e\u{1F}é/🔑"
        let key = try SealingKey.wrapping(Self.secret, id: id)
        let text = try JWE.seal(Data([1]), with: key, contentType: "text/plain; a=\"b\"")
        #expect(try JWE.open(text, with: [key]).contentType == "text/plain; a=\"b\"")
        #expect(JWEMediaType.short("application/json") == "json")
        #expect(JWEMediaType.short("application/a/b") == "application/a/b")
        #expect(JWEMediaType.short("application/") == "application/")
        #expect(JWEMediaType.short("text/plain") == "text/plain")
        #expect(JWEMediaType.full("json") == "application/json")
        #expect(JWEMediaType.full("json;charset=utf-8") == "application/json;charset=utf-8")
        #expect(JWEMediaType.full("text/plain ; a=b/c") == "text/plain ; a=b/c")
        #expect(JWEMediaType.full("text/plain") == "text/plain")
    }
}
