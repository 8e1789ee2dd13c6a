import Foundation

/// One request before the cache: the request, what is stored for it, and the app's policy.
///
/// All decisions about the request are asked of this value. They are functions of it and of the time; nothing is read,
/// sent or stored here.
///
/// ```swift
/// let stored = await store.responses(for: key).map(\.response)
/// let query = CacheQuery(request, key: key, candidates: stored, policy: .http)
/// for step in query.plan(now: now) { … }
/// ```
package struct CacheQuery: Sendable {
    /// The request as the caller made it.
    package let request: HTTPRequest
    /// What stored responses to the request are found by: its URL, and whose it is.
    package let key: CacheKey
    /// Everything that is stored under ``key``, in any order.
    package private(set) var candidates: [CachedResponse]
    /// What the app wants on top of HTTP's rules.
    package let policy: CachePolicy

    let control: RequestControl
    let preconditions: Preconditions
    let range: ByteRange.Field
    /// Whether nobody will look at the content of a response; `nil` when all content is wanted.
    var discards: (@Sendable (HTTPResponse) -> Bool)?
    /// What stands for a credential that a response varies by.
    var digests: CredentialDigests

    /// A query about one request.
    ///
    /// - Parameters:
    ///   - request: as the caller made it, before the cache adds conditions of its own.
    ///   - key: the request's.
    ///   - candidates: everything that is stored under `key`, in any order; empty where nothing is.
    ///   - policy: what the app wants on top of HTTP's rules.
    package init(_ request: HTTPRequest, key: CacheKey, candidates: [CachedResponse], policy: CachePolicy) {
        self.init(request, key: key, candidates: candidates, policy: policy, discards: nil, .locked)
    }

    /// - Parameter discards: whether nobody will look at the content of a response.
    init(
        _ request: HTTPRequest, key: CacheKey, candidates: [CachedResponse], policy: CachePolicy,
        discards: (@Sendable (HTTPResponse) -> Bool)?, _ digests: CredentialDigests
    ) {
        self.request = request
        self.key = key
        self.candidates = candidates
        self.policy = policy
        self.discards = discards
        self.digests = digests
        // Most requests have none of the fields that are read here.
        let isPlain = request.fields.first(of: Self.directing) == nil
        control = isPlain ? RequestControl() : RequestControl(request.fields)
        preconditions = isPlain ? Preconditions() : Preconditions(request.fields)
        range = isPlain ? .whole : ByteRange.field(request)
    }

    /// The same request with other candidates.
    func among(_ candidates: [CachedResponse]) -> CacheQuery {
        var query = self
        query.candidates = candidates
        return query
    }

    private static let directing: HTTPFieldNames = conditions + [.cacheControl, .pragma]

    /// Whether what is stored may answer the request's method at all: GET and HEAD, and what the app declared a read.
    var isReadable: Bool {
        request.method == .get || request.method == .head || policy.isRead
    }

    /// Whether nobody will look at the content of the response.
    func isDiscarded(_ response: HTTPResponse) -> Bool {
        discards?(response) ?? false
    }

    func freshness(of stored: CachedResponse, now: Date) -> Freshness {
        Freshness(stored, ttl: policy.ttl, now: now)
    }

    // MARK: Selection (RFC 9111 §4, §4.1)

    /// The stored response that fits the request's fields: the most recent, complete ones before parts.
    var selected: CachedResponse? {
        // One response that matches is by far the most common case.
        if candidates.count == 1, candidates[0].variant.matches(request.fields, digests) { return candidates[0] }
        let exact = candidates.filter { $0.variant.matches(request.fields, digests) }
        if let best = best(of: exact) { return best }
        return best(
            of: candidates.filter { stored in
                let languages = FieldList.members(stored.fields.values(of: .contentLanguage))
                return languages.count == 1
                    && stored.variant.matches(request.fields, language: String(languages[0]), digests)
            })
    }

    /// Whether a stored response could have been chosen for the request: a weak validator means no other (RFC 9110 §8.8.1).
    ///
    /// - Parameter selected: the one that was, which may fit by its language alone.
    func isChoosable(_ stored: CachedResponse, beside selected: CachedResponse?) -> Bool {
        stored.variant == selected?.variant || stored.variant.matches(request.fields, digests)
    }

    private func best(of matching: [CachedResponse]) -> CachedResponse? {
        matching.max { left, right in
            let (answersLeft, answersRight) = (shape(of: left).isAnswer, shape(of: right).isAnswer)
            return answersLeft == answersRight ? Self.isOlder(left, right) : answersRight
        }
    }

    /// Whether one response came before another one; of two that came at once, which has been made invalid.
    static func isOlder(_ left: CachedResponse, _ right: CachedResponse) -> Bool {
        (left.terms.date, left.responseTime, left.isInvalidated ? 0 : 1)
            < (right.terms.date, right.responseTime, right.isInvalidated ? 0 : 1)
    }
}
