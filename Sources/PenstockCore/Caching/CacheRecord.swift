import Foundation

/// What the cache had to do with an exchange.
struct CacheRecord: Sendable {
    var status: CacheStatus
    /// Of what was stored; `nil` for what came from the server.
    var age: Duration?
    var isStale = false
    /// The stored response that became the answer, by which it is dropped when it turns out to be of no use.
    var entry: CacheEntryID?
    /// What may be stored once the response has passed all that the call asks of it.
    var fill: CacheFill?
    /// Whether the answer is to be refreshed behind the caller's back (RFC 5861 §3).
    var wantsRefresh = false
}

/// A response that waits to be stored.
struct CacheFill: Sendable {
    var response: CachedResponse
    /// `nil` where the content is still on its way.
    let body: Data?
    let ticket: CacheChanges.Ticket
    /// Where several calls got the same response, of which one stores it.
    var flight: CacheFlight?
}
