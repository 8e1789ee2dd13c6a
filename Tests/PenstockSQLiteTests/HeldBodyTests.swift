import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// Bodies that are read piece by piece while something happens to their responses.
@Suite(.timeLimit(.minutes(5)))
struct HeldBodyTests {
    private static let length = 300_000

    /// Reads a body from where it was read to.
    private static func rest(_ reader: any CacheBodyReader, behind read: Data) async -> Data {
        var body = read
        while let more = await reader.bytes(from: body.count) { body.append(more) }
        return body
    }

    /// How many bodies have no response, and how many pieces of bodies there are.
    private static func left(_ rig: Rig) async throws -> [Int64] {
        try #require(
            await rig.store.change { database throws(SQLiteError) in
                [
                    try database.connection.number("SELECT count(*) FROM unfinished") ?? -1,
                    try database.connection.number("SELECT count(*) FROM chunk") ?? -1,
                ]
            })
    }

    static let changes: [@Sendable (Rig, StoredResponse) async throws -> Void] = [
        { rig, _ in try await rig.put("/a", seed: 2, count: Self.length) },
        { rig, stored in await rig.store.remove([.entry(stored.entry)]) },
        { rig, stored in await rig.store.remove([.key(stored.response.key), .tag("t")]) },
        { rig, _ in await rig.store.remove([.url(try HTTPURL("https://example.com/a"))]) },
        { rig, _ in _ = await rig.store.change { database throws(SQLiteError) in try database.evict(for: 1) } },
    ]

    @Test("A body is read to its end, whatever takes its place or removes it, and is gone after that", arguments: 0..<5)
    func kept(change: Int) async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1, count: Self.length))
        var readers = [
            try #require(await rig.store.reader(of: stored.entry)),
            try #require(await rig.store.reader(of: stored.entry)),
        ]
        let first = try #require(await readers[0].bytes(from: 0))
        #expect(first.count < Self.length)
        try await Self.changes[change](rig, stored)
        #expect(try await rig.seeds("/a") == (change == 0 ? [2] : []))
        #expect(await rig.store.bytes(of: stored.entry, from: 0) == nil)
        #expect(await rig.store.reader(of: stored.entry) == nil)
        for round in 0..<2 {
            // What is looked for as left behind is not what is being read.
            rig.clock.advance(by: .seconds(500))
            try await rig.put("/b", seed: 3)
            #expect(await Self.rest(readers[0], behind: first) == sampleBytes(seed: 1, count: Self.length), "\(round)")
            readers.removeFirst()
            #expect(try await Self.left(rig)[0] == (round == 0 ? 1 : 0))
        }
        #expect(try await Self.left(rig) == [0, change == 0 ? 5 : 0])
        let bytes = await rig.store.statistics().bytes
        #expect(bytes < (change == 0 ? Self.length : 0) + 3_000)
        await rig.store.close()
    }

    @Test("A body that is read and not removed stays when it has been read")
    func stays() async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1, count: Self.length))
        do {
            let reader = try #require(await rig.store.reader(of: stored.entry))
            #expect(await Self.rest(reader, behind: Data()).count == Self.length)
            #expect(await reader.bytes(from: Self.length) == nil)
            #expect(await reader.bytes(from: -1) == nil)
        }
        #expect(try await Self.left(rig) == [0, 5])
        #expect(try await rig.seeds("/a") == [1])
        await rig.store.close()
    }

    @Test("A short body is in memory from the beginning")
    func short() async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1))
        let reader = try #require(await rig.store.reader(of: stored.entry))
        await rig.store.remove([.all])
        #expect(await Self.rest(reader, behind: Data()) == sampleBytes(seed: 1, count: 1_000))
        await rig.store.close()
    }

    @Test(
        "What is erased is not read on, and no byte of it is left", .covers("H28"), arguments: [true, false],
        [CacheSelection.identity("anna"), .partition(CachePartition(identity: "anna")), .environment(""), .all])
    func erased(isReplaced: Bool, selection: CacheSelection) async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1, count: Self.length, identity: "anna"))
        let other = try #require(try await rig.put("/a", seed: 2, count: Self.length, identity: "bert"))
        let reader = try #require(await rig.store.reader(of: stored.entry))
        let bystander = try #require(await rig.store.reader(of: other.entry))
        let first = try #require(await reader.bytes(from: 0))
        if isReplaced { try await rig.put("/a", seed: 3, identity: "anna") }
        try await rig.put("/a", seed: 4, identity: "bert")
        #expect(await rig.store.remove([selection]))
        #expect(await reader.bytes(from: first.count) == nil)
        #expect(try rig.folder.bytes.range(of: sampleBytes(seed: 1, count: Self.length).suffix(64)) == nil)
        let isOfAll = selection == .all || selection == .environment("")
        #expect(await Self.rest(bystander, behind: Data()).count == (isOfAll ? 0 : Self.length))
        await rig.store.close()
    }

    @Test("What a process that has ended was reading is swept away when the file is opened")
    func leftBehind() async throws {
        let rig = try Rig()
        let stored = try #require(try await rig.put("/a", seed: 1, count: Self.length))
        let reader = try #require(await rig.store.reader(of: stored.entry))
        await rig.store.remove([.entry(stored.entry)])
        let process = try Process.run(URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", "exit 0"])
        process.waitUntilExit()
        let other = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 5_000)
        try other.execute("UPDATE unfinished SET writer = \(process.processIdentifier)")
        let next = try Rig(rig.folder)
        try await next.store.open()
        #expect(try await Self.left(next) == [0, 0])
        #expect(await reader.bytes(from: 0) == nil)
        await next.store.close()
        await rig.store.close()
    }

    @Test("A body that a transaction removes takes no reader until that is over")
    func holds() {
        var holds = CacheHolds()
        let (gone, back) = (holds.outlives(1), holds.begin(1))
        #expect(!gone && !back)
        holds.settle()
        let (first, second, stays) = (holds.begin(1), holds.begin(1), holds.outlives(1))
        #expect(first && second && stays && holds.bodies == [1])
        let ends = (holds.end(1), holds.end(1), holds.end(1))
        #expect(ends == (false, true, false) && holds.bodies.isEmpty)
        let (again, end) = (holds.begin(1), holds.end(1))
        #expect(again && !end)
    }

    private struct Film: Endpoint {
        typealias Output = Data
        var route: Route { .get("/film") }
    }

    /// Each answer is another film.
    private static func client(_ store: any CacheStore, _ time: TimeSource) -> APIClient {
        let count = Locked<UInt64>(0)
        let stub = StubTransport { _ in
            let seed = count.withLock { count in
                count += 1
                return count
            }
            return HTTPResponse(
                status: 200, fields: ["Cache-Control": "max-age=60"], body: sampleBytes(seed: seed, count: length))
        }
        var configuration = APIClient.Configuration(services: [Service(.main, "https://film.example")])
        configuration.cache = .store(store)
        configuration.options.cache = .http
        configuration.identity = { "anna" }
        configuration.time = time
        return APIClient(configuration, transport: stub)
    }

    @Test(
        "A stream out of the store goes on while another call reloads it, and is a miss where it is cleared",
        .covers("S3.37"), arguments: [true, false], [true, false])
    func streams(isTiered: Bool, isCleared: Bool) async throws {
        let rig = try Rig()
        let store: any CacheStore = isTiered ? Self.tiered(rig) : rig.store
        let client = Self.client(store, rig.clock.timeSource)
        _ = try await client.send(Film())
        await store.flush()
        let stream = try await client.stream(Film())
        #expect(stream.source == (isTiered ? .memory : .disk))
        var iterator = stream.makeAsyncIterator()
        var read = try #require(try await iterator.next())
        if isCleared {
            await client.clearCache(.all)
        } else {
            _ = try await client.send(Film(), options: .cache(.reload))
        }
        do throws(APIError) {
            while let more = try await iterator.next() { read.append(more) }
            #expect(!isCleared && read == sampleBytes(seed: 1, count: Self.length))
        } catch {
            #expect(isCleared && error.kind == .cacheMiss && error.stage == .cache)
        }
        await store.close()
    }

    /// A memory that is too small for a film.
    private static func tiered(_ rig: Rig) -> TieredCacheStore {
        TieredCacheStore(
            over: rig.store, limits: CacheLimits(bytes: 100_000, entries: 9, bodyBytes: 50_000),
            coherence: .seconds(3_600), time: rig.clock.timeSource)
    }

    @Test("A reader of what is in memory has it, and one of what is not yet written below finds it there")
    func tieredReaders() async throws {
        let rig = try Rig()
        let tiered = Self.tiered(rig)
        for (target, count) in [("/a", 1_000), ("/b", Self.length)] {
            let response = Sample.response(try Sample.key(target), seed: 1, at: rig.clock.timeSource)
            let body = sampleBytes(seed: 1, count: count)
            let stored = try #require(await tiered.put(response, body: body))
            let reader = try #require(await tiered.reader(of: stored.entry))
            await tiered.put(response, body: sampleBytes(seed: 2, count: count))
            await tiered.flush()
            #expect(await Self.rest(reader, behind: Data()) == body)
            #expect(await tiered.reader(of: stored.entry) == nil)
        }
        await tiered.close()
    }
}
