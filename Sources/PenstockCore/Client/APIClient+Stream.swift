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
        _ endpoint: E, options: CallOptions? = nil, in scope: CallScope? = nil
    ) async throws(APIError) -> StreamedResponse {
        let call = begin(endpoint, options, in: scope, streams: true)
        let context = call.context
        context.emitStart()
        let result = await withTaskCancellationHandler {
            await Result { () async throws(APIError) in try await self.head(of: call) }
        } onCancel: {
            context.cancel(.requested)
        }
        do throws(APIError) {
            let exchange = try result.get()
            try context.checkNotCancelled()
            return streamed(exchange, call)
        } catch {
            throw leave(call, error)
        }
    }

    /// The request path as far as the status.
    private func head<E: Endpoint>(of call: ActiveCall<E>) async throws(APIError) -> Exchange {
        let exchange = try await exchange(try prepare(call), for: call)
        let status = call.context.settings.status
        guard !status.accepts(exchange.response.status) else { return await teed(exchange, for: call) }
        var failed = exchange
        let reader = ContentReader(exchange, call.context) { $0 }
        failed.response.body = try await reader.collect(upTo: call.context.settings.limits.bodyBytes)
        failed.content = nil
        _ = try deliver(failed, for: call)
        return failed
    }

    private func streamed<E: Endpoint>(_ exchange: Exchange, _ call: ActiveCall<E>) -> StreamedResponse {
        let reader = ContentReader(exchange, call.context) { failure in
            guard let failure else {
                call.context.emit(.callEnded(.success))
                self.remove(call)
                return nil
            }
            return self.leave(call, failure)
        }
        return StreamedResponse(exchange, call.context.attempts, reader)
    }

    /// Takes a call that ended otherwise than well off the tables.
    private func leave<E: Endpoint>(_ call: ActiveCall<E>, _ error: APIError) -> APIError {
        let error = ended(error, call)
        remove(call)
        return error
    }

    private func remove<E: Endpoint>(_ call: ActiveCall<E>) {
        shared.calls.remove(call.context, at: call.place)
        call.leaveScope()
        call.context.hasEnded()
    }
}
