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
@nonexhaustive
public enum CacheFailure: Hashable, Sendable {
    /// No response: no connection, a broken one, a time-out.
    case disconnected
    /// A response of this status.
    case status(Int)
}
