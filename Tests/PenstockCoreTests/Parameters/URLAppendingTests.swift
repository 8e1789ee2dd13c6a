import PenstockCore
import Testing

@Suite("HTTPURL.appending: base URL and path are joined, never concatenated")
struct URLAppendingTests {
    @Test(
        "Exactly one slash stands between base and path, and the base path is kept",
        arguments: [
            ("https://a", "", "https://a/"),
            ("https://a", "/", "https://a/"),
            ("https://a", "x", "https://a/x"),
            ("https://a", "/x", "https://a/x"),
            ("https://a/", "x", "https://a/x"),
            ("https://a/", "/x", "https://a/x"),
            ("https://a/", "//x", "https://a/x"),
            ("https://a/api", "", "https://a/api"),
            ("https://a/api/", "", "https://a/api/"),
            ("https://a/api", "/", "https://a/api/"),
            ("https://a/api", "x", "https://a/api/x"),
            ("https://a/api", "/x", "https://a/api/x"),
            ("https://a/api/", "x", "https://a/api/x"),
            ("https://a/api/", "/x", "https://a/api/x"),
            ("https://a/api//", "//x", "https://a/api/x"),
            ("https://a/api/v2", "/x/y/", "https://a/api/v2/x/y/"),
            ("https://a/api", "//evil.example/x", "https://a/api/evil.example/x"),
            ("https://a", "//evil.example/x", "https://a/evil.example/x"),
            ("https://a/api", "/https://evil.example/x", "https://a/api/https://evil.example/x"),
            ("https://a/api", "@evil.example", "https://a/api/@evil.example"),
            ("https://a:8443/api", ":1/x", "https://a:8443/api/:1/x"),
            ("http://[::1]:80/api", "x", "http://[::1]/api/x"),
            ("https://a/caf%C3%A9", "é/e\u{301}", "https://a/caf%C3%A9/%C3%A9/e%CC%81"),
            ("https://a/x", "a b%20c", "https://a/x/a%20b%20c"),
        ])
    func joins(base: String, path: String, expected: String) throws {
        #expect(try HTTPURL(base).appending(RoutePath(literal: path)).absoluteString == expected)
    }

    @Test(
        "The query of the base comes first, the call's follows",
        arguments: [
            ("https://a/api", "x", nil, "https://a/api/x"),
            ("https://a/api", "x", "", "https://a/api/x"),
            ("https://a/api", "x", "p=1", "https://a/api/x?p=1"),
            ("https://a/api?k=v", "x", nil, "https://a/api/x?k=v"),
            ("https://a/api?k=v", "x", "", "https://a/api/x?k=v"),
            ("https://a/api?k=v", "x", "p=1&q=2", "https://a/api/x?k=v&p=1&q=2"),
            ("https://a/api?k=v", "", "p=1", "https://a/api?k=v&p=1"),
            ("https://a/api?", "x", nil, "https://a/api/x?"),
            ("https://a/api?", "x", "p=1", "https://a/api/x?p=1"),
            ("https://a/api", "x", "a b=#\r\n", "https://a/api/x?a%20b=%23%0D%0A"),
        ] as [(String, String, String?, String)])
    func queries(base: String, path: String, query: String?, expected: String) throws {
        #expect(try HTTPURL(base).appending(RoutePath(literal: path), query: query).absoluteString == expected)
    }

    @Test("The origin never changes and the result is what a parser reads", arguments: ["..", "a/../..", "%2e%2e/x"])
    func refusesDots(text: String) throws {
        let base = try HTTPURL("https://a/api/v1")
        #expect(throws: RoutePath.Invalid.self) { try base.appending(RoutePath(literal: text)) }
        let argument: RoutePath = "users/\(text)"
        #expect(throws: RoutePath.Invalid.self) { try base.appending(argument) }
    }
}
