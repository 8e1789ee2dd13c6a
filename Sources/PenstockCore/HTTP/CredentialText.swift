/// Credentials in a text, known by the name of their scheme (RFC 9110 §11.4) before them: `Bearer hunter2secret`.
enum CredentialText {
    private static let schemes = [
        "basic", "bearer", "token", "digest", "dpop", "negotiate", "ntlm", "apikey", "hawk", "sharedkey",
    ]
    private static let lengths = 4...9
    private static let shortest = 4
    /// The longest word that may follow the name of a scheme in a sentence, as in `basic usage`. A longer one is a credential, and so is
    /// one that has a digit or a sign.
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
    ///   - isInFlow: whether a mapping of YAML has begun in the line: `{user: bob, password: hunter2}`.
    static func value(
        of word: Substring.UTF8View, in text: Substring.UTF8View, after before: UInt8, isInFlow: Bool
    ) -> Substring.UTF8View? {
        let isFirst = isLineEnd(before) || before == UInt8(ascii: "\"")
        guard let colon = colon(in: word, isFirst) else { return nil }
        let isClosed = quotes.contains { $0 == word[..<colon].last }
        let head = word[..<colon].dropLast(isClosed ? 1 : 0)
        let name = head.suffix(head.reversed().prefix(while: isOfName).count)
        let label = Label(
            name: name, sign: head.dropLast(name.count).last, isClosed: isClosed, isFirst: isFirst,
            isQuoted: before == UInt8(ascii: "\""), isWord: head.count - name.count <= 1)
        guard !name.isEmpty, !isOfReference(label.sign), Redaction.isSecret(HTTPFieldName(String(Substring(name))))
        else { return nil }
        let value = value(behind: label, in: text[word.index(after: colon)...].drop(while: isSpace), isInFlow)
        return value.flatMap { isSecret($0, of: name) ? $0 : nil }
    }

    /// The name of a secret field, as it stands in a text.
    private struct Label {
        let name: Substring.UTF8View
        /// What stands before it in its word.
        let sign: UInt8?
        /// Whether a quote stands between it and the colon.
        let isClosed: Bool
        /// Whether its word begins a line, or what is in quotes.
        let isFirst: Bool
        /// Whether a quote stands before its word.
        let isQuoted: Bool
        /// Whether it is all of its word but for one sign.
        let isWord: Bool
    }

    private static func value(
        behind label: Label, in value: Substring.UTF8View, _ isInFlow: Bool
    ) -> Substring.UTF8View? {
        let plain = withoutProperties(value)
        if let block = block(plain) { return block }
        let closing = label.isClosed ? nil : quotes.first { $0 == label.sign }
        if label.name.contains(UInt8(ascii: "-")) || contains(fields, label.name) {
            let line = line(value, closing: closing, isQuoted: label.isQuoted)
            guard line.isEmpty else { return line }
            return label.isFirst && !label.isClosed ? lineBelow(value) : nil
        }
        guard label.sign != UInt8(ascii: "="), !contains(sayings, label.name) else { return nil }
        let isMember = label.sign.map(beginsFlow) ?? false
        let isAlone = isMember || label.isFirst && label.isWord && !label.isClosed
        guard let secret = secret(in: plain, closing: closing, isAlone, isInFlow || isMember) else {
            return secret(in: value, closing: closing, false) ?? (isAlone ? lineBelow(value) : nil)
        }
        // A tag goes with the value that it stands before: it may be the beginning of that.
        return secret.startIndex == plain.startIndex ? value[..<secret.endIndex] : secret
    }

    /// How long the value of a name may be that is often a word. What is longer is a secret, so that nothing is read again and again.
    private static let longestWeak = 512

    /// Whether a value of a secret's name is one.
    static func isSecret(_ value: Substring.UTF8View, of name: Substring.UTF8View) -> Bool {
        guard SecretName.isWeak(String(decoding: name, as: UTF8.self)), value.count <= longestWeak else { return true }
        return SecretShape.mayBeSignature(String(decoding: value, as: UTF8.self))
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
        guard !pairSigns.contains(where: { $0 == sign }), Redaction.isSecret(parameter: Substring(name)) else {
            return nil
        }
        let value = secret(in: rest.drop(while: isSpace), closing: nil, head.count == count && isLineEnd(before))
        return value.flatMap { isSecret($0, of: name) ? $0 : nil }
    }

    /// How many bytes of a comment are looked past, so that the work has a bound.
    private static let longestComment = 512

