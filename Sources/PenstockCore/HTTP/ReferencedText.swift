/// A text with character references, as markup has them in other markup and in JSON within it: `&quot;token&quot;:&quot;…&quot;`.
///
/// What stands between the signs of markup is looked at once without its references. Where that shows a secret, it is written anew
/// without it; everything else stays as it was.
enum ReferencedText {
    private static let names: [(name: [UInt8], byte: UInt8)] = [
        ("quot", "\""), ("lt", "<"), ("gt", ">"), ("amp", "&"), ("apos", "'"), ("QUOT", "\""), ("LT", "<"), ("GT", ">"),
        ("AMP", "&"), ("colon", ":"), ("equals", "="), ("comma", ","), ("semi", ";"), ("commat", "@"), ("lcub", "{"),
        ("rcub", "}"), ("lsqb", "["), ("rsqb", "]"),
    ].map { (Array($0.0.utf8), UInt8(ascii: $0.1)) }
    /// Of a reference, with the signs around it. A number may have any zeros before it; nobody writes so many.
    private static let longest = 32

    /// - Parameter redacted: what a text without references may show.
    /// - Returns: `nil` where nothing of it changes.
    static func make(of text: String, redacted: (String) -> String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return nil }
        var output: [UInt8] = []
        var rest = text.utf8[...]
        var isChanged = false
        while !rest.isEmpty {
            let part = rest.prefix { !isSign($0) }
            if let shown = shown(part, redacted) {
                output += shown
                isChanged = true
            } else {
                output += part
            }
            rest = rest[part.endIndex...]
            output += rest.prefix(1)
            rest = rest.dropFirst()
        }
        return isChanged ? String(decoding: output, as: UTF8.self) : nil
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\"")
    }

    private static func shown(_ part: Substring.UTF8View, _ redacted: (String) -> String) -> [UInt8]? {
        guard let plain = unescaped(part) else { return nil }
        let shown = redacted(plain)
        return shown.isWritten(as: plain) ? nil : shown.utf8.flatMap(escaped)
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""):
            let name = names.first { $0.byte == byte }?.name ?? []
            return [UInt8(ascii: "&")] + name + [UInt8(ascii: ";")]
        default: return [byte]
        }
    }

    /// A text without its references; `nil` where it has none.
    private static func unescaped(_ text: Substring.UTF8View) -> String? {
        let ampersand = UInt8(ascii: "&")
        guard text.contains(ampersand) else { return nil }
        var (output, rest, isChanged) = ([UInt8](), text, false)
        while let byte = rest.first {
            if byte == ampersand, let (character, count) = reference(rest.prefix(longest)) {
                output += character
                rest = rest.dropFirst(count)
                isChanged = true
            } else {
                output.append(byte)
                rest = rest.dropFirst()
            }
        }
        return isChanged ? String(decoding: output, as: UTF8.self) : nil
    }

    /// What the reference stands for that a text begins with, and how long it is.
    private static func reference(_ text: Substring.UTF8View) -> ([UInt8], Int)? {
        let name = text.dropFirst().prefix { $0 != UInt8(ascii: ";") }
        guard name.endIndex < text.endIndex else { return nil }
        let count = name.count + 2
        if let known = names.first(where: { $0.name.elementsEqual(name) }) { return ([known.byte], count) }
        guard name.first == UInt8(ascii: "#") else { return nil }
        let digits = name.dropFirst()
        let isHex = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let number = String(decoding: isHex ? digits.dropFirst() : digits, as: UTF8.self)
        guard let scalar = UInt32(number, radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init) else { return nil }
        return (Array(String(Character(scalar)).utf8), count)
    }
}
