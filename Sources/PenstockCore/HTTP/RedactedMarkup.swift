/// Markup in a text, such as XML, HTML and property lists, without what the names in it say is secret.
///
/// What goes is the content of an element whose name, or the name that its tag gives it, is a secret's; the value in such a tag;
/// and the element behind `<key>` or `<name>` that holds such a name. It is read tag by tag and builds no tree, so that what is
/// broken or cut off is read as well, in a time that grows with its length alone.
struct RedactedMarkup {
    /// What a tag calls the element by.
    private static let labels: Set<String> = ["name", "key"]
    /// What has the value of an element in its tag.
    private static let values: Set<String> = ["value", "content"]
    /// Elements whose names are those of the parameters of a form.
    private static let controls: Set<String> = ["input", "button", "select", "textarea"]
    /// The type of a control in which a password is typed, whatever it is called.
    private static let password = Array("password".utf8)
    /// Elements that have a name of their own, and are no value of it.
    private static let containers: Set<String> = ["details", "fieldset", "form", "map", "object", "slot"]
    /// Elements that may stand behind the one that has their name, in property lists and in lists of pairs.
    private static let followers: Set<String> = [
        "value", "string", "data", "integer", "real", "date", "array", "dict",
    ]

    private let bytes: [UInt8]
    private var tags: MarkupTags
    private var output: [UInt8] = []
    /// How far the bytes are in the output.
    private var copied = 0
    /// Whether the element before held the name of a secret.
    private var isAwaited = false
    /// Where the last end tag of a name stands.
    private lazy var ends = MarkupTags.ends(in: bytes)
    /// Whether the names that were seen are secret.
    private var verdicts: [String: Bool] = [:]

    /// - Returns: `nil` where nothing of it is secret.
    static func make(of text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "<")), text.utf8.contains(UInt8(ascii: ">")) else { return nil }
        var redacted = RedactedMarkup(Array(text.utf8))
        redacted.read()
        guard redacted.copied > 0 else { return nil }
        return String(decoding: redacted.output + redacted.bytes[redacted.copied...], as: UTF8.self)
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tags = MarkupTags(bytes)
    }

    private mutating func read() {
        while let tag = tags.next() {
            guard tag.kind != .end else { continue }
            let isNamed = replaceValues(in: tag)
            let isFollower = isAwaited && Self.followers.contains(tag.name)
            isAwaited = false
            guard tag.kind == .start else { continue }
            let isSecret = isSecret(tag.name) || isFollower
            if isSecret || isNamed && !Self.containers.contains(tag.name) {
                guard let end = end(of: tag, isSecret) else { continue }
                let content = bytes[tag.range.upperBound..<end]
                guard isNamed || isFollower || isValue(content, of: tag.name) else { continue }
                replace(tag.range.upperBound..<end)
                tags.position = end
            } else if Self.labels.contains(tag.name) {
                let content = bytes[tag.range.upperBound...].prefix { $0 != UInt8(ascii: "<") }
                isAwaited = isLabel(content)
            }
        }
    }

    /// Replaces the values in the tag of an element with the name of a secret.
    ///
    /// - Returns: whether it has such a name.
    private mutating func replaceValues(in tag: MarkupTags.Tag) -> Bool {
        let attributes = tags.attributes(of: tag)
        let isControl = Self.controls.contains(tag.name)
        let isInput = tag.name == "input"
        let isNamed = attributes.contains { attribute in
            let value = bytes[attribute.value]
            if isInput, attribute.name == "type" { return value.map(HTTPSyntax.lowercased) == Self.password }
            let isName = Self.labels.contains(attribute.name) || isInput && attribute.name == "id"
            return isName && isLabel(value, isControl)
        }
        guard isNamed else { return false }
        for attribute in attributes where Self.values.contains(attribute.name) { replace(attribute.value) }
        return true
    }

    /// Where the content of an element ends; `nil` for one that is none, as a word between angle brackets is, or an element without
    /// content.
    ///
    /// - Parameter isSecret: whether its own name makes it one. Of a document that is cut off the rest is its content then.
    private mutating func end(of tag: MarkupTags.Tag, _ isSecret: Bool) -> Int? {
        let start = tag.range.upperBound
        guard let last = ends[tag.name], last >= start else {
            return isSecret && MarkupTags.isDocument(bytes) ? bytes.count : nil
        }
        var (inner, depth) = (tags, 1)
        while let next = inner.next(), next.range.lowerBound < last {
            guard next.name == tag.name else { continue }
            switch next.kind {
            case .start: depth += 1
            case .end: depth -= 1
            case .empty: continue
            }
            if depth == 0 { return next.range.lowerBound }
        }
        return last
    }

    /// Replaces what is not white space at its ends.
    private mutating func replace(_ range: Range<Int>) {
        let text = bytes[range].drop { $0 <= 0x20 }
        let end = text.lastIndex { $0 > 0x20 }
        guard let end, text.startIndex >= copied else { return }
        output += bytes[copied..<text.startIndex]
        output += Redaction.mark.utf8
        copied = end + 1
    }

    // MARK: Names

    /// Whether a text is the name of a secret, and no sentence that has one in it.
    private mutating func isLabel(_ text: ArraySlice<UInt8>, _ isParameter: Bool = false) -> Bool {
        guard text.count <= SecretName.longest else { return false }
        let name = HTTPSyntax.trimmed(String(decoding: text, as: UTF8.self))
        guard !name.utf8.contains(where: { $0 <= 0x20 }) else { return false }
        return isParameter ? SecretName.saysSecret(name, isParameter: true) : isSecret(name)
    }

    /// Whether what an element of a secret's name has in it is one. What has elements in it is more than a word.
    private func isValue(_ content: ArraySlice<UInt8>, of name: String) -> Bool {
        guard SecretName.isWeak(name), content.count <= SecretName.longest else { return true }
        return SecretShape.mayBeSignature(String(decoding: content, as: UTF8.self))
    }

    private mutating func isSecret(_ name: String) -> Bool {
        if let verdict = verdicts[name] { return verdict }
        let verdict = SecretName.saysSecret(name)
        verdicts[name] = verdict
        return verdict
    }
}

