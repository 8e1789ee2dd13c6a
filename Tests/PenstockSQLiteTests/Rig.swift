import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import SQLiteCrash
import Testing

@testable import PenstockSQLite

/// A folder of a test's own, gone when the test is over.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var file: URL { url.appendingPathComponent("cache.db") }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    /// Every byte of every file.
    var bytes: Data {
        get throws {
            // By handles: `Data(contentsOf:)` leaks a page for a file that is empty.
            try names.reduce(into: Data()) { bytes, name in
                let file = try FileHandle(forReadingFrom: url.appendingPathComponent(name))
                defer { try? file.close() }
                try bytes.append(file.readToEnd() ?? Data())
            }
        }
    }
}

/// What a store told.
final class Events: Sendable {
    private let told = Locked<[SQLiteCacheEvent]>([])

    var all: [SQLiteCacheEvent] { told.withLock { $0 } }

    @Sendable func receive(_ event: SQLiteCacheEvent) {
        told.withLock { $0.append(event) }
    }

    func contains(_ condition: (SQLiteCacheEvent) -> Bool) -> Bool { all.contains(where: condition) }
}

/// A store in a folder, with a clock that is moved by hand.
struct Rig: Sendable {
    let folder: Folder
    let clock = TestClock()
    let events = Events()
    let store: SQLiteCacheStore

    init(
        _ folder: Folder? = nil, limits: CacheLimits = .disk,
        _ change: (inout SQLiteCacheConfiguration) -> Void = { _ in }
    ) throws {
        self.folder = try folder ?? Folder()
        var configuration = SQLiteCacheConfiguration(
            file: self.folder.file, limits: limits, time: clock.timeSource, onEvent: events.receive)
        // Longer than a test machine is ever busy with something else.
        configuration.patience = .seconds(30)
        change(&configuration)
        store = SQLiteCacheStore(configuration)
    }
}

/// Responses of which the bytes follow from a seed.
enum Sample {
    static func key(_ target: String, identity: String = "", environment: String = "") throws -> CacheKey {
        CacheKey(
            url: try HTTPURL("https://example.com\(target)"),
            partition: CachePartition(environment: environment, identity: identity))
    }

    static func response(_ key: CacheKey, seed: UInt64, at time: TimeSource, tags: [String] = []) -> CachedResponse {
        CachedResponse(
            key: key, status: 200, fields: ["X-Seed": "\(seed)"], requestTime: time.date(), responseTime: time.date(),
            bodyLength: 0, tags: tags)
    }

    /// A file that says it is a cache, and then holds other bytes.
    static func damaged(_ bytes: Data) -> Data {
        Data("SQLite format 3\0".utf8) + Data(count: 52) + Data("PSTK".utf8) + bytes
    }

    /// The seed of a response, when its body is what follows from it; an issue when it is another.
    @discardableResult
    static func verify(_ stored: StoredResponse, in store: any CacheStore, _ note: String = "") async -> UInt64? {
        guard let text = stored.response.fields["X-Seed"], let seed = UInt64(text) else {
            Issue.record("a response without its seed \(note)")
            return nil
        }
        guard let body = await store.body(of: stored) else { return seed }
        #expect(body == sampleBytes(seed: seed, count: stored.response.bodyLength), "wrong bytes \(note)")
        return seed
    }
}

extension Rig {
    @discardableResult
    func put(
        _ target: String, seed: UInt64, count: Int = 1_000, identity: String = "", tags: [String] = []
    ) async throws -> StoredResponse? {
        let response = Sample.response(
            try Sample.key(target, identity: identity), seed: seed, at: clock.timeSource, tags: tags)
        return await store.put(response, body: sampleBytes(seed: seed, count: count))
    }

    /// The seeds of what is found, each checked against its body.
    func seeds(_ target: String, identity: String = "") async throws -> [UInt64] {
        var seeds: [UInt64] = []
        for stored in await store.find(try Sample.key(target, identity: identity)) {
            if let seed = await Sample.verify(stored, in: store, target) { seeds.append(seed) }
        }
        return seeds
    }
}
