import BareSQLite
import Foundation
import PenstockCore
import PenstockSQLite

/// Look-ups in caches of a known size, one after the other on one thread, each of another response of 1 KiB.
enum CacheContender {
    private static let contentLength = 1_024
    /// As long as what `PenstockSQLite` keeps of such a response beside its content.
    private static let headLength = 608

    // MARK: On disk

    /// Makes the file of a cache.
    static func fill(_ contender: Contender, _ file: String, _ entries: Int) async throws {
        guard contender == .penstock else {
            guard bare_sqlite_fill(file, entries, Int32(headLength), Int32(contentLength)) == 0 else {
                throw Failure("\(file) cannot be filled")
            }
            return
        }
        let store = store(file)
        try await fill(store, entries, inFlight: 64)
        await store.close()
    }

    static func disk(_ contender: Contender, _ file: String, _ entries: Int, hits: Int) throws -> Contender.Runner {
        if contender == .penstock { return runner(store(file), entries, hits: hits) }
        guard let table = bare_sqlite_open(file, entries) else { throw Failure("\(file) cannot be read") }
        var state = Draw.seed
        return { bare_sqlite_run(table, &state, $0, Int32(headLength), Int32(contentLength)) }
    }

    private static func store(_ file: String) -> SQLiteCacheStore {
        let limits = CacheLimits(bytes: 1 << 40, entries: 1 << 30, age: CacheLimits.disk.age)
        return SQLiteCacheStore(SQLiteCacheConfiguration(file: URL(fileURLWithPath: file), limits: limits))
    }

    // MARK: In memory

    static func memory(_ entries: Int, hits: Int) async throws -> Contender.Runner {
        let store = MemoryCacheStore(limits: CacheLimits(bytes: 1 << 40, entries: 1 << 30))
        try await fill(store, entries, inFlight: 1)
        return runner(store, entries, hits: hits)
    }

    /// Calls of a client whose answer is in the cache, after the first.
    static func send(_ server: String) -> Contender.Runner {
        let client = PenstockContender.client(Target(server: server, document: .fresh), policy: .http)
        return { calls in
            var good = 0
            for _ in 0..<calls {
                if let data = try? await client.send(GetFresh()), Document.fresh.isRight(data.count) { good += 1 }
            }
            return good
        }
    }

    // MARK: Stores

    private static func runner(_ store: any CacheStore, _ entries: Int, hits: Int) -> Contender.Runner {
        // The keys are there before the clock starts: making them is not the store's work.
        var draw = Draw()
        let keys = (0..<hits).map { _ in key(Int(draw.next() % UInt64(entries))) }
        var position = 0
        return { count in
            var good = 0
            for _ in 0..<count {
                let found = await store.find(keys[position])
                if found.count == 1, found[0].body?.count == contentLength { good += 1 }
                position = position + 1 == keys.count ? 0 : position + 1
            }
            return good
        }
    }

    private static func fill(_ store: some CacheStore, _ entries: Int, inFlight: Int) async throws {
        let (fields, content, now) = (fields, Data(repeating: UInt8(ascii: "x"), count: contentLength), Date())
        let stored = await Contender.crowd(entries, inFlight) { index in
            let response = CachedResponse(
                key: key(index), status: 200, fields: fields, requestTime: now, responseTime: now,
                bodyLength: contentLength)
            return await store.put(response, body: content) != nil
        }
        guard stored == entries else { throw Failure("\(entries - stored) of \(entries) entries were not stored") }
    }

    private static func key(_ index: Int) -> CacheKey {
        CacheKey(
            storedMethod: .get, url: "https://api.example.com/v1/products/\(index)?language=en",
            partition: CachePartition(environment: "production", identity: "user-1"), contentDigest: nil,
            credentialDigest: nil)
    }

    private static var fields: HTTPFields {
        [
            "Date": "Tue, 01 Sep 2026 08:00:00 GMT", "Content-Type": "application/json; charset=utf-8",
            "Content-Length": "1024", "Cache-Control": "private, max-age=3600", "ETag": "\"5f3a-61c8e7d2a9b40\"",
            "Last-Modified": "Mon, 31 Aug 2026 17:30:00 GMT", "Vary": "Accept-Encoding", "Server": "nginx/1.26.0",
            "X-Request-Id": "0b9f6c52-7f5e-4c1c-9a53-2d1f0f6f8a11",
        ]
    }
}

/// Numbers that look random, the same ones in each process. The C yardstick draws the same.
struct Draw {
    static let seed: UInt64 = 1
    private var state = seed

    mutating func next() -> UInt64 {
        bare_sqlite_draw(&state)
    }
}
