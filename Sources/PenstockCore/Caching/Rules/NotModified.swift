/// Which stored responses a 304 speaks of (RFC 9111 §4.3.4).
struct NotModified {
    let responses: [CachedResponse]
    /// Whether they may be updated by it, besides being used for the one answer.
    let mayUpdate: Bool

    static func identify(_ fields: HTTPFields, among candidates: [CachedResponse]) -> NotModified {
        if let tag = EntityTag.of(fields) { return identify(tag, fields, among: candidates) }
        if let modified = fields[.lastModified] {
            return one(candidates.filter { $0.terms.lastModified == modified })
        }
        // Without a validator the 304 can only mean the one response that was asked about.
        return candidates.count == 1 ? NotModified(responses: candidates, mayUpdate: true) : none
    }

    /// A strong tag means all that have it, a weak one the most recent.
    private static func identify(
        _ tag: EntityTag, _ fields: HTTPFields, among candidates: [CachedResponse]
    ) -> NotModified {
        let strong = candidates.filter { $0.terms.tag?.matchesStrongly(tag) ?? false }
        if !strong.isEmpty { return NotModified(responses: strong, mayUpdate: true) }
        let weak = candidates.filter { $0.terms.tag?.matchesWeakly(tag) ?? false }
        // A strong tag must not update what has only the weak form; servers that weaken the tag of a coded response
        // send it, and the server did compare them as equal.
        if !weak.isEmpty { return one(weak, mayUpdate: tag.isWeak) }
        // What has no tag yet gets one, where the dates agree.
        return one(candidates.filter { $0.terms.tag == nil && $0.terms.lastModified == fields[.lastModified] })
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
