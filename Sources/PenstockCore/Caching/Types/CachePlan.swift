import Foundation

/// What a policy makes of a request: the steps in their order.
package struct CachePlan: Sendable {
    /// One thing to do about the request.
    package enum Step: Sendable {
        /// A value for the caller.
        case deliver(CacheHit)
        /// Send, and give the caller what comes of it; when it fails, a stored response may step in.
        case send(CacheExchange)
        /// Send behind the answer; nobody hears of its failure.
        case refresh(CacheExchange)
        /// Answer with a failure.
        case refuse(CacheReason)
    }

    /// At least one. A second one follows where the caller gets a stored response first: the load behind it.
    package let steps: [Step]
    /// Why the first step is what it is.
    package let reason: CacheReason
}

/// A request to send, and what is known about it.
package struct CacheExchange: Sendable {
    /// With the cache's conditions, where it has any.
    package let request: HTTPRequest
    /// What is being asked about; `nil` for a plain load.
    package let validation: CacheValidation?
    /// Why the request is sent at all.
    package let reason: CacheReason
    /// Whether a failure may be answered by ``CacheQuery/fallback(for:now:)``.
    package let mayFallBack: Bool
}

/// How a load failed.
package enum CacheFailure: Hashable, Sendable {
    /// No response: no connection, a broken one, a time-out.
    case disconnected
    /// A response of this status.
    case status(Int)
}

/// A response that has come, as far as the cache looks at it.
package struct CacheArrival: Sendable {
    /// The status code as it came; 206 and 304 are among those that mean something to the cache.
    package var status: Int
    /// The fields of the head as received, without the trailers.
    package var fields: HTTPFields
    /// The version of HTTP it came by. It is stored with the response and decides nothing.
    package var version: HTTPVersion
    /// Length of its content in bytes, content codings removed.
    package var bodyLength: Int
    /// Whether all of the content came (RFC 9112 §8).
    package var isComplete: Bool
    /// Whether the content was thrown away unread, as that of a redirect which is followed: of such a response the head
    /// alone can be stored.
    package var isDiscarded: Bool
    /// When the request was sent, by the wall clock.
    package var requestTime: Date
    /// When the head of the response came, by the wall clock.
    package var responseTime: Date

    /// A response that has come.
    ///
    /// - Parameters:
    ///   - bodyLength: in bytes, with content codings removed. 0 by default.
    ///   - isComplete: whether all of the content came; `true` by default.
    ///   - isDiscarded: whether the content was thrown away unread; `false` by default.
    ///   - requestTime: when the request was sent, by the wall clock.
    ///   - responseTime: when the head of the response came, by the wall clock.
    package init(
        status: Int, fields: HTTPFields, version: HTTPVersion = .http11, bodyLength: Int = 0, isComplete: Bool = true,
        isDiscarded: Bool = false, requestTime: Date, responseTime: Date
    ) {
        self.status = status
        self.fields = fields
        self.version = version
        self.bodyLength = bodyLength
        self.isComplete = isComplete
        self.isDiscarded = isDiscarded
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
