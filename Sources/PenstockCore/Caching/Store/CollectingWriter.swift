import Foundation

/// A writer for stores that keep a body in one piece: collects it, and puts it at the end.
package final class CollectingWriter: CacheBodyWriter {
    private let response: CachedResponse
    private let limit: Int
    private let store: any CacheStore
    /// What came so far; `nil` once it is over.
    private let body = Locked<Data?>(Data())

    /// - Parameter limit: the largest body, in bytes.
    package init(_ response: CachedResponse, limit: Int, store: any CacheStore) {
        self.response = response
        self.limit = limit
        self.store = store
    }

    package func append(_ data: Data) async -> Bool {
        body.withLock { body in
            guard let count = body?.count, count + data.count <= limit else {
                body = nil
                return false
            }
            body?.append(data)
            return true
        }
    }

    package func finish() async -> StoredResponse? {
        let whole = body.withLock { body in
            defer { body = nil }
            return body
        }
        guard let whole else { return nil }
        return await store.put(response, body: whole)
    }

    package func abandon() {
        body.withLock { $0 = nil }
    }
}
