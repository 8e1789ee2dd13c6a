/// An entity tag and its two comparisons (RFC 9110 §8.8.3).
///
/// The grammar wants quotes, and servers leave them out all the same: `ETag: 0`. Browsers and Foundation send such a tag back
/// as it came, and the servers that make it know it again. So it is taken as an opaque text for `If-None-Match`, where a
/// mistake costs one transfer. It counts as weak, so nothing is joined on its word: it is never sent in `If-Range`, matches
/// no `If-Range`, and never makes one response of two parts.
struct EntityTag: Hashable {
    /// Whether it promises no more than that what is served is equivalent: marked by `W/`, or without quotes.
    let isWeak: Bool
    /// What is compared: without `W/`, and with the quotes that were there.
    let opaque: String
    /// The tag as it is written, and sent back.
    let text: String

    /// `nil` for what is no tag in either form. `*` without quotes is none: in `If-None-Match` it would stand for every tag.
    /// Neither is a text without quotes that has a quote, a comma or white space in it: in a list it would be several.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        let isMarked = text.utf8.starts(with: "W/".utf8)
        let opaque = isMarked ? String(Substring(text.utf8.dropFirst(2))) : text
        let isQuoted = Self.isQuoted(opaque.utf8)
        guard isQuoted || Self.isBare(opaque.utf8) else { return nil }
        self.opaque = opaque
        self.text = text
        isWeak = isMarked || !isQuoted
    }

    private static func isQuoted(_ bytes: String.UTF8View) -> Bool {
        bytes.count >= 2 && bytes.first == UInt8(ascii: "\"") && bytes.last == UInt8(ascii: "\"")
            && bytes.dropFirst().dropLast().allSatisfy(isTagByte)
    }

    private static func isBare(_ bytes: String.UTF8View) -> Bool {
        !bytes.isEmpty && !bytes.elementsEqual("*".utf8)
            && bytes.allSatisfy { isTagByte($0) && $0 != UInt8(ascii: ",") }
    }

    /// `etagc`: everything visible but the quote, and bytes beyond ASCII.
    private static func isTagByte(_ byte: UInt8) -> Bool {
        byte == 0x21 || byte >= 0x23 && byte != 0x7F
    }

    /// §8.8.3.2: equal, and neither is weak.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque.isWritten(as: other.opaque)
    }

    /// §8.8.3.2: equal, weak or not.
    func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.isWritten(as: other.opaque)
    }

    static func == (left: EntityTag, right: EntityTag) -> Bool { left.text.isWritten(as: right.text) }

    func hash(into hasher: inout Hasher) { ExactText(text).hash(into: &hasher) }

    /// The tag of a response: of one field line, or nothing.
    static func of(_ fields: HTTPFields) -> EntityTag? {
        let lines = fields.values(of: .eTag)
        return lines.count == 1 ? EntityTag(lines[0]) : nil
    }

    /// The tags of a list. Members that are none are left out; a comma may stand inside a tag.
    static func list(_ lines: [String]) -> [EntityTag] {
        FieldList.members(lines).compactMap { EntityTag($0) }
    }
}
