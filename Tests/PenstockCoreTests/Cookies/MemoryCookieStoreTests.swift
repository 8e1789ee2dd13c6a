import Foundation
import PenstockCore
import PenstockTesting
import Testing

@Suite struct MemoryCookieStoreTests {
    static let home = IsolationKey()

    let clock = TestClock()
    let store: MemoryCookieStore

    init() {
        store = MemoryCookieStore(time: clock.timeSource)
    }

    private func set(_ lines: String..., from url: String = "https://a.example/") throws {
        store.receive(lines, from: try HTTPURL(url), in: Self.home)
    }

    private func sent(to url: String = "https://a.example/") throws -> String? {
        store.field(for: try HTTPURL(url), in: Self.home)
    }

    // MARK: Lines

    static let lines: [(String, String?)] = [
        ("a=1", "a=1"),
        ("  a  =  1  ; Path=/", "a=1"),
        ("a=", "a="),
        ("a=1=2", "a=1=2"),
        ("a=\"q r\"", "a=\"q r\""),
        ("a=1; unknown; x=y;;", "a=1"),
        ("a", "a"),
        ("=1", "1"),
        ("==1", "=1"),
        ("\"a", "\"a"),
        ("", nil),
        ("=", nil),
        (" = ; Path=/", nil),
        ("; Path=/", nil),
        ("a b=1", "a b=1"),
        ("a,=1", "a,=1"),
        ("a[0]=1", "a[0]=1"),
        ("é=ü", "é=ü"),
        ("a=1;\u{301}Path=/x", "a=1"),
        ("a=\t1\t", "a=1"),
        ("a=1\t2", "a=1\t2"),
        ("a=1\u{0}", nil),
        ("a=1; x=\u{1F}", nil),
        ("a\u{1}=1", nil),
        ("a=1\r\nSet-Cookie: b=2", nil),
        ("a=\u{7F}", nil),
        ("a=1; Domain=a.example", "a=1"),
        ("a=1; Domain=.A.EXAMPLE", "a=1"),
        ("a=1; domain=example", "a=1"),
        ("a=1; Domain=b.example", nil),
        ("a=1; Domain=x.a.example", nil),
        ("a=1; Domain=xample", nil),
        ("a=1; Domain=", "a=1"),
        ("a=1; Domain=.", "a=1"),
        ("a=1; Domain=..a.example", nil),
        ("a=1; Domain=a.example.", nil),
        ("a=1; Domain=b.example; Domain=a.example", "a=1"),
        ("a=1; Domain=a.example; Domain=b.example", nil),
        ("a=1; Domain=b.example; Domain=", "a=1"),
        ("a=1; Domain=b.example; Domain", "a=1"),
        ("a=1; Domain=\u{FF41}.example", nil),
        ("a=1; Domain=\(String(repeating: "b", count: 1_025))", "a=1"),
        ("a=1; Path=/x; Path=/", "a=1"),
        ("a=1; Path=/; Path=/x", nil),
        ("a=1; Path=/x; Path=", "a=1"),
        ("a=1; Path=/x; Path", "a=1"),
        ("a=1; Path=/\(String(repeating: "x", count: 1_024))", "a=1"),
        ("a=1; Path=/\(String(repeating: "x", count: 1_023))", nil),
        ("a=1; Secure=no", "a=1"),
        ("a=1; Secure =; HttpOnly = x", "a=1"),
        ("a=1; Secure; HttpOnly; SameSite=Strict", "a=1"),
        ("__Secure-a=1; Secure", "__Secure-a=1"),
        ("__Secure-a=1", nil),
        ("__secure-a=1", nil),
        ("__Host-a=1; Secure; Path=/", "__Host-a=1"),
        ("__Host-a=1; Secure; Path=/x", nil),
        ("__Host-a=1; Path=/", nil),
        ("__HOST-a=1; Path=/", nil),
        ("__Host-a=1; Secure; Path=/; Domain=a.example", nil),
        ("__Host-a=1; Secure; Path=/; Domain=", "__Host-a=1"),
        ("__Host-a=1; Secure", nil),
        ("__Host-a=1; Secure; Path=", "__Host-a=1"),
        ("__HOST-a=1; Secure; Path=x", "__HOST-a=1"),
        ("__Host-a=1; Secure; Path", "__Host-a=1"),
        ("__Host-=1; Secure; Path=/", "__Host-=1"),
        ("=__Host-a=1; Secure; Path=/", nil),
        ("=__secure-a=1; Secure", nil),
        ("__Secure-a; Secure", nil),
        ("=__Hosta=1", "__Hosta=1"),
        ("__Http-a=1; Secure; HttpOnly", "__Http-a=1"),
        ("__Http-a=1; Secure", nil), ("__HTTP-a=1; HttpOnly", nil), ("__http-a=1; Secure", nil),
        ("=__Http-a=1; Secure; HttpOnly", nil), ("__Http-a; Secure; HttpOnly", nil), ("__Httpa=1", "__Httpa=1"),
        ("__Http-a=1; Secure; HttpOnly; Domain=a.example", "__Http-a=1"),
        ("__Host-Http-a=1; Secure; HttpOnly; Path=/", "__Host-Http-a=1"),
        ("__Host-Http-a=1; Secure; Path=/", nil), ("__HOST-HTTP-a=1; Secure; Path=/", nil),
        ("__Host-Http-a=1; Secure; HttpOnly; Path=/x", nil),
        ("__Host-Http-a=1; Secure; HttpOnly; Path=/; Domain=a.example", nil),
        ("__Secure-Http-a=1; Secure", "__Secure-Http-a=1"), ("__Host-Httpa=1; Secure; Path=/", "__Host-Httpa=1"),
    ]