/// The tags in a text, one after the other: what stands between `<` and `>`, begins with a letter, and has no other `<` in it
/// but between quotes.
struct MarkupTags {
    struct Tag {
        enum Kind { case start, end, empty }

        let kind: Kind
        /// The name in small letters, without a prefix.
        let name: String
        /// Where it stands, with the angle brackets.
        let range: Range<Int>
        /// What stands behind the name.
        let rest: Range<Int>
    }

    private let bytes: [UInt8]
    var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Tag? {
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = start + 1
            guard let tag = tag(at: start) else { continue }
            position = tag.range.upperBound
            return tag
        }
        return nil
    }

    /// Where the last end tag of each name stands.
    static func ends(in bytes: [UInt8]) -> [String: Int] {
        var (tags, ends) = (MarkupTags(bytes), [String: Int]())
        while let tag = tags.next() {
            if tag.kind == .end { ends[tag.name] = tag.range.lowerBound }
        }
        return ends
    }

    /// Whether a text is all markup, and not HTML, in which a tag may be a word of what is shown.
    static func isDocument(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 <= 0x20 }
        guard text.first == UInt8(ascii: "<") else { return false }
        let head = text.prefix(14).map(HTTPSyntax.lowercased)
        return !head.starts(with: "<!doctype html".utf8) && !head.starts(with: "<html".utf8)
    }

    private func tag(at start: Int) -> Tag? {
        // JSON may have a backslash before the slash.
        let behind = bytes[(start + 1)...]
        let slash = behind.drop { $0 == UInt8(ascii: "\\") }
        let isEnd = slash.first == UInt8(ascii: "/")
        let text = isEnd ? slash.dropFirst() : behind
        guard let first = text.first, SecretName.isSmall(first | 0x20) || first == UInt8(ascii: "_") else { return nil }
        let name = text.prefix(while: Self.isOfName)
        // What is set to something is no element: `<token=a>`.
        guard let end = end(from: name.endIndex), Self.endsName(bytes[name.endIndex]) else { return nil }
        let isEmpty = bytes[end - 1] == UInt8(ascii: "/")
        return Tag(
            kind: isEnd ? .end : isEmpty ? .empty : .start,
            name: Self.local(name), range: start..<(end + 1), rest: name.endIndex..<end)
    }

    /// A name in small letters, without its prefix. Of one that is longer than any that is meant to be read only so much is left as shows
    /// that: the work to look it up has a bound.
    private static func local(_ name: ArraySlice<UInt8>) -> String {
        let colon = name.lastIndex(of: UInt8(ascii: ":"))
        let local = (colon.map { name[($0 + 1)...] } ?? name).prefix(SecretName.longest + 1)
        return String(decoding: local.map(HTTPSyntax.lowercased), as: UTF8.self)
    }

    /// Where the angle bracket stands that closes a tag. The search ends at the beginning of another tag: so each byte is looked
    /// at a few times at most, wherever quotes are missing.
    private func end(from start: Int) -> Int? {
        var quote: UInt8?
        for index in start..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: ">"): return index
            case UInt8(ascii: "<"): return nil
            default: continue
            }
        }
        return nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: SecretName.isAlphanumeric(byte) || byte >= 0x80
        }
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\\")
    }

    // MARK: Attributes

    /// The attributes of a tag with their values: the names in small letters without a prefix, the values without quotes.
    func attributes(of tag: Tag) -> [(name: String, value: Range<Int>)] {
        var attributes: [(name: String, value: Range<Int>)] = []
        var rest = bytes[tag.rest]
        while true {
            rest = rest.drop { !Self.isOfName($0) }
            let name = rest.prefix(while: Self.isOfName)
            guard !name.isEmpty else { return attributes }
            rest = rest[name.endIndex...].drop { $0 <= 0x20 }
            guard rest.first == UInt8(ascii: "=") else { continue }
            let value = value(&rest)
            attributes.append((Self.local(name), value))
        }
    }

    private func value(_ rest: inout ArraySlice<UInt8>) -> Range<Int> {
        rest = rest.dropFirst().drop { $0 <= 0x20 || $0 == UInt8(ascii: "\\") }
        var value = rest.prefix { $0 > 0x20 }
        if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            value = rest.dropFirst().prefix { $0 != quote }
            rest = rest[value.endIndex...].dropFirst()
            value = value.dropLast(value.reversed().prefix { $0 == UInt8(ascii: "\\") }.count)
        } else {
            rest = rest[value.endIndex...]
        }
        return value.startIndex..<value.endIndex
    }
}
