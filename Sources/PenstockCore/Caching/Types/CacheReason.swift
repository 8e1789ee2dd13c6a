/// Why the cache decided as it did. The raw value is stable: events, logs and `Cache-Status` show it.
public enum CacheReason: String, Hashable, Sendable, CaseIterable {
    // MARK: Answered from the cache

    /// Fresh by the server's rules or the app's (RFC 9111 §4.2).
    case fresh
    /// Stale, by no more than the request's `max-stale` (RFC 9111 §5.2.1.2) or ``CachePolicy/maxStale`` allows.
    case maxStale = "max-stale"
    /// Stale, and refreshed behind the answer (RFC 5861 §3).
    case staleWhileRevalidate = "stale-while-revalidate"
    /// Stale, because the server answered with an error (RFC 5861 §4).
    case staleIfError = "stale-if-error"
    /// Stored, because no answer could be had (RFC 9111 §4.2.4).
    case disconnected
    /// Just validated by the server (RFC 9111 §4.3.3).
    case validated
    /// A stored part was completed (RFC 9111 §3.4).
    case completed

    // MARK: Validated before use

    /// No longer fresh.
    case expired
    /// The response's `no-cache` (RFC 9111 §5.2.2.4).
    case noCache = "no-cache"
    /// Invalidated by a write or by the app (RFC 9111 §4.4).
    case invalidated
    /// The clock stands before the time at which the response came, so its age is unknown.
    case clockMovedBack = "clock-moved-back"
    /// The request's `no-cache`, or `Pragma: no-cache` (RFC 9111 §5.2.1.4, §5.4).
    case requestNoCache = "request-no-cache"
    /// Older than the request's `max-age` (RFC 9111 §5.2.1.1).
    case requestMaxAge = "request-max-age"
    /// The response is not fresh for as long as the request's `min-fresh` asks (RFC 9111 §5.2.1.3).
    case requestMinFresh = "request-min-fresh"
    /// The policy asks the server each time.
    case policy

    // MARK: Loaded

    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// What is stored was selected by other request fields (RFC 9111 §4.1).
    case varyMismatch = "vary-mismatch"
    /// Only a part is stored, and not the one that is asked for (RFC 9111 §3.3).
    case partial
    /// The request's method is not answered from a cache (RFC 9111 §4).
    case method
    /// The request's `no-store` (RFC 9111 §5.2.1.5).
    case noStoreRequest = "request-no-store"
    /// A precondition that only the server may evaluate (RFC 9111 §4.3.2).
    case originCondition = "origin-condition"
    /// A range of content whose coding was removed before it was stored.
    case codedRange = "coded-range"

    // MARK: Refused

    /// The request's `only-if-cached`, and nothing usable stored: 504 (RFC 9111 §5.2.1.7).
    case onlyIfCached = "only-if-cached"
    /// The policy reads the cache alone, and nothing usable is stored.
    case cacheOnly = "cache-only"
}

extension CacheReason {
    /// Whether the server has just said that the stored response is the current one.
    var isConfirmed: Bool { self == .validated || self == .completed }
}
