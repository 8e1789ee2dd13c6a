import Foundation

@testable import PenstockCore

/// A store for tests that hands everything to a memory, but for what a test has it do otherwise.
protocol MemoryBackedStore: CacheStore {
    var memory: MemoryCacheStore { get }
}

extension MemoryBackedStore {
    func responses(for key: CacheKey) async -> [StoredResponse] { await memory.responses(for: key) }
    func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? { await memory.bytes(of: entry, from: offset) }
    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? { await memory.writer(for: response) }
    func touch(_ entries: [CacheEntryID]) { memory.touch(entries) }
    func statistics() async -> CacheStatistics { await memory.statistics() }
    func flush() async {}
    func close() async {}

    @discardableResult
    func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        await memory.put(response, body: body)
    }

    @discardableResult
    func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        await memory.update(entry, to: response)
    }

    @discardableResult
    func invalidate(_ selections: [CacheSelection]) async -> Bool { await memory.invalidate(selections) }

    @discardableResult
    func remove(_ selections: [CacheSelection]) async -> Bool { await memory.remove(selections) }

    func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        await memory.entries(after: entry, limit: limit)
    }
}
