import Foundation
import PenstockCore
import PenstockSQLite
import PenstockTestSupport

/// Writes into a cache until it is killed, or as often as it is told: `cache-writer FILE SEED [COUNT]`.
///
/// Each response says its seed in a field, and its body follows from that.
@main
enum CacheWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let seed = UInt64(arguments[2]) else { exit(64) }
        let count = arguments.count > 3 ? Int(arguments[3]) ?? 0 : Int.max
        let store = SQLiteCacheStore(.init(file: URL(fileURLWithPath: arguments[1])))
        var random = Seeded(seed: seed)
        var written = 0
        while written < count {
            try await step(store, &random)
            written += 1
        }
        await store.close()
    }

    private static func step(_ store: SQLiteCacheStore, _ random: inout Seeded) async throws {
        let url = try HTTPURL("https://example.com/\(Int.random(in: 0..<40, using: &random))")
        let key = CacheKey(url: url, partition: CachePartition())
        let seed = random.next()
        let length = [100, 3_000, 20_000, 150_000].randomElement(using: &random) ?? 0
        let body = sampleBytes(seed: seed, count: length)
        let response = CachedResponse(
            key: key, status: 200, fields: ["X-Seed": "\(seed)"], requestTime: Date(), responseTime: Date(),
            bodyLength: length)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: await store.remove([.url(url)])
        case 1: await store.invalidate([.url(url)])
        case 2:
            let writer = await store.writer(for: response)
            _ = await writer?.append(body)
            _ = await writer?.finish()
        default: await store.put(response, body: body)
        }
    }
}
