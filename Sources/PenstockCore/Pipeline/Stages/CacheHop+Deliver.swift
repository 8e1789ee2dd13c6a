import Foundation

/// Makes answers of stored responses.
extension CacheHop {
    /// - Returns: `nil` when the body is no longer there to be read.
    @inline(__always)
    func exchange(for hit: CacheHit) async throws -> Exchange? {
        guard let stored = place(of: hit.stored) else { return nil }
        return try await exchange(for: hit, at: stored)
    }

    /// - Parameter stored: where the body is.
    @inline(__always)
    func exchange(
        for hit: CacheHit, at stored: StoredResponse, status: CacheStatus? = nil, from source: ResponseSource? = nil
    ) async throws -> Exchange? {
        var response = HTTPResponse(status: hit.reply.status, fields: hit.reply.fields, version: hit.stored.version)
        var content: StoredContent?
        if let bytes = hit.reply.content, !bytes.isEmpty {
            if call.streams {
                content = StoredContent(stored, bytes, access.store)
            } else {
                guard bytes.count <= call.settings.limits.bodyBytes else { throw tooLarge(response) }
                guard let body = await body(of: stored, bytes) else { return nil }
                response.body = body
            }
        }
        var exchange = Exchange(
            request: query.request, response: response, content: content, source: source ?? self.source)
        // A part, or a 304 that was asked for, says nothing about what is stored.
        let isAll = hit.reply.status == hit.stored.status
        exchange.cache = Boxed(
            CacheRecord(
                status: status ?? CacheStatus(hit), age: .seconds(hit.age), isStale: hit.isStale,
                entry: isAll ? stored.entry : nil))
        return exchange
    }

    @inline(__always)
    private func body(of stored: StoredResponse, _ bytes: Range<Int>) async -> Data? {
        var body = stored.body
        if body == nil { body = await access.store.body(of: stored) }
        guard let body, bytes.upperBound <= body.count else { return nil }
        return bytes.count == body.count ? body : body.bytes(bytes)
    }

    private func tooLarge(_ response: HTTPResponse) -> APIError {
        APIError(.limitExceeded(.bodyBytes), stage: .cache, request: query.request, response: response)
    }
}

extension Data {
    /// A stretch counted from the first byte, with indices of its own.
    func bytes(_ range: Range<Int>) -> Data {
        Data(dropFirst(range.lowerBound).prefix(range.count))
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
            throw TransportError(.other, sendState: .answered, message: "the stored content is no longer there")
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
