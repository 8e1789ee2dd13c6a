import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import Penstock

/// Clients made as an app makes them: without a transport.
@Suite(.timeLimit(.minutes(5))) struct DefaultClientTests {
    private struct Page: Endpoint {
        typealias Output = String
        var route: Route { .get("/page") }
    }

    private static func client(
        of server: LoopbackServer, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        let urls = [ServerEnvironment.development, .test].map { ($0, server.url.absoluteString) }
        let service = Service(.main, BaseURLs(Dictionary(uniqueKeysWithValues: urls)))
        var configuration = APIClient.Configuration(services: [service], build: .debug)
        configuration.options.cleartext = .loopback
        configuration.options.cache = .http
        change(&configuration)
        return APIClient(configuration)
    }

    /// A server whose page says how often it was asked, and may be kept.
    private static func server() throws -> LoopbackServer {
        let count = Locked(0)
        return try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .text("\(number)", fields: ["Cache-Control": "max-age=600"])
        }
    }

    @Test("Two of them live side by side: own connections, own calls, own environment, own end", .covers("S1.15"))
    func clientsAreIndependent() async throws {
        let server = try LoopbackServer { $0.path == "/page" ? .hold : .text("ok") }
        defer { server.stop() }
        var first: APIClient? = Self.client(of: server) { $0.cache = .none }
        let second = Self.client(of: server) { $0.cache = .none }
        weak let gone = first
        #expect(first.map { $0.transport as AnyObject } !== second.transport as AnyObject)
        let calls = [first, second].map { $0?.start(Page()) }
        try await server.waitForRequests(count: 2)
        try first?.switchEnvironment(to: .test)
        first?.cancelAll()
        #expect(await calls[0]?.result.isSuccess == false)
        #expect([first?.callCount, second.callCount] == [0, 1])
        #expect([first?.environment, second.environment] == [.test, .development])
        await first?.transport.shutdown()
        first = nil
        // What its call held of it goes when the call's task has returned.
        for _ in 0..<1_000 where gone != nil { await Task.yield() }
        #expect(gone == nil)
        #expect(second.callCount == 1)
        second.cancelAll()
        _ = await calls[1]?.result
        await second.transport.shutdown()
    }

    @Test("What they share is the store that PlatformCache names, unless they are given another", .covers("S1.15"))
    func theStoreIsNamed() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let own = MemoryCacheStore()
        let clients = [
            Self.client(of: server), Self.client(of: server), Self.client(of: server) { $0.cache = .store(own) },
            Self.client(of: server) { $0.cache = .store(PlatformCache.shared) },
            Self.client(of: server) { $0.identity = { "somebody" } },
        ]
        var pages: [String] = []
        for client in clients { pages.append(try await client.send(Page())) }
        #expect(pages == ["1", "1", "2", "1", "3"])
        for client in clients { await client.transport.shutdown() }
    }

    @Test("Their credentials are shared by the vault that both are given, and by no other", .covers("S1.15"))
    func theVaultIsNamed() async throws {
        let vault = MemoryVault()
        func client(_ vault: (any CredentialVault)?) -> APIClient {
            let service = Service(.main, "https://api.example.com", authenticator: BearerAuthenticator())
            var configuration = APIClient.Configuration(services: [service], build: .debug)
            configuration.vault = vault
            return APIClient(configuration)
        }
        let (first, second, lonely) = (client(vault), client(vault), client(nil))
        try await first.signIn(Credential("token"))
        #expect(try await second.credential()?.token == "token")
        #expect(try await lonely.credential() == nil)
        // Outside tests the one of `lonely` is that which PlatformVault names.
        #expect(PlatformVault.standard == nil)
        for client in [first, second, lonely] { await client.transport.shutdown() }
    }

    @Test("In a process that runs tests the standard store is in memory, and the user's folder stays as it was")
    func testsLeaveNothing() async throws {
        #expect(PlatformCache.shared is MemoryCacheStore)
        let before = Self.programsWithCaches()
        let server = try Self.server()
        defer { server.stop() }
        let client = Self.client(of: server)
        _ = try await client.send(Page())
        await client.transport.shutdown()
        let name = ProcessInfo.processInfo.processName
        #expect(Self.programsWithCaches().subtracting(before).filter { $0.hasPrefix(name) } == [])
    }

    /// Another version of these tests may have left a folder of its own there.
    private static func programsWithCaches() -> Set<String> {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)
        let folders = caches.map { $0.appendingPathComponent("penstock").path }
        return Set(folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] })
    }

    @Test(
        "Programs that run tests are known by name or environment, others are not",
        arguments: [
            ("ShopPackageTests.xctest", [:], true), ("xctest", [:], true), ("swiftpm-testing-helper", [:], true),
            ("Shop", ["XCTestConfigurationFilePath": "/tmp/x"], true), ("Shop", [:], false),
            ("xctester", ["PATH": "/xctest"], false),
        ] as [(String, [String: String], Bool)])
    func testRunsAreKnown(program: String, environment: [String: String], isKnown: Bool) {
        #expect(PlatformCache.runsTests(program, environment) == isKnown)
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
