/// Credentials in a text, known by the name of their scheme (RFC 9110 §11.4) before them: `Bearer hunter2secret`.
enum CredentialText {
    private static let schemes = [
        "basic", "bearer", "token", "digest", "dpop", "negotiate", "ntlm", "apikey", "hawk", "sharedkey",
    ]
    private static let lengths = 4...9
    private static let shortest = 4
    /// No word that follows the name of a scheme in a sentence is longer, and has neither digit nor sign.
    private static let longestWord = 15
    /// `OAuth` is shorter.
    private static let shortestMixed = 8

    /// Whether a word is a scheme's name, whatever stands before that: `'Bearer`, `auth=Basic`.
    static func endsInScheme(_ word: Substring.UTF8View) -> Bool {
        let name = word.reversed().prefix(lengths.upperBound + 1).prefix(while: SecretName.isAlphanumeric)
        guard lengths.contains(name.count) else { return false }
        return schemes.contains { $0.utf8.reversed().elementsEqual(name.lazy.map(HTTPSyntax.lowercased)) }
    }

    /// The credential that a word behind a scheme's name is, without the signs of the sentence behind it; `nil` where it may
    /// be a word of the sentence, as in `basic usage`.
    static func credential(in word: Substring.UTF8View) -> Substring.UTF8View? {
        let text = withoutPunctuation(word)
        return isCredential(text) ? text : nil
    }

    static func withoutPunctuation(_ word: Substring.UTF8View) -> Substring.UTF8View {
        let signs = ",;:.!?'`)]}\\".utf8
        let count = word.reversed().prefix { signs.contains($0) }.count
        return word.dropLast(count)
    }

    /// Whether a text has a digit, a sign of base64 or of a parameter, or more capital letters within than a name has.
    private static func isCredential(_ text: Substring.UTF8View) -> Bool {
        guard text.count >= shortest else { return false }
        if text.count > longestWord { return true }
        let signs = "+/=_~.:".utf8
        if text.contains(where: { SecretName.isDigit($0) || signs.contains($0) }) { return true }
        let pairs = zip(text, text.dropFirst())
        let humps = pairs.count { SecretName.isSmall($0) && SecretName.isCapital($1) }
        let isMixed = humps > 0 && pairs.contains { SecretName.isCapital($0) && SecretName.isCapital($1) }
        return humps > 1 || isMixed && text.count >= shortestMixed
    }
}

/// A field in a text, such as a line of a request that a server sends back: `Authorization: Bearer …`.
///
/// What has the name of a secret field, such as `X-Api-Key`, has a value to the end of its line. What is one word, such as
/// `token`, may be a sentence's: its value is known where it is quoted, is all of the line, or looks like no word.
enum FieldLine {
    private static let quotes = [UInt8(ascii: "'"), UInt8(ascii: "`")]
    /// What stands before a name in a query, a path or user information.
    private static let pairSigns = "?&/@".utf8
    /// Fields that are one word.
    private static let fields = ["authorization", "cookie"]
    /// What begins a sentence about credentials, and is none.
    private static let sayings = ["authentication", "unauthorized", "unauthenticated"]

    /// The value of a secret field whose name is in a word; `nil` where there is none.
    ///
    /// - Parameters:
    ///   - text: from the word's beginning on.
    ///   - before: what stands before the word, but for white space in its line: a line's end, a quote, or something else.
    static func value(
        of word: Substring.UTF8View, in text: Substring.UTF8View, after before: UInt8
    ) -> Substring.UTF8View? {
        let isFirst = before == UInt8(ascii: "\n") || before == UInt8(ascii: "\r") || before == UInt8(ascii: "\"")
        guard let colon = colon(in: word, isFirst) else { return nil }
        let isClosed = quotes.contains { $0 == word[..<colon].last }
        let head = word[..<colon].dropLast(isClosed ? 1 : 0)
        let count = head.reversed().prefix(while: isOfName).count
        let name = head.suffix(count)
        let sign = head.dropLast(count).last
        guard !name.isEmpty, !isOfReference(sign), Redaction.isSecret(HTTPFieldName(String(Substring(name)))) else {
            return nil
        }
        let value = text[word.index(after: colon)...].drop(while: isSpace)
        if let block = block(value) { return block }
        let closing = isClosed ? nil : quotes.first { $0 == sign }
        if name.contains(UInt8(ascii: "-")) || contains(fields, name) {
            let line = line(value, closing: closing, isQuoted: before == UInt8(ascii: "\""))
            return line.isEmpty ? nil : line
        }
        guard sign != UInt8(ascii: "="), !contains(sayings, name) else { return nil }
        return secret(in: value, closing: closing, isFirst && head.count - count <= 1 && !isClosed)
    }

