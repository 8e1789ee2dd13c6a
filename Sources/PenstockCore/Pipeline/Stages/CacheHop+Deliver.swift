import Foundation

/// Makes answers of stored responses.
extension CacheHop {
    func exchange(
        for hit: CacheHit, at stored: StoredResponse, with body: HitBody, status: CacheStatus? = nil,
        from source: ResponseSource? = nil, isRefreshed: Bool = false
    ) -> Exchange {
        var exchange = Exchange(
            request: shown, response: hit.response(body.data), content: body.content, source: source ?? self.source)
        // A part, or a 304 that was asked for, says nothing about what is stored.
        let isAll = hit.status == hit.stored.status
        exchange.cache = Boxed(
            CacheRecord(status: status ?? CacheStatus(hit), age: .seconds(hit.age), isStale: hit.isStale))
        exchange.leave(
            CacheSettlement(
                access, call.isolation.partition, entry: isAll ? stored.entry : nil,
                find: CacheFind(response: stored.response, ticket: ticket), stale: isRefreshed ? query.key : nil))
        return exchange
    }

    /// The request, as it may be shown. What would be sent of it sealed is left out, as nobody sees it of one that is sent.
    private var shown: HTTPRequest {
        guard query.key.partition.isSealed else { return query.request }
        var request = query.request
        if !request.body.isNone { request.body = .none }
        if request.url.query != nil {
            request.url = HTTPURL(origin: request.url.origin, path: request.url.path, query: nil)
        }
        return request
    }

    /// The body of an answer, where nothing has to be read for it.
    ///
    /// - Returns: `nil` when it has to be read, or a reader is needed for it.
    /// - Throws: ``APIError/Kind/limitExceeded(_:)`` where it is larger than the call's limit.
    private func bodyAtHand(for hit: CacheHit, at stored: StoredResponse) throws(APIError) -> HitBody? {
        guard let bytes = hit.content, !bytes.isEmpty else { return HitBody() }
        if call.streams { return nil }
        guard bytes.count <= call.settings.limits.bodyBytes else { throw tooLarge(hit) }
        return stored.body?.content(bytes).map { HitBody(data: $0) }
    }

    /// The body of an answer.
    ///
    /// - Returns: `nil` when it is no longer there to be read.
    @inline(never)
    func body(for hit: CacheHit, at stored: StoredResponse) async throws(APIError) -> HitBody? {
        if let body = try bodyAtHand(for: hit, at: stored) { return body }
        guard let bytes = hit.content else { return nil }
        if call.streams {
            return try await access.reader(of: stored, call).map { HitBody(content: StoredContent($0, bytes)) }
        }
        return try await access.body(of: stored, call)?.content(bytes).map { HitBody(data: $0) }
    }

    private func tooLarge(_ hit: CacheHit) -> APIError {
        APIError(.limitExceeded(.bodyBytes), stage: .cache, request: query.request, response: hit.response())
    }
}

/// The body of an answer that was stored.
struct HitBody: Sendable {
    /// Empty where the answer has none, or streams it.
    var data = Data()
    /// What is streamed.
    var content: StoredContent?
}

extension CacheHit {
    /// What the caller gets.
    func response(_ body: Data = Data()) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, body: body, version: stored.version)
    }
}

extension Data {
    /// A stretch counted from the first byte, with indices of its own.
    func bytes(_ range: Range<Int>) -> Data {
        Data(dropFirst(range.lowerBound).prefix(range.count))
    }

    /// The same, or `nil` where it does not reach so far.
    fileprivate func content(_ range: Range<Int>) -> Data? {
        guard range.upperBound <= count else { return nil }
        return range.count == count ? self : bytes(range)
    }
}

/// What a stream of stored content fails of when that is no longer there.
struct StoredContentGone: Error {}

/// Content that is read from a store piece by piece.
final class StoredContent: TransportContent {
    private struct State: Sendable {
        /// `nil` once nothing more is read, so that nothing is kept for it.
        var reader: (any CacheBodyReader)?
        var rest: Range<Int>
    }

    private let state: Locked<State>

    init(_ reader: any CacheBodyReader, _ bytes: Range<Int>) {
        state = Locked(State(reader: reader, rest: bytes))
    }

    func next() async throws(TransportError) -> Data? {
        let (reader, wanted) = state.withLock { ($0.reader, $0.rest) }
        guard let reader, !wanted.isEmpty else { return nil }
        guard let found = await reader.bytes(from: wanted.lowerBound), !found.isEmpty else {
            throw TransportError(
                .other, sendState: .answered, message: "the stored content is no longer there",
                underlying: StoredContentGone())
        }
        let piece = found.count <= wanted.count ? found : found.bytes(0..<wanted.count)
        state.withLock { state in
            state.rest = (wanted.lowerBound + piece.count)..<wanted.upperBound
            if state.rest.isEmpty { state.reader = nil }
        }
        return piece
    }

    func discard() {
        state.withLock { $0.reader = nil }
    }

    var completion: TransportCompletion { TransportCompletion() }
}
