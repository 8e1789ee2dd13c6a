extension APIError {
    /// Whether a server has answered that the credential is not good, whatever the call failed of after that. Such an answer
    /// says that nothing was done.
    ///
    /// - Parameter expiry: what else than a renewal that was tried says so; `nil` for a service without credentials.
    func wantsCredential(by expiry: ExpiryRule?) -> Bool {
        guard response != nil else { return false }
        if case .authentication = kind { return true }
        var answer = self
        answer.kind = judgement
        return expiry?.matches(answer) ?? false
    }
}

extension APIClient {
    /// What means that a credential is out of date at an endpoint's service; `nil` where it has none.
    func expiry<E: Endpoint>(of endpoint: E) -> ExpiryRule? {
        (try? runtime(for: endpoint).get())?.service.authenticator?.expiry
    }
}
