import Foundation

/// Which responses a private cache stores (RFC 9111 §3).
extension CacheQuery {
    /// Answers to what this one request asked beside its target (412, 416), and statuses whose definitions forbid it
    /// (RFC 6585 §3 to §6).
    private static let refusedStatuses = [304, 412, 416, 428, 429, 431, 511]

    /// Statuses whose meaning for caches is implemented, which `must-understand` asks for (§5.2.2.3).
    private static let understoodStatuses: Set<Int> = Set(200...206).union(300...305).union([307, 308])
        .union(400...417).union([421, 422, 426]).union(500...505)

    /// Why a response to the request is not stored; `nil` when it is.
    ///
    /// What is neither fresh nor can be validated is stored all the same where the status allows it: it is there when the
    /// server is not.
    package func storageRefusal(of arrival: CacheArrival) -> CacheStorageRefusal? {
        let response = ResponseControl(arrival.fields)
        if policy.isOff || policy.mode == .cacheOnly { return .policy }
        if control.noStore { return .requestNoStore }
        if !isStorableMethod(arrival, response) { return .method }
        if arrival.status < 200 || Self.refusedStatuses.contains(arrival.status) { return .status }
        // §5.2.2.3: must-understand takes the place of no-store where the status is understood.
        if response.mustUnderstand {
            if !Self.understoodStatuses.contains(arrival.status) { return .mustUnderstand }
        } else if response.noStore {
            return .noStore
        }
        if arrival.status == 206, PartialContent.bytes(of: arrival) == nil { return .part }
        if arrival.mayBeCutOff { return .mayBeCutOff }
        if !isReusable(arrival, response) { return .notCacheable }
        return replacesBetter(arrival, response) ? .error : nil
    }

    /// GET, what the app declared a read, and POST where it brings what a GET would (RFC 9110 §9.3.3). A response to
    /// HEAD has no content to store; it updates what is stored.
    private func isStorableMethod(_ arrival: CacheArrival, _ response: ResponseControl) -> Bool {
        if request.method == .head { return false }
        return isReadable || isPostOfTarget(arrival, response)
    }

    private func isPostOfTarget(_ arrival: CacheArrival, _ response: ResponseControl) -> Bool {
        guard request.method == .post, [200, 201, 203].contains(arrival.status),
            FreshnessLifetime.isExplicit(arrival.fields, response),
            let location = arrival.fields[.contentLocation], let url = try? request.url.resolving(location)
        else { return false }
        // What was asked for with a secret in its content must not be found by a GET that has none.
        let isForAnyone = key.partition.identity.isEmpty && RequestCredentials.mayStand(in: request)
        return url == request.url && !isForAnyone
    }

    private func isReusable(_ arrival: CacheArrival, _ response: ResponseControl) -> Bool {
        FreshnessLifetime.isExplicit(arrival.fields, response) || response.isPublic || response.isPrivate
            || FreshnessLifetime.heuristicStatuses.contains(arrival.status)
            || policy.ttl != nil && (200...299).contains(arrival.status)
    }

    /// A server error replaces a good response only when the server gives it a lifetime of its own.
    private func replacesBetter(_ arrival: CacheArrival, _ response: ResponseControl) -> Bool {
        guard arrival.status >= 500, !FreshnessLifetime.isExplicit(arrival.fields, response) else { return false }
        let variant = CacheVariant(response: arrival.fields, request: request.fields, digests)
        return candidates.contains { $0.variant == variant && $0.status < 400 }
    }

    // MARK: What is stored

    /// `nil` when a part does not fit what is stored.
    func insertion(of arrival: CacheArrival) -> CacheInsertion? {
        let variant = CacheVariant(response: arrival.fields, request: request.fields, digests)
        if isDiscarded(arrival.response) { return headAlone(arrival, variant) }
        guard arrival.status == 206 else { return whole(arrival, variant) }
        guard let stored = candidates.first(where: { $0.variant == variant && $0.status < 300 }) else {
            return part(arrival, variant)
        }
        if let joined = joined(stored, with: arrival) { return joined }
        // A part takes the place of the complete response only when it is known to be of another representation.
        let hasChanged = PartialContent.isKnownToDiffer(stored, arrival)
        return stored.part != nil || hasChanged ? part(arrival, variant) : nil
    }

    private func whole(_ arrival: CacheArrival, _ variant: CacheVariant) -> CacheInsertion {
        let response = response(arrival, variant, status: arrival.status, fields: StoredFields.of(arrival))
        return CacheInsertion(response: response, pieces: [.received(0..<max(0, arrival.bodyLength))])
    }

    private func headAlone(_ arrival: CacheArrival, _ variant: CacheVariant) -> CacheInsertion {
        var response = response(arrival, variant, status: arrival.status, fields: StoredFields.of(arrival))
        response.bodyLength = 0
        response.part = CachedPart(offset: 0, completeLength: nil)
        return CacheInsertion(response: response, pieces: [])
    }

