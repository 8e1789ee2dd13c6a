import Foundation

/// Reads the body of one stored response. It is let go of with the last reference to it.
package protocol CacheBodyReader: Sendable {
    /// Some of the body, as ``CacheStore/bytes(of:from:)`` has it.
    func bytes(from offset: Int) async -> Data?
}

/// A store that keeps a body for those who are reading it.
package protocol HoldingCacheStore: CacheStore {
    /// A reader of a stored body, which keeps it to its end: also where another response takes the place of its own, or that is
    /// removed or has to make room. Only what leaves no trace of the response (``CacheSelection/erases``) ends the reader of a body on a
    /// disk; a body in memory is given whole and goes on.
    ///
    /// - Returns: `nil` when the response is no longer stored or cannot be read.
    func reader(of entry: CacheEntryID) async -> (any CacheBodyReader)?
}

/// A body in memory.
package struct WholeBody: CacheBodyReader {
    private let body: Data

    package init(_ body: Data) {
        self.body = body
    }

    package func bytes(from offset: Int) -> Data? {
        offset >= 0 && offset < body.count ? body.dropFirst(offset) : nil
    }
}

/// A body that is read for as long as its store has it.
struct StoredBody: CacheBodyReader {
    let entry: CacheEntryID
    let store: any CacheStore

    func bytes(from offset: Int) async -> Data? { await store.bytes(of: entry, from: offset) }
}

extension CacheStore {
    /// A reader of a stored body, which keeps it where the store can.
    ///
    /// - Returns: `nil` when the response is known to be no longer stored.
    func bodyReader(of entry: CacheEntryID) async -> (any CacheBodyReader)? {
        guard let store = self as? any HoldingCacheStore else { return StoredBody(entry: entry, store: self) }
        return await store.reader(of: entry)
    }
}
