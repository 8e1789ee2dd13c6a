/// Percent-encoding of UTF-8 (RFC 3986 §2).
package enum PercentEncoding {
    /// Escapes everything but unreserved characters: what a value needs to stand anywhere in a URL.
    package static func escaped(_ text: some StringProtocol) -> String {
        escape(text, keeping: isUnreserved)
    }

    /// Escapes what may not stand in a path or a query and leaves the rest, with its escapes, as it is. A `%` that
    /// begins no escape is escaped.
    package static func repaired(_ text: some StringProtocol) -> String {
        guard !text.utf8.allSatisfy(isPathOrQueryByte) else { return String(text) }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count
                && isHex(bytes[index + 1]) && isHex(bytes[index + 2])
            if isEscape || isPathOrQueryByte(byte) { output.append(byte) } else { appendEscape(of: byte, to: &output) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Escapes what may not stand in a path or a query and leaves the rest as it is, every `%` too.
    package static func completed(_ text: some StringProtocol) -> String {
        escape(text) { isPathOrQueryByte($0) || $0 == UInt8(ascii: "%") }
    }

    /// Undoes the escapes of unreserved characters and writes the others in capitals, as equal URLs may differ in both
    /// (RFC 3986 §6.2.2).
    package static func normalised(_ text: String) -> String {
        // Most texts have no escape, and need no copy to be looked through.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { !$0.contains(UInt8(ascii: "%")) }
        guard isPlain != true else { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                let byte = high << 4 | low
                if isUnreserved(byte) { output.append(byte) } else { appendEscape(of: byte, to: &output) }
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Escapes every byte that `keeping` refuses.
    package static func escape(_ text: some StringProtocol, keeping: (UInt8) -> Bool) -> String {
        guard !text.utf8.allSatisfy(keeping) else { return String(text) }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if keeping(byte) { output.append(byte) } else { appendEscape(of: byte, to: &output) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The text with its escapes undone as often as they were made, three times at most: `%2574oken` is `token` to a server that
    /// undoes escapes twice.
    package static func unescaped(_ text: some StringProtocol) -> String {
        var plain = String(text)
        for _ in 0..<3 {
            let bytes = decoded(plain)
            guard bytes.count < plain.utf8.count else { break }
            plain = String(decoding: bytes, as: UTF8.self)
        }
        return plain
    }

    /// The bytes with every escape undone once; a `%` that begins no escape stays.
    package static func decoded(_ text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return output
    }

    /// How many dots a segment consists of, escaped ones included; 0 when it holds anything else.
    package static func dots(_ segment: some StringProtocol) -> Int {
        switch segment.lowercased() {
        case ".", "%2e": 1
        case "..", ".%2e", "%2e.", "%2e%2e": 2
        default: 0
        }
    }

    package static func isUnreserved(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }

    /// `pchar`, `/` and `?` (RFC 3986 §3.3 and §3.4), without `%`.
    private static func isPathOrQueryByte(_ byte: UInt8) -> Bool {
        if isUnreserved(byte) { return true }
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            return true
        default:
            return false
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool { hexValue(byte) != nil }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        let digit = byte &- UInt8(ascii: "0")
        if digit < 10 { return digit }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    static func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
        let digits: StaticString = "0123456789ABCDEF"
        output.append(UInt8(ascii: "%"))
        output.append(digits.utf8Start[Int(byte >> 4)])
        output.append(digits.utf8Start[Int(byte & 15)])
    }
}

/// The query of a link together with the common parameters of the moment.
package enum LinkQuery {
    /// The link's parameters without those that `common` has as well, and then `common`. Names are compared as what their
    /// escapes mean.
    package static func merged(_ link: String?, under common: String?) -> String? {
        guard let common, !common.isEmpty else { return link }
        guard let link, !link.isEmpty else { return common }
        let names = Set(common.split(separator: "&").map(name))
        let kept = link.split(separator: "&").filter { !names.contains(name($0)) }
        return (kept.map(String.init) + [common]).joined(separator: "&")
    }

    private static func name(_ pair: Substring) -> [UInt8] {
        let name = pair.prefix { $0 != "=" }
        return PercentEncoding.decoded(name).map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    }
}