    @Test(arguments: lines) func `a line is kept or refused as a whole`(line: String, expected: String?) throws {
        try set(line)
        #expect(try sent() == expected)
    }

    @Test
    func `a path that cannot be read stands for the folder of the request, also where a prefix asks for the root`()
        throws
    {
        try set("__Host-a=1; Secure; Path=", "b=2; Path=", from: "https://a.example/x/y")
        #expect(try sent(to: "https://a.example/x") == "b=2")
        #expect(try sent() == nil)
    }

    @Test func `name and value of more than 4,096 bytes together are refused, attributes do not count`() throws {
        let longest = "a=" + String(repeating: "x", count: 4_095)
        try set(longest)
        #expect(try sent() == longest)
        try set("b" + longest)
        #expect(try sent() == longest)
        try set("a=2; x=" + String(repeating: "x", count: 5_000))
        #expect(try sent() == "a=2")
    }

    // MARK: Host and scheme

    @Test func `a cookie goes to the host that set it and to no other, whatever domain it asks for`() throws {
        try set("a=1; Domain=example", from: "https://a.example/")
        for other in ["https://example/", "https://b.example/", "https://x.a.example/", "https://xa.example/"] {
            #expect(try sent(to: other) == nil)
        }
        #expect(try sent(to: "https://a.example:8443/") == "a=1")
    }

    @Test func `a secure cookie is set and sent over https only`() throws {
        try set("a=1; Secure", from: "http://a.example/")
        #expect(try sent() == nil)
        try set("a=1; Secure", "b=2")
        #expect(try sent(to: "http://a.example/") == "b=2")
        #expect(try sent(to: "https://a.example/") == "a=1; b=2")
    }

    // MARK: Path

    static let paths: [(path: String, request: String, isSent: Bool)] = [
        ("/", "/", true), ("/", "/any/thing", true),
        ("/foo", "/foo", true), ("/foo", "/foo/", true), ("/foo", "/foo/bar", true), ("/foo", "/foobar", false),
        ("/foo", "/", false), ("/foo/", "/foo", false), ("/foo/", "/foo/bar", true), ("/foo", "/FOO", false),
        ("/foo", "/foo?x", true), ("foo", "/", true), ("", "/", true),
    ]

    @Test(arguments: paths) func `a cookie goes to its path and below`(
        path: String, request: String, isSent: Bool
    ) throws {
        try set("a=1; Path=\(path)")
        #expect(try sent(to: "https://a.example\(request)") == (isSent ? "a=1" : nil))
    }

