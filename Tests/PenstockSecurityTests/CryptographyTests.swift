import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@testable import PenstockSecurity

/// The vectors of the standards, on whatever library signs here.
@Suite(.timeLimit(.minutes(5))) struct CryptographyTests {
    private let library = platformCryptography

    // MARK: Digests

    /// FIPS 180-4, for both functions: no bytes, and `abc`.
    static let digests: [(HashFunction, String, String)] = [
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha512, "",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        ),
        (
            .sha512, "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
    ]

    @Test(arguments: digests) func `digests are those of the standard, in one piece and in many`(
        function: HashFunction, text: String, digest: String
    ) throws {
        #expect(try library.digest(Data(text.utf8), by: function).hexadecimal == digest)
        var running = try library.makeDigest(function)
        for byte in text.utf8 {
            try running.update(Data([byte]))
            try running.update(Data())
        }
        #expect(try running.finish().hexadecimal == digest)
    }

    /// RFC 4231 §4.2, §4.3, §4.7.
    static let codes: [(HashFunction, [UInt8], String, String)] = [
        (
            .sha256, [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            .sha512, [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
        ),
        (
            .sha256, Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            .sha512, Array("Jefe".utf8), "what do ya want for nothing?",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
        ),
        (
            .sha256, [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            .sha512, [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
        ),
    ]

    @Test(.covers("S1.12"), arguments: codes) func `authentication codes are those of the standard`(
        function: HashFunction, key: [UInt8], text: String, code: String
    ) throws {
        let made = try library.authenticationCode(of: Data(text.utf8), key: Data(key), by: function)
        #expect(made.hexadecimal == code)
    }

    @Test func `a key of no bytes makes no authentication code, while one of a byte does, also of no data`() throws {
        #expect(throws: CryptographyError.invalidKey) {
            try library.authenticationCode(of: Data("a".utf8), key: Data(), by: .sha256)
        }
        let empty = #expect(throws: CryptographyError.emptySecret) { try SharedSecret(text: "") }
        #expect(empty?.description == "the secret has no bytes: what it is read from is empty")
        #expect(try SharedSecret(Data([0])).bytes.count == 1)
        #expect(try library.authenticationCode(of: Data(), key: Data([0]), by: .sha256).count == 32)
    }

    // MARK: AES-GCM

    private static let plain = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    )
    private static let known = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    private static let nonce = bytes("cafebabefacedbaddecaf888")

    /// Test cases 4, 10 and 16 of the specification of GCM: one for each length of a key.
    static let sealed: [(key: String, bytes: String, tag: String)] = [
        (
            "feffe9928665731c6d6a8f9467308308",
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47"
        ),
        (
            "feffe9928665731c6d6a8f9467308308feffe9928665731c",
            "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
            "2519498e80f1478f37ba55bd6d27618c"
        ),
        (
            "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            "76fc6ece0f4e1768cddf8853bb2d551b"
        ),
    ]

    @Test(arguments: sealed) func `what is sealed is as the specification has it, and opens again`(
        key: String, sealed: String, tag: String
    ) throws {
        let box = try library.seal(Self.plain, key: bytes(key), nonce: Self.nonce, authenticating: Self.known)
        #expect(box.bytes.hexadecimal == sealed)
        #expect(box.tag.hexadecimal == tag)
        #expect(
            try library.open(box, key: bytes(key), nonce: Self.nonce, authenticating: Self.known) == Self.plain)
    }

    @Test func `no bytes are sealed as well, with and without data beside them`() throws {
        let key = Data(count: 16)
        let empty = try library.seal(Data(), key: key, nonce: Data(count: 12), authenticating: Data())
        // Test case 1 of the specification.
        #expect(empty.bytes.isEmpty)
        #expect(empty.tag.hexadecimal == "58e2fccefa7e3061367f1d57a4e7455a")
        #expect(try library.open(empty, key: key, nonce: Data(count: 12), authenticating: Data()).isEmpty)
        let beside = try library.seal(Data(), key: key, nonce: Data(count: 12), authenticating: Data([1]))
        #expect(beside.tag != empty.tag)
        #expect(try library.open(beside, key: key, nonce: Data(count: 12), authenticating: Data([1])).isEmpty)
    }

    @Test func `one bit that is wrong anywhere opens nothing`() throws {
        let key = bytes(Self.sealed[0].key)
        let box = try library.seal(Self.plain, key: key, nonce: Self.nonce, authenticating: Self.known)
        func opens(_ change: (inout SealedBytes, inout Data, inout Data, inout Data) -> Void) -> CryptographyError? {
            var (copy, ownKey, nonce, known) = (box, key, Self.nonce, Self.known)
            change(&copy, &ownKey, &nonce, &known)
            do throws(CryptographyError) {
                _ = try library.open(copy, key: ownKey, nonce: nonce, authenticating: known)
                return nil
            } catch {
                return error
            }
        }
        #expect(opens { _, _, _, _ in } == nil)
        for bit in 0..<128 {
            #expect(opens { box, _, _, _ in box.tag[bit / 8] ^= 1 << (bit % 8) } == .refused)
        }
        for index in box.bytes.indices {
            #expect(opens { box, _, _, _ in box.bytes[index] ^= 0x80 } == .refused)
        }
        #expect(opens { _, key, _, _ in key[0] ^= 1 } == .refused)
        #expect(opens { _, _, nonce, _ in nonce[11] ^= 1 } == .refused)
        #expect(opens { _, _, _, known in known[0] ^= 1 } == .refused)
        #expect(opens { _, _, _, known in known = Data() } == .refused)
        #expect(opens { box, _, _, _ in box.bytes.removeLast() } == .refused)
    }

    @Test func `keys, nonces and tags of another length are refused before they are used`() throws {
        for length in [0, 15, 17, 23, 25, 31, 33] {
            #expect(throws: CryptographyError.invalidKey) {
                try library.seal(Data(), key: Data(count: length), nonce: Data(count: 12), authenticating: Data())
            }
        }
        for length in [0, 11, 13, 16] {
            #expect(throws: CryptographyError.invalidInput) {
                try library.seal(Data(), key: Data(count: 16), nonce: Data(count: length), authenticating: Data())
            }
        }
        let box = try library.seal(Data([1]), key: Data(count: 16), nonce: Data(count: 12), authenticating: Data())
        for length in [0, 4, 12, 15, 17] {
            let short = SealedBytes(bytes: box.bytes, tag: Data((box.tag + box.tag).prefix(length)))
            #expect(throws: CryptographyError.invalidInput) {
                try library.open(short, key: Data(count: 16), nonce: Data(count: 12), authenticating: Data())
            }
        }
        #expect(throws: CryptographyError.invalidInput) {
            try library.open(box, key: Data(count: 16), nonce: Data(count: 13), authenticating: Data())
        }
        #expect(throws: CryptographyError.invalidKey) {
            try library.open(box, key: Data(count: 20), nonce: Data(count: 12), authenticating: Data())
        }
    }

    // MARK: Ed25519

    /// RFC 8032 §7.1, the first three.
    static let signatures: [(key: String, publicKey: String, message: String, signature: String)] = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    @Test(arguments: signatures) func `Ed25519 signs as the standard does, and takes no other signature`(
        key: String, publicKey: String, message: String, signature: String
    ) throws {
        let key = try Ed25519PrivateKey(bytes(key))
        #expect(key.publicKey.hexadecimal == publicKey)
        let made = try key.sign(bytes(message))
        #if os(Linux)
            #expect(made.hexadecimal == signature)
        #endif
        let valid = { try library.isValidEd25519($0, of: bytes(message), publicKey: key.publicKey) }
        #expect(try valid(made))
        #expect(try valid(bytes(signature)))
        for index in [0, 31, 32, 63] {
            var other = bytes(signature)
            other[index] ^= 1
            #expect(try !valid(other))
        }
        #expect(try !valid(bytes(signature).dropLast()))
        #expect(try !valid(bytes(signature) + [0]))
        #expect(try !valid(Data()))
        #expect(try !library.isValidEd25519(made, of: bytes(message + "00"), publicKey: key.publicKey))
    }

    @Test func `a key for Ed25519 has 32 bytes`() {
        for length in [0, 31, 33, 64] {
            #expect(throws: CryptographyError.invalidKey) { try Ed25519PrivateKey(Data(repeating: 1, count: length)) }
            #expect(throws: CryptographyError.invalidKey) {
                try library.isValidEd25519(Data(count: 64), of: Data(), publicKey: Data(repeating: 1, count: length))
            }
        }
    }

    // MARK: P-256

    private static let scalar = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
    private static let point =
        "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"

    /// RFC 6979 §A.2.5: the key, and two signatures with SHA-256.
    @Test(arguments: [
        (
            "sample",
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        ),
        (
            "test",
            "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
        ),
    ]) func `ECDSA on P-256 takes the published signatures and its own, and no other`(text: String, signature: String)
        throws
    {
        let key = try P256PrivateKey(bytes(Self.scalar))
        #expect(key.publicPoint.hexadecimal == Self.point)
        let valid = { try library.isValidP256($0, of: Data(text.utf8), publicKey: key.publicPoint) }
        #expect(try valid(bytes(signature)))
        #expect(try valid(key.sign(Data(text.utf8))))
        for index in [0, 31, 32, 63] {
            var other = bytes(signature)
            other[index] ^= 1
            #expect(try !valid(other))
        }
        #expect(try !valid(Data(count: 64)))
        #expect(try !valid(bytes(signature).dropLast()))
        #expect(try !valid(bytes(signature) + [0]))
        #expect(try !library.isValidP256(bytes(signature), of: Data("other".utf8), publicKey: key.publicPoint))
    }

    @Test func `a private number is one to the order of the curve, exclusive`() throws {
        let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        let last = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"
        let one = String(repeating: "0", count: 63) + "1"
        for number in [order, String(repeating: "f", count: 64), String(repeating: "0", count: 64)] {
            #expect(throws: CryptographyError.invalidKey) { try P256PrivateKey(bytes(number)) }
        }
        // That of one is the base point itself; that of the last is the same point mirrored.
        let base = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        #expect(try P256PrivateKey(bytes(one)).publicPoint.prefix(32).hexadecimal == base)
        #expect(try P256PrivateKey(bytes(last)).publicPoint.prefix(32).hexadecimal == base)
        for length in [0, 31, 33] {
            #expect(throws: CryptographyError.invalidKey) { try P256PrivateKey(Data(repeating: 1, count: length)) }
        }
    }

    @Test func `a point that is not on the curve, or of another length, is no key`() {
        var off = bytes(Self.point)
        off[63] ^= 1
        let points = [off, Data(count: 64), bytes(Self.point).dropLast(), bytes("04" + Self.point), Data()]
        for point in points {
            #expect(throws: CryptographyError.invalidKey) {
                try library.isValidP256(Data(count: 64), of: Data(), publicKey: point)
            }
        }
    }

    @Test func `new keys differ, and each signs`() throws {
        let keys = try (0..<8).map { _ in try P256PrivateKey() }
        #expect(Set(keys.map(\.publicPoint)).count == 8)
        for key in keys {
            #expect(key.bytes.count == 32)
            let signature = try key.sign(Data("a".utf8))
            #expect(try library.isValidP256(signature, of: Data("a".utf8), publicKey: key.publicPoint))
        }
    }

    @Test func `no form of a secret shows what is in it`() throws {
        let secret = "5ecretKn0wnToTwo"
        let values: [Any] = [
            try SharedSecret(text: secret), try Ed25519PrivateKey(Data(secret.utf8) + Data(secret.utf8)),
            try P256PrivateKey(Data(secret.utf8) + Data(secret.utf8)),
            AWSCredentials(accessKeyID: "AKID", secretAccessKey: secret, sessionToken: secret),
            SortedParameterSigner(appKey: "app", secret: try SharedSecret(text: secret)),
            HTTPMessageSigner(try SharedSecret(text: secret), keyID: "k"),
            AWSSignatureV4(
                region: "r", service: "s", credentials: AWSCredentials(accessKeyID: "AKID", secretAccessKey: secret)),
        ]
        let forms = [Data(secret.utf8).base64EncodedString(), "\(Array(secret.utf8))", secret]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                for form in forms { #expect(!text.contains(form), "\(type(of: value))") }
            }
        }
    }

    @Test func `the steps to a signature print without the secrets of what was signed`() async throws {
        let secret = "5ecretKn0wnToTwo"
        let request = HTTPRequest(
            method: .get, url: try HTTPURL("https://a.example/b?access_token=\(secret)"),
            fields: ["Authorization": "Bearer \(secret)"])
        let moment = Date(timeIntervalSince1970: 1_700_000_000)
        let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "other", sessionToken: secret)
        let amazon = try await AWSSignatureV4(region: "r", service: "s", credentials: credentials).signed(
            request, at: moment)
        let sorted = try await SortedParameterSigner(appKey: "app", secret: try SharedSecret(text: "other"))
            .signed(request, at: moment, nonce: "n")
        let message = try await HTTPMessageSigner(
            try SharedSecret(text: "other"), keyID: "k", covering: [.field("Authorization"), .query]
        ).signed(request, at: moment)
        #expect(amazon.canonicalRequest.contains(secret) && sorted.text.contains(secret))
        #expect(message.base.text.contains(secret), "the members say it")
        for value: Any in [amazon, sorted, message, message.base] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains(secret), "\(type(of: value))")
                #expect(text.contains("a.example") || value is SignatureBase, "what was signed can be told")
            }
        }
    }

    @Test func `a key for DPoP shows its public part as a JSON Web Key, and its proofs hold`() throws {
        let key = try P256PrivateKey(bytes(Self.scalar))
        #expect(key.algorithm == "ES256")
        #expect(
            key.publicKey == [
                "kty": "EC", "crv": "P-256", "x": "YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y",
                "y": "eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk",
            ])
        let proof = try DPoPProver(key).proof(
            method: .get, url: try HTTPURL("https://a.example/b"), token: "t", at: Date(timeIntervalSince1970: 1))
        let parts = proof.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        var text = parts[2].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        let signed = Data((parts[0] + "." + parts[1]).utf8)
        #expect(try library.isValidP256(base64(text), of: signed, publicKey: key.publicPoint))
    }
}
