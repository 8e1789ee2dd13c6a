import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// SHA-256 by the platform's library.
@Suite struct SHA256Tests {
    /// The examples of FIPS 180-4, and lengths around the end of a block.
    static let table: [(String, String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
                + "nopqrstu", "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ]

    @Test(arguments: table) func `digests are those of the standard`(text: String, digest: String) {
        #expect(SHA256.hex(text.utf8) == digest)
        #expect(SHA256.text(of: SHA256.bytes(Data(text.utf8))) == digest)
        // Bytes that do not lie in one piece.
        #expect(SHA256.hex(AnySequence(text.utf8)) == digest)
    }

    /// From NIST's validation program (CAVP), of one byte and of 4.
    @Test(
        arguments: [
            ([0xD3], "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
            ([0x74, 0xBA, 0x25, 0x21], "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e"),
        ] as [([UInt8], String)])
    func `digests are those of NIST's vectors`(bytes: [UInt8], digest: String) {
        #expect(SHA256.hex(bytes) == digest)
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 127, 128, 1_000])
    func `content in pieces has the digest of the whole`(count: Int) {
        let content = sampleBytes(seed: 256, count: count)
        for step in [1, 7, 64, 200] {
            var (stream, rest) = (SHA256.Stream(), content)
            while !rest.isEmpty {
                stream.update(rest.prefix(step))
                rest = rest.dropFirst(step)
            }
            #expect(stream.bytes() == SHA256.bytes(content))
            // To ask for the digest does not end it.
            stream.update(Data([1]))
            stream.update(Data())
            #expect(stream.hex() == SHA256.hex(content + [1]))
        }
    }

    @Test func `a copy goes on by itself`() {
        var first = SHA256.Stream()
        first.update(Data("a".utf8))
        var second = first
        second.update(Data("c".utf8))
        first.update(Data("b".utf8))
        let third = first
        first.update(Data("!".utf8))
        #expect(first.hex() == SHA256.hex("ab!".utf8))
        #expect(second.hex() == SHA256.hex("ac".utf8))
        #expect(third.hex() == SHA256.hex("ab".utf8))
    }

    @Test func `digits are small letters, two for each byte`() {
        #expect(SHA256.text(of: Data([0x00, 0x09, 0x0A, 0x9F, 0xFF])) == "00090a9fff")
        #expect(SHA256.text(of: Data()) == "")
    }

    /// RFC 4231 §4.2, §4.3, §4.7; and nothing at all.
    static let keyed: [([UInt8], String, String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    @Test(arguments: keyed) func `keyed digests are those of the standard`(key: [UInt8], text: String, digest: String) {
        #expect(SHA256.hex(text.utf8, key: key) == digest)
    }

    @Test func `a million letters have the digest of the standard`() {
        let digest = SHA256.hex(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
        #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
}
