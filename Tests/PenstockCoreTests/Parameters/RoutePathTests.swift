import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite("Path: arguments fill their place and nothing else")
struct PathTests {
    enum Sort: String { case newest, oldest }
    struct OrderID: RawRepresentable { let rawValue: Int }
    struct Both: RawRepresentable, LosslessStringConvertible {
        let rawValue: String
        init(rawValue: String) { self.rawValue = rawValue }
        init?(_ description: String) { rawValue = description }
        var description: String { "description" }
    }

    @Test("The template has a placeholder for each argument, whatever its value")
    func template() throws {
        let paths: [RoutePath] = ["/products/\(7)/reviews", "/products/\("a/b")/reviews", "/products/\("..")/reviews"]
        #expect(paths.map(\.template) == Array(repeating: "/products/{}/reviews", count: 3))
        let named: RoutePath = "/users/\(1, name: "user id")/orders/\(2, name: "order")"
        #expect(named.template == "/users/{user%20id}/orders/{order}")
        #expect(("/a{}" as RoutePath).template == "/a%7B%7D")
        #expect(named.description == named.template)
    }

    @Test("Paths that differ in the values and names of their arguments alone have one shape")
    func shape() {
        let paths: [RoutePath] = [
            "/a/\(1)/b/\(2)", "/a/\(3, name: "x")/b/\(4, name: "y z")", "/a/\(5, name: "")/b/\("6")",
        ]
        #expect(paths.map(\.shape) == Array(repeating: "/a/{}/b/{}", count: 3))
        #expect(RoutePath(literal: "/a/{b}").shape == "/a/%7Bb%7D")
    }

    @Test("Values of every usual type can be arguments")
    func argumentTypes() throws {
        let uuid = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
        let path: RoutePath =
            "\(1)/\(UInt8(2))/\("s")/\("sub"[...])/\(1.5)/\(true)/\(Sort.newest)/\(OrderID(rawValue: 9))/\(uuid)/\(Both(rawValue: "raw"))"
        try path.validated()
        #expect(path.encoded == "/1/2/s/sub/1.5/true/newest/9/6BA7B810-9DAD-11D1-80B4-00C04FD430C8/raw")
    }