    private func part(_ arrival: CacheArrival, _ variant: CacheVariant) -> CacheInsertion? {
        guard let range = PartialContent.bytes(of: arrival) else { return nil }
        return placed(range.bytes, range.completeLength, StoredFields.of(arrival), arrival, variant)
            .with([.received(0..<arrival.bodyLength)])
    }

    func placed(
        _ bytes: Range<Int>, _ completeLength: Int?, _ stored: HTTPFields, _ arrival: CacheArrival,
        _ variant: CacheVariant
    ) -> CachedResponse {
        var fields = stored
        let isWhole = bytes.lowerBound == 0 && bytes.upperBound == completeLength
        fields[.contentLength] = String(bytes.count)
        fields[.contentRange] = isWhole ? nil : ContentRange.text(bytes, of: completeLength)
        var response = response(arrival, variant, status: isWhole ? 200 : 206, fields: fields)
        response.bodyLength = bytes.count
        response.part = isWhole ? nil : CachedPart(offset: bytes.lowerBound, completeLength: completeLength)
        return response
    }

    private func response(
        _ arrival: CacheArrival, _ variant: CacheVariant, status: Int, fields: HTTPFields
    ) -> CachedResponse {
        // What a POST brought of its target is found by GET; what a declared read brought, by its own key.
        let storedKey =
            isReadable
            ? key
            : CacheKey(
                method: .get, url: request.url, partition: key.partition, credentialDigest: key.credentialDigest)
        // Whoever has got the one that it replaces may clear it by a tag.
        let tags = candidates.first { $0.variant == variant }?.tags ?? []
        return CachedResponse(
            key: storedKey, variant: variant, status: status, fields: fields, version: arrival.response.version,
            requestTime: arrival.requestTime, responseTime: arrival.responseTime, bodyLength: arrival.bodyLength,
            tags: tags, appTTL: policy.ttl, appMaxStale: policy.maxStale)
    }
}

extension CachedResponse {
    func with(_ pieces: [CacheInsertion.Piece]) -> CacheInsertion {
        CacheInsertion(response: self, pieces: pieces)
    }
}

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
    /// invalid. What was invalid before stays so, unless a validator came that is the stored one's.
    func headUpdates(by arrival: CacheArrival) -> [CacheUpdate] {
        guard !policy.isOff, !control.noStore, !ResponseControl(arrival.fields).noStore else { return [] }
        return candidates.filter { $0.variant.matches(request.fields, digests) }.map { stored in
            var updated = freshened(stored, by: arrival, isChosen: true)
            // Something was changed since it came: only a validator tells that it is the current one all the same.
            updated.isInvalidated = stored.isInvalidated && arrival.fields.first(of: Self.validators) == nil
            // Only what a GET would be answered with may move, or it would take the place of something newer.
            let staysInPlace = updated.variant == stored.variant || stored.variant == selected?.variant
            guard isHead(arrival, of: stored), staysInPlace else { return CacheUpdate(invalidating: stored) }
            return CacheUpdate(stored: stored, updated: updated)
        }
    }

    /// Statuses by which a server says that the request's owner may not have it, or that it is not there any more. A 401 says
    /// neither: the credential may only have to be renewed.
    private static let refusals = [403, 404, 410]

    /// A read that is refused makes invalid what it would have been answered with, as that is what the server no longer gives. HEAD
    /// does not: servers refuse it where they answer GET. So does what may not be stored since it may not be whole: something newer than
    /// what is stored is there.
    func refusalUpdates(by arrival: CacheArrival) -> [CacheUpdate] {
        let isNewer = arrival.mayBeCutOff && 200..<300 ~= arrival.status
        guard isNewer || Self.refusals.contains(arrival.status), isReadable, request.method != .head,
            let stored = selected, stored.status < 400, !stored.isInvalidated
        else { return [] }
        return [CacheUpdate(invalidating: stored)]
    }

    /// Whether status, validators and length agree, as far as they came and are known.
    private func isHead(_ arrival: CacheArrival, of stored: CachedResponse) -> Bool {
        guard stored.status == 200 || stored.part != nil && !stored.isHeadAlone else { return false }
        let validators = [HTTPFieldName.eTag, .lastModified].allSatisfy { name in
            arrival.fields[name].map { stored.fields[name]?.isWritten(as: $0) ?? false } ?? true
        }
        guard let length = arrival.fields[.contentLength], let known = contentLength(of: stored) else {
            return validators
        }
        return validators && length.isWritten(as: known)
    }

    private func contentLength(of stored: CachedResponse) -> String? {
        if stored.part == nil, let length = stored.fields[.contentLength] { return length }
        return stored.terms.isCoded ? nil : stored.representationLength.map(String.init)
    }
}
