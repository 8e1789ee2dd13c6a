import Foundation

/// JSON in a text, whole or cut off, without the values that are secret because of what stands beside them, as ``LabelScope``
/// says. Texts in it that are JSON themselves are read as well, and so is what has its texts in single quotes, as other languages
/// print it. The members whose own names say that they are secret are left to ``RedactedText``, but for those whose names or values
/// are in single quotes: there it goes word by word, and does not see where a member ends.
///
/// It is read sign by sign and builds no tree, so that what is broken is read too, in a time that grows with its length alone.
struct LabelledText {
    private struct Place {
        enum Kind {
            /// A text without its quotes.
            case text
            /// A number, or a word such as `true`, which tells nothing.
            case word
            /// A list or an object, the quotes in which have so many backslashes before them.
            case brackets(Int)
        }

        let kind: Kind
        let start: String.Index
        /// That of the bracket, for what stands between two.
        let end: String.Index
    }

    private struct Member {
        enum Style { case singleQuotes, doubleQuotes, bare }

        let name: String
        /// How its name is written.
        let style: Style

        func isSecret(_ value: @autoclosure () -> String) -> Bool { SecretName.saysSecret(name, of: value()) }
    }

    /// How often JSON is looked for in a text of JSON.
    private static let deepest = 4
    /// How deep lists and objects are told apart. Nobody writes deeper ones, and each costs memory.
    private static let deepestLevel = 512

    private let text: Substring.UTF8View
    private let depth: Int
    private var rest: Substring.UTF8View
    private var levels: [LabelScope<Place>] = []
    /// How many lists and objects are open that are not told apart.
    private var skipped = 0
    /// Whether the next text is the name of a member.
    private var isName = false
    /// The member whose value is read.
    private var member: Member?
    /// How many levels are open where a member is that is secret with all that stands in it.
    private var secretLevel: Int?
    /// How many backslashes the last quote had before it.
    private var backslashes = 0
    /// The last sign since a text or a word.
    private var lastSign: UInt8 = 0
    private var secrets: [Place] = []
    /// Texts of JSON, with what of them may be shown.
    private var texts: [(place: Place, shown: [UInt8])] = []

    /// - Returns: `nil` where nothing of it changes.
    static func make(of text: String, depth: Int = 0) -> String? {
        guard text.utf8.contains(where: isQuote), text.utf8.contains(where: isOpening) else { return nil }
        var labelled = LabelledText(text.utf8[...], depth)
        labelled.read()
        return labelled.replaced()
    }

    private init(_ text: Substring.UTF8View, _ depth: Int) {
        (self.text, rest, self.depth) = (text, text, depth)
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == SingleQuotes.quote }
    private static func isOpening(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }

    private mutating func read() {
        while true {
            if levels.isEmpty { rest = rest.drop { !Self.isOpening($0) } }
            guard let byte = rest.first else { break }
            switch byte {
            case SingleQuotes.quote where readSingleQuoted(), UInt8(ascii: "\\") where readSingleQuoted(): lastSign = 0
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                readText()
                lastSign = 0
            case UInt8(ascii: "b") where isBeforeQuote, UInt8(ascii: "u") where isBeforeQuote: rest = rest.dropFirst()
            case _ where LabelledValues.isOfWord(byte):
                readWord()
                lastSign = 0
            default:
                readSign(byte)
                if byte > 0x20 { lastSign = byte }
                rest = rest.dropFirst()
            }
        }
        while !levels.isEmpty { end() }
    }

    /// Whether the next byte says what kind of text is in the quotes behind it, as Python has it: `u'…'`.
    private var isBeforeQuote: Bool { rest.dropFirst().first == SingleQuotes.quote }