    @Test(
        "An argument is escaped so that it stays one segment",
        arguments: [
            ("a/b", "a%2Fb"), ("a b", "a%20b"), ("a?b#c", "a%3Fb%23c"), ("100%", "100%25"), ("%2F", "%252F"),
            ("a%zz", "a%25zz"), ("é", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("日本", "%E6%97%A5%E6%9C%AC"),
            ("a+b&c=d", "a%2Bb%26c%3Dd"), ("a;b:c@d", "a%3Bb%3Ac%40d"), ("-._~", "-._~"), ("...", "..."), (".a", ".a"),
            ("a..b", "a..b"), ("a\\b", "a%5Cb"), ("[x]", "%5Bx%5D"), ("\u{301}", "%CC%81"),
            ("a.\u{A0}", "a.%C2%A0"), ("%C2", "%25C2"), ("%C2%A0", "%25C2%25A0"), ("\u{C0}", "%C3%80"),
            (".../", "...%2F"),
            ("a.b", "a.b"), ("..a", "..a"), (".a.", ".a."),
            ("👩‍🚀", "%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80"),
        ])
    func escaping(argument: String, encoded: String) throws {
        let path: RoutePath = "/x/\(argument)/y"
        try path.validated()
        #expect(path.encoded == "/x/\(encoded)/y")
    }

    @Test(
        "An argument that could change the structure is refused",
        arguments: [
            ("", RoutePath.Invalid.Reason.empty), (".", .dotSegment), ("..", .dotSegment), ("%2e", .dotSegment),
            ("%2E%2e", .dotSegment), (".%2e", .dotSegment), ("../x", .dotSegment), ("x/..", .dotSegment),
            ("x/../y", .dotSegment), ("..\\x", .dotSegment), ("x\\..", .dotSegment), ("..%2fx", .dotSegment),
            ("%2e%2e%5cx", .dotSegment), ("/..", .dotSegment), ("./x", .dotSegment), ("a\u{0}", .controlCharacter),
            ("a\r\nb", .controlCharacter), ("\t", .controlCharacter), ("\u{7F}", .controlCharacter),
            ("\u{85}", .controlCharacter), ("%00", .controlCharacter), ("a%0d%0a", .controlCharacter),
            ("\u{1F}", .controlCharacter), ("\u{80}", .controlCharacter), ("\u{9F}", .controlCharacter),
            ("%C2%80", .controlCharacter), ("a%7f", .controlCharacter), ("a/./b", .dotSegment), ("a/.", .dotSegment),
        ])
    func refusedArguments(argument: String, reason: RoutePath.Invalid.Reason) {
        let path: RoutePath = "/x/\(7)/\(argument, name: "id")/y"
        let error = #expect(throws: RoutePath.Invalid.self) { try path.validated() }
        #expect(error?.part == .argument(index: 1, name: "id"))
        #expect(error?.reason == reason)
        #expect(error?.description.contains("argument 1 (id)") == true)
    }

    @Test("Arguments cannot make dots together with the text around them")
    func composedDots() throws {
        let refused: [RoutePath] = ["/a/.\("%2e")", "/..\("/x")", "/%2e\("/a")", "/a%2f.\("/a")"]
        for path in refused {
            let error = #expect(throws: RoutePath.Invalid.self) { try path.validated() }
            #expect(error?.reason == .dotSegment)
        }
        let joined: RoutePath = "/a/.\("x")..\("y").json"
        try joined.validated()
    }

    @Test(
        "A template that is no plain path is refused", .covers("S1.9"),
        arguments: [
            ("/a?b", RoutePath.Invalid.Reason.queryOrFragment), ("/a#b", .queryOrFragment), ("?", .queryOrFragment),
            ("/a\\b", .backslash), ("/a%5cb", .backslash), ("/a\u{0}", .controlCharacter),
            ("/a\r\n", .controlCharacter),
            ("/a%0a", .controlCharacter), ("/a%00", .controlCharacter), ("/a\u{85}", .controlCharacter),
            ("https://a.example/b", .url), ("HTTP://a.example", .url), ("https://", .url), ("http://", .url),
        ])
    func refusedTemplates(text: String, reason: RoutePath.Invalid.Reason) {
        let error = #expect(throws: RoutePath.Invalid.self) { try RoutePath(literal: text).validated() }
        #expect(error?.part == .literal)
        #expect(error?.reason == reason)
    }

    @Test func `a path that only resembles a URL is one`() throws {
        for text: RoutePath in [
            "/https://a", "https:/a", "http:", "httpx://a", "a/http://b", "\("https://a")/b", "\("x")http://a",
        ] {
            try text.validated()
        }
    }

    @Test func `what is wrong with a template says what to write in its place`() {
        let host = "a.example"
        let url = #expect(throws: RoutePath.Invalid.self) { try ("https://\(host)/b" as RoutePath).validated() }
        #expect(url?.reason == .url && url.map { "\($0)" }?.contains(".at(url)") == true)
        let query = #expect(throws: RoutePath.Invalid.self) { try RoutePath(literal: "/a?b=1").validated() }
        #expect(query.map { "\($0)" }?.contains("parameters") == true)
    }

    @Test(
        "Segments of dots are refused in a template, in any escaped form",
        arguments: ["..", ".", "/..", "/a/../b", "/a/..", "/a/.", "/%2e%2e/a", "/a/%2E.", "/a/..%2fb", "/a%2f..%2fb"])
    func refusedDots(text: String) {
        let error = #expect(throws: RoutePath.Invalid.self) { try RoutePath(literal: text).validated() }
        #expect(error?.reason == .dotSegment)
    }

    @Test(
        "A template is kept with its escapes and repaired where it must be",
        arguments: [
            ("", ""), ("/", "/"), ("a", "/a"), ("/a", "/a"), ("//a", "/a"), ("///", "/"), ("a/", "/a/"),
            ("/a//b", "/a//b"),
            ("/a%20b", "/a%20b"), ("/a b", "/a%20b"), ("/é", "/%C3%A9"), ("/a%", "/a%25"), ("/a;v=1,2", "/a;v=1,2"),
            ("/a:b@c", "/a:b@c"), ("/...", "/..."), ("/\u{301}a", "/%CC%81a"), ("ab/", "/ab/"), ("~a", "/~a"),
            ("a/b", "/a/b"),
            ("/a-._~b", "/a-._~b"), ("////a//b", "/a//b"), ("/x\u{A0}", "/x%C2%A0"), ("/%C2", "/%C2"), ("/h", "/h"),
        ])
    func templates(text: String, encoded: String) throws {
        let path = RoutePath(literal: text)
        try path.validated()
        #expect(path.encoded == encoded)
        #expect(path.template == encoded)
    }

    @Test("Of several flaws the first is told")
    func firstFlaw() {
        let paths: [(RoutePath, RoutePath.Invalid.Part, RoutePath.Invalid.Reason)] = [
            ("/\("")/\("..")", .argument(index: 0, name: nil), .empty),
            ("/\("..")/\("")", .argument(index: 0, name: nil), .dotSegment),
            ("/?\("")", .literal, .queryOrFragment),
            ("/\("a")/\("", name: "b")?", .argument(index: 1, name: "b"), .empty),
            ("http://a?b", .literal, .url),
        ]
        for (path, part, reason) in paths {
            let error = #expect(throws: RoutePath.Invalid.self) { try path.validated() }
            #expect(error?.part == part && error?.reason == reason)
        }
    }

    @Test("An escape cannot be completed across the border of an argument")
    func splitEscape() throws {
        let path: RoutePath = "/a%\("2e")%2\("e")"
        try path.validated()
        #expect(path.encoded == "/a%252e%252e")
    }

    @Test("The error does not quote the argument")
    func privateArguments() {
        let path: RoutePath = "/t/\("../secret-token")"
        let error = #expect(throws: RoutePath.Invalid.self) { try path.validated() }
        #expect(error.map { "\($0) \(String(reflecting: $0))" }?.contains("secret") == false)
    }

    @Test("Whatever the argument, the path has the template's segments and reads the same after a parse")
    func fuzzedArguments() throws {
        var random = Seeded(seed: 11)
        let alphabet = Array("./\\%2eE5cf?#&=+ ;:@é\u{301}\u{3002}ab\u{0}\n".unicodeScalars)
        let base = try HTTPURL("https://api.example/v1")
        for _ in 0..<5000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                scalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            let path: RoutePath = "/a/\(String(scalars))/b"
            guard let url = try? base.appending(path) else { continue }
            #expect(url.path.utf8.count { $0 == UInt8(ascii: "/") } == 4, "seed \(random.seed): \(url.path)")
            #expect(try HTTPURL(url.absoluteString) == url, "seed \(random.seed): \(url.path)")
            #expect(url.path.split(separator: "/")[2].removingPercentEncoding == String(scalars))
        }
    }
}
