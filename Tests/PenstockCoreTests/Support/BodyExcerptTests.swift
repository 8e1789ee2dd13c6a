import Foundation
import Testing

@testable import PenstockCore

@Suite struct BodyExcerptTests {
    @Test(
        "A body is shown up to 256 bytes, and its size where there are more", arguments: [0, 1, 255, 256, 257, 1_000])
    func limit(count: Int) {
        let shown = String(repeating: "x", count: min(count, 256)) + (count > 256 ? "… (\(count) bytes)" : "")
        #expect(BodyExcerpt.text(of: Data(repeating: UInt8(ascii: "x"), count: count)) == shown)
    }

    @Test("The beginning is shown, and bytes that are no text are told of")
    func beginning() {
        #expect(BodyExcerpt.text(of: Data("a".utf8) + Data(repeating: UInt8(ascii: "b"), count: 300)).hasPrefix("abb"))
        #expect(BodyExcerpt.text(of: Data([0x61, 0xFF, 0x62])) == "a\u{FFFD}b")
    }

    static let texts: [(text: String, shown: String)] = [
        ("a b é 你 👩", "a b é 你 👩"), ("\\", "\\\\"), ("\n\r\t\u{0}", "\\n\\r\\t\\0"), ("\u{1B}[0m", "\\u{1B}[0m"),
        ("\u{7F}\u{85}", "\\u{7F}\\u{0085}"), ("a\u{202E}b", "a\\u{202E}b"), ("\u{200B}\u{FEFF}", "\\u{200B}\\u{FEFF}"),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("\u{E000}", "\\u{E000}"), ("\u{A0}\"'", "\u{A0}\"'"),
    ]

    @Test("One text stays one line, without what a terminal would obey", arguments: texts)
    func printable(text: String, shown: String) {
        #expect(PrintableText.escaped(text) == shown)
    }

    @Test("A text is cut off where it is too long, and says so")
    func bounded() {
        #expect(PrintableText.bounded("abc", to: 3) == "abc")
        #expect(PrintableText.bounded("abcd", to: 3) == "abc…")
        #expect(PrintableText.bounded("\n\n", to: 1) == "\\n…")
        #expect(PrintableText.bounded("", to: 0).isEmpty)
        let (longest, longer) = (String(repeating: "x", count: 256), String(repeating: "x", count: 257))
        #expect(PrintableText.bounded(longest) == longest && PrintableText.bounded(longer) == longest + "…")
    }

    @Test("What is cut off has a bound, however many scalars its characters have")
    func scalars() {
        let text = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(PrintableText.bounded(text) == "a" + String(repeating: "\u{301}", count: 255) + "…")
        for kind in [APIError.Kind.business(code: 7, message: text), .invalidParameter(field: text, reason: text)] {
            #expect("\(APIError(kind, stage: .envelope))".utf8.count < 20_000)
        }
        #expect("\(APIError(.timeout(.total), stage: .transport, debugMessage: text))".utf8.count < 1_000)
        #expect("\(JSONValue.object([text: [.string(text)]]))".utf8.count < 2_000)
        let (head, rest) = ("e\u{301}👩‍👧".head(1), "a".head(2))
        #expect(head.unicodeScalars.elementsEqual("e".unicodeScalars) && rest == "a" && "".head(0).isEmpty)
    }

    @Test("A secret that begins in what is shown of a text is known where its end is not shown")
    func cutSecrets() {
        let words = String(repeating: "sword fish ", count: 2_000)
        for text in ["password=\"\(words)\" b", "{\"pin\":[\"\(words)\"]}", "<pin>\(words.prefix(1_000))</pin>"] {
            let shown = PrintableText.redacted(text)
            #expect(shown.contains("‹redacted›") && !shown.contains("fish"))
            #expect(shown.hasSuffix("…") == (text.utf8.count > 8_192))
        }
        #expect(PrintableText.redacted(words).hasSuffix("o…") && !PrintableText.redacted(words).hasSuffix("……"))
        #expect(PrintableText.redacted("a\ntoken=b") == "a\\ntoken=‹redacted›")
    }
}
