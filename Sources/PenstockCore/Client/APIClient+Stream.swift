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
    /// waited for. A response whose status is no success is collected and thrown.
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
        return StreamedResponse(exchange, context.attempts, ContentReader(exchange, context, onEnd: finish))
    }
}