    private mutating func readSign(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let bracket = rest.prefix(1)
            let isObject = byte == UInt8(ascii: "{")
            guard levels.count < Self.deepestLevel else {
                // What stands deeper is taken for a part of the last one.
                skipped += 1
                isName = isObject && levels.last?.isObject ?? false
                return
            }
            let inner = LabelScope<Place>(isObject: isObject, in: levels.last)
            if secretLevel == nil, let member, member.style == .singleQuotes, member.isSecret("") {
                secretLevel = levels.count
            }
            member = nil
            note(Place(kind: .brackets(backslashes), start: bracket.startIndex, end: bracket.endIndex))
            levels.append(inner)
            isName = isObject
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if skipped > 0 { skipped -= 1 } else { end() }
        case UInt8(ascii: ","):
            isName = levels.last?.isObject ?? false
            member = nil
        default: break
        }
    }

    private mutating func readWord() {
        if isName, readBareName() { return }
        let word = rest.prefix(while: LabelledValues.isOfWord)
        let place = Place(kind: .word, start: word.startIndex, end: word.endIndex)
        note(place, isNumber: word.first == UInt8(ascii: "-") || word.contains(where: SecretName.isDigit))
        if secretLevel != nil {
            secrets.append(place)
        } else if lastSign == UInt8(ascii: ":"), let member, member.style == .singleQuotes,
            let value = Self.plain(rest), member.isSecret(String(decoding: value, as: UTF8.self))
        {
            secrets.append(Place(kind: .text, start: value.startIndex, end: value.endIndex))
        }
        member = nil
        rest = rest[word.endIndex...]
    }

    /// Reads the name of a member that stands in no quotes, as in a program.
    ///
    /// - Returns: `false` where it is none.
    private mutating func readBareName() -> Bool {
        let name = rest.prefix { SecretName.isAlphanumeric($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
        guard Self.isBeforeColon(rest[name.endIndex...]) else { return false }
        take(name: String(decoding: name, as: UTF8.self), .bare)
        rest = rest[name.endIndex...]
        return true
    }

    private static func isBeforeColon(_ text: Substring.UTF8View) -> Bool {
        text.drop { $0 == 0x20 }.first == UInt8(ascii: ":")
    }

    /// A value in no quotes that may be a secret, as words such as `None` and `true` are not.
    private static func plain(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        // A brace begins another object: who looked past each of many would read the same again and again.
        let value = text.prefix { $0 > 0x20 && !",}]){".utf8.contains($0) }
        let tells = value.contains(where: SecretName.isDigit) || CredentialText.credential(in: value) != nil
        return tells ? value : nil
    }

    private mutating func note(_ place: Place, isNumber: Bool = false) {
        guard let last = levels.indices.last else { return }
        levels[last].note(place, isNumber: isNumber)
    }

    private mutating func end() {
        guard let level = levels.popLast() else { return }
        secrets += level.secrets
        if secretLevel == levels.count { secretLevel = nil }
        member = nil
        if let outer = levels.indices.last { levels[outer].take(level) }
    }

    /// Reads a text in single quotes.
    ///
    /// - Returns: `false` where it is none, but an apostrophe, and where it is to be read as what it stands in is.
    private mutating func readSingleQuoted() -> Bool {
        guard let content = SingleQuotes.content(of: rest, behind: lastSign) else { return false }
        if depth >= Self.deepest, content.contains(where: Self.isQuote), content.contains(where: Self.isOpening) {
            return false
        }
        let opening = rest[..<content.startIndex]
        rest = rest[content.endIndex...].dropFirst(opening.count)
        take(content, .singleQuotes, isEscaped: false)
        return true
    }

    /// Reads a text, which has as many backslashes before its quotes as it is escaped.
    private mutating func readText() {
        let count = rest.prefix { $0 == UInt8(ascii: "\\") }.count
        rest = rest.dropFirst(count)
        guard rest.first == UInt8(ascii: "\"") else { return }
        backslashes = count
        let content = QuotedText.content(rest.dropFirst(), count)
        rest = rest[content.endIndex...].drop { $0 == UInt8(ascii: "\\") }.dropFirst()
        take(content, .doubleQuotes, isEscaped: count == 0 && content.contains(UInt8(ascii: "\\")))
    }

    /// - Parameter isEscaped: whether it is read without its escapes. What has more backslashes before the quotes in it than
    ///   before its own is read as it stands, as are other quotes.
    private mutating func take(_ content: Substring.UTF8View, _ style: Member.Style, isEscaped: Bool) {
        guard let last = levels.indices.last else { return }
        let isLong = content.count > SecretName.longest
        let text = isLong ? String(decoding: content, as: UTF8.self) : JSONMember.unescaped(content)
        let place = Place(kind: .text, start: content.startIndex, end: content.endIndex)
        // What stands before a colon is a name, also where one was awaited before.
        let isNameToo = member != nil && Self.isBeforeColon(rest)
        if isName || isNameToo && member?.style == .bare {
            take(name: text, style)
        } else {
            levels[last].take(text, at: place)
            let isSecret = secretLevel != nil || !isNameToo && isSecret(text, style)
            if isSecret, !content.isEmpty { secrets.append(place) }
            member = isNameToo ? Member(name: text, style: style) : nil
        }
        guard depth < Self.deepest, isEscaped || content.contains(where: Self.isOpening) else { return }
        let inner = isEscaped ? Self.unescaped(content) : String(decoding: content, as: UTF8.self)
        guard let shown = Self.make(of: inner, depth: depth + 1) else { return }
        texts.append((place, isEscaped ? Array(RedactedJSON.encoded(shown).dropFirst().dropLast()) : Array(shown.utf8)))
    }

    /// Whether a value is secret by its member's name.
    private func isSecret(_ value: String, _ style: Member.Style) -> Bool {
        guard let member, style == .singleQuotes || member.style == .singleQuotes else { return false }
        return member.isSecret(value)
    }

    private mutating func take(name: String, _ style: Member.Style) {
        guard let last = levels.indices.last else { return }
        levels[last].take(name: name)
        member = Member(name: name, style: style)
        isName = false
    }

    private static func unescaped(_ content: Substring.UTF8View) -> String {
        let quote = [UInt8(ascii: "\"")]
        let text = (quote + content + quote).withUnsafeBytes { bytes in
            var position = 0
            return try? JSONStringParser.parse(bytes, at: &position)
        }
        return text ?? JSONMember.unescaped(content)
    }

    private func replaced() -> String? {
        // What is secret as a whole goes before what stands in it.
        let found = (secrets.map { ($0, [UInt8]?.none) } + texts.map { ($0.place, $0.shown) }).enumerated().sorted {
            ($0.element.0.start, $0.offset) < ($1.element.0.start, $1.offset)
        }
        var (output, copied) = ([UInt8](), text.startIndex)
        for (place, shown) in found.map(\.element) where place.start >= copied {
            output += text[copied..<place.start]
            if let shown {
                output += shown
                copied = place.end
            } else {
                copied = hide(place, &output)
            }
        }
        return copied == text.startIndex ? nil : String(decoding: output + text[copied...], as: UTF8.self)
    }

    /// Writes what may be shown of a secret: texts become the mark and numbers 0, so that what is JSON stays it.
    ///
    /// - Returns: where the secret ends.
    private func hide(_ place: Place, _ output: inout [UInt8]) -> String.Index {
        switch place.kind {
        case .text: output += Redaction.mark.utf8
        case .word: output += Self.hidden(text[place.start..<place.end])
        case .brackets(let backslashes):
            let inner = JSONMember.nested(text[place.start...], backslashes)
            hide(inner, &output)
            return inner.endIndex
        }
        return place.end
    }

    private func hide(_ inner: Substring.UTF8View, _ output: inout [UInt8]) {
        var rest = inner
        var lastSign: UInt8 = 0
        while let byte = rest.first {
            if let content = SingleQuotes.content(of: rest, behind: lastSign) {
                let opening = rest[..<content.startIndex]
                rest = rest[content.endIndex...].dropFirst(opening.count)
                let isName = rest.drop { $0 <= 0x20 }.first == UInt8(ascii: ":")
                output += opening + (isName ? Array(content) : Array(Redaction.mark.utf8)) + opening
                lastSign = 0
                continue
            }
            if byte > 0x20 { lastSign = byte }
            let backslashes = rest.prefix { $0 == UInt8(ascii: "\\") }.count
            if rest.dropFirst(backslashes).first == UInt8(ascii: "\"") {
                let opening = rest.prefix(backslashes + 1)
                let content = QuotedText.content(rest[opening.endIndex...], backslashes)
                rest = rest[content.endIndex...]
                let isName = rest.dropFirst(backslashes + 1).drop { $0 <= 0x20 }.first == UInt8(ascii: ":")
                output += opening
                output += isName ? Array(content) : Array(Redaction.mark.utf8)
                output += rest.prefix(backslashes + 1)
                rest = rest.dropFirst(backslashes + 1)
            } else if LabelledValues.isOfWord(byte) {
                let word = rest.prefix(while: LabelledValues.isOfWord)
                output += Self.hidden(word)
                rest = rest[word.endIndex...]
            } else {
                output += rest.prefix(max(1, backslashes))
                rest = rest.dropFirst(max(1, backslashes))
            }
        }
    }

    /// A number, or a word that is none, as it may be shown.
    private static func hidden(_ word: Substring.UTF8View) -> [UInt8] {
        word.contains(where: SecretName.isDigit) ? [UInt8(ascii: "0")] : Array(word)
    }
}

/// Texts in single quotes, which stand in what is printed as JSON is. Those in a text of that kind have backslashes before them.
private enum SingleQuotes {
    static let quote = UInt8(ascii: "'")

    /// How many backslashes stand before a quote at most, as four escapes make them. It bounds how often a text is searched.
    private static let mostBackslashes = 15

    /// The text that begins with a quote, or with the backslashes before one; `nil` where that is an apostrophe, which has a
    /// letter before it, or where no quote in the line closes it.
    ///
    /// - Parameter sign: what stands before it.
    static func content(of text: Substring.UTF8View, behind sign: UInt8) -> Substring.UTF8View? {
        guard "{[(,:".utf8.contains(sign) else { return nil }
        let count = text.prefix(mostBackslashes).prefix { $0 == UInt8(ascii: "\\") }.count
        let opening = text.dropFirst(count)
        return opening.first == quote ? content(opening.dropFirst(), count) : nil
    }

    /// What stands before the quote that closes it, behind which a value ends.
    ///
    /// - Parameters:
    ///   - text: from behind the quote that opens it on.
    ///   - depth: how many backslashes stand before that quote; with none, an even number of them escapes nothing.
    private static func content(_ text: Substring.UTF8View, _ depth: Int) -> Substring.UTF8View? {
        var (backslashes, end) = (0, text.startIndex)
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "\\") {
                backslashes += 1
                continue
            }
            if FieldLine.isLineEnd(byte) { return nil }
            if byte == quote, depth == 0 ? backslashes % 2 == 0 : backslashes <= depth {
                let next = text[index...].dropFirst().drop { $0 == 0x20 }.first
                let endsValue = next.map { ",:;]})".utf8.contains($0) || $0 <= 0x20 } ?? true
                return endsValue && (depth == 0 || backslashes == depth) ? text[..<(depth == 0 ? index : end)] : nil
            }
            (backslashes, end) = (0, text.index(after: index))
        }
        return nil
    }
}
