import Foundation

/// A response whose content is received as it is read: what nobody reads yet stays on the wire.
///
/// It is read once, by one task: a second iteration goes on where the first stopped. Cancelling that task closes the
/// wire, and so does letting go of the response before its end.
///
/// Content that comes from a store on a disk is read from there piece by piece, and the store keeps it to its end: also where a
/// reload takes the stored response's place meanwhile, or it is removed by its key, its URL or its tags. Where it is erased instead
/// (`clearCache(.all)`, or all that a user or an environment has), where another process that has the file replaces or removes
/// it, or an app's own store does, the rest of it is gone, and reading throws ``APIError/Kind/cacheMiss``: ask again.
public struct StreamedResponse: AsyncSequence, Sendable {
    /// The head; its body is empty.
    public let http: HTTPResponse
    /// The request of the last exchange, as it was sent.
    public let request: HTTPRequest
    /// Where the response came from: the network, the cache, or an interceptor.
    public let source: ResponseSource
    /// Every exchange of the call, the last one last: more than one when it was redirected.
    public let attempts: [APIError.Attempt]
    /// How the cache handled the request, as RFC 9211 says it; `nil` where it took no part.
    public let cacheStatus: CacheStatus?
    /// Whether it was stored, is past its freshness, and was not validated (RFC 9111 §4.2.4).
    public let isStale: Bool
    let reader: ContentReader

    init(_ exchange: Exchange, _ attempts: [APIError.Attempt], _ reader: ContentReader) {
        http = exchange.response
        request = exchange.request
        source = exchange.source
        cacheStatus = exchange.cache?.status
        isStale = exchange.cache?.isStale ?? false
        self.attempts = attempts
        self.reader = reader
    }

    /// Trailers, timings and connection; complete once the content has ended.
    public var completion: TransportCompletion { reader.completion }

    /// All of the content, or what is left of it.
    ///
    /// - Parameter limit: in bytes. 64 MiB by default.
    /// - Throws: ``APIError/Kind/limitExceeded(_:)`` past the limit, which closes the wire; else what reading throws.
    public func collect(upTo limit: Int = ResponseLimits().bodyBytes) async throws(APIError) -> Data {
        try await reader.collect(upTo: limit)
    }

    /// Reads no more: the wire is closed, and who is reading gets ``APIError/Kind/cancelled``.
    public func cancel() {
        reader.cancel()
    }

    /// The part that was read last is none of what was expected. The call fails of that where nothing more is read.
    ///
    /// - Returns: the error as it is told, which says what was asked for and what came.
    func note(_ error: APIError) -> APIError {
        var error = error
        error.request = request
        error.response = http
        error.sendState = .answered
        reader.note(error)
        return reader.told?.completed(error, nil) ?? error
    }

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Yields the content in pieces of no particular size, none of them empty.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: ContentReader

        /// The next piece of the content, as soon as it has come; `nil` at the end.
        ///
        /// - Throws: ``APIError`` alone; ``APIError/Kind/cancelled`` when the task, the call's scope or the client ended
        ///   the call.
        public mutating func next() async throws(APIError) -> Data? { try await reader.next() }
    }
}

/// Reads the content of one exchange for its call, and tells of the call's end once.
final class ContentReader: Sendable {
    /// Hears that the call has ended, and of what; completes the error.
    typealias End = @Sendable (APIError?) -> APIError?

    let exchange: Exchange
    /// What makes of an error that does not end the call the one that is told; `nil` where nobody reads part by part.
    let told: ToldErrors?
    private let content: any TransportContent
    private let context: CallContext
    private let onEnd: End
    private let state = Locked(State())

    private struct State: Sendable {
        var isEnded = false
        var failure: APIError?
        var bytes = 0
        /// What was wrong with the part that was read last, where its reader may go on behind it.
        var refused: APIError?
    }

    init(_ exchange: Exchange, _ context: CallContext, telling told: ToldErrors? = nil, onEnd: @escaping End) {
        self.exchange = exchange
        self.told = told
        self.context = context
        self.onEnd = onEnd
        content = exchange.content ?? BufferedContent(exchange)
    }

    deinit {
        let state = state.withLock { $0 }
        guard !state.isEnded else { return }
        // Who reads no further because of what was wrong has not left a call that went well.
        if state.refused == nil { context.end(.requested) } else { content.discard() }
        tellOfEnd()
        _ = onEnd(state.refused ?? APIError(.cancelled, stage: .transport, request: exchange.request))
    }

    var completion: TransportCompletion { content.completion }

    /// Whether the call was ended from outside: nothing that has come is given any more.
    var isCancelled: Bool { context.isCancelled }

    func next() async throws(APIError) -> Data? {
        let state = state.withLock { state in
            state.refused = nil
            return state
        }
        if let failure = state.failure { throw failure }
        guard !state.isEnded else { return nil }
        let result = await withTaskCancellationHandler {
            await Result { () async throws(TransportError) in try await content.next() }
        } onCancel: {
            context.end(.requested)
        }
        return try taken(result)
    }

    func collect(upTo limit: Int) async throws(APIError) -> Data {
        var data = Data()
        while let piece = try await next() {
            guard piece.count <= limit - data.count else { throw refuse(.limitExceeded(.bodyBytes)) }
            data.append(piece)
        }
        return data
    }

    func cancel() {
        context.end(.requested)
    }

    /// A part of the content is none of what was expected, and the call fails of that where nothing more is read; or, by
    /// `nil`, the next part is what it is to be.
    func note(_ refused: APIError?) {
        state.withLock { $0.refused = refused }
    }

    /// Ends the call for a reason that its reader found.
    func refuse(_ kind: APIError.Kind, _ reason: (any Error)? = nil) -> APIError {
        content.discard()
        let debugMessage = reason.map { "\($0)" } ?? ""
        return fail(
            APIError(
                kind, stage: .transport, debugMessage: debugMessage, response: exchange.response,
                sendState: .answered, underlying: reason))
    }

    private func taken(_ result: Result<Data?, TransportError>) throws(APIError) -> Data? {
        do throws(TransportError) {
            let piece = try result.get()
            guard !context.isCancelled else { throw TransportError(.cancelled, sendState: .answered) }
            if let piece { state.withLock { $0.bytes += piece.count } } else { end(nil) }
            return piece
        } catch {
            throw fail(APIError(error, request: exchange.request))
        }
    }

    private func fail(_ error: APIError) -> APIError {
        var error = error
        error.request = exchange.request
        return end(error) ?? error
    }

    @discardableResult
    private func end(_ error: APIError?) -> APIError? {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        guard isFirst else { return state.withLock({ $0.failure }) }
        tellOfEnd()
        let completed = onEnd(error) ?? error
        state.withLock { $0.failure = completed }
        return completed
    }

    private func tellOfEnd() {
        context.emit(.contentEnded(bytes: state.withLock { $0.bytes }, content.completion))
    }
}

extension BufferedContent {
    /// The content of an exchange that was collected: of an interceptor's own answer.
    fileprivate convenience init(_ exchange: Exchange) {
        self.init(
            [exchange.response.body],
            completion: TransportCompletion(
                trailers: exchange.response.trailers, timings: exchange.timings, connection: exchange.connection))
    }
}
