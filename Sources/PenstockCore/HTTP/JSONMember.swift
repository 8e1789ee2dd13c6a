/// A member of JSON in a text, such as a body that somebody has put into a message, once or twice escaped.
enum JSONMember {
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// What is to be replaced: the value of a secret's name, a text without its quotes.
    ///
    /// - Parameters:
    ///   - name: what stands between the quotes, and the backslashes before the second one.
    ///   - text: from the second quote on.
    /// - Returns: `nil` where it is no member, or none of a secret.
    static func value(after name: Substring.UTF8View, in text: Substring.UTF8View) -> Substring.UTF8View? {
        let depth = name.reversed().prefix { $0 == backslash }.count
        guard Redaction.isSecret(HTTPFieldName(unescaped(name.dropLast(depth)))) else { return nil }
        let colon = text.dropFirst().drop(while: isWhite)
        guard colon.first == UInt8(ascii: ":") else { return nil }
        let value = colon.dropFirst().drop(while: isWhite)
        let start = value.drop { $0 == backslash }
        switch start.first {
        case quote: return QuotedText.content(start.dropFirst(), depth)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nested(value, depth)
        default: return plain(value)
        }
    }

    /// A name with its escapes undone, however often they were escaped: `pass\\u0077ord` is `password`.
    private static func unescaped(_ name: Substring.UTF8View) -> String {
        guard name.contains(backslash) else { return String(decoding: name, as: UTF8.self) }
        var text: [UInt8] = []
        var rest = name
        while let byte = rest.first {
            rest = rest.dropFirst()
            guard byte == backslash else {
                text.append(byte)
                continue
            }
            let digits = rest.dropFirst().prefix(4)
            guard rest.first == UInt8(ascii: "u"), digits.count == 4,
                let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16), let scalar = Unicode.Scalar(unit)
            else { continue }
            text += String(scalar).utf8
            rest = rest.dropFirst(5)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isWhite(_ byte: UInt8) -> Bool { byte <= 0x20 }

    /// Up to the bracket that closes it. Brackets in texts close nothing.
    private static func nested(_ text: Substring.UTF8View, _ backslashes: Int) -> Substring.UTF8View {
        var rest = text
        var depth = 0
        while let index = rest.firstIndex(where: isMark) {
            switch text[index] {
            case quote:
                rest = QuotedText.content(text[text.index(after: index)...], backslashes)
                rest = text[rest.endIndex...]
                // The quote that closes it, behind the backslashes that belong to it.
                rest = rest.drop { $0 == backslash }.dropFirst()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            default: depth -= 1
            }
            if depth == 0 { return text[...index] }
            rest = text[text.index(after: index)...]
        }
        return text
    }

    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case quote, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "}"), UInt8(ascii: "]"): true
        default: false
        }
    }

    private static func plain(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        let value = text.prefix { byte in
            !isWhite(byte) && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "}") && byte != UInt8(ascii: "]")
        }
        return value.isEmpty || value.elementsEqual("null".utf8) ? nil : value
    }
}

/// A text between double quotes, in whatever is not one document.
enum QuotedText {
    /// What stands before the quote that closes it, which has as many backslashes before it as the one that opens it; without
    /// one, all there is.
    ///
    /// - Parameters:
    ///   - text: from behind the quote that opens it on.
    ///   - depth: how many backslashes stand before that quote; with none, an even number of them escapes nothing.
    static func content(_ text: Substring.UTF8View, _ depth: Int) -> Substring.UTF8View {
        var (backslashes, end) = (0, text.startIndex)
        for index in text.indices {
            if text[index] == UInt8(ascii: "\\") {
                backslashes += 1
                continue
            }
            if text[index] == UInt8(ascii: "\""), depth == 0 ? backslashes % 2 == 0 : backslashes == depth {
                return text[..<(depth == 0 ? index : end)]
            }
            (backslashes, end) = (0, text.index(after: index))
        }
        return text
    }
}
