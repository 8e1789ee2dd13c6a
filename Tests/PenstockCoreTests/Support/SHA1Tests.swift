import Foundation
import Testing

@testable import PenstockCore

@Suite struct SHA1Tests {
    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(
        "The examples of FIPS 180 have the digests that are given there",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
        ])
    func examples(text: String, digest: String) {
        #expect(Self.hex(SHA1.digest(Array(text.utf8))) == digest)
    }

    @Test func `messages of every length up to three blocks are filled up to whole blocks`() {
        let digests = (0...200).flatMap { count in SHA1.digest((0..<count).map { UInt8($0) }) }
        #expect(Self.hex(SHA1.digest(digests)) == "30f906e3c78b841ee4b73d0cb2850660435758b3")
    }
}
