/// Signs the final bytes of each attempt.
struct Sign: Interceptor {
    let signer: any Signer

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        let signed = try await call.stage(.sign) {
            try await call.appCode(signer, stage: .sign) { try await signer.sign(request, call: call) }
        }
        return try await next(signed)
    }
}
