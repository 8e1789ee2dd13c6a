import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Names that come from somewhere else are one harmless component.
@Suite(.timeLimit(.minutes(5))) struct FileNameRulesTests {
    static let table: [(String, String)] = [
        ("report.pdf", "report.pdf"), ("Überschrift – 日本.txt", "Überschrift – 日本.txt"), ("a b.txt", "a b.txt"),
        // Paths.
        ("../../etc/passwd", "passwd"), ("..\\..\\evil.txt", "evil.txt"), ("/etc/passwd", "passwd"),
        ("C:\\Windows\\a.dll", "a.dll"),
        ("C:a.txt", "C_a.txt"), ("\\\\server\\share\\a.txt", "a.txt"), ("a/", "a"), ("a//", "a"), ("a/..", "download"),
        ("..", "download"), (".", "download"), ("/", "download"), ("", "download"), ("a/../b", "b"), ("./a", "a"),
        ("....//a", "a"), ("~/a", "a"), ("file:///etc/passwd", "passwd"),
        // Characters that do something.
        ("a\u{0}.txt", "a.txt"), ("a.txt\u{0}.exe", "a.txt.exe"), ("a\r\nb", "ab"), ("a\tb", "ab"),
        ("a\u{7F}\u{9F}b", "ab"),
        ("a\u{1B}[31mb", "a[31mb"), ("<a>:\"|?*", "_a______"), ("a:stream", "a_stream"), ("a\u{FFFD}b", "a_b"),
        ("exe.\u{202E}gnp.evil", "exe.gnp.evil"), ("a\u{200B}\u{FEFF}\u{2060}b", "ab"), ("a\u{2066}b\u{2069}", "ab"),
        ("a\u{200E}\u{200F}\u{061C}b", "ab"), ("a\u{2028}\u{2029}b", "ab"), ("a\u{AD}b", "ab"), ("a\u{3164}b", "ab"),
        ("a\u{E0041}b", "ab"), ("a\u{FFFF}b", "ab"),
        ("a\u{A0}b\u{3000}c", "a b c"), ("👩\u{200D}🚀.png", "👩\u{200D}🚀.png"), ("❤\u{FE0F}.png", "❤\u{FE0F}.png"),
        ("می\u{200C}خواهم", "می\u{200C}خواهم"),
        ("e\u{301}", "é"),
        // Ends.
        (".bashrc", "bashrc"), ("...a", "a"), (" . a", "a"), ("a.", "a"), ("a. . ", "a"), ("a.txt.", "a.txt"),
        ("   ", "download"),
        ("\u{200B}.a", "a"), ("\u{202E}", "download"), (".\u{0}.", "download"),
        ("-rf", "_rf"), ("~root", "_root"), ("a-~", "a-~"), ("--", "_-"),
        // Devices.
        ("CON", "_CON"), ("con.txt", "_con.txt"), ("NUL .txt", "_NUL .txt"), ("com1", "_com1"),
        ("COM\u{B9}.a", "_COM\u{B9}.a"),
        ("LPT9", "_LPT9"), ("lpt0.tar.gz", "_lpt0.tar.gz"), ("CONIN$", "_CONIN$"), ("clock$", "_clock$"),
        ("PRN", "_PRN"),
        ("AUX.h", "_AUX.h"), ("console", "console"), ("com10", "com10"), ("acon", "acon"), ("com", "com"),
        ("a.con", "a.con"),
        ("CON ", "_CON"), ("./CON", "_CON"), ("CONOUT$.x", "_CONOUT$.x"), ("com\u{B2}", "_com\u{B2}"),
        ("LPT\u{B3}.a", "_LPT\u{B3}.a"), ("com\u{2074}", "com\u{2074}"),
        // Joiners and selectors hide nothing at an end, and no device.
        ("❤\u{FE0F}", "❤"), ("\u{200D}", "download"), ("\u{200C}\u{FE0F} .\u{200D}", "download"),
        ("\u{FE0F}.bashrc", "bashrc"), (".\u{200D}.ssh", "ssh"), ("a.\u{200D}.", "a"), ("a\u{200D} \u{FE00}", "a"),
        ("\u{200D}-rf", "_rf"), ("CON\u{200D}", "_CON"), ("C\u{200D}ON", "_C\u{200D}ON"),
        ("NUL\u{FE0F}.txt", "_NUL\u{FE0F}.txt"), ("👩\u{200D}❤\u{FE0F}\u{200D}👩", "👩\u{200D}❤\u{FE0F}\u{200D}👩"),
        // The first and the last selector of a form.
        ("a\u{FE00}b", "a\u{FE00}b"), ("a\u{FE0F}b", "a\u{FE0F}b"),
    ]

    @Test(.covers("S2.28"), arguments: table) func `a name becomes a harmless one like it`(
        name: String, expected: String
    ) {
        #expect(Array(FileNameRules.harmless(name).unicodeScalars) == Array(expected.unicodeScalars))
    }

    /// Foundation brings these marks into their order at the second try.
    @Test(arguments: ["\u{F81}\u{F81}", "a\u{F81}\u{301}.txt", "\u{F81}\u{F80}\u{F71}\u{F81}\u{323}"])
    func `a name that has passed once passes unchanged, whatever marks are in it`(name: String) {
        let harmless = FileNameRules.harmless(name)
        #expect(Array(FileNameRules.harmless(harmless).unicodeScalars) == Array(harmless.unicodeScalars))
    }

    @Test(.covers("S2.28")) func `a fallback is made harmless too`() {
        #expect(FileNameRules.harmless("..", or: "../film.mp4") == "film.mp4")
        #expect(FileNameRules.harmless("..", or: "..") == "download")
    }

    private static func name(_ letter: String, _ count: Int, _ suffix: String) -> String {
        String(repeating: letter, count: count) + suffix
    }

    /// 255 bytes are the most, and no character is cut.
    static let long: [(String, String)] = [
        (name("a", 255, ""), name("a", 255, "")), (name("a", 256, ""), name("a", 255, "")),
        (name("a", 251, ".txt"), name("a", 251, ".txt")), (name("a", 252, ".txt"), name("a", 251, ".txt")),
        (name("€", 90, ".txt"), name("€", 83, ".txt")), (name("€", 85, ""), name("€", 85, "")),
        (name("€", 86, ""), name("€", 85, "")),
        (name("😀", 64, ""), name("😀", 63, "")), (name("a", 300, ".tar.gz"), name("a", 248, ".tar.gz")),
        // A suffix of 16 bytes with its dot is one, a longer one is a part of the name.
        (name("a", 250, "." + name("b", 15, "")), name("a", 239, "." + name("b", 15, ""))),
        (name("a", 250, "." + name("b", 16, "")), name("a", 250, ".bbbb")),
        (name("a", 100_000, ".txt"), name("a", 251, ".txt")), (name(".", 5_000, "a.txt"), "a.txt"),
        (name("e\u{301}", 5_000, ".txt"), name("é", 125, ".txt")),
        (name("a", 254, " b"), name("a", 254, "")), (name("CON.", 1, name("a", 255, "")), "_CON." + name("a", 250, "")),
    ]

    @Test(arguments: long) func `a name that is too long keeps its beginning and its suffix`(
        name: String, expected: String
    ) {
        let made = FileNameRules.harmless(name)
        #expect(made == expected)
        #expect(made.utf8.count <= 255)
    }

    @Test(arguments: [
        ("a.pdf", 2, "a 2.pdf"), ("a", 10, "a 10"), ("a.tar.gz", 2, "a 2.tar.gz"), ("tar.gz", 2, "tar 2.gz"),
        ("a.b.c", 3, "a.b 3.c"),
        ("_.tar.x", 2, "_ 2.tar.x"), (".tar.gz", 2, ".tar 2.gz"), (".profile", 2, ".profile 2"),
    ])
    func `the number stands before the suffix`(name: String, number: Int, expected: String) {
        #expect(FileNameRules.numbered(name, number) == expected)
    }

    @Test func `a numbered name is no longer than any`() {
        let made = FileNameRules.numbered(Self.name("€", 84, ".a"), 12_345)
        #expect(made.utf8.count <= 255)
        #expect(made.hasSuffix("€ 12345.a"))
    }

    @Test(.covers("S2.28")) func `whatever the name, the result is one visible component, and passes unchanged`() {
        var random = Seeded(seed: 255)
        let words = [
            "/", "\\", "..", ".", " ", "~", "-", "\u{0}", "\u{202E}", "CON", "nul", "a", "€", "e\u{301}", "\u{301}",
            "😀", ":", "%2f",
            ".tar.gz", "\u{200D}", "\u{FE0F}", "\u{212A}", "\u{1F1F3}", "=", "\u{338}",
            String(repeating: "ab", count: 100),
        ]
        for _ in 0..<20_000 {
            let name = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Int.random(in: 0..<6, using: &random) == 0
                    ? String(Unicode.Scalar(UInt32.random(in: 0...0xFFFF, using: &random)) ?? "?")
                    : words.randomElement(using: &random) ?? ""
            }.joined()
            let made = FileNameRules.harmless(name)
            #expect(!made.isEmpty && made.utf8.count <= 255)
            #expect(
                !made.unicodeScalars.contains {
                    "/\\:\u{0}".unicodeScalars.contains($0) || $0.properties.generalCategory == .control
                })
            let ends = [made.unicodeScalars.first, made.unicodeScalars.last]
            #expect(!ends.contains { $0?.properties.isDefaultIgnorableCodePoint ?? true })
            #expect(made.first != "." && made.last != "." && made.first != " " && made.last != " ")
            #expect(Array(FileNameRules.harmless(made).utf8) == Array(made.utf8), "\(name.unicodeScalars.map(\.value))")
            let folder = URL(fileURLWithPath: "/srv/folder")
            #expect(
                folder.appendingPathComponent(made).standardizedFileURL.deletingLastPathComponent().path
                    == "/srv/folder")
        }
    }

    static let suggested: [(String?, String, String)] = [
        ("attachment; filename=\"../a.txt\"", "/x/b.bin", "a.txt"), ("attachment", "/x/b.bin", "b.bin"),
        (nil, "/x/b.bin?c=/d", "b.bin"),
        ("attachment; filename=\"..\"", "/x/b.bin", "b.bin"), (nil, "/", "download"), (nil, "/a%2Fb%20c", "b c"),
        (nil, "/a/", "a"),
        (nil, "/%ff", "%ff"), (nil, "/%2e%2e%2f%2e%2e", "download"),
    ]

    @Test(.covers("S2.28"), arguments: suggested)
    func `the name is the server's, else the URL's`(disposition: String?, path: String, name: String) throws {
        var fields = HTTPFields()
        fields[.contentDisposition] = disposition
        #expect(FileNameRules.suggested(by: fields, of: try HTTPURL("https://a.example" + path)) == name)
    }
}
