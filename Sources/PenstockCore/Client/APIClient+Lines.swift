import Foundation

extension APIClient {
    /// Sends an endpoint whose response holds one JSON value on each line (jsonlines.org, NDJSON), and gives the values as
    /// they come: each is decoded and validated as the endpoint's output. Envelopes are not looked for.
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
            try endpoint.payloadValidator.validate(opened.payload)
            let value = try opened.decoded().value
            try endpoint.validator.validate(value)
            return value
        }
    }
}
