import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.covers("S1.23")) struct CleartextPolicyTests {
    static let table: [(CleartextPolicy, String, Bool)] = [
        (.refused, "https://a.example/", true),
        (.refused, "http://a.example/", false),
        (.refused, "http://localhost/", false),
        (.refused, "http://127.0.0.1/", false),
        (.loopback, "http://localhost:8080/", true),
        (.loopback, "http://127.0.0.1:1/", true),
        (.loopback, "http://127.255.3.4/", true),
        (.loopback, "http://[::1]/", true),
        (.loopback, "http://a.example/", false),
        (.loopback, "http://localhost.a.example/", false),
        (.loopback, "http://127.0.0.1.a.example/", false),
        (.loopback, "http://127.evil/", false),
        (.loopback, "http://128.0.0.1/", false),
        (.loopback, "http://[::2]/", false),
        (.loopback, "https://a.example/", true),
        (.hosts(["A.example"]), "http://a.EXAMPLE/", true),
        (.hosts(["a.example"]), "http://b.a.example/", false),
        (.hosts(["a.example"]), "http://example/", false),
        (.hosts(["a.example"]), "http://xa.example/", false),
        (.hosts(["a.example"]), "http://localhost/", false),
        (.hosts([]), "http://a.example/", false),
        (.hosts([]), "https://a.example/", true),
        (.everywhere, "http://a.example/", true),
        (.everywhere, "http://127.0.0.1/", true),
    ]

    @Test(arguments: table) func `plain http goes only where it is allowed`(
        policy: CleartextPolicy, url: String, isAllowed: Bool
    ) throws {
        #expect(try policy.allows(HTTPURL(url)) == isAllowed)
    }
}
