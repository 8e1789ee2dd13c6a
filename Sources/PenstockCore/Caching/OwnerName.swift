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
        "workspace", "person", "owner", "msisdn", "actor", "viewer", "merchant", "company",
    ].map { Array($0.utf8) }
    private static let words = set([
        "uid", "udid", "guid", "imei", "org", "sub", "subject", "behalf", "from", "phone", "sudo", "team", "teamid",
    ])
    /// Words that name somebody in two: `X-Client-Id`, but not `X-Client-Version`.
    private static let pairs = set(["clientid", "actas", "runas"])
    /// What begins as one of those, and says something of the program or of what it shows alone.
    private static let others = ["useragent", "personali", "organic", "organism"].map { Array($0.utf8) }
    private static let program = Array("useragent".utf8)

    /// What ends the name of a field that numbers or dates the request, whoever that is made for: `X-User-Request-Id`.
    private static let surest = set([
        "request", "time", "timestamp", "traceparent", "tracestate", "tracecontext",
    ])
    /// What ends the name of such a field, unless another word in it speaks of somebody: the trace of a visitor is often one for
    /// each session.
    private static let exchanges = set([
        "trace", "correlation",
        "req", "span", "idempotency", "idempotencykey", "nonce", "attempt", "retry", "invocation", "transaction", "txn",
        "message", "operation", "call", "interaction", "activity", "flow", "event", "log",
    ])
    /// What may stand behind those.
    private static let numbers = ["uuid", "guid", "id"].map { Array($0.utf8) }
    /// Words that speak of a secret, or of somebody, so that nothing else in the name counts.
    private static let doubts = set(["key", "keys", "code", "hash", "sign", "client"])

    private static func set(_ words: [String]) -> Set<[UInt8]> { Set(words.map { Array($0.utf8) }) }

    /// `nil` where it says nothing.
    static func meaning(of name: String) -> OwnerName? {
        var split = SecretName.split(Array(name.utf8)).filter { !$0.isEmpty }
        if split.first == [UInt8(ascii: "x")] { split.removeFirst() }
        var words = split[...]
        let isNumber = removeNumber(&words)
        switch ending(of: words, isNumber) {
        case .surest: return .exchange
        case .likely: return saysOwner(words) ? .owner : .exchange
        case nil: return saysOwner(split[...]) ? .owner : nil
        }
    }

    // MARK: Exchanges

    private enum Ending {
        case surest, likely
    }

    /// What the end of a name says of the exchange; `nil` for nothing. It is the end that says what a value is: an `X-Request-Key` is a key.
    private static func ending(of words: ArraySlice<[UInt8]>, _ isNumber: Bool) -> Ending? {
        var rest = words
        guard let last = rest.popLast() else { return nil }
        var ending = kind(last)
        if let before = rest.last, let kind = kind(before + last) {
            (ending, rest) = (kind, rest.dropLast())
        }
        guard ending == .likely else { return ending }
        // Before a word that may be meant otherwise only the name of a vendor stands, unless it is a number of it.
        let strange = rest.filter { kind($0) == nil }
        return strange.contains(where: doubts.contains) || !isNumber && strange.count > 1 ? nil : .likely
    }

    private static func kind(_ word: [UInt8]) -> Ending? {
        surest.contains(word) ? .surest : exchanges.contains(word) ? .likely : nil
    }

    /// Takes away what says that a number follows, be it a word of its own or the end of one: `Request-Id`, `Requestid`.
    private static func removeNumber(_ words: inout ArraySlice<[UInt8]>) -> Bool {
        guard let last = words.last else { return false }
        if words.count > 1, numbers.contains(last) {
            words.removeLast()
            return true
        }
        for number in numbers where last.suffix(number.count).elementsEqual(number) {
            let word = Array(last.dropLast(number.count))
            guard kind(word) != nil else { continue }
            words[words.endIndex - 1] = word
            return true
        }
        return false
    }

    // MARK: Owners

    private static func saysOwner(_ split: ArraySlice<[UInt8]>) -> Bool {
        if Array(split.joined()).suffix(program.count).elementsEqual(program) { return false }
        let isPair = zip(split, split.dropFirst()).contains { pairs.contains($0 + $1) }
        return isPair || split.contains { saysOwner($0) }
    }

    private static func saysOwner(_ word: [UInt8]) -> Bool {
        if others.contains(where: { word.starts(with: $0) }) { return false }
        return words.contains(word) || pairs.contains(word) || beginnings.contains { word.starts(with: $0) }
    }
}
