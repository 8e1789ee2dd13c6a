/// How an app wants its calls to use the cache, on top of what HTTP says.
///
/// | mode | reads | sends | stores |
/// |---|---|---|---|
/// | ``Mode/http`` | what is fresh | when nothing fresh is stored | yes |
/// | ``Mode/cacheOnly`` | what is fresh, or stale within ``maxStale`` | never | – |
/// | ``Mode/cacheThenNetwork`` | what is fresh, first | always, after it | yes |
/// | ``Mode/networkElseCache`` | what is stored, when the load fails | always | yes |
/// | ``Mode/networkOnly`` | never | always | never |
///
/// The default is ``networkElseCache``: always the newest, and what is stored while the server cannot be reached.
///
/// ```swift
/// CachePolicy(.http, ttl: .seconds(300))                      // five minutes, whatever the server says
/// CachePolicy(.networkElseCache, maxStale: .seconds(86_400))  // a day old at most when offline
/// ```
public struct CachePolicy: Hashable, Sendable {
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        case http, cacheOnly, cacheThenNetwork, networkElseCache, networkOnly
    }

    public var mode: Mode
    /// How long a response is fresh after it came. It replaces all that the server says about reuse but `no-store`:
    /// lifetimes, `no-cache` and `must-revalidate`. `nil`, the default, leaves it to the server. Zero and less turn the
    /// cache off: nothing is read or stored.
    public var ttl: Duration?
    /// How long after its freshness a response is still taken when a load fails. It extends what the server's and the
    /// request's `stale-if-error` allow, and never overrules the server's `no-cache` or `must-revalidate`, unless
    /// ``ttl`` does. `nil`, the default, means ``defaultMaxStale`` where no answer came at all, and for
    /// ``Mode/networkElseCache`` also where the answer was a server error.
    public var maxStale: Duration?
    /// Declares that a request of another method than GET and HEAD only reads: its responses are stored as a GET's are
    /// and found again by the same method, URL and content. `false` by default.
    public var isRead: Bool

    public init(_ mode: Mode, ttl: Duration? = nil, maxStale: Duration? = nil, isRead: Bool = false) {
        self.mode = mode
        self.ttl = ttl
        self.maxStale = maxStale
        self.isRead = isRead
    }

    /// Seven days.
    public static let defaultMaxStale = Duration.seconds(604_800)

    public static let http = CachePolicy(.http)
    public static let cacheOnly = CachePolicy(.cacheOnly)
    public static let cacheThenNetwork = CachePolicy(.cacheThenNetwork)
    public static let networkElseCache = CachePolicy(.networkElseCache)
    public static let networkOnly = CachePolicy(.networkOnly)

    /// Whether anything may be read or stored.
    public var isOff: Bool { mode == .networkOnly || ttl.map { $0 <= .zero } ?? false }
}
