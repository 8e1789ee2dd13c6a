/// What is to be done with a request, given what is stored (RFC 9111 §4).
package enum CacheDecision: Sendable {
    /// Answer from the cache; nothing is sent.
    case use(CacheHit)
    /// Answer from the cache, and send the validation behind the answer (RFC 5861 §3).
    case useStaleAndRevalidate(CacheHit, CacheValidation)
    /// Send the request with conditions, or for the missing part; what is stored may become the answer.
    case revalidate(CacheValidation)
    /// Send the request as it is.
    case load(CacheReason)
    /// Send nothing and answer with a failure: 504 for ``CacheReason/onlyIfCached``, an error for
    /// ``CacheReason/cacheOnly``.
    case refuse(CacheReason)

    /// Why it was decided so.
    package var reason: CacheReason {
        switch self {
        case .use(let hit), .useStaleAndRevalidate(let hit, _): hit.reason
        case .revalidate(let validation): validation.reason
        case .load(let reason), .refuse(let reason): reason
        }
    }
}

/// A stored response that answers a request.
package struct CacheHit: Sendable {
    /// The response as it is stored, without its body.
    package let stored: CachedResponse
    /// Its age in whole seconds (RFC 9111 §4.2.3).
    package let age: Int
    /// How many whole seconds it stays fresh, rounded down; negative when it is stale by so many.
    package let ttl: Int
    /// Whether it is past its freshness and has not just been validated.
    package let isStale: Bool
    /// Why it may answer: because it is fresh, was just validated, or is stale by no more than is allowed.
    package let reason: CacheReason
    /// What the caller gets.
    package let reply: CacheReply
}

/// The response that is made of a stored one.
package struct CacheReply: Sendable {
    /// 200 or the stored status; 304, 206 or 416 where the request asked for it.
    package let status: Int
    /// The stored fields with `Age` (RFC 9111 §5.1), changed as the status asks.
    package let fields: HTTPFields
    /// Which bytes of the stored body are the content, counted from the first stored one. `nil` when there is none.
    package let content: Range<Int>?
}

/// A request that asks the server about what is stored (RFC 9111 §4.3.1).
package struct CacheValidation: Sendable {
    /// What a request with the cache's conditions is to bring.
    package enum Purpose: Hashable, Sendable {
        /// `If-None-Match` or `If-Modified-Since`: a 304 makes the stored response usable.
        case validate
        /// `Range` and `If-Range`: a 206 brings what is missing (RFC 9111 §3.4).
        case complete
    }

    /// What the answer is to bring.
    package let purpose: Purpose
    /// The request to send: the caller's, with the cache's conditions in place of its own.
    package let request: HTTPRequest
    /// The stored responses it asks about; the first is the one that matches the request, where ``selected`` has one.
    package let candidates: [CachedResponse]
    /// The stored response that the request would be answered with.
    package let selected: CachedResponse?
    /// Why what is stored cannot answer without it.
    package let reason: CacheReason
}
