/// Whether a URL has to be looked at as a whole, since each look-up asks: no word is copied and no pattern tried on the way of
/// the many that have nothing to hide. What it passes over has no secret; what it does not may have none either.
enum SecretHint {
    /// - Parameter url: without a fragment, as keys have it.
    static func stands(in url: String) -> Bool {
        let bytes = url.utf8
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let head = bytes[..<mark]
        if isSuspectHead(head) || head[path(of: url)...].contains(UInt8(ascii: ":")) { return true }
        guard mark != bytes.endIndex else { return false }
        var rest = bytes[bytes.index(after: mark)...]
        while true {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") }
            if isSuspect(pair) { return true }
            rest = rest[pair.endIndex...]
            guard !rest.isEmpty else { return false }
            rest = rest.dropFirst()
        }
    }

    /// User information, a parameter such as `;jsessionid=…`, an escape, a character reference, or the beginning of a token.
    private static func isSuspectHead(_ bytes: Substring.UTF8View) -> Bool {
        if bytes.contains(where: isSign) { return true }
        guard SecretShape.mayBeToken(Substring(bytes)) else { return false }
        var rest = bytes
        while !rest.isEmpty {
            let part = rest.prefix { !endsPart($0) }
            if SecretShape.holdsKnownToken(Substring(part)) { return true }
            rest = rest[part.endIndex...].dropFirst()
        }
        return false
    }

    /// Where the path of a URL begins.
    static func path(of url: String) -> String.Index {
        let slash = UInt8(ascii: "/")
        let head = url.utf8.prefix { $0 != UInt8(ascii: "?") }
        let host = head.drop { $0 != slash }.drop { $0 == slash }
        return host.firstIndex(of: slash) ?? head.endIndex
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "&"): true
        default: false
        }
    }

    private static func endsPart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",")
    }

    private static func isSuspect(_ pair: Substring.UTF8View) -> Bool {
        let name = pair.prefix { $0 != UInt8(ascii: "=") }
        let value = pair[name.endIndex...].dropFirst()
        let isSuspect = [name, value].contains { text in
            SecretShape.mayBeToken(Substring(text)) || text.contains(where: RedactedText.isOfReference)
        }
        return isSuspect || !value.isEmpty && isSecret(String(Substring(name)))
    }

    /// What was found out about names. Few are ever used.
    private static let known = Locked<[String: Bool]>([:])

    private static func isSecret(_ name: String) -> Bool {
        if let answer = known.withLock({ $0[name] }) { return answer }
        let answer = Redaction.isSecret(parameter: name)
        known.withLock { known in
            if known.count >= 512 { known.removeAll() }
            known[name] = answer
        }
        return answer
    }
}
