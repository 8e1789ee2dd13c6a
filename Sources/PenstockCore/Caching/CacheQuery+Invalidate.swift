/// What other requests do to stored responses (RFC 9111 §4.3.5, §4.4).
extension CacheQuery {
    /// The URLs whose stored responses a write makes invalid: its target, and what `Location` and `Content-Location` name
    /// at the same origin. Other origins' are none of its business.
    func invalidations(by arrival: CacheArrival) -> [HTTPURL] {
        guard !request.method.isSafe, !policy.isRead, (200...399).contains(arrival.status) else { return [] }
        let named = [HTTPFieldName.location, .contentLocation].flatMap { arrival.fields.values(of: $0) }
            .compactMap { try? request.url.resolving($0) }
            .filter { $0.origin == request.url.origin }
        var seen: Set<HTTPURL> = []
        return ([request.url] + named).filter { seen.insert($0).inserted }
    }

    /// A response to HEAD updates the stored responses that it could have been the head of, and makes the others
    /// invalid.
    func headUpdates(by arrival: CacheArrival) -> [CacheUpdate] {
        guard !policy.isOff, !control.noStore, !ResponseControl(arrival.fields).noStore else { return [] }
        return candidates.filter { $0.variant.matches(request.fields) }.map { stored in
            guard isHead(arrival, of: stored) else {
                var invalid = stored
                invalid.isInvalidated = true
                return CacheUpdate(stored: stored, updated: invalid)
            }
            return CacheUpdate(stored: stored, updated: freshened(stored, by: arrival, isChosen: true))
        }
    }

    /// Whether status, validators and length agree, as far as they came and are known.
    private func isHead(_ arrival: CacheArrival, of stored: CachedResponse) -> Bool {
        guard stored.status == 200 || stored.part != nil && !stored.isHeadAlone else { return false }
        let validators = [HTTPFieldName.eTag, .lastModified].allSatisfy { name in
            arrival.fields[name].map { $0 == stored.fields[name] } ?? true
        }
        guard let length = arrival.fields[.contentLength], let known = contentLength(of: stored) else {
            return validators
        }
        return validators && length == known
    }

    private func contentLength(of stored: CachedResponse) -> String? {
        if stored.part == nil, let length = stored.fields[.contentLength] { return length }
        return stored.terms.isCoded ? nil : stored.representationLength.map(String.init)
    }
}
