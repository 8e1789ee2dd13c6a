/// An entity tag and its two comparisons (RFC 9110 §8.8.3).
struct EntityTag: Hashable {
    let isWeak: Bool
    /// With its quotes, as it is written.
    let opaque: String

    /// `nil` for what is no entity tag: one without quotes can never be told from another by a server that follows the
    /// grammar, and is not used as a validator.
    init?(_ text: some StringProtocol) {
        isWeak = text.hasPrefix("W/")
        opaque = String(isWeak ? text.dropFirst(2) : text[...])
        let bytes = opaque.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
            bytes.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F })
        else { return nil }
    }

    var text: String { isWeak ? "W/" + opaque : opaque }

    /// §8.8.3.2: equal, and neither is weak.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// §8.8.3.2: equal, weak or not.
    func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque
    }

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
