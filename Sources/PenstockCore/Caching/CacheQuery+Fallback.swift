import Foundation

/// What steps in for a load that failed (RFC 9111 §4.2.4, §4.3.3; RFC 5861 §4).
extension CacheQuery {
    /// Statuses by which a server says that it failed, rather than the request (RFC 5861 §4).
    static let failureStatuses: Set<Int> = [500, 502, 503, 504]

    /// The stored response that may be used at `now` although it was not validated; `nil` when none may, and the failure
    /// is the answer.
    ///
    /// The server's `no-cache` and `must-revalidate` forbid it, and so do directives of the request that the response
    /// does not meet, unless the request has a `stale-if-error` of its own.
    package func fallback(for failure: CacheFailure, now: Date) -> CacheHit? {
        // Any other status is an answer of its own.
        if case .status(let status) = failure, !Self.failureStatuses.contains(status) { return nil }
        guard !policy.isOff, bypass == nil, let stored = selected, !stored.isInvalidated,
            case .answer(let shape) = shape(of: stored)
        else { return nil }
        let freshness = freshness(of: stored, now: now)
        let terms = stored.terms.control
        guard freshness.isAppOwned || !terms.noCache && (freshness.isFresh || !terms.mustRevalidate),
            objection(to: stored, freshness) == nil || control.staleIfError != nil,
            freshness.isFresh || isTolerable(stored, freshness, failure)
        else { return nil }
        return hit(stored, shape, freshness, failure == .disconnected ? .disconnected : .staleIfError)
    }

    /// Whether it is stale by no more than is allowed. Of a response whose age is not known nobody can say so.
    private func isTolerable(_ stored: CachedResponse, _ freshness: Freshness, _ failure: CacheFailure) -> Bool {
        let tolerance = tolerance(of: stored, for: failure)
        return freshness.isAgeKnown && tolerance > 0 && freshness.staleness <= tolerance
    }

    /// How many seconds of staleness are allowed. Where the app allows none, the server cannot allow more.
    private func tolerance(of stored: CachedResponse, for failure: CacheFailure) -> TimeInterval {
        let asked = TimeInterval(control.staleIfError ?? 0)
        let theirs = TimeInterval(stored.terms.control.staleIfError)
        if let ours = policy.maxStale ?? stored.appMaxStale {
            return ours <= .zero ? asked : max(ours.seconds, theirs, asked)
        }
        let isBoundedByDefault = failure == .disconnected || policy.mode == .networkElseCache
        return max(isBoundedByDefault ? CachePolicy.defaultMaxStale.seconds : 0, theirs, asked)
    }
}
