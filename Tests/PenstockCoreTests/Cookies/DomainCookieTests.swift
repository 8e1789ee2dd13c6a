import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// Cookies where public suffixes are known: those of a whole domain, and those that a site keeps to itself.
@Suite struct DomainCookieTests {
    static let now = Date(timeIntervalSince1970: 1_770_385_600)
    static let suffixes = PublicSuffixList(
        "com\nuk\nco.uk\nexample\nio\ngithub.io\nfiles.store.example\n*.ward.example\n!town.ward.example\n")

    private func jar(_ lines: (String, String)..., limits: CookieJar.Limits = .init()) throws -> CookieJar {
        var jar = CookieJar(limits: limits, suffixes: Self.suffixes)
        for (url, line) in lines { jar.receive([line], from: try HTTPURL(url), at: Self.now) }
        return jar
    }

    /// Who sets a cookie, for which domain, and who gets it; `nil` where it is refused.
    static let domains: [(setter: String, domain: String, getters: [String]?)] = [
        ("https://x.a.example/", "a.example", ["a.example", "x.a.example", "y.a.example", "z.y.a.example"]),
        ("https://x.a.example/", ".A.Example", ["a.example", "x.a.example", "y.a.example", "z.y.a.example"]),
        ("https://a.example/", "a.example", ["a.example", "x.a.example", "y.a.example", "z.y.a.example"]),
        ("https://x.a.example/", "x.a.example", ["x.a.example"]),
        ("https://x.a.example/", "", ["x.a.example"]),
        ("https://x.a.example/", "y.a.example", nil),
        ("https://x.a.example/", "example", nil),
        ("https://a.example/", "x.a.example", nil),
        ("https://shop.co.uk/", "co.uk", nil),
        ("https://shop.co.uk/", "uk", nil),
        ("https://github.io/", "github.io", ["github.io"]),
        ("https://me.github.io/", "github.io", nil),
        // A domain with a public suffix below it has hosts of strangers, unless the host is beside that suffix.
        ("https://me.files.store.example/", "store.example", nil),
        ("https://me.files.store.example/", "me.files.store.example", ["me.files.store.example"]),
        ("https://files.store.example/", "store.example", nil),
        ("https://www.store.example/", "store.example", ["store.example", "me.files.store.example"]),
        ("https://town.ward.example/", "ward.example", nil),
        ("https://town.ward.example/", "town.ward.example", ["town.ward.example"]),
        ("https://a.b.ward.example/", "ward.example", nil),
        // A dot at the end makes another host, and of a public suffix no domain.
        ("https://shop.com./", "com.", nil), ("https://shop.com./", "shop.com.", ["shop.com."]),
        ("https://127.0.0.1/", "127.0.0.1", ["127.0.0.1"]),
        ("https://127.0.0.1/", "0.0.1", nil),
        ("https://127.0.0.1/", "1", nil),
        ("https://[::1]/", "::1", ["[::1]"]),
        ("https://localhost/", "localhost", ["localhost"]),
        ("https://a.localhost/", "localhost", nil),
    ]

    static let hosts = [
        "a.example", "x.a.example", "y.a.example", "z.y.a.example", "ya.example", "b.example", "example", "github.io",
        "me.github.io", "127.0.0.1", "[::1]", "localhost", "a.localhost", "shop.co.uk", "co.uk", "other.co.uk",
        "store.example", "me.files.store.example", "town.ward.example", "other.com.", "shop.com.",
    ]

    @Test(
        "A cookie goes to all hosts of its domain, and to none of a public suffix or of part of an address",
        .covers("H26"), arguments: domains)
    func domain(setter: String, domain: String, getters: [String]?) throws {
        var jar = try jar((setter, "a=1; Domain=\(domain)"))
        #expect(jar.count == (getters == nil ? 0 : 1))
        let sent = try Self.hosts.filter { jar.field(for: try HTTPURL("https://\($0)/"), at: Self.now) == "a=1" }
        #expect(sent == (getters ?? []))
    }

    @Test func `what a cookie is for is told by its domain and whether it is for the host alone`() throws {
        let url = try HTTPURL("https://x.a.example/")
        func cookie(_ line: String, from url: HTTPURL) -> Cookie? {
            Cookie(setCookie: line, from: url, at: Self.now, suffixes: Self.suffixes)
        }
        let wide = try #require(cookie("a=1; Domain=a.example", from: url))
        #expect(wide.host == "x.a.example" && wide.domain == "a.example" && !wide.isHostOnly)
        let own = try #require(cookie("a=1", from: url))
        #expect(own.domain == nil && own.isHostOnly)
        let suffix = try #require(cookie("a=1; Domain=github.io", from: HTTPURL("https://github.io/")))
        #expect(suffix.domain == nil && suffix.isHostOnly)
        let address = try #require(cookie("a=1; Domain=127.0.0.1", from: HTTPURL("https://127.0.0.1/")))
        #expect(address.domain == "127.0.0.1" && address.isHostOnly)
        let version6 = try HTTPURL("https://[::1]/")
        let long = try #require(cookie("a=1; Domain=\(version6.host)", from: version6))
        #expect(long.domain == version6.host && long.isHostOnly)
        #expect(wide.isSent(to: try HTTPURL("https://y.a.example/"), at: Self.now))
        #expect(!own.isSent(to: try HTTPURL("https://y.a.example/"), at: Self.now))
    }

