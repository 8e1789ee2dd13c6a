import Foundation
import PenstockCore
import Testing

@testable import PenstockSecurity

/// Messages that are none: each is refused, by one error, in one text.
@Suite struct JWEForgeryTests {
    private static let secret = Data((0..<32).map { UInt8($0) })
    private static func key(_ encryption: ContentEncryption = .a256GCM) throws -> SealingKey {
        try .direct(secret, encryption: encryption, id: "k")
    }

    private static func own() throws -> P256PrivateKey { try P256PrivateKey(Data(repeating: 9, count: 32)) }

    /// A message with a header of any kind, whose content is sealed as it should be for who takes that header.
    private static func message(
        _ header: String, encryptedKey: Data = Data(), contentKey: Data = secret,
        _ encryption: ContentEncryption = .a256GCM
    ) throws -> String {
        try message(
            base64: Data(header.utf8).base64URLText, encryptedKey: encryptedKey, contentKey: contentKey, encryption)
    }

    private static func message(
        base64 protected: String, encryptedKey: Data = Data(), contentKey: Data = secret,
        _ encryption: ContentEncryption = .a256GCM
    ) throws -> String {
        let sealed = try encryption.encrypt(
            Data("plain".utf8), key: contentKey, iv: encryption.newIV(), authenticating: Data(protected.utf8))
        return ([protected] + [encryptedKey, sealed.iv, sealed.bytes, sealed.tag].map(\.base64URLText))
            .joined(separator: ".")
    }

    /// `nil` where it opens.
    private static func refusal(_ text: String, _ keys: [SealingKey]) -> CryptographyError? {
        do throws(CryptographyError) {
            _ = try JWE.open(text, with: keys)
            return nil
        } catch {
            return error
        }
    }

    // MARK: The header

