import Foundation

/// What the caller is given of a stored response (RFC 9111 §4.3.2, §5.1; RFC 9110 §14).
extension CacheQuery {
    enum Shape: Equatable {
        case whole
        case notModified
        /// These bytes of the representation.
        case range(Range<Int>)
        case unsatisfiable(length: Int)
    }

    enum ShapeOrNot: Equatable {
        case answer(Shape)
        case impossible(CacheReason)

        var isAnswer: Bool {
            if case .answer = self { true } else { false }
        }
    }

    func shape(of stored: CachedResponse) -> ShapeOrNot {
        if stored.isHeadAlone {
            // Whoever follows the stored redirect does not miss its content.
            let response = HTTPResponse(status: stored.status, fields: stored.fields)
            return isDiscarded(response) ? .answer(.whole) : .impossible(.partial)
        }
        let asked = rangeAsked(of: stored)
        guard let held = stored.held else { return .impossible(.partial) }
        if let part = stored.part { return shape(of: part, held, stored, asked) }
        if preconditions.isNotModified(stored) { return .answer(.notModified) }
        guard let asked else { return .answer(.whole) }
        // Ranges count in the coded bytes, which are gone.
        guard !stored.terms.isCoded else { return .impossible(.codedRange) }
        guard let bytes = asked.resolved(in: stored.bodyLength) else {
            return .answer(.unsatisfiable(length: stored.bodyLength))
        }
        return .answer(.range(bytes))
    }

    /// §3.3: a part answers requests for what lies within it and no others. One that covers all is stored as complete.
    private func shape(
        of part: CachedPart, _ held: Range<Int>, _ stored: CachedResponse, _ asked: ByteRange?
    ) -> ShapeOrNot {
        // HEAD is answered by the fields of a complete response only.
        guard let bytes = asked.flatMap({ part.completeLength.map($0.resolved) ?? $0.absolute }),
            held.lowerBound <= bytes.lowerBound, bytes.upperBound <= held.upperBound
        else { return .impossible(.partial) }
        return .answer(preconditions.isNotModified(stored) ? .notModified : .range(bytes))
    }

    /// RFC 9110 §14.2: a range is given where the answer would be a 200.
    private func rangeAsked(of stored: CachedResponse) -> ByteRange? {
        guard case .one(let range) = range, stored.status == 200 || stored.part != nil,
            preconditions.allowsRange(of: stored)
        else { return nil }
        return range
    }

    // MARK: Hits

    /// `stored` as the answer; `nil` when it cannot be one.
    func hit(_ stored: CachedResponse, _ reason: CacheReason, now: Date) -> CacheHit? {
        guard case .answer(let shape) = shape(of: stored) else { return nil }
        return hit(stored, shape, freshness(of: stored, now: now), reason)
    }

    func hit(_ stored: CachedResponse, _ shape: Shape, _ freshness: Freshness, _ reason: CacheReason) -> CacheHit {
        let age = Self.whole(freshness.age, within: 0...TimeInterval(DeltaSeconds.maximum))
        let ttl = Self.whole(freshness.remaining, within: -1e15...1e15)
        let (status, fields, content) = reply(stored, shape, age: age)
        return CacheHit(
            stored: stored, original: stored, age: age, ttl: ttl, isStale: !freshness.isFresh && !reason.isConfirmed,
            reason: reason,
            status: status, fields: fields, content: content)
    }

    /// Whole seconds, rounded down. What is no number, as a time that was tampered with makes it, is the least of them.
    private static func whole(_ seconds: TimeInterval, within bounds: ClosedRange<TimeInterval>) -> Int {
        let number = seconds.isNaN ? bounds.lowerBound : min(max(seconds, bounds.lowerBound), bounds.upperBound)
        return Int(clamping: Int64(number.rounded(.down)))
    }

    private func reply(
        _ stored: CachedResponse, _ shape: Shape, age: Int
    ) -> (status: Int, fields: HTTPFields, content: Range<Int>?) {
        var fields = stored.fields
        // §5.1: the age takes the place of the one that came.
        fields.set(.age, toValid: String(age))
        switch shape {
        case .whole:
            let content = request.method == .head ? nil : 0..<stored.bodyLength
            return (stored.status, fields, content)
        case .notModified:
            return (304, Self.notModifiedFields(fields), nil)
        case .range(let bytes):
            let offset = stored.part?.offset ?? 0
            fields[.contentRange] = ContentRange.text(bytes, of: stored.representationLength)
            fields[.contentLength] = String(bytes.count)
            let content = (bytes.lowerBound - offset)..<(bytes.upperBound - offset)
            return (206, fields, content)
        case .unsatisfiable(let length):
            let head: HTTPFields = [.contentRange: "bytes */\(length)", .contentLength: "0", .age: String(age)]
            return (416, head, nil)
        }
    }

    /// RFC 9110 §15.4.5: what describes content that is not sent stays out.
    private static func notModifiedFields(_ fields: HTTPFields) -> HTTPFields {
        var kept = fields
        for name in [HTTPFieldName.contentLength, .contentEncoding, .contentType, .contentRange, .contentLanguage] {
            kept.remove(name)
        }
        return kept
    }
}

extension CachedResponse {
    /// Length of the whole representation, as far as it is known.
    var representationLength: Int? {
        guard let part else { return bodyLength }
        return part.completeLength
    }
}

/// What steps in for a load that failed (RFC 9111 §4.2.4, §4.3.3; RFC 5861 §4).
extension CacheQuery {
    /// Whether a server says by a status that it failed, rather than the request.
    ///
    /// RFC 5861 §4 names 500, 502, 503 and 504. The others of the class are taken for a 500 (RFC 9110 §15), as RFC 9111 §4.3.3
    /// takes any of them for no answer: a network for content delivery has numbers of its own for a server that is down or does
    /// not answer it in time. 501 and 505 are no outage: the server knows neither the method nor the version, now or later.
    static func isFailure(_ status: Int) -> Bool {
        500...599 ~= status && status != 501 && status != 505
    }

    /// The stored response that may be used at `now` although it was not validated; `nil` when none may, and the failure
    /// is the answer.
    ///
    /// The server's `no-cache` and `must-revalidate` forbid it, and so do directives of the request that the response
    /// does not meet, unless the request has a `stale-if-error` of its own.
    package func fallback(for failure: CacheFailure, now: Date) -> CacheHit? {
        // Any other status is an answer of its own.
        if case .status(let status) = failure, !Self.isFailure(status) { return nil }
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

    /// Whether the server, or the request, has asked itself for what is stale in place of such an answer (RFC 5861 §4): for as
    /// long as its `stale-if-error` says, and for the statuses that this is about.
    func isAskedFor(_ stored: CachedResponse, inPlaceOf arrival: CacheArrival) -> Bool {
        let tolerance = TimeInterval(max(control.staleIfError ?? 0, stored.terms.control.staleIfError))
        return [500, 502, 503, 504].contains(arrival.status) && tolerance > 0
            && freshness(of: stored, now: arrival.responseTime).staleness <= tolerance
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
