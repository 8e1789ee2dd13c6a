/// A member of JSON in a text, such as a body that somebody has put into a message, once or twice escaped, or that an event
/// stream has on several lines.
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
        let plainName = unescaped(name.dropLast(depth))
        guard SecretName.saysSecret(plainName), let value = value(in: text, depth) else { return nil }
        return FieldLine.isSecret(value, of: plainName.utf8[...]) ? value : nil
    }

    /// The value of a member from the second quote of its name on.
    private static func value(in text: Substring.UTF8View, _ depth: Int) -> Substring.UTF8View? {
        let colon = behindGap(text.dropFirst())
        guard colon.first == UInt8(ascii: ":") else { return nil }
        let value = behindGap(colon.dropFirst())
        let start = value.drop { $0 == backslash }
        switch start.first {
        case quote: return QuotedText.content(start.dropFirst(), depth)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nested(value, depth)
        default: return FieldLine.block(value) ?? plain(value)
        }
    }

    /// How many bytes of comments and of lines of an event stream are looked past, so that the work has a bound.
    private static let longestGap = 512

    /// A text behind white space, comments, and what begins a line of an event stream, or is another field of the event.
    private static func behindGap(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var (rest, room) = (text, longestGap)
        while true {
            let behind = rest.drop(while: isWhite)
            let isLine = rest[..<behind.startIndex].contains(UInt8(ascii: "\n"))
            guard let count = gap(behind.prefix(room), isLine) else { return behind }
            room -= count
            rest = behind.dropFirst(count)
        }
    }

    /// How many bytes are a comment, or stand before the data in a line; `nil` for none.
    private static func gap(_ text: Substring.UTF8View, _ isLine: Bool) -> Int? {
        if text.starts(with: "/*".utf8) {
            let inner = text.dropFirst(2)
            let end = zip(inner.indices, inner.indices.dropFirst()).first {
                inner[$0] == UInt8(ascii: "*") && inner[$1] == UInt8(ascii: "/")
            }
            return end.map { 2 + inner.distance(from: inner.startIndex, to: $0.0) + 2 }
        }
        if isLine, text.starts(with: "data:".utf8) { return "data:".utf8.count }
        let isOther = isLine && ["id:", "event:", "retry:"].contains { text.starts(with: $0.utf8) }
        return isOther || text.starts(with: "//".utf8) ? text.prefix { $0 != UInt8(ascii: "\n") }.count : nil
    }

    /// A name with its escapes undone, however often they were escaped: `pass\\u0077ord` is `password`.
    static func unescaped(_ name: Substring.UTF8View) -> String {
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

    /// Returns the text up to the bracket that closes it. Brackets in texts close nothing.
    static func nested(_ text: Substring.UTF8View, _ backslashes: Int) -> Substring.UTF8View {
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