    static let headers: [(String, Bool)] = [
        (#"{"alg":"dir","enc":"A256GCM"}"#, true),
        (#" {"alg":"dir","enc":"A256GCM"}"#, false),
        (#"{"alg":"dir","enc":"A256GCM"} "#, true),
        (#"{"enc":"A256GCM","kid":"k","alg":"dir"}"#, true),
        (#"{"alg":"dir","enc":"A256GCM","typ":"JWT","jku":"https://evil.example/","x5c":["AA"]}"#, true),
        (#"{"alg":"dir","enc":"A256GCM","cty":"json"}"#, true),
        (#"{"alg":"dir","enc":"A256GCM","kid":"K"}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","kid":""}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","kid":1}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","kid":null}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","cty":1}"#, false),
        // Extensions and compression.
        (#"{"alg":"dir","enc":"A256GCM","crit":["exp"],"exp":1}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","crit":["alg"]}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","crit":[]}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","crit":null}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","zip":null}"#, false),
        // Other algorithms than the key's.
        (#"{"alg":"none","enc":"A256GCM"}"#, false),
        (#"{"alg":"Dir","enc":"A256GCM"}"#, false),
        (#"{"alg":"dir ","enc":"A256GCM"}"#, false),
        (#"{"alg":"A256KW","enc":"A256GCM"}"#, false),
        (#"{"alg":"PBES2-HS256+A128KW","enc":"A256GCM","p2c":1000000000,"p2s":"AA"}"#, false),
        (#"{"alg":"RSA1_5","enc":"A256GCM"}"#, false),
        (#"{"alg":"dir","enc":"a256gcm"}"#, false),
        (#"{"alg":"dir","enc":"A128GCM"}"#, false),
        (#"{"alg":"dir","enc":"A128CBC-HS256"}"#, false),
        (#"{"alg":["dir"],"enc":"A256GCM"}"#, false),
        (#"{"alg":"dir","enc":null}"#, false),
        (#"{"alg":"dir"}"#, false),
        (#"{"enc":"A256GCM"}"#, false),
        // Members that stand twice.
        (#"{"alg":"dir","alg":"dir","enc":"A256GCM"}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","enc":"A128GCM"}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","a":1,"a":1}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","\u0061lg":"dir"}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","x":{"a":1,"a":2}}"#, false),
        // No JSON object.
        ("", false), ("{}", false), ("[]", false), ("null", false), (#"{"alg":"dir","enc":"A256GCM""#, false),
        (#"{"alg":"dir","enc":"A256GCM",}"#, false), (#"{'alg':'dir','enc':'A256GCM'}"#, false),
        (#"{"alg":"dir","enc":"A256GCM"}{}"#, false), (#"{"alg":"dir","enc":"A256GCM"}x"#, false),
        ("\u{FEFF}{\"alg\":\"dir\",\"enc\":\"A256GCM\"}", false),
        ("{\"\u{FEFF}alg\":\"dir\",\"enc\":\"A256GCM\"}", false),
        ("{\"alg\":\"\u{FEFF}dir\",\"enc\":\"A256GCM\"}", false),
        ("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"kid\":\"\u{FEFF}k\"}", false),
        (#"{"alg":"dir","enc":"A256GCM","x":[[[[1]]]]}"#, false),
        (#"{"alg":"dir","enc":"A256GCM","x":[[[1]]]}"#, true),
    ]

    @Test(arguments: headers) func `a header is read strictly, and asks for nothing but what the key is for`(
        header: String, isFine: Bool
    ) throws {
        #expect(Self.refusal(try Self.message(header), [try Self.key()]) == (isFine ? nil : .refused))
    }

    @Test(arguments: [
        "", "a b", "a/b/c", "/", "text/", "/plain", "text/plain\r\nX-Evil: 1", "text/plain; a=\u{0}", "te\u{7F}xt", "é",
        "text/pl\u{A0}ain", "text/plain\u{A0}", "; charset=utf-8",
    ]) func `a cty that is no media type is none, and the message opens`(type: String) throws {
        let header = #"{"alg":"dir","enc":"A256GCM","cty":\#(JSONText.quoted(type))}"#
        let message = try JWE.open(Self.message(header), with: [Self.key()])
        #expect(message.contentType == nil)
    }

    @Test func `a header has a greatest length`() throws {
        func header(of count: Int) -> String {
            let (start, end) = (#"{"alg":"dir","enc":"A256GCM","x":""#, #""}"#)
            return start + String(repeating: "a", count: count - start.utf8.count - end.utf8.count) + end
        }
        let key = try Self.key()
        // In base64, 16 KiB.
        let longest = 12 << 10
        #expect(Self.refusal(try Self.message(header(of: longest)), [key]) == nil)
        #expect(Self.refusal(try Self.message(header(of: longest + 1)), [key]) == .refused)
        #expect(Self.refusal(try Self.message(header(of: 4 << 20)), [key]) == .refused)
    }

    @Test func `texts that Unicode takes for equal are no names of algorithms`() throws {
        // The sign for Kelvin, which is a K once it is made into its one form.
        let kelvin = "{\"alg\":\"A256\u{212A}W\",\"enc\":\"A256GCM\"}"
        let contentKey = Data(repeating: 3, count: 32)
        let wrapped = try platformCryptography.wrap(contentKey, by: Self.secret)
        let key = try SealingKey.wrapping(Self.secret)
        let message = try Self.message(kelvin, encryptedKey: wrapped, contentKey: contentKey)
        #expect(Self.refusal(message, [key]) == .refused)
        let plain = try Self.message(
            #"{"alg":"A256KW","enc":"A256GCM"}"#, encryptedKey: wrapped, contentKey: contentKey)
        #expect(Self.refusal(plain, [key]) == nil)
    }

    @Test func `bytes that are no UTF-8 are no header`() throws {
        let header = Data(#"{"alg":"dir","enc":"A256GCM","x":""#.utf8) + [0xFF] + Data(#""}"#.utf8)
        #expect(Self.refusal(try Self.message(base64: header.base64URLText), [try Self.key()]) == .refused)
    }

    // MARK: The parts

    @Test func `a message has five parts, each in the one form of base64 for URLs`() throws {
        let key = try Self.key()
        let text = try JWE.seal(Data("plain".utf8), with: key)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        #expect(Self.refusal(text, [key]) == nil)
        var forged = [
            "", ".", "....", ".....", String(repeating: ".", count: 1 << 20), text + ".", "." + text, text + "\n",
            " " + text, text + "=", text + "\0",
            parts.dropLast().joined(separator: "."), text.replacingOccurrences(of: ".", with: ","),
            parts.joined(separator: ". "), "{\"protected\":\"\(parts[0])\"}",
        ]
        for index in parts.indices {
            func with(_ part: String) -> String {
                var parts = parts
                parts[index] = part
                return parts.joined(separator: ".")
            }
            forged += [
                with(parts[index] + "="), with(parts[index] + "A"), with("+" + parts[index]), with(parts[index] + "é"),
            ]
            forged += [with(parts[index] + "\n"), with("!")]
            if !parts[index].isEmpty { forged += [with(""), with(String(parts[index].dropLast()))] }
        }
        for text in forged { #expect(Self.refusal(text, [key]) == .refused, "\(text)") }
    }

    @Test func `bits behind the last byte must be zero, in every part`() throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        for (sealing, opening) in try JWETests.keys() {
            let text = try JWE.seal(Data("12345".utf8), with: sealing)
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            for (index, part) in parts.enumerated() where part.utf8.count % 4 != 0 {
                let last = try #require(part.last.flatMap { alphabet.firstIndex(of: $0) })
                // Decoders that are lax take this for the same bytes.
                var other = parts
                other[index] = part.dropLast() + String(alphabet[last + 1])
                #expect(Self.refusal(other.joined(separator: "."), [opening]) == .refused)
            }
        }
    }

    @Test func `one character that is another one anywhere opens nothing, by any key`() throws {
        for (sealing, opening) in try JWETests.keys() {
            let text = Array(try JWE.seal(Data("plain".utf8), with: sealing, contentType: "text/plain"))
            for index in text.indices where text[index] != "." {
                var other = text
                other[index] = text[index] == "A" ? "B" : "A"
                #expect(Self.refusal(String(other), [opening]) == .refused, "\(opening) \(index)")
            }
        }
    }

    @Test func `a key goes along where one is asked for, and nowhere else`() throws {
        let wrapped = try platformCryptography.wrap(Self.secret, by: Self.secret)
        let direct = try Self.message(#"{"alg":"dir","enc":"A256GCM"}"#, encryptedKey: wrapped)
        #expect(Self.refusal(direct, [try Self.key()]) == .refused)
        let key = try SealingKey.wrapping(Self.secret)
        for length in [16, 24, 40, 64] where length != 32 {
            // Wrapped as it should be, but no key for the content.
            let other = try platformCryptography.wrap(Data(count: length), by: Self.secret)
            let text = try Self.message(
                #"{"alg":"A256KW","enc":"A256GCM"}"#, encryptedKey: other, contentKey: Data(count: 32))
            #expect(Self.refusal(text, [key]) == .refused)
        }
        let none = try Self.message(#"{"alg":"A256KW","enc":"A256GCM"}"#, contentKey: Data(count: 32))
        #expect(Self.refusal(none, [key]) == .refused)
    }

    // MARK: Agreement

    /// A message whose sender's key is a text of JSON; sealed for the point that it should have.
    private static func agreed(epk: String, extra: String = "", encryptedKey: Data = Data()) throws -> String {
        let ephemeral = try P256PrivateKey(Data(repeating: 4, count: 32))
        let secret = try platformCryptography.agreeP256(privateKey: ephemeral.bytes, publicKey: own().publicPoint)
        let key = try ConcatKDF.key(from: secret, for: "A256GCM", size: 32)
        return try message(
            #"{"alg":"ECDH-ES","enc":"A256GCM""# + epk + extra + "}", encryptedKey: encryptedKey, contentKey: key)
    }

    @Test func `the sender's key is a public one on P-256 in its one form`() throws {
        let point = try P256PrivateKey(Data(repeating: 4, count: 32)).publicPoint
        let (x, y) = (point.prefix(32).base64URLText, point.suffix(32).base64URLText)
        let key = SealingKey.agreement(try Self.own(), wraps: false)
        func refusal(_ members: String) throws -> CryptographyError? {
            Self.refusal(try Self.agreed(epk: ",\"epk\":{\(members)}"), [key])
        }
        #expect(try refusal(#""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)""#) == nil)
        let wrong = [
            #""kty":"EC","crv":"P-256","x":"\#(x)""#, #""kty":"EC","crv":"P-256","y":"\#(y)""#,
            #""kty":"EC","x":"\#(x)","y":"\#(y)""#, #""crv":"P-256","x":"\#(x)","y":"\#(y)""#,
            #""kty":"OKP","crv":"P-256","x":"\#(x)","y":"\#(y)""#,
            #""kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)""#,
            #""kty":"EC","crv":"secp256k1","x":"\#(x)","y":"\#(y)""#,
            #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":"AA""#,
            #""kty":"EC","crv":"P-256","x":"\#(x)=","y":"\#(y)""#, #""kty":"EC","crv":"P-256","x":"\#(y)","y":"\#(x)""#,
            #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","y":"\#(y)""#,
            #""kty":"EC","crv":"P-256","x":"AA","y":"AA""#, #""kty":"EC","crv":"P-256","x":"","y":"""#,
            #""kty":"EC","crv":"P-256","x":1,"y":2"#, "",
        ]
        for members in wrong { #expect(try refusal(members) == .refused, "\(members)") }
        // With a zero before it: the same number, in another length.
        let longer = (Data([0]) + point.prefix(32)).base64URLText
        #expect(try refusal(#""kty":"EC","crv":"P-256","x":"\#(longer)","y":"\#(y)""#) == .refused)
        // Of the two points with that x, the other one agrees on another secret's y and the same x.
        for epk in ["", #","epk":null"#, #","epk":"AA""#, #","epk":[]"#] {
            #expect(Self.refusal(try Self.agreed(epk: epk), [key]) == .refused)
        }
    }

    @Test func `a point that is off the curve is refused, wherever it is`() throws {
        let key = SealingKey.agreement(try Self.own(), wraps: false)
        let point = try P256PrivateKey(Data(repeating: 4, count: 32)).publicPoint
        for index in [0, 31, 32, 63] {
            var off = point
            off[index] ^= 1
            let (x, y) = (off.prefix(32).base64URLText, off.suffix(32).base64URLText)
            let text = try Self.agreed(epk: #","epk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#)
            #expect(Self.refusal(text, [key]) == .refused)
        }
        // Neither the point at infinity nor numbers beyond the field's.
        let zero = Data(count: 32).base64URLText, most = Data(repeating: 0xFF, count: 32).base64URLText
        for (x, y) in [(zero, zero), (most, most)] {
            let text = try Self.agreed(epk: #","epk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#)
            #expect(Self.refusal(text, [key]) == .refused)
        }
    }

    @Test func `what the parties are called belongs to the key, and is bytes`() throws {
        let ephemeral = try P256PrivateKey(Data(repeating: 4, count: 32))
        let point = ephemeral.publicPoint
        let epk =
            #","epk":{"kty":"EC","crv":"P-256","x":"\#(point.prefix(32).base64URLText)","y":"\#(point.suffix(32).base64URLText)"}"#
        let key = SealingKey.agreement(try Self.own(), wraps: false)
        let secret = try platformCryptography.agreeP256(
            privateKey: ephemeral.bytes, publicKey: Self.own().publicPoint)
        let (alice, bob) = (Data("Alice".utf8), Data("Bob".utf8))
        let named = try ConcatKDF.key(from: secret, for: "A256GCM", size: 32, partyU: alice, partyV: bob)
        let start = #"{"alg":"ECDH-ES","enc":"A256GCM""# + epk
        let parties = #","apu":"\#(alice.base64URLText)","apv":"\#(bob.base64URLText)"}"#
        #expect(Self.refusal(try Self.message(start + parties, contentKey: named), [key]) == nil)
        let swapped = #","apu":"\#(bob.base64URLText)","apv":"\#(alice.base64URLText)"}"#
        #expect(Self.refusal(try Self.message(start + swapped, contentKey: named), [key]) == .refused)
        #expect(Self.refusal(try Self.message(start + "}", contentKey: named), [key]) == .refused)
        let plain = try ConcatKDF.key(from: secret, for: "A256GCM", size: 32)
        #expect(Self.refusal(try Self.message(start + #","apu":"","apv":""}"#, contentKey: plain), [key]) == nil)
        for extra in [#","apu":1}"#, #","apv":null}"#, #","apu":"A"}"#, #","apv":"AB"}"#, #","apu":"="}"#] {
            #expect(Self.refusal(try Self.message(start + extra, contentKey: plain), [key]) == .refused)
        }
        // Agreed on directly, no key goes along.
        let wrapped = try platformCryptography.wrap(plain, by: plain)
        let both = try Self.message(start + "}", encryptedKey: wrapped, contentKey: plain)
        #expect(Self.refusal(both, [key]) == .refused)
    }

    // MARK: One error

    @Test func `all that is wrong is told in the same words`() throws {
        let key = try Self.key()
        let text = try JWE.seal(Data("plain".utf8), with: key)
        let texts = ["", "a.b.c.d.e", String(text.dropLast(2)) + "AA", text + "=", try Self.message("{}")]
        let words = Set(
            texts.map { text -> String in
                do {
                    _ = try JWE.open(text, with: [key])
                    return "opened"
                } catch {
                    return "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
                }
            })
        #expect(words.count == 1 && words != ["opened"])
    }

    // MARK: Keys

    @Test func `a key has the size, the type and the use that its algorithm asks for`() throws {
        for length in [0, 16, 24, 31, 33, 64] {
            #expect(throws: CryptographyError.invalidKey) { try SealingKey.direct(Data(count: length)) }
            #expect(throws: CryptographyError.invalidKey) { try SealingKey.wrapping(Data(count: length)) }
        }
        let k = Self.secret.base64URLText
        let own = try Self.own()
        let (x, y) = (own.publicPoint.prefix(32).base64URLText, own.publicPoint.suffix(32).base64URLText)
        let d = own.bytes.base64URLText
        func key(_ members: String, _ encryption: ContentEncryption = .a256GCM) -> SealingKey? {
            try? SealingKey(jwk: Data("{\(members)}".utf8), encryption: encryption)
        }
        let oct = #""kty":"oct","k":"\#(k)""#, ec = #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)""#
        #expect(try key(oct + #","alg":"dir""#) == .direct(Self.secret))
        #expect(try key(oct + #","alg":"dir""#, .a128CBCHS256) == .direct(Self.secret, encryption: .a128CBCHS256))
        #expect(try key(oct + #","alg":"A256GCM","kid":"a""#, .a128CBCHS256) == .direct(Self.secret, id: "a"))
        #expect(try key(oct + #","alg":"A128CBC-HS256""#) == .direct(Self.secret, encryption: .a128CBCHS256))
        #expect(try key(oct + #","alg":"A256KW","use":"enc""#) == .wrapping(Self.secret))
        #expect(try key(oct + #","alg":"A256KW","key_ops":["wrapKey"]"#) == .wrapping(Self.secret))
        #expect(key(ec + #","alg":"ECDH-ES","d":"\#(d)""#) == .agreement(own, wraps: false))
        #expect(key(ec + #","alg":"ECDH-ES+A256KW","d":"\#(d)""#) == .agreement(own, wraps: true))
        #expect(
            try key(ec + #","alg":"ECDH-ES","key_ops":[]"#)
                == .agreement(with: P256PublicKey(own.publicPoint), wraps: false))
        #expect(key(ec + #","alg":"ECDH-ES","use":"enc","key_ops":["deriveBits"]"#) != nil)
        let wrong = [
            ec + #","alg":"ECDH-ES","key_ops":["verify"]"#, ec + #","alg":"ECDH-ES","key_ops":"deriveKey""#,
            ec + #","alg":"ECDH-ES","key_ops":[1]"#, ec + #","alg":"ECDH-ES","key_ops":["deriveKey","deriveKey"]"#,
            oct + #","alg":"A256KW","key_ops":["wrapKey","wrapKey"]"#,
            oct + #","alg":"A256KW","use":"enc","key_ops":["wrapKey","sign"]"#,
            oct, oct + #","alg":"A128KW""#, oct + #","alg":"HS256""#, oct + #","alg":1"#, oct + #","alg":"ECDH-ES""#,
            ec + #","alg":"A256KW""#, ec + #","alg":"dir","d":"\#(d)""#, ec + #","alg":"ECDH-ES+A128KW","d":"\#(d)""#,
            oct + #","alg":"A256KW","use":"sig""#, oct + #","alg":"A256KW","key_ops":["encrypt"]"#,
            oct + #","alg":"dir","key_ops":["wrapKey"]"#, oct + #","alg":"dir","kid":1"#,
            ec + #","alg":"ECDH-ES","d":"\#(k)""#, ec + #","alg":"ECDH-ES","d":"\#(d)","key_ops":["sign"]"#,
            ec + #","alg":"ECDH-ES","d":"\#(d)","use":"sig""#, ec + #","alg":"ECDH-ES","use":"sig""#,
            #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)","alg":"ECDH-ES""#,
            #""kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)","alg":"ECDH-ES""#,
            #""kty":"oct","k":"AAAA","alg":"A256KW""#, #""kty":"oct","k":"\#(k)=","alg":"A256KW""#,
        ]
        for members in wrong { #expect(key(members) == nil, "\(members)") }
    }

    @Test func `no form of a key shows what is in it`() throws {
        let secret = "5ecretKn0wnToTwo5ecretKn0wnToTwo"
        let forms = [Data(secret.utf8).base64EncodedString(), "\(Array(secret.utf8))", secret, "5ecret"]
        let keys = [
            try SealingKey.direct(Data(secret.utf8), id: "n"), try .wrapping(Data(secret.utf8), id: "n"),
            .agreement(try P256PrivateKey(Data(secret.utf8)), id: "n"),
        ]
        let values: [Any] = keys + keys.map { JWESealer($0) }
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(text.contains("n"))
                for form in forms { #expect(!text.contains(form), "\(type(of: value))") }
            }
        }
        #expect(keys[0].description == "a key for dir with A256GCM, n")
        let message = try JWE.open(
            JWE.seal(Data(secret.utf8), with: keys[0], contentType: "text/plain"), with: [keys[0]])
        var dumped = ""
        dump(message, to: &dumped)
        for text in ["\(message)", String(reflecting: message), dumped] {
            #expect(text.contains("text/plain"))
            for form in forms { #expect(!text.contains(form)) }
        }
        #expect("\(message)" == "32 bytes of text/plain")
    }
}
