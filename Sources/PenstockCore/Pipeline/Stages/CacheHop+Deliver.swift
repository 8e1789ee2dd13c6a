import Foundation

/// Makes answers of stored responses.
extension CacheHop {
    /// - Parameter body: of the answer; empty where its content is streamed.
    func exchange(
        for hit: CacheHit, at stored: StoredResponse, with body: Data, status: CacheStatus? = nil,
        from source: ResponseSource? = nil, isRefreshed: Bool = false
    ) -> Exchange {
        var content: StoredContent?
        if call.streams, let bytes = hit.content, !bytes.isEmpty {
            content = StoredContent(stored, bytes, access.store)
        }
        var exchange = Exchange(
            request: shown, response: hit.response(body), content: content, source: source ?? self.source)
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
    /// - Returns: `nil` when it has to be read; empty where the answer has none, or streams it.
    /// - Throws: ``APIError/Kind/limitExceeded(_:)`` where it is larger than the call's limit.
    private func bodyAtHand(for hit: CacheHit, at stored: StoredResponse) throws(APIError) -> Data? {
        guard let bytes = hit.content, !bytes.isEmpty, !call.streams else { return Data() }
        guard bytes.count <= call.settings.limits.bodyBytes else { throw tooLarge(hit) }
        return stored.body?.content(bytes)
    }

    /// The body of an answer.
    ///
    /// - Returns: `nil` when it is no longer there to be read.
    @inline(never)
    func body(for hit: CacheHit, at stored: StoredResponse) async throws(APIError) -> Data? {
        if let body = try bodyAtHand(for: hit, at: stored) { return body }
        guard let bytes = hit.content, let body = try await access.body(of: stored, call) else { return nil }
        return body.content(bytes)
    }

    private func tooLarge(_ hit: CacheHit) -> APIError {
        APIError(.limitExceeded(.bodyBytes), stage: .cache, request: query.request, response: hit.response())
    }
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

/// Content that is read from a store piece by piece.
final class StoredContent: TransportContent {
    private let stored: StoredResponse
    private let store: any CacheStore
    private let rest: Locked<Range<Int>>

    init(_ stored: StoredResponse, _ bytes: Range<Int>, _ store: any CacheStore) {
        self.stored = stored
        self.store = store
        rest = Locked(bytes)
    }

    func next() async throws(TransportError) -> Data? {
        let wanted = rest.withLock { $0 }
        guard !wanted.isEmpty else { return nil }
        guard let found = await bytes(from: wanted.lowerBound), !found.isEmpty else {
            // To a reader it is content that breaks off in the middle, like that of a connection.
            throw TransportError(
                .connectionLost, sendState: .answered, message: "the stored content is no longer there")
        }
        let piece = found.count <= wanted.count ? found : found.bytes(0..<wanted.count)
        rest.withLock { rest in
            if !rest.isEmpty { rest = (wanted.lowerBound + piece.count)..<wanted.upperBound }
        }
        return piece
    }

    private func bytes(from offset: Int) async -> Data? {
        guard let body = stored.body else { return await store.bytes(of: stored.entry, from: offset) }
        return body.dropFirst(offset)
    }

    func discard() {
        rest.withLock { $0 = 0..<0 }
    }

    var completion: TransportCompletion { TransportCompletion() }
}
