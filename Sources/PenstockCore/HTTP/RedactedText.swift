/// A text as it may be shown: the URLs, the parameters and the tokens in it redacted, everything else as it was.
///
/// It is read in one pass. What stands between white space, angle brackets and quotes is looked at as a reference: user
/// information goes, and so do the values of secret parameters in its path, its query and its fragment. Credentials behind the
/// name of their scheme go too, and so do the values of secret fields, members of JSON and quoted parameters. Of markup it is
/// read what ``RedactedMarkup`` has left, and of JSON what ``LabelledText`` has. What is escaped is looked at without its escapes, and
/// goes whole where that shows a secret; what has character references, as ``ReferencedText`` does.
struct RedactedText {
    private let byShape: Bool
    private let depth: Int
    private var output: [UInt8] = []

    /// How often a parameter's value is looked into as a reference of its own, such as `redirect_uri=https%3A%2F%2F…`.
    private static let deepest = 2

    /// - Parameter byShape: whether a token is known by its looks too.
    static func make(of text: String, byShape: Bool, depth: Int = 0) -> String {
        if byShape, SecretShape.hasScheme(text) { return Redaction.mark }
        if isPlainWord(text) { return text }
        let markup = RedactedMarkup.make(of: text) ?? text
        var redacted = RedactedText(byShape: byShape, depth: depth)
        redacted.read(LabelledText.make(of: markup) ?? markup)
        let shown = String(decoding: redacted.output, as: UTF8.self)
        guard depth < deepest else { return shown }
        return ReferencedText.make(of: shown) { make(of: $0, byShape: byShape, depth: depth + 1) } ?? shown
    }

    /// A query, a form or a fragment.
    static func make(ofPairs text: String) -> String {
        var redacted = RedactedText(byShape: true, depth: 0)
        redacted.append(pairs: text[...])
        return String(decoding: redacted.output, as: UTF8.self)
    }

    private init(byShape: Bool, depth: Int) {
        self.byShape = byShape
        self.depth = depth
    }

    private mutating func read(_ text: String) {
        output.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        var before = UInt8(ascii: "\n")
        var (isCredential, isInFlow) = (false, false)
        while let first = rest.first {
            guard !Self.isDelimiter(first) else {
                output.append(first)
                if first != UInt8(ascii: " "), first != UInt8(ascii: "\t") { (before, isCredential) = (first, false) }
                if FieldLine.isLineEnd(first) { isInFlow = false }
                rest = rest.dropFirst()
                continue
            }
            let word = rest.prefix { !Self.isDelimiter($0) }
            isInFlow = isInFlow || word.drop { $0 == UInt8(ascii: "[") }.first == UInt8(ascii: "{")
            if let value = secret(word, in: rest, after: before, isCredential, isInFlow) {
                output += rest[..<value.startIndex]
                appendMark()
                rest = rest[value.endIndex...]
                (before, isCredential) = (0, false)
                continue
            }
            rest = rest[word.endIndex...]
            read(word, &rest, isQuoted: before == UInt8(ascii: "\""))
            isCredential = byShape && CredentialText.endsInScheme(word)
            before = Self.beginsItem(word, after: before, isInFlow) ? UInt8(ascii: "\n") : 0
        }
    }

    /// Whether what follows a word stands as at the beginning of a line: as an item of a list or a member of a mapping in YAML.
    private static func beginsItem(_ word: Substring.UTF8View, after before: UInt8, _ isInFlow: Bool) -> Bool {
        if FieldLine.isLineEnd(before), word.elementsEqual("-".utf8) { return true }
        return isInFlow && word.last.map(FieldLine.beginsFlow) ?? false
    }

    /// What is secret from a word on because of what stands before it: credentials behind their scheme, and the value of a field.
    private func secret(
        _ word: Substring.UTF8View, in text: Substring.UTF8View, after before: UInt8, _ isCredential: Bool,
        _ isInFlow: Bool
    ) -> Substring.UTF8View? {
        if isCredential, let credential = CredentialText.credential(in: word) { return credential }
        return FieldLine.value(of: word, in: text, after: before, isInFlow: isInFlow)
            ?? FieldLine.assigned(to: word, in: text, after: before)
    }

    private mutating func read(_ word: Substring.UTF8View, _ rest: inout Substring.UTF8View, isQuoted: Bool) {
        let quote = UInt8(ascii: "\"")
        guard rest.first == quote else {
            append(word: Substring(word))
            return skipQuoted(after: word, &rest)
        }
        let backslashes = word.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        if Self.asksForSecret(word.dropLast(backslashes)) {
            append(word: Substring(word.dropLast(backslashes)))
            output += word.suffix(backslashes)
            output.append(quote)
            appendMark()
            rest = rest[QuotedText.content(rest.dropFirst(), backslashes).endIndex...]
            return
        }
        append(word: Substring(word))
        if isQuoted, let value = JSONMember.value(after: word, in: rest) {
            output += rest[..<value.startIndex]
            appendMark()
            rest = rest[value.endIndex...]
        }
    }

