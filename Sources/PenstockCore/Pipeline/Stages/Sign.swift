import Foundation

/// Signs the final bytes of each attempt, for the service's own origin and for those that the signer trusts.
struct Sign: Stage {
    static let name = StageName.sign

    let signer: any Signer
    let service: Service
    let clocks: ServerClocks

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        // A redirect to another server goes without: a signature there would be worth something to whoever that is.
        guard maySign(request.url.origin, call) else { return try await next(request) }
        let (exchange, error) = try await send(request, call, next)
        guard signer.isTimed, ClockRefusal.isLikely(exchange.response.status, error), request.body.isReplayable else {
            return exchange
        }
        exchange.content?.discard()
        return try await send(request, call, next).exchange
    }

    /// - Returns: besides the exchange, how far the clock was wrong by which it was signed.
    private func send(
        _ request: HTTPRequest, _ call: CallContext, _ next: Next
    ) async throws(APIError) -> (exchange: Exchange, error: Duration) {
        let signed = try await call.appCode(signer, stage: .sign) { try await signer.sign(request, call: call) }
        let sent = call.time.date()
        let exchange = try await next(signed)
        let error = clocks.learn(
            from: exchange.response, of: request.url.origin, sent: sent, received: call.time.date())
        return (exchange, error)
    }

    private func maySign(_ origin: HTTPURL.Origin, _ call: CallContext) -> Bool {
        if signer.trustedOrigins.contains(origin) { return true }
        // A service that has no address here has no origin that it signs for.
        guard let base = try? call.home ?? service.baseURL(in: call.environment) else { return false }
        return base.origin == origin
    }
}

/// Whether a signature was refused for its time, so that one by the server's clock, which the refusal has told, may do.
enum ClockRefusal {
    /// A server takes times that are within a window of its own, a minute at the least: what is wrong by less than half of that
    /// was not refused for it.
    static let tolerance = Duration.seconds(30)
    /// What servers refuse a signature with: Amazon's say 400 or 403, others 401.
    private static let statuses = [400, 401, 403]

    static func isLikely(_ status: Int, _ error: Duration) -> Bool {
        statuses.contains(status) && error >= tolerance
    }
}

extension CallContext {
    /// The date by the clock of a server, as far as its responses have told that it differs from the device's own: what a
    /// signature or a proof should be dated by. It is learnt from the `Date` of responses to signed requests.
    public func serverDate(of origin: HTTPURL.Origin) -> Date {
        clocks.date(of: origin, at: time.date())
    }
}