    @Test func `hosts of one domain set one and the same cookie, and host and domain two`() throws {
        var jar = try jar(
            ("https://x.a.example/", "a=1; Domain=a.example"), ("https://y.a.example/", "a=2; Domain=a.example"),
            ("https://a.example/", "a=3"), ("https://x.a.example/", "a=4; Domain=x.a.example"))
        #expect(jar.count == 3)
        #expect(jar.field(for: try HTTPURL("https://a.example/"), at: Self.now) == "a=2; a=3")
        #expect(jar.field(for: try HTTPURL("https://x.a.example/"), at: Self.now) == "a=2; a=4")
        jar.receive(["a=; Domain=a.example; Max-Age=0"], from: try HTTPURL("https://z.a.example/"), at: Self.now)
        #expect(jar.field(for: try HTTPURL("https://x.a.example/"), at: Self.now) == "a=4")
    }

    @Test func `of one path length those come first that were set first, whomever they are for`() throws {
        var jar = try jar(
            ("https://x.a.example/", "own=1; Path=/"), ("https://x.a.example/", "wide=2; Domain=a.example; Path=/"),
            ("https://x.a.example/", "later=3; Path=/"), ("https://x.a.example/", "deep=4; Domain=a.example; Path=/x"))
        let url = try HTTPURL("https://x.a.example/x")
        #expect(jar.field(for: url, at: Self.now) == "deep=4; own=1; wide=2; later=3")
        jar.receive(["own=5; Path=/"], from: url, at: Self.now)
        #expect(jar.field(for: url, at: Self.now) == "deep=4; own=5; wide=2; later=3")
    }

    /// A secure cookie of a host, what comes over http from where, and whether it is taken.
    static let overlays: [(String, String, String, Bool)] = [
        ("sid=1; Secure; Domain=a.example", "http://x.a.example/", "sid=2", false),
        ("sid=1; Secure; Domain=a.example", "http://x.a.example/", "sid=2; Domain=x.a.example", false),
        ("sid=1; Secure", "http://y.x.a.example/", "sid=2; Domain=a.example", false),
        ("sid=1; Secure", "http://y.x.a.example/", "sid=2", false),
        ("sid=1; Secure", "http://y.a.example/", "sid=2", true),
        ("sid=1; Secure", "http://b.example/", "sid=2", true),
        ("sid=1; Secure; Domain=a.example", "http://x.a.example/", "other=2", true),
    ]

    @Test(arguments: overlays) func `a cookie over http hides no secure one of a host above or below`(
        there: String, url: String, comes: String, isTaken: Bool
    ) throws {
        let jar = try jar(("https://x.a.example/", there), (url, comes))
        #expect(jar.count == (isTaken ? 2 : 1))
    }

    @Test func `a domain has room for fifty cookies, whichever of its hosts set them`() throws {
        var jar = CookieJar(suffixes: Self.suffixes)
        for number in 0..<60 {
            let host = try HTTPURL("https://h\(number).a.example/")
            jar.receive(["c\(number)=1; Domain=a.example", "own=1"], from: host, at: Self.now)
        }
        #expect(jar.cookies.filter { !$0.isHostOnly }.map(\.name) == (10..<60).map { "c\($0)" })
        #expect(jar.count == 110)
    }

    @Test func `what has expired of a domain makes room when one of its hosts sets a cookie`() throws {
        var jar = try jar(
            ("https://x.a.example/", "old=1; Domain=a.example; Max-Age=60"), ("https://x.a.example/", "own=1"))
        jar.receive(["new=1"], from: try HTTPURL("https://y.a.example/"), at: Self.now + 60)
        #expect(jar.cookies.map(\.name) == ["own", "new"])
    }

