import Foundation

/// A response as a store hands it out: what is known of it, and its body or the way to it.
public struct StoredResponse: Sendable {
    /// Everything but the body: key, variant, head, times and marks.
    public let response: CachedResponse
    /// Where the store has it.
    public let entry: CacheEntryID
    /// The body, when it came along; `nil` when it is to be read with ``CacheStore/bytes(of:from:)``.
    public let body: Data?

    /// A response that a store has found or has just stored.
    ///
    /// - Parameters:
    ///   - entry: where the store has its body.
    ///   - body: all of it; `nil` when it did not come along.
    public init(_ response: CachedResponse, entry: CacheEntryID, body: Data?) {
        self.response = response
        self.entry = entry
        self.body = body
    }
}

/// One body that was put into a store, and only that: whatever takes its place has another id.
public struct CacheEntryID: Hashable, Sendable {
    /// The place in the store.
    public let row: Int64
    /// Different for each body that was ever put there.
    public let version: UInt64

    /// An entry as a store of its own making numbers it.
    ///
    /// - Parameters:
    ///   - row: the place in the store; a later body may have the same one.
    ///   - version: a number that no other body in that place has had, such as a random one.
    public init(row: Int64, version: UInt64) {
        self.row = row
        self.version = version
    }
}

/// How much is stored.
public struct CacheStatistics: Hashable, Sendable {
    /// How many responses are stored. Each variant of a URL counts.
    public var entries: Int
    /// Bodies and metadata, as the store reckons them against its limit.
    public var bytes: Int

    /// Figures of a store; those of an empty one by default.
    ///
    /// - Parameters:
    ///   - entries: how many responses are stored.
    ///   - bytes: bodies and metadata, as the store reckons them against its limit.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}
