import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(2)))
final class FileCookieStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
    private let clock = TestClock()
    private var file: URL { folder.appendingPathComponent("cookies") }
    private let home = IsolationKey(environment: "production", identity: "alice")

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func open(suffixes: (any PublicSuffixes)? = nil) async throws -> FileCookieStore {
        try await FileCookieStore.open(file, suffixes: suffixes, time: clock.timeSource)
    }

    /// Receives lines in a store of its own, which is gone when this returns.
    private func keep(_ lines: [String], from url: String = "https://x.a.example/", in key: IsolationKey? = nil)
        async throws
    {
        let store = try await open(suffixes: DomainCookieTests.suffixes)
        store.receive(lines, from: try HTTPURL(url), in: key ?? home)
        try await store.flush()
    }

    private func failure(_ body: () async throws -> some Sendable) async -> CookieFileError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? CookieFileError
        }
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test func `a cookie with an expiry is there when the file is opened again, as it was`() async throws {
        try await keep([
            "a=1; Domain=a.example; Path=/x; Secure; HttpOnly; SameSite=Strict; Max-Age=60", "=b=2; Max-Age=90",
            "\"c\"=é, \"q\"; Max-Age=99999999999", "session=3",
        ])
        let store = try await open(suffixes: DomainCookieTests.suffixes)
        let cookies = store.jar(of: home).cookies
        #expect(cookies.map(\.name) == ["a", "", "\"c\""])
        #expect(cookies.map(\.value) == ["1", "b=2", "é, \"q\""])
        let first = try #require(cookies.first)
        #expect(first.host == "x.a.example" && first.domain == "a.example" && !first.isHostOnly && first.path == "/x")
        #expect(first.isSecure && first.isHTTPOnly && first.sameSite == .strict)
        let second = cookies[1]
        #expect(!second.isSecure && !second.isHTTPOnly && second.sameSite == .unspecified && second.domain == nil)
        let now = clock.timeSource.date()
        #expect(cookies.map(\.expiry) == [now + 60, now + 90, now + 400 * 86_400])
        #expect(store.field(for: try HTTPURL("https://y.a.example/x"), in: home) == "a=1")
    }

    @Test func `order is kept, and what has expired meanwhile is gone`() async throws {
        try await keep([
            "b=1; Max-Age=60; Path=/", "a=2; Max-Age=61; Path=/", "c=3; Max-Age=62; Domain=a.example; Path=/",
        ])
        clock.advance(by: .seconds(60))
        let store = try await open(suffixes: DomainCookieTests.suffixes)
        #expect(store.field(for: try HTTPURL("https://x.a.example/"), in: home) == "a=2; c=3")
        clock.advance(by: .seconds(1))
        #expect(store.field(for: try HTTPURL("https://x.a.example/"), in: home) == "c=3")
    }

    @Test func `each identity and environment has its own, also on disk, and a sign-out takes one away for good`()
        async throws
    {
        let keys = ["test", "production"].flatMap { environment in
            ["", "alice", "bob"].map { IsolationKey(environment: environment, identity: $0) }
        }
        for key in keys { try await keep(["who=\(key.environment)/\(key.identity); Max-Age=60"], in: key) }
        let url = try HTTPURL("https://x.a.example/")
        do {
            let store = try await open()
            #expect(keys.map { store.field(for: url, in: $0) } == keys.map { "who=\($0.environment)/\($0.identity)" })
            store.removeAll(ofIdentity: "alice")
            store.removeAll(in: keys[5])
            try await store.flush()
        }
        do {
            let store = try await open()
            #expect(keys.map { store.field(for: url, in: $0) != nil } == [true, false, true, true, false, false])
            store.removeAll(in: nil)
            try await store.flush()
        }
        let store = try await open()
        #expect(keys.allSatisfy { store.field(for: url, in: $0) == nil })
        #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("who"))
    }

    @Test func `nobody but the owner may read the file or enter its folder`() async throws {
        try await keep(["a=1; Max-Age=60"])
        #expect(try mode(file) == 0o600)
        #expect(try mode(folder) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        try Data("left".utf8).write(to: file.appendingPathExtension("new"))
        try await keep(["a=2; Max-Age=60"])
        #expect(try mode(file) == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["cookies", "cookies.lock"])
    }

    @Test func `what outlives nothing is not written`() async throws {
        let store = try await open()
        store.receive(["session=1", "b=2; Path=/x"], from: try HTTPURL("https://a.example/"), in: home)
        try await store.flush()
        #expect(!FileManager.default.fileExists(atPath: file.path))
        store.receive(["kept=1; Max-Age=60"], from: try HTTPURL("https://a.example/"), in: home)
        try await store.flush()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text.contains("kept=1") && !text.contains("session"))
        #expect(text.hasPrefix("penstock cookies 1\n"))
    }

    @Test func `a cookie whose path no attribute can hold ends with the app, and widens to no other`() async throws {
        let deep = "/" + String(repeating: "d", count: 1_024)
        try await keep(["a=1; Max-Age=60"], from: "https://x.a.example/p;q/r")
        try await keep(["b=1; Max-Age=60"], from: "https://x.a.example\(deep)/r")
        try await keep(["c=1; Max-Age=60"], from: "https://x.a.example\(deep.dropLast())/r")
        #expect(try await open().jar(of: home).cookies.map(\.name) == ["c"])
    }

    @Test func `one store at a time has a file`() async throws {
        let first = try await open()
        #expect(await failure { try await self.open() } == .inUse)
        withExtendedLifetime(first) {}
    }

    @Test(arguments: [
        "garbage", "\n", "penstock cookies\n", "penstock cookies x\n", "penstock cookies 0\n", "\u{0}\u{0}",
    ])
    func `a file of something else is left as it is`(text: String) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try setMode(0o664)
        #expect(await failure { try await self.open() } == .foreignFile)
        #expect(try Data(contentsOf: file) == Data(text.utf8))
        #expect(try mode() == 0o664)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies"])
    }

    @Test
    func
        `a file of cookies that others can read is narrowed, whatever its version, and an empty one when it is written`()
        async throws
    {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (text, narrowed) in [("penstock cookies 1\n", 0o600), ("penstock cookies 2\n", 0o600), ("", 0o664)] {
            try Data(text.utf8).write(to: file)
            try setMode(0o664)
            _ = await failure { try await self.open() }
            #expect(try mode() == narrowed, "\(text)")
        }
        try await keep(["a=1; Max-Age=60"])
        #expect(try mode() == 0o600)
    }

    private func mode() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    private func setMode(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    @Test func `a file of a later version is left as it is`() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("penstock cookies 2\n".utf8).write(to: file)
        #expect(await failure { try await self.open() } == .newerVersion)
        #expect(try Data(contentsOf: file) == Data("penstock cookies 2\n".utf8))
    }

    @Test func `a file that is a folder, and a folder that is a file, are told of`() async throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        guard case .unusableFile = await failure({ try await self.open() }) else {
            Issue.record("a folder was opened")
            return
        }
        let inside = folder.appendingPathComponent("cookies.lock").appendingPathComponent("file")
        guard case .unusableFile = await failure({ try await FileCookieStore.open(inside) }) else {
            Issue.record("a file was taken for a folder")
            return
        }
    }

    @Test(.covers("S4.13")) func `a sign-out is on disk when it returns, and says so where it is not`() async throws {
        let store = try await open()
        let client = CallSupport.client(CallSupport.answering()) { configuration in
            (configuration.cookies, configuration.vault) = (store, MemoryVault())
            configuration.identity = { "alice" }
        }
        let key = IsolationKey(environment: "production", identity: "alice")
        store.receive(["sid=secret; Max-Age=600"], from: try HTTPURL("https://x.a.example/"), in: key)
        try await store.flush()
        func isKept() -> Bool {
            (try? String(decoding: Data(contentsOf: file), as: UTF8.self))?.contains("secret") ?? false
        }
        #expect(isKept())
        // No new file can be put in its place.
        let new = file.appendingPathExtension("new")
        try FileManager.default.createDirectory(
            at: new.appendingPathComponent("x"), withIntermediateDirectories: true)
        #expect(await !client.signOut("alice"))
        #expect(isKept())
        try FileManager.default.removeItem(at: new)
        #expect(await client.signOut("alice"))
        #expect(!isKept())
    }

    @Test func `a failed writing is told of, and made good by the next`() async throws {
        let store = try await open()
        let new = file.appendingPathExtension("new")
        try FileManager.default.createDirectory(at: new.appendingPathComponent("x"), withIntermediateDirectories: true)
        store.receive(["a=1; Max-Age=60"], from: try HTTPURL("https://a.example/"), in: home)
        guard case .unusableFile = await failure({ try await store.flush() }) else {
            Issue.record("the writing did not fail")
            return
        }
        try FileManager.default.removeItem(at: new)
        store.receive(["b=1; Max-Age=60"], from: try HTTPURL("https://a.example/"), in: home)
        try await store.flush()
        #expect(String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").count == 3)
    }

    // MARK: Hostile bytes

    /// What a file claims of a cookie, and whether there is one.
    static let claims: [(host: String, setCookie: String, expiry: String, isKept: Bool)] = [
        ("a.example", "a=1; Path=/", "1000000060", true),
        ("a.example", "a=1; Path=/", "1000000001", true), ("a.example", "a=1; Path=/", "1000000000", false),
        ("a.example", "a=1; Path=/", "1e300", true), ("a.example", "a=1; Path=/", "-1e300", false),
        ("a.example", "a=1; Path=/", "1e999", false), ("a.example", "a=1; Path=/", "null", false),
        ("a.example", "a=1; Domain=example", "2e9", false), ("a.example", "a=1; Domain=b.example", "2e9", false),
        ("a.example", "__Host-a=1", "2e9", false), ("a.example", "a=1\\u0000", "2e9", false),
        ("a.example", "a=1\\r\\nb: c", "2e9", false), ("A.example", "a=1", "2e9", false), ("", "a=1", "2e9", false),
        ("a.example/x", "a=1", "2e9", false), ("u@a.example", "a=1", "2e9", false),
        ("a.example:80", "a=1", "2e9", false),
        ("::1", "a=1; Path=/", "2e9", true), ("a.example", "=", "2e9", false),
    ]

    @Test(arguments: claims) func `what a file claims is judged as what a server sends`(
        host: String, setCookie: String, expiry: String, isKept: Bool
    ) throws {
        let record = #"""
            {"environment":"","identity":"","way":"","host":"\#(host)","setCookie":"\#(setCookie)","expiry":\#(expiry)}
            """#
        var jars = CookieJars<CachePartition>(limits: .init(), suffixes: DomainCookieTests.suffixes)
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        try CookieFileFormat.read(Data("penstock cookies 1\n\(record)\n".utf8), into: &jars, at: now)
        #expect(jars.jar(of: CachePartition()).count == (isKept ? 1 : 0))
        #expect(
            jars.jar(of: CachePartition()).cookies.allSatisfy { ($0.expiry ?? .distantFuture) <= now + 400 * 86_400 })
    }

    @Test func `a damaged line costs one cookie, wherever the damage is`() throws {
        var jars = CookieJars<CachePartition>(limits: .init(), suffixes: nil)
        let (url, now) = (try HTTPURL("https://a.example/"), Date(timeIntervalSince1970: 1_000_000_000))
        for number in 0..<20 {
            _ = jars.receive(["c\(number)=v; Max-Age=600"], from: url, of: CachePartition(identity: "u"), at: now)
        }
        let whole = try CookieFileFormat.write(jars.jars)
        var random = Seeded(seed: 7)
        let header = Data("penstock cookies 1\n".utf8).count
        for _ in 0..<300 {
            var bytes = [UInt8](whole)
            let place = Int.random(in: header..<bytes.count, using: &random)
            bytes[place] = UInt8.random(in: 0...255, using: &random)
            var read = CookieJars<CachePartition>(limits: .init(), suffixes: nil)
            try CookieFileFormat.read(Data(bytes), into: &read, at: now)
            #expect(read.jars.values.reduce(0) { $0 + $1.count } >= 18)
        }
        for length in stride(from: header, to: whole.count, by: 61) {
            var read = CookieJars<CachePartition>(limits: .init(), suffixes: nil)
            try CookieFileFormat.read(whole.prefix(length), into: &read, at: now)
            let lines = whole.prefix(length).filter { $0 == UInt8(ascii: "\n") }.count - 1
            #expect(lines...(lines + 1) ~= read.jar(of: CachePartition(identity: "u")).count)
        }
    }

    @Test func `a line of more than 64 KiB is no cookie`() throws {
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        for (bytes, isRead) in [(65_535, true), (65_536, true), (65_537, false)] {
            let (start, end) = (
                #"{"environment":""#, #"","identity":"","way":"","host":"a.example","setCookie":"a=1","expiry":2e9}"#
            )
            let line = start + String(repeating: "e", count: bytes - start.utf8.count - end.utf8.count) + end
            var jars = CookieJars<CachePartition>(limits: .init(), suffixes: nil)
            try CookieFileFormat.read(Data("penstock cookies 1\n\(line)\n".utf8), into: &jars, at: now)
            #expect(jars.jars.count == (isRead ? 1 : 0))
        }
    }

    @Test func `deep nesting, long lines and ten thousand cookies of a file are refused or capped`() throws {
        let deep = String(repeating: "[", count: 60_000)
        let long =
            #"{"environment":"","identity":"\#(String(repeating: "i", count: 70_000))","way":"","host":"a.example","#
            + #""setCookie":"a=1","expiry":2e9}"#
        let many = (0..<10_000).map {
            #"{"environment":"","identity":"","way":"","host":"h\#($0 / 100).example","setCookie":"c\#($0)=1","expiry":2e9}"#
        }
        let text = (["penstock cookies 1", deep, long] + many).joined(separator: "\n")
        var jars = CookieJars<CachePartition>(limits: .init(), suffixes: nil)
        try CookieFileFormat.read(Data(text.utf8), into: &jars, at: Date(timeIntervalSince1970: 1_000_000_000))
        #expect(jars.jars.count == 1)
        #expect((2_800...3_000).contains(jars.jar(of: CachePartition()).count))
    }

    @Test func `nothing that prints holds a value`() async throws {
        let store = try await open()
        store.receive(["sid=hunter2; Max-Age=60"], from: try HTTPURL("https://a.example/"), in: home)
        var dumped = ""
        dump(store, to: &dumped)
        #expect(!dumped.contains("hunter2") && !String(reflecting: store).contains("hunter2"))
        #expect(dumped.contains("1 cookies of 1 hosts"))
    }
}