    /// The lines of a text that YAML has below a name (YAML 1.2 §8.1): `|` or `>` ends the line of the name, and they are indented.
    /// `nil` for anything else.
    static func block(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        guard text.first == UInt8(ascii: "|") || text.first == UInt8(ascii: ">") else { return nil }
        let signs = "+-123456789".utf8
        let head = text.dropFirst().drop { signs.contains($0) }.drop(while: isSpace)
        let isComment = head.first == UInt8(ascii: "#")
        let comment = isComment ? head.prefix(longestComment).prefix { !isLineEnd($0) } : head.prefix(0)
        let lineEnd = head[comment.endIndex...]
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

    /// A value without the tag and the anchor that YAML may have before it (YAML 1.2 §6.9): `!!str hunter2`.
    private static func withoutProperties(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var rest = text
        for _ in 0..<2 where rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "&") {
            let behind = rest.drop { !RedactedText.isDelimiter($0) }.drop(while: isSpace)
            // What is alone in its line is the value.
            guard let first = behind.first, !isLineEnd(first) else { break }
            rest = behind
        }
        return rest
    }

    /// The one word of the next line, or what is quoted there, where that is indented and no name: YAML may have a value below its
    /// name.
    private static func lineBelow(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        let lineEnd = text.prefix(2).starts(with: "\r\n".utf8) ? 2 : 1
        guard text.first.map(isLineEnd) ?? false else { return nil }
        let line = text.dropFirst(lineEnd)
        let value = line.drop(while: isSpace)
        guard value.startIndex > line.startIndex else { return nil }
        let word = value.prefix { !RedactedText.isDelimiter($0) }
        guard !word.isEmpty, word.first != UInt8(ascii: "'") else { return secret(in: value, closing: nil, true) }
        let next = value[word.endIndex...].drop(while: isSpace).first
        let isName = word.last == UInt8(ascii: ":") || word.elementsEqual("-".utf8)
        return next.map(isLineEnd) ?? true && !isName ? word : nil
    }

    /// Whether a byte begins a mapping or a list of YAML that is written in its line, or parts its members.
    static func beginsFlow(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: ",")
    }

    private static func endsFlow(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ",")
    }

    static func isLineEnd(_ byte: UInt8) -> Bool {
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

    /// Whether what follows is the end of a path, or the host behind user information.
    private static func isOfReference(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "@")
    }

    private static func contains(_ names: [String], _ name: Substring.UTF8View) -> Bool {
        names.contains { $0.utf8.elementsEqual(name.lazy.map(HTTPSyntax.lowercased)) }
    }

    /// Returns the text up to the end of the line, or to the quote that closes what the name is the beginning of. It is looked for no
    /// further than that: what has many short values would be read again and again.
    private static func line(
        _ text: Substring.UTF8View, closing quote: UInt8?, isQuoted: Bool
    ) -> Substring.UTF8View {
        var isEscaped = false
        let line = text.prefix { byte in
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
            let isEnd = isLineEnd(byte) || byte == quote || isQuoted && !isEscaped && byte == UInt8(ascii: "\"")
            return !isEnd
        }
        return line.dropLast(line.reversed().prefix { $0 <= 0x20 }.count)
    }

    /// The value of a name that may be a word of a sentence.
    ///
    /// - Parameters:
    ///   - isFirst: whether the name is the beginning of a line, or of what counts as one.
    ///   - isInFlow: whether signs behind the value end it, as they do in YAML.
    private static func secret(
        in text: Substring.UTF8View, closing quote: UInt8?, _ isFirst: Bool, _ isInFlow: Bool = false
    ) -> Substring.UTF8View? {
        switch text.first {
        case UInt8(ascii: "\""): return QuotedText.content(text.dropFirst(), 0)
        case let open? where quotes.contains(open): return line(text.dropFirst(), closing: open, isQuoted: false)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nil
        default: break
        }
        var word = text.prefix { !RedactedText.isDelimiter($0) }
        if let quote, let end = word.firstIndex(of: quote) { word = word[..<end] }
        let next = text[word.endIndex...].drop(while: isSpace).first
        var isAll = next.map { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == quote } ?? true
        if isInFlow {
            isAll = isAll || next.map(endsFlow) ?? false || word.contains(where: endsFlow)
            word = word.dropLast(word.reversed().prefix(while: endsFlow).count)
        }
        guard !word.isEmpty else { return nil }
        return isFirst && isAll ? word : CredentialText.credential(in: word)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
