import Foundation

/// A response that has come, and what the cache has to know beside it.
package struct CacheArrival: Sendable {
    /// The response as it came, without its body where that is still on its way.
    package let response: HTTPResponse
    /// Length of its content in bytes, content codings removed; as it was announced where the content is still on its way.
    package let bodyLength: Int
    /// When the request was sent, by the wall clock.
    package let requestTime: Date
    /// When the head of the response came, by the wall clock.
    package let responseTime: Date
    /// ``ConnectionInfo/mayBeCutOff``.
    package var mayBeCutOff = false
    /// Whether the call takes its status for a success, as ``StatusRule`` says.
    package var isAccepted = false

    var status: Int { response.status }
    var fields: HTTPFields { response.fields }
}

/// What a response does to the cache and to the caller.
package struct CacheReception: Sendable {
    /// What the caller gets.
    package enum Answer: Sendable {
        /// The caller gets the response as it came.
        case response
        /// The caller gets this stored response. Where ``CacheReception/insertion`` is set, it is what was just stored.
        case stored(CacheHit)
        /// The response is of no use: the request must be sent again without the cache's conditions.
        case sendAgain
    }

    /// What the caller gets of it.
    package var answer: Answer
    /// What to store.
    package var insertion: CacheInsertion?
    /// Stored responses whose fields and times are to be replaced.
    package var updates: [CacheUpdate] = []
    /// URLs whose stored responses become invalid, for every method and variant (RFC 9111 §4.4).
    package var invalidations: [HTTPURL] = []
    /// Why the response is not stored; `nil` when it is, or when it updates what is stored.
    package var refusal: CacheStorageRefusal?
}

/// A response to store. It replaces what has its key and variant.
package struct CacheInsertion: Sendable {
    /// A stretch of the body.
    package enum Piece: Hashable, Sendable {
        /// These bytes of the response just received, counted from its first one.
        case received(Range<Int>)
        /// These bytes of the body that is replaced, counted from its first stored one.
        case stored(Range<Int>)
    }

    /// ``CachedResponse/bodyLength`` is that of the pieces together.
    package var response: CachedResponse
    /// The body, stretch by stretch.
    package var pieces: [Piece]

    /// A response to store, and where its body is to be taken from.
    ///
    /// - Parameters:
    ///   - response: all but its body; its ``CachedResponse/bodyLength`` is that of the pieces together.
    ///   - pieces: the body from its beginning to its end. None for a response of which the head alone is stored.
    package init(response: CachedResponse, pieces: [Piece]) {
        self.response = response
        self.pieces = pieces
    }
}

/// A change of what is stored that leaves its body alone.
package struct CacheUpdate: Sendable {
    /// The response as it is stored now.
    package let stored: CachedResponse
    /// The response as it is to be stored. Where its variant is another one, it is stored beside, with a copy of the body,
    /// or in place of what the request would be answered with.
    package let updated: CachedResponse

    /// A change of one stored response.
    ///
    /// - Parameters:
    ///   - stored: the response as the store handed it out.
    ///   - updated: the response that takes its place, or may stand beside it where its variant is another one.
    package init(stored: CachedResponse, updated: CachedResponse) {
        self.stored = stored
        self.updated = updated
    }
}

extension CacheUpdate {
    /// The update that makes a stored response invalid: it must be asked about before it is used again.
    init(invalidating stored: CachedResponse) {
        var invalid = stored
        invalid.isInvalidated = true
        self.init(stored: stored, updated: invalid)
    }
}

/// Why a response is not stored (RFC 9111 §3).
package enum CacheStorageRefusal: String, Hashable, Sendable, CaseIterable {
    /// The policy stores nothing.
    case policy
    /// The method's responses are not stored.
    case method
    /// The status says something about this request alone, or forbids it.
    case status
    /// `must-understand`, and a status the cache does not know (RFC 9111 §5.2.2.3).
    case mustUnderstand = "must-understand"
    /// The request's `no-store`.
    case requestNoStore = "request-no-store"
    /// The response's `no-store`.
    case noStore = "no-store"
    /// Nothing says that it may be reused: no freshness, and a status that is not cacheable by itself.
    case notCacheable = "not-cacheable"
    /// A part that cannot be placed, or that does not fit what is stored (RFC 9111 §3.3).
    case part
    /// Content of which nobody knows whether it is whole (RFC 9111 §3.3).
    case mayBeCutOff = "may-be-cut-off"
    /// A server error that would replace a good response.
    case error
}
