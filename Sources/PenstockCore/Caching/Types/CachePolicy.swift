/// How an app wants its calls to use the cache, on top of what HTTP says.
///
/// | mode | answers from the cache | sends | stores | when the load fails |
/// |---|---|---|---|---|
/// | ``Mode/http`` | with what is fresh | when nothing fresh is stored | yes | what is stale within ``maxStale`` |
/// | ``Mode/cacheOnly`` | with what is fresh, or stale within a ``maxStale`` that is set | never | – | – |
/// | ``Mode/cacheThenNetwork`` | the same, or stale within the response's `stale-while-revalidate`, and then with what was loaded | always | yes | throws, where something was given first; else what is stale within ``maxStale`` |
/// | ``Mode/networkElseCache`` | only when the load fails | always | yes | what is fresh, or stale within ``maxStale`` |
/// | ``Mode/reload`` | never | always | yes | throws |
/// | ``Mode/networkOnly`` | never | always | never | throws |
///
/// The default is ``networkElseCache``: always the newest, and what is stored while the server cannot be reached. **A call
/// of this policy succeeds with a stored response, at most seven days after its freshness, when the server cannot be
/// reached, does not answer in time, or answers by a server error, which is 5xx but 501 and 505.** ``APIResponse/isStale``
/// and ``APIResponse/source`` tell; `send` gives the value alone and cannot. Where a failure must be seen as one, as by a
/// monitor or by "pull to refresh", take ``reload``.
///
/// A server error that the call takes for a success (``CallOptions/status``) is its answer, in every mode, and what is stored
/// stays as it is. Only where the server or the request says `stale-if-error` itself, what is stale steps in for a 500, 502, 503
/// or 504 all the same.
///
/// A read that is answered 403, 404 or 410 makes invalid what is stored of it, in every mode that stores: it is asked about
/// before it is given again, and does not step in for a failure.
///
/// ```swift
/// CachePolicy(.http, ttl: .seconds(300))                      // five minutes, whatever the server says
/// CachePolicy(.networkElseCache, maxStale: .seconds(86_400))  // a day old at most when offline
/// CachePolicy(.networkElseCache, maxStale: .zero)             // nothing stale, ever
/// CachePolicy.reload                                          // loads, stores, and fails when it fails
/// ```
public struct CachePolicy: Hashable, Sendable {
    /// When a call reads what is stored, and when it sends; see the table of ``CachePolicy``.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// HTTP's own rules (RFC 9111): what is fresh is the answer, what is stale is asked about.
        case http
        /// Never sends. What is not stored, or too old, is ``APIError/Kind/cacheMiss``.
        case cacheOnly
        /// Gives what is stored, then loads and gives that as well; see ``APIClient/responses(to:options:)``.
        case cacheThenNetwork
        /// Loads, and reads what is stored when the load fails.
        case networkElseCache
        /// Loads and stores, and fails when the load fails: what "pull to refresh" means. What is stored is neither
        /// given nor lost: the server is asked whether it is still the current one (a 304 costs no body), a failure
        /// leaves it as it is for calls of other policies, and the answer takes its place. The call never waits for
        /// the answer to another call that asked before it.
        case reload
        /// Neither reads nor stores.
        case networkOnly
    }

    /// When the cache is read and when the server is asked.
    public var mode: Mode
    /// How long a response is fresh after it came. It replaces all that the server says about reuse but `no-store`:
    /// lifetimes, `no-cache` and `must-revalidate`. `nil`, the default, leaves it to the server, but for what a call with a
    /// lifetime has stored: that is fresh for as long to every call which names none, as ``CachedResponse/appTTL`` stays
    /// with the response; once that time is over, the server's `no-cache` and `must-revalidate` count again for these. Zero and less turn the cache off: nothing is read or stored.
    public var ttl: Duration?
    /// How long after its freshness a response is still taken when a load fails. It extends what the server's and the
    /// request's `stale-if-error` allow, and never overrules the server's `no-cache` or `must-revalidate`, unless
    /// ``ttl`` does. What is given so is marked (``APIResponse/isStale``).
    ///
    /// `nil`, the default, means ``defaultMaxStale`` where no answer came at all, and for ``Mode/networkElseCache`` also
    /// where the answer was a server error (5xx but 501 and 505). ``Mode/cacheOnly`` and ``Mode/cacheThenNetwork`` give
    /// without a failure what is stale, and only where this is set; the latter also within the response's own
    /// `stale-while-revalidate`. Zero and less switch it off: a failure is never
    /// answered by what is stale, nor is a call while the response is refreshed (`stale-while-revalidate`), whatever the server
    /// allows; only the request's own `max-stale` and `stale-if-error` still count.
    public var maxStale: Duration?
    /// Declares that a request of another method than GET and HEAD only reads: its responses are stored as a GET's are
    /// and found again by the same method, URL and content. `false` by default.
    public var isRead: Bool

    /// A policy of one mode. The named ones, such as ``http``, are the same with the defaults.
    ///
    /// - Parameters:
    ///   - ttl: how long a response is fresh after it came. By default what it was stored with, or else the server, decides.
    ///   - maxStale: how long after that it is still taken when a load fails. By default ``defaultMaxStale`` in the
    ///     cases that ``maxStale`` names.
    ///   - isRead: whether a request of another method than GET and HEAD only reads. `false` by default.
    public init(_ mode: Mode, ttl: Duration? = nil, maxStale: Duration? = nil, isRead: Bool = false) {
        self.mode = mode
        self.ttl = ttl
        self.maxStale = maxStale
        self.isRead = isRead
    }

    /// Seven days.
    public static let defaultMaxStale = Duration.seconds(604_800)

    /// ``Mode/http``, by the server's lifetimes.
    public static let http = CachePolicy(.http)
    /// ``Mode/cacheOnly``, of what is fresh.
    public static let cacheOnly = CachePolicy(.cacheOnly)
    /// ``Mode/cacheThenNetwork``, of what is fresh.
    public static let cacheThenNetwork = CachePolicy(.cacheThenNetwork)
    /// ``Mode/networkElseCache``: the default.
    public static let networkElseCache = CachePolicy(.networkElseCache)
    /// ``Mode/reload``: loads, stores, and fails when the load fails.
    public static let reload = CachePolicy(.reload)
    /// ``Mode/networkOnly``: neither reads nor stores.
    public static let networkOnly = CachePolicy(.networkOnly)

    /// This policy with the mode that gives what is stored and then what was loaded; its lifetimes stay.
    var givingTwice: CachePolicy {
        CachePolicy(.cacheThenNetwork, ttl: ttl, maxStale: maxStale, isRead: isRead)
    }

    /// Whether anything may be read or stored.
    public var isOff: Bool { mode == .networkOnly || ttl.map { $0 <= .zero } ?? false }
}