    /// Whether it is one word without a sign that anything could begin or end at, as the paths of most URLs are.
    static func isPlainWord(_ text: String) -> Bool {
        !SecretShape.mayBeToken(text[...])
            && text.utf8.allSatisfy { byte in
                !isDelimiter(byte) && !isSign(byte) && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
                    && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "&")
            }
    }

    static func isDelimiter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\"")
    }

    /// Whether a word ends in the name of a secret whose value is quoted: `token="…"`.
    private static func asksForSecret(_ word: Substring.UTF8View) -> Bool {
        guard word.last == UInt8(ascii: "=") else { return false }
        let pair = word.dropLast()
        let separator = pair.lastIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
        let name = pair[(separator.map { pair.index(after: $0) } ?? pair.startIndex)...]
        return Redaction.isSecret(parameter: Substring(name))
    }

    /// Leaves out the rest of a secret between single quotes, `token='two words'`, whose beginning was in the word.
    private func skipQuoted(after word: Substring.UTF8View, _ rest: inout Substring.UTF8View) {
        let quote = UInt8(ascii: "'")
        guard let start = word.lastIndex(of: quote), Self.asksForSecret(word[..<start]) else { return }
        // The search ends at the quote: what has many of them would be read again and again.
        let end = rest.firstIndex { $0 == quote || FieldLine.isLineEnd($0) }
        if let end, rest[end] == quote { rest = rest[end...] }
    }

    private mutating func appendMark() {
        output += Redaction.mark.utf8
    }

    // MARK: One word

    private mutating func append(word: Substring) {
        let headEnd = word.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? word.endIndex
        append(head: word[..<headEnd])
        var rest = word[headEnd...]
        while let sign = rest.utf8.first {
            output.append(sign)
            let behind = rest.utf8.dropFirst()
            let part = sign == UInt8(ascii: "?") ? behind.prefix { $0 != UInt8(ascii: "#") } : behind[...]
            append(pairs: Substring(part))
            rest = word[part.endIndex...]
        }
    }

    /// The part before the query: user information, and parameters of the path such as `;jsessionid=…`.
    private mutating func append(head: Substring) {
        guard SecretShape.mayBeToken(head) || head.utf8.contains(where: Self.isSign) else {
            return output += head.utf8
        }
        let start = output.count
        let isReference = Self.isReference(head)
        var rest = head
        while let slashes = Self.slashes(in: rest) {
            append(path: rest[..<slashes.lowerBound], isReference)
            output += rest[slashes].utf8
            let authority = rest[slashes.upperBound...].utf8.prefix { $0 != UInt8(ascii: "/") }
            append(authority: Substring(authority))
            rest = rest[authority.endIndex...]
        }
        append(path: rest, isReference)
        // What is escaped may go on behind the sign that ends a part.
        guard hides(String(decoding: output[start...], as: UTF8.self)) else { return }
        output.removeSubrange(start...)
        appendMark()
    }

    /// What stands between two slashes and the next one.
    private mutating func append(authority: Substring) {
        if let sign = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            appendMark()
            return append(path: authority[sign...], true)
        }
        guard PercentEncoding.unescaped(authority).utf8.contains(UInt8(ascii: "@")) else {
            return append(path: authority, true)
        }
        appendMark()
    }

    /// Whether a byte may begin a value, an escape, or a place of user information.
    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "%")
    }

    /// Whether a text shows a secret once its escapes are undone.
    ///
    /// - Parameter isReference: whether it is a part of a path, which may be long and random without being a secret.
    private func hides(_ text: some StringProtocol, isReference: Bool = false) -> Bool {
        guard depth < Self.deepest, text.utf8.contains(UInt8(ascii: "%")) else { return false }
        let plain = PercentEncoding.unescaped(text)
        guard !plain.utf8.elementsEqual(text.utf8) else { return false }
        if isReference, SecretShape.hasScheme(plain) { return true }
        return !Self.make(of: plain, byShape: byShape && !isReference, depth: depth + 1).isWritten(as: plain)
    }

    /// Whether it is a URL or a path, alone or as in `url=/next`: either may have a long random segment without being a
    /// secret, such as the name of a file.
    private static func isReference(_ head: Substring) -> Bool {
        let value = (head.utf8.firstIndex(of: UInt8(ascii: "=")).map { head[$0...].utf8.dropFirst() } ?? head.utf8)
            .drop { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\\") }
        let first = [head.utf8.first, value.first]
        return first.contains(UInt8(ascii: "/")) || first.contains(UInt8(ascii: ".")) || slashes(in: head) != nil
    }

    /// Where two slashes stand, behind which user information may follow. JSON may have a backslash before each.
    private static func slashes(in head: Substring) -> Range<Substring.Index>? {
        var first: Substring.Index?
        for index in head.utf8.indices {
            switch head.utf8[index] {
            case UInt8(ascii: "/"):
                if let first { return first..<head.utf8.index(after: index) }
                first = index
            case UInt8(ascii: "\\"): continue
            default: first = nil
            }
        }
        return nil
    }

    private mutating func append(path: Substring, _ isReference: Bool) {
        var rest = path.utf8
        while !rest.isEmpty {
            let part = rest.prefix { !Self.endsPart($0, isReference) }
            append(part: Substring(part), isReference)
            rest = rest[part.endIndex...]
            guard let sign = rest.first else { break }
            output.append(sign)
            rest = rest.dropFirst()
        }
    }

    private static func endsPart(_ byte: UInt8, _ isReference: Bool) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "&")
            || isReference && byte == UInt8(ascii: "/")
    }

    private mutating func append(part: Substring, _ isReference: Bool) {
        // A value that was replaced stays replaced, also where it has been made a part of a URL again.
        if Self.isMark(part) { return appendMark() }
        if let sign = part.utf8.firstIndex(of: UInt8(ascii: "=")) {
            let (name, value) = (part[..<sign], part[part.utf8.index(after: sign)...])
            if !value.isEmpty, Redaction.isSecret(parameter: name) || isSecretPart(value) {
                if hides(name) { appendMark() } else { output += name.utf8 }
                output.append(UInt8(ascii: "="))
                return appendMark()
            }
        }
        let isSecret = byShape && !isReference ? Redaction.looksSecret(part) : SecretShape.holdsKnownToken(part)
        if isSecret || hides(part, isReference: isReference) {
            appendMark()
        } else {
            output += part.utf8
        }
    }

    /// Whether the value of a part is secret, whatever its name.
    private func isSecretPart(_ value: Substring) -> Bool {
        if Self.isMark(value) || byShape && Redaction.looksSecret(value) || hides(value) { return true }
        if byShape ? SecretShape.hasScheme(Self.withSpaces(value)) : SecretShape.holdsKnownToken(value) { return true }
        guard depth < Self.deepest, value.utf8.contains(UInt8(ascii: "=")) else { return false }
        let text = String(value)
        return !Self.make(of: text, byShape: byShape, depth: depth + 1).isWritten(as: text)
    }

    // MARK: Pairs

    /// Pairs `name=value` with `&` or `;` between them, as a query, a form and many a fragment are made of.
    private mutating func append(pairs text: Substring) {
        var rest = text.utf8
        while true {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") }
            append(pair: Substring(pair))
            rest = rest[pair.endIndex...]
            guard let sign = rest.first else { return }
            output.append(sign)
            rest = rest.dropFirst()
        }
    }

    private mutating func append(pair: Substring) {
        guard let sign = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            if isSecretValue(pair) { appendMark() } else { output += pair.utf8 }
            return
        }
        let value = pair[pair.utf8.index(after: sign)...]
        // A name alone gives nothing away, unless it is a text of its own: `token%3Dhunter2=1`.
        if isSecretValue(pair[..<sign]) { appendMark() } else { output += pair[..<sign].utf8 }
        output.append(UInt8(ascii: "="))
        let isSecret = !value.isEmpty && (Redaction.isSecret(parameter: pair[..<sign]) || isSecretValue(value))
        if isSecret { appendMark() } else { output += value.utf8 }
    }

    private static let escapedMark = PercentEncoding.escaped(Redaction.mark)

    /// Whether a text is the mark, as it stands in a URL.
    private static func isMark(_ text: Substring) -> Bool { text.utf8.elementsEqual(escapedMark.utf8) }

    private func isSecretValue(_ value: Substring) -> Bool {
        // A value that was replaced stays replaced, also where it has been made a part of a URL again.
        if Self.isMark(value) || Redaction.looksSecret(value) { return true }
        guard depth < Self.deepest, value.utf8.contains(where: Self.isOfReference) else { return false }
        // A plus sign is a space in a form (WHATWG URL §5.1), and itself in a URL: whoever reads it may take it for either.
        let readings = value.utf8.contains(UInt8(ascii: "+")) ? [value, Self.withSpaces(value)] : [value]
        return readings.contains { reading in
            let plain = PercentEncoding.unescaped(reading)
            return !Self.make(of: plain, byShape: true, depth: depth + 1).isWritten(as: plain)
        }
    }

    /// A text with spaces where it has plus signs.
    private static func withSpaces(_ text: Substring) -> Substring {
        guard text.utf8.contains(UInt8(ascii: "+")) else { return text }
        return Substring(decoding: text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether a byte shows that a value may be a reference or JSON, or has escapes or words.
    static func isOfReference(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "\""), UInt8(ascii: "+"): true
        default: false
        }
    }
}
