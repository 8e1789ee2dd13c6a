/// Signs the final bytes of each attempt.
struct Sign: Stage {
    static let name = StageName.sign

    let signer: any Signer

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        let signed = try await call.appCode(signer, stage: .sign) { try await signer.sign(request, call: call) }
        return try await next(signed)
    }
}
