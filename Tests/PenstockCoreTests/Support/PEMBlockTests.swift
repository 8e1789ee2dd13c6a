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

    @Test("A block has a name, of one letter or more")
    func names() {
        #expect(PEMBlock.all(in: Self.block("a2V5", "K").utf8)?.map(\.label) == ["K"])
        #expect(PEMBlock.all(in: Self.block("a2V5", " K - L ").utf8)?.map(\.label) == [" K - L "])
        for text in [
            Self.block("a2V5", ""), "-----BEGIN ----\n", "-----BEGIN -----\n", "-----END -----\n", "-----BEGIN\n",
        ] {
            #expect(PEMBlock.all(in: text.utf8)?.isEmpty == true, "\(text)")
        }
    }

    @Test("A line that is not ASCII is no part of a block, and begins none")
    func otherBytes() {
        let name = Array(Self.block("a2V5", "X").utf8)
        for byte in [0x80, 0xBF, 0xC3, 0xFF] as [UInt8] {
            let changed = name.map { $0 == UInt8(ascii: "X") ? byte : $0 }
            #expect(PEMBlock.all(in: changed)?.isEmpty == true)
        }
        let kelvin = Self.block("a2V5", "K").replacingOccurrences(of: "BEGIN K", with: "BEGIN \u{212A}")
        #expect(PEMBlock.all(in: kelvin.utf8) == nil)
        #expect(
            PEMBlock.all(in: Self.block("\ta2\t\r \tV5 \t", "K").utf8)?.map { Array($0.bytes) } == [Array("key".utf8)])
        #expect(PEMBlock.all(in: Self.block("a2!V5", "K").utf8) == nil)
    }

    @Test(
        "What tells of a password stands before what it protects",
        arguments: [
            "DEK-Info: AES-128-CBC,00\na2V5", "a2\nProc-Type: 4,ENCRYPTED\nV5", "a2V5\nProc-Type: 4,ENCRYPTED",
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: A\na2\nDEK-Info: B\nV5", "DEK-Info: A\nProc-Type: 4,ENCRYPTED\na2V5",
        ])
    func order(content: String) {
        #expect(PEMBlock.all(in: Self.block(content, "KEY").utf8) == nil)
    }

    @Test("A block says whether a password protects it")
    func passwords() {
        let old = Self.block("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\na2V5", "EC PRIVATE KEY")
        let text = old + Self.block("a2V5", "ENCRYPTED PRIVATE KEY") + Self.block("a2V5", "PRIVATE KEY")
        #expect(PEMBlock.all(in: text.utf8)?.map(\.isEncrypted) == [true, true, false])
    }
}
