import Foundation

/// Requests that ask the server about what is stored (RFC 9111 §4.3.1).
extension CacheQuery {
    /// The most entity tags that a request carries.
    static let tagLimit = 10

    /// A request with conditions of the cache's; `nil` when no stored response has a validator of use.
    ///
    /// Entity tags of all responses stored for the URL are offered, other variants' too: the server may name any of
    /// them (§4.1). Of what does not fit the request only strong ones are: a weak tag may be that of several variants, so that
    /// the server's answer would not tell them apart (RFC 9110 §8.8.1). `Last-Modified` goes along where the selected response
    /// alone is asked about and no range is (§4.3.1).
    func validation(of stored: CachedResponse?, _ reason: CacheReason) -> CacheExchange? {
        // Without either field there is nothing to ask with, and no date and directive has to be read to see it.
        guard !preconditions.isAnyMatch, candidates.contains(where: { $0.fields.first(of: Self.validators) != nil })
        else { return nil }
        let asked = askable(with: stored)
        let tagged = asked.filter { $0.terms.tag != nil }
        var sent = request
        var candidates = tagged
        if !tagged.isEmpty {
            sent.fields[.ifNoneMatch] = union(of: tagged)
            sent.fields.remove(.ifModifiedSince)
        }
        if let stored, asked.map(\.variant) == [stored.variant], range == .whole, preconditions.noneMatch == nil,
            let modified = stored.terms.lastModified
        {
            sent.fields[.ifModifiedSince] = modified
            candidates = [stored]
        }
        guard !candidates.isEmpty else { return nil }
        return CacheExchange(
            purpose: .validate, request: sent, candidates: candidates, selected: stored, reason: reason)
    }

    /// The same behind an answer, without what the caller asks of the answer alone.
    func refresh(_ stored: CachedResponse, _ reason: CacheReason) -> CacheExchange {
        var plain = request
        plain.fields = plain.fields.without(Self.conditions)
        let query = CacheQuery(
            plain, key: key, candidates: candidates, policy: policy, discards: discards, digests)
        let exchange =
            query.validation(of: stored, reason)
            ?? CacheExchange(purpose: .validate, request: plain, selected: stored, reason: reason)
        return exchange.withoutFallback
    }

    /// A request for what is missing of a stored part, when one more part completes it and both can be joined safely:
    /// `If-Range` makes the server send all of it when it has changed (§3.4).
    func completion(of stored: CachedResponse) -> CacheExchange? {
        guard request.method == .get, !preconditions.isConditional, !request.fields.contains(.range),
            !stored.isInvalidated, let part = stored.part, let tag = stored.terms.strongTag,
            let held = stored.held, !held.isEmpty, let missing = missing(from: part, held)
        else { return nil }
        var sent = request
        sent.fields[.range] = missing
        sent.fields[.ifRange] = tag.text
        return CacheExchange(
            purpose: .complete, request: sent, candidates: [stored], selected: stored, reason: .partial)
    }

    static let conditions: HTTPFieldNames = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .range, .ifRange,
    ]

    static let validators: HTTPFieldNames = [.eTag, .lastModified]

    private func missing(from part: CachedPart, _ held: Range<Int>) -> String? {
        if held.lowerBound == 0 { return "bytes=\(held.upperBound)-" }
        return part.completeLength == held.upperBound ? "bytes=0-\(held.lowerBound - 1)" : nil
    }

    /// The selected response first. §4.3.2: a part is asked about only by requests that it would answer.
    private func askable(with stored: CachedResponse?) -> [CachedResponse] {
        let others = candidates.filter {
            $0.variant != stored?.variant && shape(of: $0).isAnswer
                && (isChoosable($0, beside: stored) ? $0.terms.tag : $0.terms.strongTag) != nil
        }
        let selected = stored.map { $0.terms.hasValidator && shape(of: $0).isAnswer ? [$0] : [] } ?? []
        let recent = others.sorted { Self.isOlder($1, $0) }
        return Array((selected + recent).prefix(Self.tagLimit))
    }

    /// §4.3.2: the caller's tags and the cache's, each once.
    private func union(of tagged: [CachedResponse]) -> String {
        var seen: Set<EntityTag> = []
        let tags = (preconditions.noneMatch ?? []) + tagged.compactMap(\.terms.tag)
        return tags.filter { seen.insert($0).inserted }.map(\.text).joined(separator: ", ")
    }
}
