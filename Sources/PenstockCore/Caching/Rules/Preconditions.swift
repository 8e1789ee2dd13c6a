import Foundation

/// The conditions a caller's request carries, and which of them a cache may evaluate (RFC 9111 §4.3.2).
struct Preconditions {
    /// Members of `If-None-Match`; `nil` when there is none.
    private(set) var noneMatch: [EntityTag]?
    /// `If-None-Match: *`.
    private(set) var isAnyMatch = false
    private var modifiedSince: String?
    private var ifRange: String?
    /// `If-Match` and `If-Unmodified-Since` are for the origin server alone.
    private(set) var isForOrigin = false

    /// The preconditions of a request that has none.
    init() {}

    init(_ fields: HTTPFields) {
        let tags = fields.values(of: .ifNoneMatch)
        isAnyMatch = tags.contains("*")
        noneMatch = tags.isEmpty ? nil : EntityTag.list(tags)
        modifiedSince = fields[.ifModifiedSince]
        ifRange = fields[.ifRange]
        isForOrigin = fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
    }

    /// Whether the caller asks for a 304 in any form.
    var isConditional: Bool { noneMatch != nil || modifiedSince != nil }

    /// Whether the caller holds what is stored, so that the answer is a 304. `If-None-Match` is the one that counts
    /// where both are there (RFC 9110 §13.2.2).
    func isNotModified(_ stored: CachedResponse) -> Bool {
        // RFC 9110 §13.2.1: conditions mean nothing where the answer is no success.
        guard (200...299).contains(stored.status) else { return false }
        if let noneMatch {
            return isAnyMatch || noneMatch.contains { stored.terms.tag?.matchesWeakly($0) ?? false }
        }
        // §4.3.2: without Last-Modified, the time the response was made stands for it.
        guard let modifiedSince, let since = HTTPDate.parse(modifiedSince, at: stored.responseTime) else {
            return false
        }
        return stored.terms.modified ?? stored.terms.date <= since
    }

    /// Whether the caller asks by its own tags about nothing but what is stored.
    func namesNothing(but stored: CachedResponse) -> Bool {
        noneMatch?.allSatisfy { stored.terms.tag?.matchesWeakly($0) ?? false } ?? true
    }

    /// Whether a range is to be given: without `If-Range`, or where it names what is stored, strongly (RFC 9110
    /// §13.1.5). A date does when it is the stored `Last-Modified` to the letter and was over a second old.
    func allowsRange(of stored: CachedResponse) -> Bool {
        guard let ifRange else { return true }
        if let tag = EntityTag(ifRange) { return stored.terms.tag?.matchesStrongly(tag) ?? false }
        guard let modified = stored.terms.modified, ifRange == stored.terms.lastModified else { return false }
        return stored.terms.date.timeIntervalSince(modified) >= 1
    }
}

/// Which stored responses a 304 speaks of (RFC 9111 §4.3.4).
///
/// A strong tag tells a representation from all others of its URL. A weak one and a date do not, so they mean a response that could have
/// been chosen for the request.
struct NotModified {
    let responses: [CachedResponse]
    /// Whether they may be updated by it, besides being used for the one answer.
    let mayUpdate: Bool

    /// - Parameters:
    ///   - exchange: what the 304 answers.
    ///   - query: the request that the exchange was made for.
    static func identify(_ fields: HTTPFields, in exchange: CacheExchange, of query: CacheQuery) -> NotModified {
        let candidates = exchange.candidates
        let choosable = candidates.filter { query.isChoosable($0, beside: exchange.selected) }
        if let tag = EntityTag.of(fields) { return identify(tag, fields, among: candidates, choosable) }
        if fields.contains(.lastModified) { return one(choosable.filter { isDated($0, fields) }) }
        // Without a validator the 304 can only mean the one response that was asked about, unless it may as well mean what the
        // caller holds.
        guard candidates.count == 1, query.preconditions.namesNothing(but: candidates[0]) else { return none }
        return NotModified(responses: candidates, mayUpdate: true)
    }

    /// A strong tag means all that have it, a weak one the most recent that could have been chosen.
    private static func identify(
        _ tag: EntityTag, _ fields: HTTPFields, among candidates: [CachedResponse], _ choosable: [CachedResponse]
    ) -> NotModified {
        let strong = candidates.filter { $0.terms.tag?.matchesStrongly(tag) ?? false }
        if !strong.isEmpty { return NotModified(responses: strong, mayUpdate: true) }
        let weak = choosable.filter { $0.terms.tag?.matchesWeakly(tag) ?? false }
        // A strong tag must not update what has only the weak form; servers that weaken the tag of a coded response
        // send it, and the server did compare them as equal.
        if !weak.isEmpty { return one(weak, mayUpdate: tag.isWeak) }
        // What has no tag yet gets one, where the dates agree.
        return one(choosable.filter { $0.terms.tag == nil && isDated($0, fields) })
    }

    /// Whether a response has the `Last-Modified` of the 304, to the letter.
    private static func isDated(_ stored: CachedResponse, _ fields: HTTPFields) -> Bool {
        guard let own = stored.terms.lastModified, let named = fields[.lastModified] else { return false }
        return own.isWritten(as: named)
    }

    private static let none = NotModified(responses: [], mayUpdate: false)

    private static func one(_ matching: [CachedResponse], mayUpdate: Bool = true) -> NotModified {
        guard let recent = matching.max(by: CacheQuery.isOlder) else { return none }
        return NotModified(responses: [recent], mayUpdate: mayUpdate)
    }

    /// The one to answer with: the request's own where it is among them, or else the most recent.
    func chosen(preferring selected: CachedResponse?) -> CachedResponse? {
        responses.first { $0.variant == selected?.variant } ?? responses.max(by: CacheQuery.isOlder)
    }
}