    /// The value that a secret's name in a word is set to, with white space around the sign: `token = hunter2`. It is known as
    /// that of a field of one word is.
    static func assigned(
        to word: Substring.UTF8View, in text: Substring.UTF8View, after before: UInt8
    ) -> Substring.UTF8View? {
        let equals = UInt8(ascii: "=")
        var (head, rest) = (word, text[word.endIndex...].drop(while: isSpace))
        if head.last == equals {
            head = head.dropLast()
        } else {
            guard rest.first == equals, rest.dropFirst().first != equals else { return nil }
            rest = rest.dropFirst()
        }
        let count = head.reversed().prefix(while: isOfName).count
        let sign = head.dropLast(count).last
        let name = head.suffix(count)
        guard count > 0, !pairSigns.contains(where: { $0 == sign }), Redaction.isSecret(parameter: Substring(name))
        else {
            return nil
        }
        let isFirst = head.count == count && (before == UInt8(ascii: "\n") || before == UInt8(ascii: "\r"))
        return secret(in: rest.drop(while: isSpace), closing: nil, isFirst)
    }

    /// The lines of a text that YAML has below a name (YAML 1.2 §8.1): `|` or `>` ends the line of the name, and they are indented.
    /// `nil` for anything else.
    static func block(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        guard text.first == UInt8(ascii: "|") || text.first == UInt8(ascii: ">") else { return nil }
        let signs = "+-123456789".utf8
        let head = text.dropFirst().drop { signs.contains($0) }.drop(while: isSpace)
        let lineEnd = head.first == UInt8(ascii: "#") ? head.drop { !isLineEnd($0) } : head
        guard lineEnd.first.map(isLineEnd) ?? false else { return nil }
        let lines = lineEnd.drop(while: isLineEnd)
        let indent = lines.prefix(while: isSpace).count
        guard indent > 0 else { return nil }
        var (rest, end) = (lines, lines.startIndex)
        while !rest.isEmpty {
            let line = rest.prefix { !isLineEnd($0) }
            let lead = line.prefix(while: isSpace).count
            guard lead >= indent || lead == line.count else { break }
            if lead < line.count { end = line.endIndex }
            rest = rest[line.endIndex...].dropFirst()
        }
        let block = lines[..<end].dropFirst(indent)
        return block.isEmpty ? nil : block
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    /// The colon behind a name: the last sign of the word, or within the first word of a line where what follows is neither the
    /// rest of a URL nor a port.
    private static func colon(in word: Substring.UTF8View, _ isFirst: Bool) -> Substring.Index? {
        let sign = UInt8(ascii: ":")
        if word.last == sign { return word.index(before: word.endIndex) }
        guard isFirst, let colon = word.firstIndex(of: sign) else { return nil }
        let value = word[word.index(after: colon)...]
        let isPort = value.count <= 5 && value.allSatisfy(SecretName.isDigit)
        return isPort || value.starts(with: "//".utf8) ? nil : colon
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        SecretName.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// Whether what follows is the end of a path or of a host.
    private static func isOfReference(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "@")
    }

    private static func contains(_ names: [String], _ name: Substring.UTF8View) -> Bool {
        names.contains { $0.utf8.elementsEqual(name.lazy.map(HTTPSyntax.lowercased)) }
    }

    /// Up to the end of the line, or to the quote that closes what the name is the beginning of.
    private static func line(
        _ text: Substring.UTF8View, closing quote: UInt8?, isQuoted: Bool
    ) -> Substring.UTF8View {
        var line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        if let quote, let end = line.firstIndex(of: quote) { line = line[..<end] }
        if isQuoted { line = QuotedText.content(line, 0) }
        return line.dropLast(line.reversed().prefix { $0 <= 0x20 }.count)
    }

    /// The value of a name that may be a word of a sentence.
    private static func secret(
        in text: Substring.UTF8View, closing quote: UInt8?, _ isFirst: Bool
    ) -> Substring.UTF8View? {
        switch text.first {
        case UInt8(ascii: "\""): return QuotedText.content(text.dropFirst(), 0)
        case UInt8(ascii: "'"): return line(text.dropFirst(), closing: UInt8(ascii: "'"), isQuoted: false)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nil
        default: break
        }
        var word = text.prefix { !RedactedText.isDelimiter($0) }
        if let quote, let end = word.firstIndex(of: quote) { word = word[..<end] }
        let next = text[word.endIndex...].drop(while: isSpace).first
        let isAll = next.map { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == quote } ?? true
        guard !word.isEmpty else { return nil }
        return isFirst && isAll ? word : CredentialText.credential(in: word)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
