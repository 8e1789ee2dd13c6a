import Foundation
import Testing

@testable import PenstockCore

@Suite struct SHA256Tests {
    /// The examples of FIPS 180-4, and lengths around the end of a block.
    static let table: [(String, String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test(arguments: table) func `digests are those of the standard`(text: String, digest: String) {
        #expect(SHA256.hex(text.utf8) == digest)
    }

    /// RFC 4231 §4.2, §4.3, §4.7.
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
    ]

    @Test(arguments: keyed) func `keyed digests are those of the standard`(key: [UInt8], text: String, digest: String) {
        #expect(SHA256.hex(text.utf8, key: key) == digest)
    }

    @Test func `a million letters have the digest of the standard`() {
        let digest = SHA256.hex(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
        #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
}
