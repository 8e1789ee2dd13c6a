import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite("HTTPURL: one strict parse")
struct HTTPURLTests {
    typealias ParseError = HTTPURL.ParseError

    /// 253 bytes in labels of at most 63.
    static let longest =
        String(repeating: String(repeating: "a", count: 63) + ".", count: 3) + String(repeating: "b", count: 61)

    @Test(
        "A URL is read into its one form",
        arguments: [
            ("http://a", "http://a/"),
            ("http://a/", "http://a/"),
            ("HTTP://Shop.Example.COM/Path", "http://shop.example.com/Path"),
            ("https://a:443/x", "https://a/x"),
            ("http://a:80/x", "http://a/x"),
            ("http://a:443/x", "http://a:443/x"),
            ("http://a:/x", "http://a/x"),
            ("http://a:080/x", "http://a/x"),
            ("http://a:65535/", "http://a:65535/"),
            ("http://a:1/", "http://a:1/"),
            ("http://a:00080/", "http://a/"),
            ("http://[::1]:/", "http://[::1]/"),
            ("https://a:80/", "https://a:80/"),
            ("http://a/~b", "http://a/~b"),
            ("http://a/b/.", "http://a/b/"),
            ("http://a/b/..", "http://a/"),
            ("http://a/b/./", "http://a/b/"),
            ("http://a//b/./c//", "http://a//b/c//"),
            ("http://a/%2E", "http://a/"),
            ("http://a/%2F..", "http://a/%2F.."),
            ("http://a?q=1", "http://a/?q=1"),
            ("http://a?", "http://a/?"),
            ("http://a#f", "http://a/"),
            ("http://a/x#f?y", "http://a/x"),
            ("http://a/x?y#f", "http://a/x?y"),
            ("http://a/x?y?z", "http://a/x?y?z"),
            ("http://a/@b", "http://a/@b"),
            ("http://a/x:y", "http://a/x:y"),
            ("http://a/a b", "http://a/a%20b"),
            ("http://a/é?é", "http://a/%C3%A9?%C3%A9"),
            ("http://a/e\u{301}", "http://a/e%CC%81"),
            // A percent sign stays what it is, also where it begins no escape.
            ("http://a/%e9%zz%", "http://a/%e9%zz%"),
            ("http://a/100%", "http://a/100%"),
            ("http://a/100%25", "http://a/100%25"),
            ("http://a/%4", "http://a/%4"),
            ("http://a/%41", "http://a/%41"),
            ("http://a/%%41", "http://a/%%41"),
            ("http://a/%4%41", "http://a/%4%41"),
            ("http://a/?%", "http://a/?%"),
            ("http://a/?100%&b=%4g", "http://a/?100%&b=%4g"),
            ("http://a/?%41", "http://a/?%41"),
            ("http://a/[x]|^`{}\"<>", "http://a/%5Bx%5D%7C%5E%60%7B%7D%22%3C%3E"),
            ("http://a/./b/../c", "http://a/c"),
            ("http://a/b/%2e%2E/c", "http://a/c"),
            ("http://a/b/.%2e", "http://a/"),
            ("http://a/../../x", "http://a/x"),
            ("http://a//b//c", "http://a//b//c"),
            ("http://a/b/..c/.d", "http://a/b/..c/.d"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
            ("http://255.255.255.255/", "http://255.255.255.255/"),
            ("http://[::1]/", "http://[::1]/"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
            ("http://[2001:DB8::A]/", "http://[2001:db8::a]/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"),
            ("http://a.example./", "http://a.example./"),
            ("http://my_host-1/", "http://my_host-1/"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
            ("http://例え\u{3002}テスト/", "http://xn--r8jz45g.xn--zckzah/"),
            ("http://a\u{3002}b/", "http://a.b/"),
            // The longest host there is: 253 bytes.
            ("http://\(longest)/", "http://\(longest)/"),
        ])
    func reads(text: String, form: String) throws {
        #expect(try HTTPURL(text).absoluteString == form)
    }

    @Test(
        "A text that two parsers could read differently is refused",
        arguments: [
            ("", ParseError.notAbsolute),
            ("a", .notAbsolute),
            ("/a", .notAbsolute),
            ("//a/b", .notAbsolute),
            ("http:a", .notAbsolute),
            ("http:/a", .notAbsolute),
            ("1http://a", .notAbsolute),
            ("h\u{212A}ttp://a", .notAbsolute),
            ("h{ttp://a", .notAbsolute),
            ("{ttp://a", .notAbsolute),
            ("[ttp://a", .notAbsolute),
            ("ftp://a", .foreignScheme("ftp")),
            ("file:///etc/passwd", .foreignScheme("file")),
            ("javascript://a", .foreignScheme("javascript")),
            ("ws://a", .foreignScheme("ws")),
            ("a+b-c.d9z://a", .foreignScheme("a+b-c.d9z")),
            ("httpsx://a", .foreignScheme("httpsx")),
            ("a,b://a", .notAbsolute),
            ("a/b://a", .notAbsolute),
            ("a*b://a", .notAbsolute),
            ("://a", .notAbsolute),
            ("+http://a", .notAbsolute),
            ("http://a/\u{1F}", .forbiddenCharacter),
            ("http://", .missingHost),
            ("http:///x", .missingHost),
            ("http://:80/", .missingHost),
            ("http://?x", .missingHost),
            ("http://u@a/", .userInformation),
            ("http://u:p@a/", .userInformation),
            ("http://@a/", .userInformation),
            ("http://good.example:80@evil.example/", .userInformation),
            ("http://u@\u{301}a/", .userInformation),
            ("http://a@b@c/", .userInformation),
            ("http://a\\b/", .forbiddenCharacter),
            ("http://a/\\b", .forbiddenCharacter),
            ("http:\\\\a/", .forbiddenCharacter),
            ("http://a/\r\nX: y", .forbiddenCharacter),
            ("http://a/\u{0}", .forbiddenCharacter),
            ("http://a/\t", .forbiddenCharacter), (" http://a/", .forbiddenCharacter),
            ("http://a/b ", .forbiddenCharacter),
            ("http://a/?b ", .forbiddenCharacter),
            ("ht\ntp://a/", .forbiddenCharacter),
            ("http://a/\u{7F}", .forbiddenCharacter),
            ("http://a:0/", .invalidPort),
            ("http://a:65536/", .invalidPort),
            ("http://a:99999999999999999999/", .invalidPort),
            ("http://a:000080/", .invalidPort),
            ("http://a:abc/", .invalidPort),
            ("http://a:+80/", .invalidPort),
            ("http://a:-1/", .invalidPort),
            ("http://a:8 0/", .invalidPort),
            ("http://a:80:81/", .invalidPort),
            ("http://a:８０/", .invalidPort),
        ])
    func refuses(text: String, error: ParseError) {
        #expect(throws: error) { try HTTPURL(text) }
    }

    @Test(
        "A host that is no name, dotted quad or IPv6 address is refused",
        arguments: [
            "a b", "a%2fb", "a%2Eb", "%61", "a..b", ".a", ".", "..", "a,b", "a*b", "a;b", "a<b", "a|b", "a'b", "a\"b",
            "127.1", "127.0.1", "0x7f.1", "0x7f.0.0.1", "0x7f000001", "0x", "2130706433", "017700000001", "0177.0.0.1",
            "127.0.0.01", "256.0.0.1", "1.2.3.4.5", "127.0.0.1.", "1.2.3.", "a.1", "a.0", "a.9", "a.90", "a.0x1",
            "a.0x",
            "[", "[]", "[::1", "::1]", "[::1]x", "[g::1]", "[::1%25eth0]", "[::1%eth0]", "[1.2.3.4]", "[v1.a]",
            "[:::1]", "[1:2:3:4:5:6:7:8:9]", "[::1]]", "[[::1]]", "[::1 ]",
            "a\u{FF0F}b", "a\u{FF20}b", "a\u{FF1A}80", "a\u{FF1F}b", "a\u{FF03}b", "a\u{FF3C}b", "a\u{2100}b",
            "é%2f", "a\u{3002}\u{3002}b", "\u{3002}", "\u{FF11}27.1", "a\u{301}:b", "a\u{202E}b", "a\u{85}b",
            String(repeating: "a", count: 64), longest + "b", String(repeating: "a.", count: 127) + "aa",
            // The bytes beside those that a host may have.
            "a{b", "{", "a`b", "a-b^", "a+b", "a~b",
            // A percent sign that the mapping of names makes is no escape.
            "evil\u{FF05}2Ecom", "evil\u{FE6A}2Ecom", "evil\u{FF05}2ecom", "\u{FF05}65vil.com", "a\u{FF05}",
            "a\u{FE6A}b",
            // Characters that the mapping leaves out before brackets, and brackets that it makes.
            "\u{AD}[b]", "\u{AD}[::1]", "\u{200B}[b]", "\u{FF3B}b\u{FF3D}", "[\u{AD}b]", "é[b]", "é b", "é\u{A0}b",
            "é^b",
            "a\u{FF05}\u{FF12}\u{FF25}b", "é\u{FF05}2e.com", "evil\u{FF05}252Ecom",
        ])
    func refusesHost(host: String) {
        #expect(throws: ParseError.self) { try HTTPURL("http://\(host)/") }
    }

    @Test(
        "A combining mark does not hide a delimiter",
        arguments: [
            ("http://a/\u{301}x", "a", "/%CC%81x"),
            ("http://a?\u{301}x", "a", "/?%CC%81x"),
            ("http://a/x#\u{301}secret", "a", "/x"),
            ("http://a/x?\u{301}y", "a", "/x?%CC%81y"),
            ("http://a#\u{301}.b/", "a", "/"),
        ])
    func combiningMarks(text: String, host: String, target: String) throws {
        let url = try HTTPURL(text)
        #expect(url.host == host)
        #expect(url.target == target)
    }

    @Test("The parts agree with the text they came from")
    func parts() throws {
        let url = try HTTPURL("https://[::1]:8443/a/b?c=d")
        #expect(url.scheme == .https)
        #expect(url.host == "::1")
        #expect(url.port == 8443)
        #expect(url.path == "/a/b")
        #expect(url.query == "c=d")
        #expect(url.target == "/a/b?c=d")
        #expect(url.origin.text == "https://[::1]:8443")
    }

    @Test("What was read is read the same again")
    func stable() throws {
        var random = Seeded(seed: 7)
        let alphabet = Array("ab.%2eE/?#:@[]\\ é\u{301}\u{3002}0x1-_~&=+;\u{FF0F}")
        for _ in 0..<5000 {
            let tail = String(
                (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                    alphabet.randomElement(using: &random)
                })
            guard let url = try? HTTPURL("http://h" + tail) else { continue }
            let again = try HTTPURL(url.absoluteString)
            #expect(again == url, "seed \(random.seed): \(tail.debugDescription)")
            #expect(url.absoluteString.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "seed \(random.seed)")
        }
    }

    @Test("Every parse error explains itself")
    func descriptions() {
        let errors: [ParseError] = [
            .forbiddenCharacter, .notAbsolute, .foreignScheme("ftp"), .userInformation, .missingHost, .invalidHost,
            .invalidPort,
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
    }

    @Test("A host that only begins with a digit, or has one in its midst, is a name")
    func digits() throws {
        for host in ["1a", "a1", "1.a", "0.0.0.0.a", "9a.9b", "a.0y", "a.x0", "1-2", "a.1_"] {
            #expect(try HTTPURL("http://\(host)/").host == host)
        }
        for host in ["0.0.0.0", "1.2.3.4", "255.255.255.255", "10.20.30.99"] {
            #expect(try HTTPURL("http://\(host)/").host == host)
        }
    }

    @Test("A URL that Foundation would change is none of its own")
    func foundationChanges() throws {
        #expect(try URL(HTTPURL("http://a/100%")) == nil)
        #expect(HTTPURL.Scheme.http.defaultPort == 80 && HTTPURL.Scheme.https.defaultPort == 443)
    }

    @Test("Foundation's URL and this one are made of each other, and a URL that is not HTTP's is none")
    func foundation() throws {
        for text in ["https://a.example/", "https://a.example:8443/p%20q?x=1&y=%2F", "http://[::1]:8080/a/../b"] {
            let url = try HTTPURL(text)
            let foundation = try #require(URL(url))
            #expect(foundation.absoluteString == url.absoluteString)
            #expect(try HTTPURL(foundation) == url)
        }
        let file = URL(fileURLWithPath: "/etc/passwd")
        #expect(throws: ParseError.foreignScheme("file")) { try HTTPURL(file) }
        let relative = try #require(URL(string: "b?c", relativeTo: URL(string: "https://a.example/x/y")))
        #expect(try HTTPURL(relative).absoluteString == "https://a.example/x/b?c")
    }
}
