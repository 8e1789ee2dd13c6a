import Foundation

/// Compresses the content of a request where its options ask for it: below what seals, as a coding is the last thing that is done to
/// content, and above what signs, since the signature covers the bytes that are sent.
struct Compress: Stage {
    static let name = StageName.compress

    let transport: any Transport
    let refused: RefusedCodings
    let origins: OriginTable

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        guard let compression = call.settings.requestCompression, let shorter = compressed(request, compression) else {
            return try await next(request)
        }
        var exchange = try await next(shorter)
        guard compression.isRefused(by: exchange.response) else { return exchange }
        let origin = request.url.origin
        refused.add(compression.coding, at: origin)
        // It is paid for like any other attempt: where nothing is left, the refusal is the answer, and the next call goes plain.
        let reason = RetryReason.status(exchange.response.status)
        guard origins.withdraw(reason.cost(isHinted: false), for: origin) else {
            call.emit(.notRetried(.budgetUsedUp))
            exchange.retryRefusal = .budgetUsedUp
            return exchange
        }
        exchange.content?.discard()
        call.emit(.retried(after: .zero, reason: reason, budgetLeft: origins.budgetLeft(for: origin)))
        let plain = try await next(request)
        // It was not the coding that was refused.
        if plain.response.status == 415 { refused.remove(compression.coding, at: origin) }
        return plain
    }

    /// `nil` where the request is to be sent as it is.
    private func compressed(_ request: HTTPRequest, _ compression: RequestCompression) -> HTTPRequest? {
        guard case .bytes(let data) = request.body.source, !request.fields.contains(.contentEncoding),
            compression.isWorthwhile(data.count, ofType: request.fields[.contentType]),
            !refused.contains(compression.coding, at: request.url.origin),
            let short = compression.encoded(data, by: transport), RequestCompression.saves(short.count, of: data.count),
            let fields = CodedDigests.fields(request.fields, for: short, of: data)
        else { return nil }
        var request = request
        request.body = .bytes(short)
        request.fields = fields
        request.fields[.contentEncoding] = compression.coding
        return request
    }
}
