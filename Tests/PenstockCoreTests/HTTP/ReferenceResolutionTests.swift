import PenstockCore
import Testing

@Suite("HTTPURL: reference resolution")
struct ReferenceResolutionTests {
    static let base = "http://a/b/c/d;p?q"

    @Test(
        "The normal examples of RFC 3986 §5.4.1 hold",
        arguments: [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../", "http://a/"),
            ("../../g", "http://a/g"),
        ])
    func normal(reference: String, target: String) throws {
        #expect(try HTTPURL(Self.base).resolving(reference).absoluteString == target)
    }

    @Test(
        "The abnormal examples of RFC 3986 §5.4.2 hold",
        arguments: [
            ("../../../g", "http://a/g"),
            ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g"),
            ("g#s/../x", "http://a/b/c/g"),
        ])
    func abnormal(reference: String, target: String) throws {
        #expect(try HTTPURL(Self.base).resolving(reference).absoluteString == target)
    }

    @Test(
        "An absolute reference replaces the base",
        arguments: [
            ("https://b/x", "https://b/x"),
            ("HTTP://B:81", "http://b:81/"),
            ("//b:8080/x?y", "http://b:8080/x?y"),
            ("g:h/../x:y", nil),
            ("x/g:h", "http://a/b/c/x/g:h"),
            ("?x:y", "http://a/b/c/d;p?x:y"),
            ("%2e%2e/g", "http://a/b/g"),
            ("é", "http://a/b/c/%C3%A9"),
            ("g h", "http://a/b/c/g%20h"),
            ("1:h", "http://a/b/c/1:h"),
            ("a,b:c", "http://a/b/c/a,b:c"),
            ("h9+.-:x", nil),
            (":", "http://a/b/c/:"),
            ("/", "http://a/"),
            ("?", "http://a/b/c/d;p?"),
            ("/?", "http://a/?"),
        ] as [(String, String?)])
    func absolute(reference: String, target: String?) throws {
        let resolved = try? HTTPURL(Self.base).resolving(reference).absoluteString
        #expect(resolved == target)
    }

    @Test(
        "A hostile reference is refused",
        arguments: [
            ("g:h", HTTPURL.ParseError.foreignScheme("g")),
            ("file:///etc/passwd", .foreignScheme("file")),
            ("javascript:alert(1)", .foreignScheme("javascript")),
            ("http:g", .notAbsolute),
            ("//u@b/", .userInformation),
            ("//", .missingHost),
            ("///x", .missingHost),
            ("/\\b/", .forbiddenCharacter), (" //evil.example/", .forbiddenCharacter), (" ", .forbiddenCharacter),
            (" http:x", .forbiddenCharacter), ("b ", .forbiddenCharacter), ("//b/c ", .forbiddenCharacter),
            ("\\\\b/", .forbiddenCharacter),
            ("/x\r\nSet-Cookie: a=b", .forbiddenCharacter),
            ("//b:0/", .invalidPort),
            ("//127.1/", .invalidHost),
        ])
    func hostile(reference: String, error: HTTPURL.ParseError) throws {
        let base = try HTTPURL(Self.base)
        #expect(throws: error) { try base.resolving(reference) }
    }
}
