import Foundation

extension APIClient {
    /// Sends an endpoint and gives its output. Cancelling the task closes the wire.
    ///
    /// However it waits, it ends at once when its task is cancelled, its scope is told to end its calls, on ``cancelAll()``, and when its total time-out
    /// runs out.
    ///
    /// - Parameters:
    ///   - options: what this one call wants different.
    ///   - scope: ends the call by ``CallScope/cancelAll()``. It cannot go meanwhile, since whoever waits holds it.
    public func send<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> E.Output {
        try await response(for: endpoint, options: options, in: scope).value
    }

    /// Sends an endpoint and gives its output with everything it was made from.
    public func response<E: Endpoint>(
        for endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> APIResponse<E.Output> {
        try await begin(endpoint, .init(own: options, scope: scope)).response()
    }

    /// Gives a call its number and its settings, and enters it in the table.
    func begin<E: Endpoint>(_ endpoint: E, _ terms: CallTerms) -> ActiveCall<E> {
        ActiveCall(endpoint, .endpoint, terms, of: self)
    }
}

extension APIClient {
    /// What is stored, if it is fresh or stale within a ``CachePolicy/maxStale`` that is set, and then what the server says
    /// (``CachePolicy/Mode/cacheThenNetwork``): one response or two. The first of two may be ``APIResponse/isStale``. When
    /// the load fails, also by a server error, the stored one has been given and the sequence throws.
    ///
    /// ```swift
    /// for try await page in client.responses(to: ProductList(page: 1)) { show(page.value, isOld: page.source != .network) }
    /// ```
    ///
    /// The mode is always that one; how long a response is fresh, and how stale it may be, is as the options say.
    ///
    /// The sequence owns the call: leaving the loop ends it, and so does letting go of the sequence.
    ///
    /// - Parameter scope: ends the call when it goes.
    public func responses<E: Endpoint>(
        to endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> CachedResponses<E.Output> {
        let policy = resolve(options, endpoint, try? runtime(for: endpoint.service)).settings.cache
        let isTwofold = !policy.isOff && policy.mode != .cacheOnly
        let call = start(endpoint, options: isTwofold ? options.cache(policy.givingTwice) : options, in: scope)
        return .owning(call, \.arrival)
    }
}

extension APIClient {
    /// Sends an endpoint and gives its response once the head has come; the content is received as it is read.
    ///
    /// ```swift
    /// let export = try await client.stream(GetExport())
    /// for try await piece in export { try file.write(contentsOf: piece) }
    /// ```
    ///
    /// It takes the same path as ``send(_:options:in:)`` up to the status; envelope, validators and decoding are for
    /// content that is collected. Time-outs: the total one ends with the head, the idle one counts while content is
    /// waited for. A response whose status is no success is collected and thrown. The scope ends the call by
    /// ``CallScope/cancelAll()``, and once the head has come also when it goes.
    ///
    /// What was read to its end is stored only where nothing would have judged it if it had been collected, since a business
    /// failure must not take the place of what is stored: of endpoints without a validator whose output is `Data`, `Void` or
    /// ``Payload`` and which have no envelope. Under one, `Data` is stored that does not say that it is JSON, such as a picture.
    ///
    /// - Throws: what ``send(_:options:in:)`` throws up to the status; ``APIError/Kind/unsupported(feature:)`` before
    ///   anything is sent where the transport cannot stream responses, or the service seals them.
    public func stream<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(APIError) -> StreamedResponse {
        try await begin(endpoint, .init(own: options, scope: scope, streams: true)).streamedResponse()
    }
}

extension ActiveCall {
    /// The response of a streamed call, which ends with its content.
    func streamedResponse() async throws(APIError) -> StreamedResponse {
        let exchange = try await run { () async throws(APIError) in try await self.path(self.judgeHead) }
        return StreamedResponse(
            exchange, context.attempts,
            ContentReader(exchange, context, telling: told, onEnd: { self.finish($0) }))
    }
}

extension APIClient {
    /// Sends an endpoint whose response holds one JSON value on each line (jsonlines.org, NDJSON), and gives the values as
    /// they come: each is decoded and validated as the endpoint's output. Envelopes are not looked for. They are stored where
    /// those of ``stream(_:options:in:)`` are.
    ///
    /// ```swift
    /// for try await order in try await client.lines(of: ExportOrders()) { show(order) }
    /// ```
    ///
    /// - Parameter maxLineLength: in bytes. 1 MiB by default.
    /// - Throws: what ``stream(_:options:in:)`` throws.
    public func lines<E: Endpoint>(
        of endpoint: E, options: CallOptions = .init(), maxLineLength: Int = 1 << 20, in scope: CallScope? = nil
    ) async throws(APIError) -> StreamedLines<E.Output> {
        let response = try await stream(endpoint, options: options, in: scope)
        return StreamedLines(response, maxLineLength: maxLineLength, decode: decoding(of: endpoint, options))
    }

    /// How one value of a stream of an endpoint's is made: without an envelope.
    func decoding<E: Endpoint>(
        of endpoint: E, _ options: CallOptions
    ) -> @Sendable (Data) throws(APIError) -> E.Output {
        let format = resolve(options, endpoint, try? runtime(for: endpoint.service)).settings.modelFormat
        return { data throws(APIError) in
            let opened = try endpoint.decoding.open(Payload(data, options: format), envelope: nil, options: format)
            try endpoint.payloadValidator.validate(opened.payload, at: .payloadValidation)
            let value = try opened.decoded().value
            try endpoint.validator.validate(value)
            return value
        }
    }
}
