import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What calls share only with calls of the same key.
@Suite(.timeLimit(.minutes(5))) struct IsolationKeyTests {
    private static let plain = IsolationKey(environment: "test", identity: "alice")
    private static let ways: [IsolationKey] = [
        plain, IsolationKey(environment: "test", identity: "bob"), IsolationKey(identity: "alice"),
        IsolationKey(
            environment: "test", identity: "alice", trust: .authorities(URL(fileURLWithPath: "/a.pem"))),
        IsolationKey(
            environment: "test", identity: "alice", trust: .authorities(URL(fileURLWithPath: "/b.pem"))),
        IsolationKey(environment: "test", identity: "alice", proxy: .socks5("proxy.example")),
        IsolationKey(
            environment: "test", identity: "alice",
            proxy: .socks5("proxy.example", credentials: .init(user: "me", password: "1"))),
    ]

    @Test func `keys differ by user, environment, trust and proxy, and their partitions with them`() {
        #expect(Set(Self.ways).count == Self.ways.count)
        for (index, key) in Self.ways.enumerated() { #expect(Self.ways[..<index].allSatisfy { $0 != key }) }
        #expect(Set(Self.ways.map(\.partition)).count == Self.ways.count)
        for key in Self.ways {
            #expect(
                key
                    == IsolationKey(
                        environment: key.environment, identity: key.identity, trust: key.trust, proxy: key.proxy))
        }
    }

    @Test func `names are told apart byte by byte, also where Unicode calls them equivalent`() throws {
        let names = ["ren\u{e9}", "rene\u{301}"]
        #expect(names[0] == names[1])
        #expect(Set(names.map { IsolationKey(identity: $0) }).count == 2)
        #expect(Set(names.map { IsolationKey(environment: $0) }).count == 2)
        #expect(Set(names.map { CachePartition(identity: $0) }).count == 2)
        #expect(!CachePartition(identity: names[0]).hasSameOwner(as: CachePartition(identity: names[1])))
        let url = try HTTPURL("https://a.example/x")
        #expect(Set(names.map { CacheKey(url: url, partition: CachePartition(identity: $0)) }).count == 2)
        #expect(Set(names.map { CredentialKey(service: "s", environment: "e", origin: "o", account: $0) }).count == 2)
        #expect(Set(names.map { ProxyCredentials(user: $0, password: "") }).count == 2)
        #expect(Set(names.map { CacheVariant.Selector(name: "x", value: $0) }).count == 2)
    }

    @Test func `a change of one part leaves the others`() {
        var key = Self.plain
        key.proxy = .socks5("proxy.example")
        key.trust = .authorities(URL(fileURLWithPath: "/a.pem"))
        key.identity = "bob"
        key.environment = "production"
        #expect(
            key
                == IsolationKey(
                    environment: "production", identity: "bob", trust: .authorities(URL(fileURLWithPath: "/a.pem")),
                    proxy: .socks5("proxy.example")))
        #expect(Self.plain.identity == "alice")
    }

    @Test func `what is usual leaves no mark on a partition, and a password never does`() {
        #expect(Self.plain.partition == CachePartition(environment: "test", identity: "alice"))
        let passwords = ["1", "2"].map { password in
            IsolationKey(proxy: .socks5("proxy.example", credentials: .init(user: "carol", password: password)))
        }
        #expect(passwords[0] != passwords[1])
        #expect(passwords[0].partition == passwords[1].partition)
        #expect(!"\(passwords[0]) \(String(reflecting: passwords[0]))".contains("carol"))
    }

    @Test func `sealed replies have a partition of their own, of the same owner`() {
        var partition = IsolationKey(environment: "test", identity: "alice", proxy: .socks5("proxy.example")).partition
        let plain = partition
        #expect(!partition.isSealed && !plain.way.isEmpty)
        for _ in 0..<2 {
            partition.isSealed = true
            #expect(partition.isSealed && partition.way == "sealed " + plain.way)
        }
        #expect(partition != plain && partition.hasSameOwner(as: plain))
        for _ in 0..<2 {
            partition.isSealed = false
            #expect(partition == plain)
        }
    }

    @Test func `the same user in the same environment owns it, by whatever way`() {
        let one = CachePartition(environment: "test", identity: "alice", way: "a")
        #expect(one.hasSameOwner(as: CachePartition(environment: "test", identity: "alice", way: "b")))
        #expect(!one.hasSameOwner(as: CachePartition(environment: "test", identity: "bob", way: "a")))
        #expect(!one.hasSameOwner(as: CachePartition(environment: "", identity: "alice", way: "a")))
    }

    @Test(.covers("H28")) func `nothing stored by one way is found by another, and signing out forgets all of them`()
        async throws
    {
        let rig = CacheRig()
        let proxied = CallOptions.with { $0.proxy = .socks5("proxy.example") }
        _ = try await rig.client.send(Tea())
        _ = try await rig.client.send(Tea(), options: proxied)
        _ = try await rig.client.send(Tea())
        _ = try await rig.client.send(Tea(), options: proxied)
        #expect(rig.hits == 2)
        #expect(await rig.store.statistics().entries == 2)
        await rig.client.signOut("alice")
        #expect(await rig.store.statistics().entries == 0)
    }

    @Test func `a write by one way makes what came by another out of date`() async throws {
        let rig = CacheRig()
        _ = try await rig.client.send(Tea(), options: .with { $0.proxy = .socks5("proxy.example") })
        _ = try await rig.client.send(Pour())
        _ = try await rig.client.send(Tea(), options: .with { $0.proxy = .socks5("proxy.example") })
        #expect(rig.hits == 3)
    }

    @Test func `calls by two ways share no exchange`() async throws {
        let script = ScriptedTransport([.held(.respond(.tea(1))), .held(.respond(.tea(2)))])
        let client = CallSupport.client(script) { $0.options.cache = .http }
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://api.example.com/tea"))
        async let direct = client.send(request)
        await script.waitForExchanges(count: 1)
        let password = ProxyCredentials(user: "me", password: "1")
        async let proxied = client.send(
            request, options: .with { $0.proxy = .socks5("proxy.example", credentials: password) })
        await script.waitForExchanges(count: 2)
        script.release()
        script.release()
        #expect(try await [direct.data, proxied.data] == [HTTPResponse.tea(1).body, HTTPResponse.tea(2).body])
    }

    @Test func `cookies of one way are not sent by another`() async throws {
        let rig = Rig {
            $0.cookies = MemoryCookieStore()
        } answering: { _ in
            var response = HTTPResponse.product
            response.fields[.setCookie] = "a=1"
            return response
        }
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(GetProduct(), options: .with { $0.proxy = .socks5("proxy.example") })
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.cookie] } == [nil, nil, "a=1"])
    }
}
