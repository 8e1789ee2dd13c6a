/// One thing to do about a request, given what is stored (RFC 9111 §4). There is at least one for each request, and a second
/// one where the caller gets a stored response first: the load behind it.
package enum CacheStep: Sendable {
    /// A value for the caller; nothing is sent.
    case deliver(CacheHit)
    /// Send, and give the caller what comes of it; when it fails, a stored response may step in.
    case send(CacheExchange)
    /// Send behind the answer (RFC 5861 §3); nobody hears of its failure.
    case refresh(CacheExchange)
    /// Send nothing and answer with a failure: 504 for ``CacheReason/onlyIfCached``, an error for
    /// ``CacheReason/cacheOnly``.
    case refuse(CacheReason)

    /// Why it is done.
    package var reason: CacheReason {
        switch self {
        case .deliver(let hit): hit.reason
        case .send(let exchange), .refresh(let exchange): exchange.reason
        case .refuse(let reason): reason
        }
    }

    /// The stored response that may be delivered without waiting for the server.
    var hit: CacheHit? {
        if case .deliver(let hit) = self { hit } else { nil }
    }
}

/// A stored response that answers a request, and the response that is made of it.
package struct CacheHit: Sendable {
    /// The response that answers, without its body: as it is stored, or with what a 304 has just changed of it.
    package let stored: CachedResponse
    /// The response as the store has it, by which its body is found there: a 304 may give ``stored`` another variant, which
    /// may be the one of another body. What was completed just now has that of ``stored``.
    package internal(set) var original: CachedResponse
    /// Its age in whole seconds (RFC 9111 §4.2.3).
    package let age: Int
    /// How many whole seconds it stays fresh, rounded down; negative when it is stale by so many.
    package let ttl: Int
    /// Whether it is past its freshness and has not just been validated.
    package let isStale: Bool
    /// Why it may answer: because it is fresh, was just validated, or is stale by no more than is allowed.
    package let reason: CacheReason
    /// What the caller gets: 200 or the stored status; 304, 206 or 416 where the request asked for it.
    package let status: Int
    /// The stored fields with `Age` (RFC 9111 §5.1), changed as the status asks.
    package internal(set) var fields: HTTPFields
    /// Which bytes of the stored body are the content, counted from the first stored one. `nil` when there is none.
    package let content: Range<Int>?
}

/// A request to send, and what its response is to bring.
package struct CacheExchange: Sendable {
    /// What a response is asked for.
    package enum Purpose: Hashable, Sendable {
        /// The request goes as it is: the response is the answer.
        case load
        /// `If-None-Match` or `If-Modified-Since`: a 304 makes the stored response usable (RFC 9111 §4.3.1).
        case validate
        /// `Range` and `If-Range`: a 206 brings what is missing (RFC 9111 §3.4).
        case complete
    }

    /// What the answer is to bring.
    package let purpose: Purpose
    /// The caller's, with the cache's conditions in place of its own where it asks about what is stored.
    package let request: HTTPRequest
    /// The stored responses it asks about; the first is the one that matches the request, where ``selected`` has one.
    package var candidates: [CachedResponse] = []
    /// The stored response that the request would be answered with.
    package var selected: CachedResponse?
    /// Why the request is sent at all.
    package let reason: CacheReason
    /// Whether a failure may be answered by ``CacheQuery/fallback(for:now:)``.
    package var mayFallBack = true

    /// The same where a failure is the answer.
    var withoutFallback: CacheExchange {
        var exchange = self
        exchange.mayFallBack = false
        return exchange
    }
}

extension CacheExchange {
    /// The caller's request as it is.
    package init(loading request: HTTPRequest, _ reason: CacheReason) {
        self.init(purpose: .load, request: request, reason: reason)
    }
}

/// How a load failed.
package enum CacheFailure: Hashable, Sendable {
    /// No response: no connection, a broken one, a time-out.
    case disconnected
    /// A response of this status.
    case status(Int)
}
