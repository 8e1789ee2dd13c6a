/// Which stored responses are meant: to be removed, or to be invalidated.
@nonexhaustive
public enum CacheSelection: Hashable, Sendable {
    /// Whose stored responses are meant.
    @nonexhaustive
    public enum Owner: Hashable, Sendable {
        /// The user of the client, or of the call whose endpoint invalidates something, in the environment of the moment. A store
        /// that is asked directly knows no users: there it is ``everyone``.
        case current
        /// All users in all environments.
        case everyone
        /// One user in one environment.
        case partition(CachePartition)

        /// `nil` for all.
        package var partition: CachePartition? {
            if case .partition(let partition) = self { partition } else { nil }
        }
    }

    /// Everything in the store, of every user in every environment.
    case all
    /// All variants of one key: the URL with exactly its parameters, for one method and one partition.
    case key(CacheKey)
    /// One body that is stored, and nothing that has taken its place since.
    case entry(CacheEntryID)
    /// The URL with exactly its query, whatever the method; of the present user, or of another owner.
    case url(HTTPURL, in: Owner = .current)
    /// The URL without its query: all that was ever asked for there, with whatever parameters.
    case path(HTTPURL, in: Owner = .current)
    /// All that the app has marked so.
    case tag(String, in: Owner = .current)
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

    /// Whether it depends on a response's key alone, so that whatever has a response's place is selected with it.
    var isOfKeys: Bool {
        switch self {
        case .all, .key, .url, .path, .partition, .identity, .environment: true
        case .entry, .tag: false
        }
    }

    /// The same, with `partition` for the present user.
    func of(_ partition: CachePartition) -> CacheSelection {
        switch self {
        case .url(let url, .current): .url(url, in: .partition(partition))
        case .path(let url, .current): .path(url, in: .partition(partition))
        case .tag(let tag, .current): .tag(tag, in: .partition(partition))
        default: self
        }
    }

    /// Whether a response that is stored as `entry` is meant.
    ///
    /// - Parameter form: the form in which the response has its URL; by default as it is.
    package func contains(
        _ response: CachedResponse, stored entry: CacheEntryID, in form: CacheAtRest? = nil
    ) -> Bool {
        let key = response.key
        switch self {
        case .all: return true
        case .key(let wanted): return key == form?.key(wanted) ?? wanted
        case .entry(let wanted): return entry == wanted
        case .url(let url, let owner): return key.url == Self.text(url, in: form) && key.isIn(owner.partition)
        case .path(let url, let owner): return key.place == Self.place(url, in: form) && key.isIn(owner.partition)
        case .tag(let tag, let owner):
            return response.tags.contains { $0.isWritten(as: tag) } && key.isIn(owner.partition)
        case .partition(let partition): return key.isIn(partition)
        case .identity(let identity): return key.partition.identity.isWritten(as: identity)
        case .environment(let environment): return key.partition.environment.isWritten(as: environment)
        }
    }

    /// A URL as keys hold it, or as it is written.
    package static func text(_ url: HTTPURL, in form: CacheAtRest? = nil) -> String {
        let text = CacheKey(url: url, partition: CachePartition()).url
        return form?.url(text) ?? text
    }

    /// A URL as ``CacheKey/place`` holds it.
    package static func place(_ url: HTTPURL, in form: CacheAtRest? = nil) -> Substring {
        CacheKey.place(of: text(url, in: form))
    }
}

extension CacheKey {
    /// The URL without its query, and without the digest that it has in a file.
    package var place: Substring { Self.place(of: url) }

    fileprivate static func place(of url: String) -> Substring {
        url[..<(url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex)]
    }

    fileprivate func isIn(_ partition: CachePartition?) -> Bool {
        partition?.hasSameOwner(as: self.partition) ?? true
    }
}
