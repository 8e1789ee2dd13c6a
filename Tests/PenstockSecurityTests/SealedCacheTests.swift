import Foundation
import PenstockCore
import PenstockSQLite
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// Where the plain content of sealed replies is kept: in memory, and nowhere that others may read it.
@Suite(.timeLimit(.minutes(5))) struct SealedCacheTests {
    private static let canary = "canary-4711"

    private struct Account: Endpoint {
        struct Output: Codable, Sendable { let name: String }
        var number = 1
        var method = HTTPMethod.get
        var route: Route { Route(method, "/account/\(number)") }
        var options: CallOptions { .cache(.http) }
    }

    /// Answers sealed where it was asked for nothing in plain, and counts what it is asked.
    private static func client(_ store: some CacheStore, _ stub: StubTransport) throws -> APIClient {
        let key = try SealingKey.direct(Data(count: 32), id: "k")
        let service = Service(.main, "https://bank.example", sealer: JWESealer(key))
        var configuration = APIClient.Configuration(services: [service])
        configuration.cache = .store(store)
        return APIClient(configuration, transport: stub)
    }

    private static func stub(isSealed: Bool = true) throws -> StubTransport {
        let content = #"{"name":"\#(canary)"}"#
        let fields: HTTPFields = ["Cache-Control": "max-age=600", "ETag": "\"1\""]
        let key = try SealingKey.direct(Data(count: 32), id: "k")
        let sealed = try SealingTests.sealed(content, with: key, fields: fields)
        var plain = HTTPResponse.json(content)
        for field in fields { plain.fields.append(field.value, for: field.name) }
        return StubTransport { [plain] _ in isSealed ? sealed : plain }
    }

    /// A folder for a store on disk, looked through for the canary.
    private struct Disk {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealed-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        func store() -> SQLiteCacheStore {
            SQLiteCacheStore(SQLiteCacheConfiguration(file: folder.appendingPathComponent("http.sqlite")))
        }

        func holdsCanary() throws -> Bool {
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            #expect(!files.isEmpty)
            return try files.contains { try Data(contentsOf: $0).range(of: Data(SealedCacheTests.canary.utf8)) != nil }
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }
    }

    @Test func `a sealed reply is kept in memory`() async throws {
        let stub = try Self.stub()
        let client = try Self.client(MemoryCacheStore(), stub)
        for _ in 0..<2 { #expect(try await client.send(Account()).name == Self.canary) }
        #expect(stub.requests.count == 1)
    }

    @Test func `what is sealed on its way stands in no request of a stored answer`() async throws {
        let stub = try Self.stub()
        let client = try Self.client(MemoryCacheStore(), stub)
        let asked = ["amount": "plain-4711"] as ParameterObject
        for source in [ResponseSource.network, .memory] {
            let response = try await client.response(
                for: AdHocEndpoint(.get("/account"), parameters: asked, decoding: .payload),
                options: .cache(.http))
            #expect(response.source == source)
            #expect(!response.request.url.absoluteString.contains("plain-4711"))
        }
    }

    @Test func `a store on disk is not given a sealed reply, while it is given a plain one`() async throws {
        let disk = try Disk()
        defer { disk.remove() }
        let store = disk.store()
        let stub = try Self.stub()
        let client = try Self.client(store, stub)
        for _ in 0..<2 { #expect(try await client.send(Account()).name == Self.canary) }
        #expect(stub.requests.count == 2)
        await store.flush()
        #expect(await store.statistics().entries == 0)
        #expect(try !disk.holdsCanary())
        let plain = try Self.stub(isSealed: false)
        let other = try Self.client(store, plain)
        for _ in 0..<2 { _ = try await other.send(Account(), options: .plain) }
        #expect(plain.requests.count == 1)
        await store.flush()
        #expect(try disk.holdsCanary())
        await store.close()
    }

    @Test func `a memory over a store on disk keeps a sealed reply to itself`() async throws {
        let disk = try Disk()
        defer { disk.remove() }
        let store = TieredCacheStore(over: disk.store())
        let stub = try Self.stub()
        let client = try Self.client(store, stub)
        for number in 1...3 {
            for _ in 0..<2 { #expect(try await client.send(Account(number: number)).name == Self.canary) }
            await store.flush()
            // Still at hand after it was time to write it.
            #expect(try await client.send(Account(number: number)).name == Self.canary)
        }
        #expect(stub.requests.count == 3)
        #expect(await store.below.statistics().entries == 0)
        await store.close()
        #expect(try !disk.holdsCanary())
        let again = TieredCacheStore(over: disk.store())
        _ = try await Self.client(again, stub).send(Account())
        #expect(stub.requests.count == 4)
        await again.close()
    }

    @Test func `a reply that is too large for the memory is not handed to the disk below it`() async throws {
        let disk = try Disk()
        defer { disk.remove() }
        var limits = CacheLimits.memory
        limits.bodyBytes = 4
        let store = TieredCacheStore(over: disk.store(), limits: limits)
        let stub = try Self.stub()
        let client = try Self.client(store, stub)
        for _ in 0..<2 { _ = try await client.send(Account()) }
        #expect(stub.requests.count == 2)
        await store.flush()
        await store.close()
        #expect(try !disk.holdsCanary())
    }

    @Test func `a store that says it holds sealed replies gets them`() async throws {
        let store = TieredCacheStore(over: MemoryCacheStore())
        let stub = try Self.stub()
        _ = try await Self.client(store, stub).send(Account())
        await store.flush()
        #expect(await store.below.statistics().entries == 1)
        let other = TieredCacheStore(over: store.below)
        #expect(try await Self.client(other, stub).send(Account()).name == Self.canary)
        #expect(stub.requests.count == 1)
    }

    @Test func `what came in plain is no answer to a call that is to be sealed, nor the reverse`() async throws {
        let store = MemoryCacheStore()
        let (plain, sealed) = (try Self.stub(isSealed: false), try Self.stub())
        _ = try await Self.client(store, plain).send(Account(), options: .plain)
        _ = try await Self.client(store, sealed).send(Account())
        #expect(plain.requests.count == 1 && sealed.requests.count == 1)
        #expect(await store.statistics().entries == 2)
        _ = try await Self.client(store, plain).send(Account(), options: .plain)
        _ = try await Self.client(store, sealed).send(Account(), options: .sealed)
        #expect(plain.requests.count == 1 && sealed.requests.count == 1)
    }

    @Test func `a write makes both out of date, and both are cleared together`() async throws {
        let store = MemoryCacheStore()
        let (plain, sealed) = (try Self.stub(isSealed: false), try Self.stub())
        let (plainClient, sealedClient) = (try Self.client(store, plain), try Self.client(store, sealed))
        func readBoth() async throws -> [Int] {
            _ = try await plainClient.send(Account(), options: .plain)
            _ = try await sealedClient.send(Account())
            return [plain.requests.count, sealed.requests.count]
        }
        #expect(try await readBoth() == [1, 1])
        #expect(try await readBoth() == [1, 1])
        _ = try await sealedClient.send(Account(method: .delete))
        #expect(try await readBoth() == [2, 3])
        #expect(try await readBoth() == [2, 3])
        _ = try await sealedClient.clearCache(of: Account())
        #expect(await store.statistics().entries == 0)
    }

    @Test func `a partition for sealed replies has the owner of the one that it is made of`() {
        for way in ["", "ab12"] {
            let plain = CachePartition(environment: "e", identity: "i", way: way)
            var sealed = plain
            sealed.isSealed = true
            #expect(sealed.isSealed && !plain.isSealed && sealed != plain && sealed.hasSameOwner(as: plain))
            sealed.isSealed = true
            #expect(sealed.way == "sealed " + way)
            sealed.isSealed = false
            #expect(sealed == plain)
        }
    }
}
