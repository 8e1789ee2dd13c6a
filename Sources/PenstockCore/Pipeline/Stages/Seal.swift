/// Encrypts the payload on its way out and opens the reply, so that everything above sees plain text.
struct Seal: Stage {
    static let name = StageName.seal

    let sealer: any Sealer

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        guard call.settings.sealing.seals(byDefault: true) else { return try await next(request) }
        guard !call.streams else {
            throw APIError(.unsupported(feature: "streaming a sealed response"), stage: .seal, request: request)
        }
        let sealed = try await call.appCode(sealer, stage: .seal) { try await sealer.seal(request, call: call) }
        var exchange = try await next(sealed)
        let response = exchange.response
        if Self.mayHaveContent(response, to: request.method) {
            exchange.response = try await call.appCode(sealer, stage: .seal) {
                try await sealer.open(response, call: call)
            }
        }
        return exchange
    }

    /// A 205 has none either, though it might by its head (RFC 9110 §15.3.6).
    private static func mayHaveContent(_ response: HTTPResponse, to method: HTTPMethod) -> Bool {
        HTTPResponse.mayHaveContent(response.status, to: method) && response.status != 205
    }
}
