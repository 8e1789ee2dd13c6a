/// What the words in the name of a field say of whose request it is. The name alone is known, as an app may call a field as it likes.
enum OwnerName: Sendable {
    /// It names whoever the request is made for: a user, an account, a device.
    case owner
    /// It names the request: it is another one each time.
    case exchange

    /// What begins a word that names somebody: `X-User-Id`, `X-Userid`, `X-Device`.
    private static let beginnings = [
        "user", "account", "acct", "login", "tenant", "device", "member", "customer", "visitor", "subscriber",
        "profile",
        "principal", "employee", "player", "patient", "email", "impersonat", "installation", "household", "organi",
        "workspace", "person", "owner", "msisdn",
    ].map { Array($0.utf8) }
    private static let words: Set<[UInt8]> = Set(
        ["uid", "udid", "guid", "imei", "org", "sub", "subject", "behalf", "from", "phone"].map { Array($0.utf8) })
    /// What begins so, and says something of the program alone.
    private static let programs = Array("useragent".utf8)
    private static let exchanges: Set<[UInt8]> = Set(
        [
            "request", "requestid", "correlation", "trace", "traceid", "span", "spanid", "idempotency", "nonce",
            "attempt",
            "retry", "invocation", "timestamp", "transaction", "message", "operation",
        ].map { Array($0.utf8) })

    /// `nil` where it says nothing.
    static func meaning(of name: String) -> OwnerName? {
        let split = SecretName.split(Array(name.utf8)).filter { !$0.isEmpty }
        let isProgram = Array(split.joined()).suffix(programs.count).elementsEqual(programs)
        if !isProgram, split.contains(where: saysOwner) { return .owner }
        return split.contains(where: exchanges.contains) ? .exchange : nil
    }

    private static func saysOwner(_ word: [UInt8]) -> Bool {
        words.contains(word) || beginnings.contains { word.starts(with: $0) }
    }
}
