import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// SHA-512 against the examples of FIPS 180-4 and RFC 6234, and against itself in pieces.
@Suite struct SHA512Tests {
    static let examples: [(String, String)] = [
        (
            "",
            """
            cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
            47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e
            """
        ),
        (
            "abc",
            """
            ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
            2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
            """
        ),
        (
            """
            abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno\
            ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu
            """,
            """
            8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
            501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909
            """
        ),
        (
            String(repeating: "a", count: 1_000_000),
            """
            e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb\
            de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b
            """
        ),
    ]

    @Test("the digests of the standard", arguments: examples)
    func standard(text: String, digest: String) {
        var stream = SHA512.Stream()
        stream.update(Data(text.utf8))
        #expect(stream.hex() == digest)
        #expect(SHA256.text(of: SHA512.bytes(text.utf8)) == digest)
    }

    @Test(
        "content in pieces has the digest of the whole", arguments: [1, 110, 111, 112, 127, 128, 129, 255, 256, 1_000])
    func pieces(count: Int) {
        let content = sampleBytes(seed: 512, count: count)
        var whole = SHA512.Stream()
        whole.update(content)
        for step in [1, 7, 128, 200] {
            var (stream, rest) = (SHA512.Stream(), content)
            while !rest.isEmpty {
                stream.update(rest.prefix(step))
                rest = rest.dropFirst(step)
            }
            #expect(stream.hex() == whole.hex())
        }
    }

    @Test("a copy goes on by itself")
    func copies() {
        var first = SHA512.Stream()
        first.update(Data("a".utf8))
        var second = first
        second.update(Data("c".utf8))
        first.update(Data("b".utf8))
        #expect(first.bytes() == SHA512.bytes("ab".utf8))
        #expect(second.bytes() == SHA512.bytes("ac".utf8))
    }
}