    @Test func `a jar tells whether something changed that outlives the app`() throws {
        let url = try HTTPURL("https://a.example/")
        var jar = CookieJar(suffixes: nil)
        func changes(_ lines: String...) -> Bool { jar.receive(lines, from: url, at: Self.now) }
        #expect(!changes("a=1"))
        #expect(changes("a=1; Max-Age=60"))
        #expect(changes("a=1"), "it does no longer")
        #expect(!changes("a=; Max-Age=0"))
        #expect(changes("b=1; Max-Age=60"))
        #expect(changes("b=; Max-Age=0"))
        #expect(!changes("b=; Max-Age=0", "=", "c=1; Domain=b.example; Max-Age=60"))
    }

    // MARK: SameSite

    @Test(
        arguments: [
            ("SameSite=Strict", Cookie.SameSite.strict), ("samesite=LAX", .lax), ("SameSite=None; Secure", .none),
            ("SameSite=what", .unspecified), ("SameSite", .unspecified), ("", .unspecified),
            ("SameSite=Strict; SameSite=Lax", .lax), ("SameSite=Strict; SameSite=what", .unspecified),
        ])
    func `the last SameSite attribute counts`(attributes: String, sameSite: Cookie.SameSite) throws {
        let url = try HTTPURL("https://a.example/")
        #expect(Cookie(setCookie: "a=1; \(attributes)", from: url, at: Self.now)?.sameSite == sameSite)
    }

    @Test func `SameSite=None is taken from secure cookies alone`() throws {
        let url = try HTTPURL("https://a.example/")
        #expect(Cookie(setCookie: "a=1; SameSite=None", from: url, at: Self.now) == nil)
        #expect(Cookie(setCookie: "a=1; SameSite=None; Secure", from: url, at: Self.now) != nil)
    }

    /// What asks for `https://a.example/`, by which method, and what it is sent.
    static let crossings: [(initiator: String?, HTTPMethod, String)] = [
        (nil, .get, "strict lax none unsaid"), (nil, .post, "strict lax none unsaid"),
        ("https://a.example/", .post, "strict lax none unsaid"),
        ("https://a.example:8443/x", .post, "strict lax none unsaid"),
        ("https://x.a.example/", .post, "strict lax none unsaid"),
        ("http://a.example/", .get, "lax none unsaid"),
        ("https://b.example/", .get, "lax none unsaid"), ("https://b.example/", .head, "lax none unsaid"),
        ("https://b.example/", .post, "none"), ("https://b.example/", .put, "none"),
        ("https://example/", .get, "lax none unsaid"), ("https://127.0.0.1/", .get, "lax none unsaid"),
    ]

    @Test(arguments: crossings) func `what comes from another site is sent by what SameSite says`(
        initiator: String?, method: HTTPMethod, sent: String
    ) throws {
        let url = try HTTPURL("https://a.example/")
        var jar = CookieJar(suffixes: Self.suffixes)
        jar.receive(
            ["strict=; SameSite=Strict", "lax=; SameSite=Lax", "none=; SameSite=None; Secure", "unsaid="], from: url,
            at: Self.now)
        let query = CookieQuery(url, method: method, initiator: try initiator.map { try HTTPURL($0) })
        #expect(
            jar.field(for: query, at: Self.now) == sent.split(separator: " ").map { "\($0)=" }.joined(separator: "; "))
    }

    @Test func `two public suffixes are two sites, and so are two addresses that end alike`() throws {
        for (host, other) in [("github.io", "x.github.io"), ("10.0.0.1", "9.0.0.1"), ("me.github.io", "you.github.io")]
        {
            let url = try HTTPURL("https://\(host)/")
            var jar = CookieJar(suffixes: Self.suffixes)
            jar.receive(["a=1; SameSite=Strict"], from: url, at: Self.now)
            let query = CookieQuery(url, initiator: try HTTPURL("https://\(other)/"))
            #expect(jar.field(for: query, at: Self.now) == nil)
        }
    }

    @Test func `without suffixes every host is a site of its own`() throws {
        let url = try HTTPURL("https://a.example/")
        var jar = CookieJar(suffixes: nil)
        jar.receive(["a=1; SameSite=Strict"], from: url, at: Self.now)
        #expect(jar.field(for: CookieQuery(url, initiator: try HTTPURL("https://x.a.example/")), at: Self.now) == nil)
        #expect(jar.field(for: CookieQuery(url, initiator: url), at: Self.now) == "a=1")
    }

    @Test func `a secure cookie of a host below stands in the way of one over http until it has expired`() throws {
        let (below, plain) = ("https://x.a.example/", try HTTPURL("http://a.example/"))
        for (seconds, isTaken) in [(59.0, false), (60, true)] {
            var jar = try jar((below, "sid=1; Secure; Path=/; Max-Age=60"))
            jar.receive(["sid=2; Domain=a.example; Path=/"], from: plain, at: Self.now + seconds)
            #expect((jar.field(for: plain, at: Self.now + seconds) == "sid=2") == isTaken)
        }
    }
}
