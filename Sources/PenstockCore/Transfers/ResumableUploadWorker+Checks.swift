/// What is looked at before anything of an upload is sent.
extension ResumableUploadWorker {
    /// - Throws: why the upload cannot be made as it was asked for.
    func checkOrder() throws(APIError) {
        let runtime = try call.runtime.get()
        let settings = call.resolved.settings
        if let refusal = settings.cacheMissWithoutCache { throw refusal }
        // A sealer would change what the offsets count.
        guard !settings.sealing.seals(byDefault: runtime.service.sealer != nil) else {
            throw APIError(.unsupported(feature: "resumable uploads of sealed content"), stage: .seal)
        }
        // What the system cannot keep is refused before it has anything.
        if let missing = order.background?.refusal(of: settings) {
            throw APIError(.unsupported(feature: missing), stage: .transport, sendState: .unsent)
        }
        try checkMethod()
        try checkMetadata()
    }

    private func checkMethod() throws(APIError) {
        let method = order.route.method
        guard method.isSafe || method == .delete else { return }
        throw APIError(
            .invalidParameter(field: "method", reason: "is \(method), by which nothing is uploaded"), stage: .prepare,
            sendState: .unsent)
    }

    /// What the protocol has no form for would be left out, or read as something else.
    private func checkMetadata() throws(APIError) {
        let keys = order.metadata.others.keys
        let reason: String
        switch order.form {
        case .httpDraft where !keys.isEmpty: reason = "is for servers of tus; the IETF's draft has no form for it"
        case .tus where !keys.allSatisfy(UploadMetadata.isKey):
            reason = "has a key that is empty, or not of ASCII without spaces and commas"
        default: return
        }
        throw APIError(.invalidParameter(field: "metadata", reason: reason), stage: .prepare)
    }
}
