/// Which stored responses are meant: to be removed, or to be invalidated.
@nonexhaustive
public enum CacheSelection: Hashable, Sendable {
    /// Everything in the store, of every user in every environment.
    case all
    /// All variants of one key: the URL with exactly its parameters, for one method and one partition.
    case key(CacheKey)
    /// One body that is stored, and nothing that has taken its place since.
    case entry(CacheEntryID)
    /// The URL with exactly its query, whatever the method; of one partition, or of all when that is `nil`.
    case url(HTTPURL, in: CachePartition? = nil)
    /// The URL without its query: all that was ever asked for there, with whatever parameters.
    case path(HTTPURL, in: CachePartition? = nil)
    /// All that the app has marked so; of one partition, or of all when that is `nil`.
    case tag(String, in: CachePartition? = nil)
    /// All of one user in one environment.
    case partition(CachePartition)
    /// All of one user, in every environment.
    case identity(String)
    /// All of one environment.
    case environment(String)

    /// Whether it is meant to leave no trace, not merely to be found no more.
    package var erases: Bool {
        switch self {
        case .all, .partition, .identity, .environment: true
        case .key, .entry, .url, .path, .tag: false
        }
    }

    /// Whether a response that is stored as `entry` is meant.
    package func contains(_ response: CachedResponse, stored entry: CacheEntryID) -> Bool {
        let key = response.key
        switch self {
        case .all: return true
        case .key(let wanted): return key == wanted
        case .entry(let wanted): return entry == wanted
        case .url(let url, let partition): return key.url == Self.text(url) && key.isIn(partition)
        case .path(let url, let partition): return key.place == Self.place(url) && key.isIn(partition)
        case .tag(let tag, let partition): return response.tags.contains(tag) && key.isIn(partition)
        case .partition(let partition): return key.isIn(partition)
        case .identity(let identity): return key.partition.identity == identity
        case .environment(let environment): return key.partition.environment == environment
        }
    }

    /// A URL as keys hold it.
    package static func text(_ url: HTTPURL) -> String {
        CacheKey(url: url, partition: CachePartition()).url
    }

    /// A URL as ``CacheKey/place`` holds it.
    package static func place(_ url: HTTPURL) -> Substring {
        CacheKey.place(of: text(url))
    }
}

extension CacheKey {
    /// The URL without its query.
    package var place: Substring { Self.place(of: url) }

    fileprivate static func place(of url: String) -> Substring {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url[...] }
        return url[..<mark]
    }

    fileprivate func isIn(_ partition: CachePartition?) -> Bool {
        partition?.hasSameOwner(as: self.partition) ?? true
    }
}
