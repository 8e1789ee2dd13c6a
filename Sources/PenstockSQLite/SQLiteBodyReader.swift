import Foundation
import PenstockCore

/// Reads a body that stands in pieces, and has the store keep it meanwhile.
final class SQLiteBodyReader: CacheBodyReader {
    private let place: CacheRow.BodyPlace
    private let store: SQLiteCacheStore

    /// - Parameter place: of a body that is held for it.
    init(_ place: CacheRow.BodyPlace, store: SQLiteCacheStore) {
        (self.place, self.store) = (place, store)
    }

    deinit {
        store.engine.letGo(of: place.number)
    }

    func bytes(from offset: Int) async -> Data? { await store.bytes(of: place, from: offset) }
}
