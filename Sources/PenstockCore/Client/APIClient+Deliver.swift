extension APIClient {
    /// Makes a call's response of an exchange: status → envelope → validate → decode.
    func deliver<E: Endpoint>(_ exchange: Exchange, for call: ActiveCall<E>) throws(APIError) -> APIResponse<E.Output> {
        do throws(APIError) {
            return try opened(exchange, call)
        } catch {
            var error = error
            error.request = exchange.request
            error.response = exchange.response
            error.sendState = .answered
            throw error
        }
    }

    private func opened<E: Endpoint>(
        _ exchange: Exchange, _ call: ActiveCall<E>
    ) throws(APIError) -> APIResponse<E.Output> {
        let context = call.context
        let endpoint = call.endpoint
        let options = context.settings.modelFormat
        let envelope = exchange.hasNoContent ? nil : try envelope(of: call)
        try context.stage(.status) { () throws(APIError) in
            try context.settings.status.check(exchange.response, envelope: envelope, options: options)
        }
        let payload = Payload(
            exchange.response.body, contentType: exchange.response.fields.combined(.contentType), options: options)
        let opened = try context.stage(.envelope) { () throws(APIError) in
            try call.decoding.open(payload, envelope: envelope, options: options)
        }
        let content = endpoint.payloadValidator
        if !content.isNone {
            try context.stage(.payloadValidation) { () throws(APIError) in
                try content.validate(opened.payload, at: .payloadValidation)
            }
        }
        let (value, notes) = try context.stage(.decoding) { () throws(APIError) in try opened.decoded() }
        for note in notes { context.emit(.defaultUsed(path: note.path)) }
        let rule = endpoint.validator
        if !rule.isNone {
            try context.stage(.validation) { () throws(APIError) in try rule.validate(value) }
        }
        return APIResponse(value, notes, opened, exchange, attempts: context.attempts)
    }

    func envelope<E: Endpoint>(of call: ActiveCall<E>) throws(APIError) -> Envelope? {
        try call.endpoint.envelope(in: call.runtime)
    }
}

extension Endpoint {
    fileprivate func envelope(in runtime: Result<ServiceRuntime, APIError>) throws(APIError) -> Envelope? {
        switch envelope {
        case .ofService: try runtime.get().service.envelope
        case .none: nil
        case .custom(let envelope): envelope
        }
    }

    /// Whether a success with this head could still be refused by its content, which is judged where it is collected.
    func mayRefuse(
        _ head: HTTPResponse, by decoding: ResponseDecoding<Output>, in runtime: Result<ServiceRuntime, APIError>
    ) -> Bool {
        let envelope = try? envelope(in: runtime)
        return decoding.mayRefuse(head.fields.combined(.contentType), under: envelope) || !payloadValidator.isNone
            || !validator.isNone
    }
}

extension Exchange {
    /// Whether HTTP has no content for this response, so that there can be no envelope: the answer to HEAD, 204 and 205
    /// (RFC 9110 §9.3.2, §15.3.5, §15.3.6).
    fileprivate var hasNoContent: Bool {
        response.body.isEmpty && (request.method == .head || response.status == 204 || response.status == 205)
    }
}