    @Test(arguments: [("/", "/"), ("/x", "/"), ("/x/", "/x"), ("/x/y", "/x"), ("/x/y/z", "/x/y")])
    func `without a path it is the directory of the request`(request: String, path: String) throws {
        try set("a=1", from: "https://a.example\(request)")
        #expect(try sent(to: "https://a.example\(path)") == "a=1")
        if path != "/" { #expect(try sent(to: "https://a.example/") == nil) }
    }

    @Test func `longer paths come first, and those of one length in the order they came`() throws {
        try set("c=3; Path=/x", "a=1; Path=/", "b=2; Path=/", "d=4; Path=/x/y")
        #expect(try sent(to: "https://a.example/x/y") == "d=4; c=3; a=1; b=2")
    }

    @Test func `name and path together are one cookie`() throws {
        try set("a=1; Path=/", "a=2; Path=/x", "A=3; Path=/")
        try set("a=9; Path=/")
        #expect(try sent() == "a=9; A=3")
        #expect(try sent(to: "https://a.example/x") == "a=2; a=9; A=3")
    }

    // MARK: Age

    @Test func `max-age ends a cookie to the second`() throws {
        try set("a=1; Max-Age=60")
        clock.advance(by: .seconds(59))
        #expect(try sent() == "a=1")
        clock.advance(by: .seconds(1))
        #expect(try sent() == nil)
    }

    /// The clock's date begins on Sun, 09 Sep 2001 01:46:40 GMT.
    static let ages: [(attributes: String, isKept: Bool, isKeptAfterAMinute: Bool)] = [
        ("Expires=Sun, 09 Sep 2001 01:46:41 GMT", true, false),
        ("Expires=Sun, 09 Sep 2001 01:46:40 GMT", false, false),
        ("Expires=Sun, 09 Sep 2001 01:48:00 GMT", true, true),
        ("Expires=Sunday, 09-Sep-01 01:48:00 GMT", true, true),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", false, false),
        ("Expires=never", true, true),
        ("Max-Age=0", false, false),
        ("Max-Age=-1", false, false),
        ("Expires=Thu, 1 Jan 1970 0:0:00 GMT", false, false),
        ("Expires=Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)", false, false),
        ("Expires=Sun, 09 Sep 2001 02:00:00 GMT; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false, false),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=Sun, 09 Sep 2001 02:00:00 GMT", true, true),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=", false, false),
        ("Max-Age=0; Max-Age=30", true, false),
        ("Max-Age=90; Max-Age=30", true, false),
        ("Max-Age=30; Max-Age=", true, false),
        ("Max-Age=0; Max-Age=x", false, false),
        ("Max-Age=-", true, true),
        ("Max-Age=--1", true, true),
        ("Max-Age=+30", true, true),
        ("Max-Age=-99999999999999999999", false, false),
        ("Max-Age=x", true, true),
        ("Max-Age=", true, true),
        ("Max-Age=1.5", true, true),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=6:", false, false),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=/6", false, false),
        ("Max-Age=99999999999999999999", true, true),
        ("Max-Age=30; Expires=Sun, 09 Sep 2001 02:00:00 GMT", true, false),
        ("Expires=Sun, 09 Sep 2001 02:00:00 GMT; Max-Age=30", true, false),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=90", true, true),
    ]

    @Test(arguments: ages) func `age follows Max-Age, then Expires`(
        attributes: String, isKept: Bool, isKeptAfterAMinute: Bool
    ) throws {
        try set("a=1; \(attributes)")
        #expect(try (sent() != nil) == isKept)
        clock.advance(by: .seconds(60))
        #expect(try (sent() != nil) == isKeptAfterAMinute)
    }

    @Test(arguments: ["Max-Age=999999999", "Expires=Fri, 31 Dec 9999 23:59:59 GMT"])
    func `no cookie lives longer than 400 days`(attribute: String) throws {
        try set("a=1; \(attribute)")
        clock.advance(by: .seconds(400 * 86_400 - 1))
        #expect(try sent() == "a=1")
        clock.advance(by: .seconds(1))
        #expect(try sent() == nil)
    }

    @Test func `an expired line removes the cookie`() throws {
        try set("a=1", "b=2")
        try set("a=; Max-Age=0")
        #expect(try sent() == "b=2")
    }

    // MARK: Number and partitions

    @Test func `of more than fifty cookies of a host the oldest go`() throws {
        for number in 0..<60 { try set("c\(number)=x") }
        let names = try #require(try sent()).split(separator: "; ").map { $0.prefix { $0 != "=" } }
        #expect(names.map(String.init) == (10..<60).map { "c\($0)" })
        try set("other=1", from: "https://b.example/")
        #expect(try sent(to: "https://b.example/") == "other=1")
    }

    @Test func `partitions see nothing of each other and are forgotten alone`() throws {
        let url = try HTTPURL("https://a.example/")
        let partitions = ["test", "production"].flatMap { environment in
            ["", "alice", "bob"].map { IsolationKey(environment: environment, identity: $0) }
        }
        for partition in partitions {
            store.receive(["p=\(partition.environment)/\(partition.identity)"], from: url, in: partition)
        }
        func fields() -> [String?] { partitions.map { store.field(for: url, in: $0) } }
        #expect(fields() == partitions.map { "p=\($0.environment)/\($0.identity)" })
        store.removeAll(in: partitions[1])
        #expect(fields().map { $0 != nil } == [true, false, true, true, true, true])
        store.removeAll(in: nil)
        #expect(fields().allSatisfy { $0 == nil })
    }
}
