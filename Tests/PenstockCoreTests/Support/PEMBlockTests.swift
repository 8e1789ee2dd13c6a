import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// PEM files (RFC 7468): a damaged block is never passed over.
@Suite struct PEMBlockTests {
    private static func block(_ base64: String, _ label: String = "CERTIFICATE") -> String {
        "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    private static let first = block("Zmlyc3Q=")
    private static let second = block("c2Vjb25k")

    @Test(
        "The certificates of a file are all of its blocks of that name, in their order",
        arguments: [
            (first + second, ["first", "second"]),
            ("# ours\n" + first + "\nthe other:\r\n" + second, ["first", "second"]),
            (first.replacingOccurrences(of: "\n", with: "\r\n"), ["first"]),
            (block("a2V5", "PRIVATE KEY") + first, ["first"]),
            (block("a2V5", "ENCRYPTED PRIVATE KEY") + first, ["first"]),
            (block("Zmly\n  c3Q=  "), ["first"]), ("K\u{F6}ln\n" + first, ["first"]), ("", []), ("no PEM at all", []),
        ])
    func certificates(text: String, contents: [String]) {
        #expect(PEMBlock.certificates(in: text.utf8)?.map { String(decoding: $0, as: UTF8.self) } == contents)
    }

    @Test(
        "A file of which one block is damaged has no certificates", .covers("H18"),
        arguments: [
            block("Zmlyc3Q"), block("Zmlyc3Q=="), block("Zmly!3Q="), block("Zmlyc3R="), block("=Zmlyc3Q"), block(""),
            block("Zmlyc3Q=Zmlyc3Q="), "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\nZmlyc3Q=\n", "Zmlyc3Q=\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n" + second,
            block("Zmlyc3Q=").replacingOccurrences(of: "END C", with: "END X C"),
            block("Zmlyc3Q", "PRIVATE KEY"), block("Proc-Type: 4,ENCRYPTED\nZmlyc3Q"), block("Comment: x\nZmlyc3Q="),
        ])
    func damage(block: String) {
        for text in [block, block + Self.second, Self.first + block, Self.first + block + Self.second] {
            #expect(PEMBlock.certificates(in: text.utf8) == nil, "\(text)")
        }
    }

    @Test("A block says whether a password protects it")
    func passwords() {
        let old = Self.block("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\na2V5", "EC PRIVATE KEY")
        let text = old + Self.block("a2V5", "ENCRYPTED PRIVATE KEY") + Self.block("a2V5", "PRIVATE KEY")
        #expect(PEMBlock.all(in: text.utf8)?.map(\.isEncrypted) == [true, true, false])
    }
}
