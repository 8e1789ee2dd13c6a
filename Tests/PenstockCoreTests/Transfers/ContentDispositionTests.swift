import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// `Content-Disposition` as servers write it, well and badly (RFC 6266, RFC 8187).
@Suite(.timeLimit(.minutes(5))) struct ContentDispositionTests {
    static let table: [(String, type: String?, name: String?)] = [
        ("attachment", "attachment", nil), ("INLINE", "inline", nil), ("", nil, nil), (";filename=a", nil, nil),
        ("\"attachment\"", nil, nil), (" attachment ; filename=\"a b.txt\"", "attachment", "a b.txt"),
        ("attachment; filename=a.txt", "attachment", "a.txt"), ("attachment; FILENAME=a.txt", "attachment", "a.txt"),
        ("attachment; filename = \"a.txt\"", "attachment", "a.txt"),
        ("attachment;filename=a.txt;size=7", "attachment", "a.txt"),
        // A parameter is no type.
        ("filename=a", nil, nil), ("filename=a; attachment", nil, nil), ("filename = a", nil, nil), ("a=", nil, nil),
        ("attachment filename=a", "attachment", nil), ("attachment, filename=a", "attachment", nil),
        ("attachment; ;filename=a ;", "attachment", "a"), ("foobar; x=\"\\\"\\\\\";filename=\"a\"", "foobar", "a"),
        ("attachment; filename='a.b'", "attachment", "'a.b'"), ("attachment; filename=a,b", "attachment", "a,b"),
        ("attachment; foo=\"filename=x\"; filename=a", "attachment", "a"),
        ("attachment; filename*0=a; filename*1=b", "attachment", nil),
        ("attachment; filename*0*=UTF-8''a", "attachment", nil),
        ("attachment; filename *=UTF-8''a", "attachment", nil), ("attachment; filename* = UTF-8''a", "attachment", "a"),
        ("attachment; filename*=UTF-8''A-%2541.html", "attachment", "A-%41.html"),
        ("attachment; filename*=UTF-8''foo-a%cc%88.html", "attachment", "foo-a\u{308}.html"),
        ("attachment; filename*=''a; filename=b", "attachment", "b"),
        ("attachment; filename==?ISO-8859-1?Q?foo=E4?=", "attachment", "=?ISO-8859-1?Q?foo=E4?="),
        ("attachment; filename=\"\u{301}a\"", "attachment", "\u{301}a"),
        // As it stands, for whoever makes it harmless.
        ("attachment; filename=\"../../a\"", "attachment", "../../a"),
        // Escapes of a quoted string (RFC 9110 §5.6.4).
        (#"attachment; filename="a\"b\\c""#, "attachment", #"a"b\c"#),
        (#"attachment; filename="a;b=c""#, "attachment", "a;b=c"),
        // Left open: nothing can be said of where it ends.
        (#"attachment; filename="a"#, "attachment", nil), (#"attachment; filename="a\"#, "attachment", nil),
        ("attachment; filename", "attachment", nil), ("attachment; filename=", "attachment", ""),
        ("attachment; =x; filename=a", "attachment", "a"), ("attachment; \"x\"; filename=a", "attachment", "a"),
        ("attachment; filename=my file.txt ; x=y", "attachment", "my file.txt"),
        ("attachment; filename=a; filename=b", "attachment", "a"), ("attachment; xfilename=a", "attachment", nil),
        ("attachment; size=1; filename=a", "attachment", "a"),
        // The extended form goes before the other one, wherever it stands.
        ("attachment; filename*=UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
        ("attachment; filename=\"EURO\"; filename*=utf-8'en'%E2%82%AC", "attachment", "€"),
        ("attachment; filename*=utf-8''%E2%82%AC; filename=EURO", "attachment", "€"),
        ("attachment; filename*=iso-8859-1''%A3%ff", "attachment", "£ÿ"),
        ("attachment; filename*=utf-8''a; filename*=utf-8''b", "attachment", "a"),
        // Broken, it is as if it were not there.
        ("attachment; filename=a; filename*=utf-8''%E2%82", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-8''%FF", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-8''%4", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-8''%4G", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-8''%G4", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-8''%", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-16''b", "attachment", "a"),
        ("attachment; filename=a; filename*=utf-8'b", "attachment", "a"),
        ("attachment; filename*=b", "attachment", nil),
        ("attachment; filename*=utf-8''it's", "attachment", "it's"),
        ("attachment; filename*=utf-8''%61%41%7a%5A%30%39%2f%3A%40%60%66%46", "attachment", "aAzZ09/:@`fF"),
        ("attachment; filename*=utf-8''%00", "attachment", "\u{0}"),
        ("attachment; filename*=iso-8859-1''%0f%9A%aF%F0", "attachment", "\u{F}\u{9A}\u{AF}\u{F0}"),
    ]

    /// The digits of an escape (RFC 3986 §2.1), and what stands beside them among the characters.
    @Test(arguments: ["/", ":", "@", "G", "`", "g", "z", "~", "-", " "])
    func `what is next to a hexadecimal digit is none`(character: String) {
        for escape in ["%\(character)0", "%0\(character)", "%4\(character)4"] {
            let value = "attachment; filename=a; filename*=iso-8859-1''b\(escape)b"
            #expect(ContentDisposition(value)?.fileName == "a", "\(value)")
        }
    }

    @Test func `every escape is the byte that it says, in letters of either case`() {
        for byte in UInt8.min ... .max {
            let scalar = String(Unicode.Scalar(byte))
            for format in ["%02x", "%02X"] {
                let value = "attachment; filename*=iso-8859-1''a%" + String(format: format, Int(byte)) + "b"
                #expect(ContentDisposition(value)?.fileName == "a\(scalar)b", "\(value)")
            }
        }
    }

    @Test(.covers("S2.28"), arguments: table) func `a field is read as the standard says`(
        value: String, type: String?, name: String?
    ) {
        let read = ContentDisposition(value)
        #expect(read?.type == type)
        #expect(read?.fileName == name)
    }

    @Test func `of two fields neither counts`() {
        var fields: HTTPFields = ["Content-Disposition": "attachment; filename=a"]
        #expect(ContentDisposition(fields)?.fileName == "a")
        fields.append("attachment; filename=b", for: .contentDisposition)
        #expect(ContentDisposition(fields) == nil)
        #expect(ContentDisposition([:]) == nil)
    }

    @Test func `a value of any bytes is read in a time that grows with its length`() {
        var random = Seeded(seed: 6266)
        let words = [";", "\"", "\\", "=", "filename", "filename*", "utf-8''", "%41", "%", " ", "a", "'"]
        for _ in 0..<2_000 {
            let value = "attachment" + (0..<20).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            _ = ContentDisposition(value)
        }
        for word in words {
            let long = "attachment; " + String(repeating: word, count: 100_000)
            #expect(ContentDisposition(long)?.type == "attachment")
        }
    }
}
