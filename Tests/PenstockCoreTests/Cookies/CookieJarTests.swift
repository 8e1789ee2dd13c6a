import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite struct CookieJarTests {
    static let now = Date(timeIntervalSince1970: 1_770_385_600)

    private static func url(_ text: String) throws -> HTTPURL { try HTTPURL(text) }

    private static func jar(
        _ lines: [(String, String)], limits: CookieJar.Limits = .init()
    ) throws -> CookieJar {
        var jar = CookieJar(limits: limits, suffixes: nil)
        for (url, line) in lines { jar.receive([line], from: try Self.url(url), at: now) }
        return jar
    }

    private static func pairs(_ jar: CookieJar) -> [String] { jar.cookies.map { "\($0.name)=\($0.value)" } }

    @Test func `by default a host has 50 cookies, and all have 3,000`() {
        #expect(CookieJar.Limits().perHost == 50 && CookieJar.Limits().total == 3_000)
    }

    // MARK: One cookie

    @Test func `a cookie tells what its line said`() throws {
        let line = "sid=\"x\"; Domain=.A.Example; Path=/p; Secure; HttpOnly; Max-Age=60; SameSite=Lax"
        let cookie = try #require(Cookie(setCookie: line, from: Self.url("https://x.a.example/p/q"), at: Self.now))
        #expect(cookie.name == "sid" && cookie.value == "\"x\"")
        #expect(cookie.host == "x.a.example" && cookie.domain == "a.example" && cookie.path == "/p")
        #expect(cookie.isSecure && cookie.isHTTPOnly)
        #expect(cookie.expiry == Self.now + 60)
        let plain = try #require(Cookie(setCookie: "a", from: Self.url("http://a.example/p/q?r"), at: Self.now))
        #expect(plain.name == "" && plain.value == "a" && plain.domain == nil && plain.path == "/p")
        #expect(!plain.isSecure && !plain.isHTTPOnly && plain.expiry == nil)
        let gone = try #require(Cookie(setCookie: "a=; Max-Age=0", from: Self.url("http://a.example/"), at: Self.now))
        #expect(gone.expiry == .distantPast, "it is over by any clock")
    }

    @Test func `the value of a cookie is in nothing that prints`() throws {
        let url = try Self.url("https://a.example/")
        let cookie = try #require(Cookie(setCookie: "sid=hunter2", from: url, at: Self.now))
        var jar = CookieJar(suffixes: nil)
        jar.receive(["sid=hunter2", "hunter2"], from: url, at: Self.now)
        let store = MemoryCookieStore()
        store.receive(["sid=hunter2"], from: url, in: .init(environment: "test"))
        let request = HTTPRequest(method: .get, url: url, fields: [.cookie: "own=hunter2"])
        for value in [cookie, jar, store, RedirectHop(request, cookies: "sid=hunter2")] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("hunter2"), "\(text)")
            }
        }
    }

    /// A host, what it asks for, and whether it gets a cookie at all.
    static let domains: [(String, String, Bool)] = [
        ("http://127.0.0.1/", "127.0.0.1", true), ("http://127.0.0.1/", "0.0.1", false),
        ("http://127.0.0.1/", "1", false), ("http://127.0.0.20/", "0.0.20", false), ("http://127.0.0.9/", "9", false),
        ("http://[::1]/", "::1", true), ("http://[fe80::1.2.3.4]/", "3.4", false),
        ("http://shop.co.uk/", "co.uk", true), ("http://shop.co.uk/", "uk", true),
        ("http://co.uk/", "shop.co.uk", false),
        ("http://localhost/", "localhost", true), ("http://x1/", "x1", true),
        ("http://kelvin.example/", "\u{212A}elvin.example", false),
    ]

    @Test(
        "A cookie for a whole suffix is kept for the host alone, one for part of an address is refused",
        arguments: domains)
    func domain(url: String, domain: String, isKept: Bool) throws {
        let jar = try Self.jar([(url, "a=1; Domain=\(domain)")])
        #expect(jar.count == (isKept ? 1 : 0))
        let home = try Self.url(url)
        #expect(jar.cookies.allSatisfy { $0.isSent(to: home, at: Self.now) })
        for other in ["http://other.co.uk/", "http://uk/", "http://127.0.0.2/", "http://0.0.1.example/"] {
            let other = try Self.url(other)
            #expect(jar.cookies.allSatisfy { !$0.isSent(to: other, at: Self.now) })
        }
    }

    @Test("Odd cookies are refused or capped", .covers("H26"))
    func oddCookies() throws {
        var jar = CookieJar(suffixes: nil)
        let host = try Self.url("http://shop.co.uk/")
        jar.receive(
            ["wide=1; Domain=co.uk", "safe=1; Secure", "old=1; Max-Age=99999999999999999999"], from: host, at: Self.now)
        #expect(jar.cookies.map(\.name) == ["wide", "old"])
        let other = try Self.url("http://other.co.uk/")
        #expect(jar.field(for: other, at: Self.now) == nil)
        #expect(jar.cookies.last?.expiry == Self.now + 400 * 86_400)
        let address = try Self.url("http://127.0.0.1/")
        jar.receive(["part=1; Domain=0.0.1", "own=1; Domain=127.0.0.1"], from: address, at: Self.now)
        #expect(jar.cookies.filter { $0.host == "127.0.0.1" }.map(\.name) == ["own"])
        var largest = 0
        for number in 0..<10_000 {
            jar.receive(["c\(number)=1"], from: try Self.url("http://h\(number / 100).example/"), at: Self.now)
            largest = max(largest, jar.count)
        }
        #expect(largest == 3_000)
        #expect(jar.count > 3_000 - 3_000 / 16)
        #expect(Dictionary(grouping: jar.cookies, by: \.host).values.map(\.count).max() == 50)
        #expect(jar.cookies.contains { $0.name == "c9999" })
    }

    // MARK: Which is which

    @Test func `host-only and domain cookies of one name are two`() throws {
        let url = "https://x.a.example/"
        let jar = try Self.jar([
            (url, "a=1"), (url, "a=2; Domain=x.a.example"), (url, "a=3; Domain=a.example"), (url, "a=4; Domain="),
            (url, "a=5; Domain=.A.EXAMPLE"),
        ])
        #expect(Self.pairs(jar) == ["a=4", "a=2", "a=5"])
        let cleared = try Self.jar([(url, "a=1"), (url, "a=2; Domain=x.a.example"), (url, "a=; Max-Age=0")])
        #expect(Self.pairs(cleared) == ["a=2"])
    }

    @Test func `names and paths are compared byte by byte`() throws {
        let url = "https://a.example/"
        let jar = try Self.jar([
            (url, "\u{E9}=1; Path=/"), (url, "e\u{301}=2; Path=/"), (url, "e=3; Path=/\u{E9}"),
            (url, "e=4; Path=/e\u{301}"),
        ])
        #expect(jar.cookies.map(\.value) == ["1", "2", "3", "4"])
    }

    // MARK: Secure cookies are left alone

    /// What is there, what comes over http, and whether it is taken.
    static let overlays: [(there: String, comes: String, isTaken: Bool)] = [
        ("sid=1; Secure; Path=/", "sid=EVIL; Path=/", false),
        ("sid=1; Secure; Path=/", "sid=EVIL; Path=/deep", false),
        ("sid=1; Secure; Path=/", "sid=; Max-Age=0; Path=/", false),
        ("sid=1; Secure; Path=/", "sid=EVIL; Path=/; Domain=a.example", false),
        ("sid=1; Secure; Path=/; Domain=a.example", "sid=EVIL; Path=/", false),
        ("sid=1; Secure; Path=/", "=sid=EVIL; Path=/", false),
        ("sid; Secure; Path=/", "sid=EVIL; Path=/", false),
        ("sid=1; Secure; Path=/deep", "sid=2; Path=/", true),
        ("sid=1; Secure; Path=/deep", "sid=2; Path=/deeper", true),
        ("sid=1; Secure; Path=/deep", "sid=EVIL; Path=/deep/er", false),
        ("sid=1; Secure; Path=/", "SID=2; Path=/", true),
        ("sid=1; Path=/", "sid=2; Path=/", true),
    ]

    @Test(arguments: overlays) func `a cookie over http neither replaces nor hides a secure one`(
        there: String, comes: String, isTaken: Bool
    ) throws {
        let host = try Self.url("https://a.example/deep/er/x")
        var jar = CookieJar(suffixes: nil)
        jar.receive([there], from: host, at: Self.now)
        let before = jar.field(for: host, at: Self.now)
        jar.receive([comes], from: try Self.url("http://a.example/"), at: Self.now)
        #expect((Self.pairs(jar).contains { $0.contains("EVIL") || $0.hasSuffix("2") }) == isTaken)
        if !isTaken { #expect(jar.field(for: host, at: Self.now) == before) }
        guard !isTaken else { return }
        jar.receive([comes], from: host, at: Self.now)
        #expect(jar.field(for: host, at: Self.now) != before, "over https it may")
    }

    @Test func `sixty cookies over http put out no secure one, and each other`() throws {
        let (secure, plain) = (try Self.url("https://a.example/"), try Self.url("http://a.example/"))
        var jar = CookieJar(suffixes: nil)
        jar.receive((0..<49).map { "s\($0)=1; Secure" } + ["p=1"], from: secure, at: Self.now)
        jar.receive((0..<60).map { "e\($0)=1" }, from: plain, at: Self.now)
        #expect(jar.cookies.filter(\.isSecure).count == 49)
        #expect(jar.cookies.last?.name == "e59")
        #expect(jar.count == 50)
        jar.receive(["s49=1; Secure"], from: secure, at: Self.now)
        #expect(jar.cookies.filter(\.isSecure).count == 50)
        jar.receive(["e=1"], from: plain, at: Self.now)
        #expect(jar.cookies.map(\.name) == (0..<50).map { "s\($0)" })
        jar.receive(["p=1"], from: secure, at: Self.now)
        #expect(jar.cookies.map(\.name) == (0..<50).map { "s\($0)" }, "what is not secure goes first, over https too")
        jar.receive(["t=1; Secure"], from: secure, at: Self.now)
        #expect(jar.cookies.map(\.name) == (1..<50).map { "s\($0)" } + ["t"])
    }

    @Test func `cookies over http from many hosts put out no secure one of any host`() throws {
        var jar = CookieJar(limits: .init(total: 10), suffixes: nil)
        for number in 0..<8 {
            jar.receive(["s=1; Secure"], from: try Self.url("https://s\(number).example/"), at: Self.now)
        }
        for number in 0..<50 { jar.receive(["e=1"], from: try Self.url("http://e\(number).example/"), at: Self.now) }
        #expect(jar.cookies.map(\.host) == ["e48.example", "e49.example"] + (0..<8).map { "s\($0).example" })
        for number in 8..<10 {
            jar.receive(["s=1; Secure"], from: try Self.url("https://s\(number).example/"), at: Self.now)
        }
        jar.receive(["e=1"], from: try Self.url("http://e.example/"), at: Self.now)
        #expect(jar.cookies.map(\.host) == (0..<10).map { "s\($0).example" })
        jar.receive(["p=1"], from: try Self.url("https://p.example/"), at: Self.now)
        #expect(jar.cookies.map(\.host) == (0..<10).map { "s\($0).example" }, "what is not secure goes first")
        jar.receive(["p=1; Secure"], from: try Self.url("https://p.example/"), at: Self.now)
        #expect(
            jar.cookies.map(\.host) == ["p.example"] + (1..<10).map { "s\($0).example" }, "over https there is room")
    }

    // MARK: How many

    @Test func `a full jar loses a sixteenth at a time`() throws {
        var jar = CookieJar(limits: .init(total: 32), suffixes: nil)
        for number in 0..<32 { jar.receive(["a=1"], from: try Self.url("https://h\(number).example/"), at: Self.now) }
        #expect(jar.count == 32)
        jar.receive(["a=1"], from: try Self.url("https://h32.example/"), at: Self.now)
        #expect(Set(jar.cookies.map(\.host)) == Set((3...32).map { "h\($0).example" }))
    }

    @Test func `where what has expired makes room enough nothing else goes`() throws {
        var jar = CookieJar(limits: .init(total: 32), suffixes: nil)
        for number in 0..<32 {
            let line = number == 7 ? "a=1; Max-Age=60" : "a=1"
            jar.receive([line], from: try Self.url("https://h\(number).example/"), at: Self.now)
        }
        jar.receive(["a=1"], from: try Self.url("https://h32.example/"), at: Self.now + 60)
        #expect(Set(jar.cookies.map(\.host)) == Set((0...32).filter { $0 != 7 }.map { "h\($0).example" }))
    }

    @Test func `a cookie that is put out is a change, one that finds room and ends with the app is none`() throws {
        let (a, b) = (try Self.url("https://a.example/"), try Self.url("https://b.example/"))
        var narrow = CookieJar(limits: .init(perHost: 2), suffixes: nil)
        #expect(["x=1", "y=1", "z=1"].map { narrow.receive([$0], from: a, at: Self.now) } == [false, false, true])
        var full = CookieJar(limits: .init(total: 2), suffixes: nil)
        #expect(
            [a, b, try Self.url("https://c.example/")].map { full.receive(["x=1"], from: $0, at: Self.now) }
                == [false, false, true])
    }

    @Test func `of all hosts the cookies that were not used for longest go`() throws {
        var jar = CookieJar(limits: .init(perHost: 3, total: 6), suffixes: nil)
        let hosts = try ["a", "b", "c"].map { try Self.url("https://\($0).example/") }
        for host in hosts { jar.receive(["x=1; Path=/x", "y=1; Path=/"], from: host, at: Self.now) }
        // Of the first host only y is sent; x is left as it is.
        #expect(jar.field(for: hosts[0], at: Self.now) == "y=1")
        jar.receive(["z=1", "w=1"], from: hosts[2], at: Self.now)
        #expect(jar.count == 6)
        #expect(jar.cookies.map { "\($0.host.prefix(1))\($0.name)" } == ["ay", "bx", "by", "cy", "cz", "cw"])
        jar.receive(["v=1", "v=2"], from: try Self.url("https://d.example/"), at: Self.now)
        #expect(jar.cookies.map { "\($0.host.prefix(1))\($0.name)" } == ["ay", "by", "cy", "cz", "cw", "dv"])
    }

    @Test func `of one host what was sent last stays`() throws {
        var jar = CookieJar(limits: .init(perHost: 2), suffixes: nil)
        let url = try Self.url("https://a.example/")
        jar.receive(["a=1; Path=/", "b=1; Path=/x"], from: url, at: Self.now)
        #expect(jar.field(for: url, at: Self.now) == "a=1")
        jar.receive(["c=1; Path=/"], from: url, at: Self.now)
        #expect(Self.pairs(jar) == ["a=1", "c=1"])
    }

    @Test(arguments: [0, -1]) func `a limit of nothing keeps nothing`(limit: Int) throws {
        #expect(try Self.jar([("https://a.example/", "a=1")], limits: .init(perHost: limit)).isEmpty)
        #expect(try Self.jar([("https://a.example/", "a=1")], limits: .init(total: limit)).isEmpty)
    }

    @Test func `expired cookies go before any other`() throws {
        var jar = CookieJar(limits: .init(perHost: 3, total: 3), suffixes: nil)
        let (a, b) = (try Self.url("https://a.example/"), try Self.url("https://b.example/"))
        jar.receive(["old=1", "short=1; Max-Age=60", "older=1"], from: a, at: Self.now)
        jar.receive(["new=1"], from: b, at: Self.now + 60)
        #expect(jar.cookies.map(\.name) == ["old", "older", "new"])
        jar.receive(["s=1; Max-Age=1"], from: a, at: Self.now + 61)
        jar.receive(["t=1"], from: a, at: Self.now + 62)
        #expect(jar.count == 3)
        jar.removeExpired(at: .distantFuture)
        #expect(jar.count == 3 && jar.cookies.count == 3)
    }

    @Test func `what has expired takes no room, and neither has what was refused`() throws {
        var jar = CookieJar(suffixes: nil)
        for number in 0..<100 {
            let url = try Self.url("http://h\(number).example/")
            jar.receive(["a=1; Secure", "b=2; Domain=other.example", "c=\u{1}", ""], from: url, at: Self.now)
            jar.receive(["a=1; Max-Age=60"], from: url, at: Self.now)
        }
        #expect(jar.count == 100)
        jar.removeExpired(at: Self.now + 59)
        #expect(jar.count == 100)
        jar.removeExpired(at: Self.now + 60)
        #expect(jar.isEmpty && jar.cookies.isEmpty)
        #expect(jar.description == "0 cookies of 0 hosts")
        let refused = try Self.jar([("http://a.example/", "a=1; Secure"), ("http://b.example/", "a=; Max-Age=0")])
        #expect(refused.description == "0 cookies of 0 hosts")
    }

    @Test func `a store lets go of what has expired in any partition, whichever is used`() throws {
        let clock = TestClock()
        let store = MemoryCookieStore(time: clock.timeSource)
        let url = try Self.url("https://a.example/")
        let users = (0..<10).map { IsolationKey(identity: "u\($0)") }
        for user in users { store.receive(["a=1; Max-Age=60", "b=2; Secure"], from: url, in: user) }
        #expect(users.map { store.jar(of: $0).count } == Array(repeating: 2, count: 10))
        clock.advance(by: .seconds(61))
        #expect(store.field(for: url, in: users[0]) == "b=2")
        #expect(users.map { store.jar(of: $0).count } == Array(repeating: 1, count: 10))
    }

    @Test func `expired cookies of others stay for less than a minute, and no use in between puts that off`() throws {
        let clock = TestClock()
        let store = MemoryCookieStore(time: clock.timeSource)
        let url = try Self.url("https://a.example/")
        let (one, other) = (IsolationKey(identity: "one"), IsolationKey(identity: "other"))
        store.receive(["a=1; Max-Age=10", "b=2"], from: url, in: one)
        for (seconds, count) in [(20, 2), (39, 2), (1, 1)] {
            clock.advance(by: .seconds(seconds))
            #expect(store.field(for: url, in: other) == nil)
            #expect(store.jar(of: one).count == count)
        }
    }

    @Test func `a store forgets one user in every environment`() throws {
        let store = MemoryCookieStore()
        let url = try Self.url("https://a.example/")
        let keys = ["test", "production"].flatMap { environment in
            ["alice", "bob"].map { IsolationKey(environment: environment, identity: $0) }
        }
        for key in keys { store.receive(["a=1"], from: url, in: key) }
        store.removeAll(ofIdentity: "alice")
        #expect(keys.map { store.field(for: url, in: $0) != nil } == [false, true, false, true])
    }

    @Test func `a store has no jar for a partition that keeps nothing`() throws {
        let store = MemoryCookieStore()
        let url = try Self.url("http://a.example/")
        for user in 0..<10 { store.receive(["a=1; Secure"], from: url, in: IsolationKey(identity: "u\(user)")) }
        #expect(Mirror(reflecting: store).children.isEmpty)
        store.receive(["a=1"], from: url, in: IsolationKey(identity: "u"))
        #expect(Mirror(reflecting: store).children.count == 1)
        store.receive(["a=; Max-Age=0"], from: url, in: IsolationKey(identity: "u"))
        #expect(Mirror(reflecting: store).children.isEmpty)
    }

    @Test func `ports and schemes are as the documentation says`() throws {
        let jar = try Self.jar([("https://a.example:8443/", "a=1"), ("https://a.example/", "b=2; Secure")])
        var copy = jar
        #expect(copy.field(for: try Self.url("http://a.example:81/"), at: Self.now) == "a=1")
        #expect(copy.field(for: try Self.url("https://a.example:82/"), at: Self.now) == "a=1; b=2")
    }
}
