import PenstockCore

extension CredentialKey {
    /// All parts as one text, from which they can be had again: each percent-encoded, with a slash between.
    var accountText: String {
        [service, environment, origin, account].map { PercentEncoding.escaped($0) }.joined(separator: "/")
    }

    /// - Returns: `nil` for what ``accountText`` of no key is.
    init?(accountText: String) {
        let parts = accountText.split(separator: "/", omittingEmptySubsequences: false).map { part in
            String(decoding: PercentEncoding.decoded(part), as: UTF8.self)
        }
        guard parts.count == 4 else { return nil }
        self.init(service: parts[0], environment: parts[1], origin: parts[2], account: parts[3])
        guard self.accountText == accountText else { return nil }
    }
}
