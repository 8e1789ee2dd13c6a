import Foundation
import Testing

@testable import PenstockCore

/// The forms of challenges that browsers are tried with (RFC 9110 §11.6.1 and §5.6.4).
@Suite struct ChallengeFormTests {
    private static func basic(_ parameters: [String: String] = [:]) -> Challenge {
        Challenge("basic", parameters: parameters)
    }

    static let table: [(String, [Challenge])] = [
        ("BASIC REALM=\"foo\"", [basic(["realm": "foo"])]),
        ("Basic realm=foo", [basic(["realm": "foo"])]),
        ("Basic realm='foo'", [basic(["realm": "'foo'"])]),
        ("Basic realm=\"foo%20bar\"", [basic(["realm": "foo%20bar"])]),
        ("Basic , realm=\"foo\"", [basic(["realm": "foo"])]),
        ("Basic realm=\"foo\", realm=\"bar\"", [basic(["realm": "foo"])]),
        ("Basic realm=\"foo\", bar=\"xyz\",, a=b,,,c=d", [basic(["realm": "foo", "bar": "xyz", "a": "b", "c": "d"])]),
        ("Basic bar=\"xyz\", realm=\"foo\"", [basic(["realm": "foo", "bar": "xyz"])]),
        ("Basic realm=\"\"", [basic(["realm": ""])]),
        ("Basic realm=\"foo,bar\"", [basic(["realm": "foo,bar"])]),
        ("Basic foo=\"realm=not\", realm=\"basic\"", [basic(["foo": "realm=not", "realm": "basic"])]),
        ("Basic nottherealm=\"x\", realm=\"basic\"", [basic(["nottherealm": "x", "realm": "basic"])]),
        ("Newauth, Basic realm=\"basic\"", [Challenge("newauth"), basic(["realm": "basic"])]),
        (
            "Newauth realm=\"new\", basic=foo, Basic realm=\"basic\"",
            [Challenge("newauth", parameters: ["realm": "new", "basic": "foo"]), basic(["realm": "basic"])]
        ),
        (
            "Negotiate abc=, Basic realm=x, Negotiate a=b",
            [
                Challenge("negotiate", token68: "abc="), basic(["realm": "x"]),
                Challenge("negotiate", parameters: ["a": "b"]),
            ]
        ),
        // Escapes, of a quotation mark, of themselves, and of what needs none.
        (#"Basic realm="\"foo\"""#, [basic(["realm": #""foo""#])]),
        (#"Basic realm="foo\\""#, [basic(["realm": #"foo\"#])]),
        (#"Basic realm="\f\o\o", a=b"#, [basic(["realm": "foo", "a": "b"])]),
        (#"Basic realm="a\\\"b""#, [basic(["realm": #"a\"b"#])]),
        // What is no value: escapes without quotation marks, something behind them, and quotation marks left open.
        (#"Basic realm=\f\o\o"#, [basic()]), ("Basic realm=\"a\"b", [basic()]), ("Basic realm=a\"b\"", [basic()]),
        ("Basic realm=\"basic", [basic()]), (#"Basic realm="a\""#, [basic()]),
        // A combining character belongs to no quotation mark.
        ("Basic realm=\"\u{301}foo\"", [basic(["realm": "\u{301}foo"])]),
        ("Basic realm=\"\u{301}\"", [basic(["realm": "\u{301}"])]),
        ("Basic realm=\"\u{301}\\o\u{301}\"", [basic(["realm": "\u{301}o\u{301}"])]),
        ("Basic realm=\"foo\"\u{301}", [basic()]),
    ]

    @Test(arguments: table) func `a challenge is read as the grammar has it`(line: String, expected: [Challenge]) {
        let found = Challenge.parse(line)
        #expect(found == expected)
        // Byte by byte: Swift takes texts for equal that Unicode does.
        let values = { (challenges: [Challenge]) in challenges.map { $0.parameters.mapValues { Array($0.utf8) } } }
        #expect(values(found) == values(expected))
    }

    /// What a token68 and the name of a scheme may hold, and what stands beside it among the characters.
    @Test(arguments: Array(0x21...0x7E) as [UInt8])
    func `each character is one of a scheme or of a token68, or ends it`(
        byte: UInt8
    ) {
        let character = String(Unicode.Scalar(byte))
        let isAlphanumeric = (0x30...0x39).contains(byte) || isLetter(byte)
        let isOf68 = isAlphanumeric || "-._~+/".contains(character)
        guard !"=,\"".contains(character) else { return }
        #expect(Challenge.parse("X a\(character)b").first?.token68 == (isOf68 ? "a\(character)b" : nil))
        let isOfToken = isAlphanumeric || "!#$%&'*+-.^_`|~".contains(character)
        #expect(Challenge.parse("A\(character)b c").map(\.token68) == (isOfToken ? ["c"] : []))
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
