/// `Set-Cookie` lines that a platform joined into one, with a comma and a space between them, although the field is not a
/// list (RFC 9110 §5.3). Foundation's URL loading does this everywhere.
///
/// A comma may also stand in a date, in a value or in a path, so this tells the likely from the unlikely, in one pass. A
/// comma with a space after it ends a line where the next text, as far as the next semicolon or such comma,
///
/// - is a pair: it has an equals sign after a name. Behind a line's value, which may be anything, that name must be a token;
///   within quotation marks no comma ends a line.
/// - or follows an attribute whose value has no comma, such as `Secure`, `SameSite=Lax` or `Max-Age=60`.
///
/// The comma in `Expires=Wed, 09 Jun 2027 10:18:14 GMT` is known by the date that it stands in, also where the server
/// left out the semicolon behind it. A line without an equals sign is not told from what is before it, unless an
/// attribute of the second sort is.
package enum JoinedSetCookie {
    /// The lines, in their order; the text as it is where nothing was joined.
    package static func split(_ joined: String) -> [String] {
        var scan = Scan(Array(joined.utf8))
        return scan.lines()
    }

    private static let closedAttributes: Set<String> = [
        "secure", "httponly", "partitioned", "samesite", "max-age", "domain", "priority",
    ]

    /// Longer than any date that a server writes, and than the name of any attribute that is looked for. Longer texts are
    /// not read at each of the commas behind them.
    private static let maximumDateBytes = 100
    private static let maximumNameBytes = 30

    private struct Scan {
        private let bytes: [UInt8]
        /// Where the line under way begins.
        private var line = 0
        /// Where its pair or the attribute under way begins.
        private var part = 0
        /// The equals sign of that part, once it is reached.
        private var equals: Int?
        /// A value in quotation marks reaches as far as this.
        private var endOfQuotes = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        private var isPair: Bool { part == line }

        mutating func lines() -> [String] {
            var lines: [String] = []
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case UInt8(ascii: ";"): (part, equals) = (index + 1, nil)
                case UInt8(ascii: "=") where equals == nil:
                    equals = index
                    if isPair { findQuotes(after: index) }
                case UInt8(ascii: ",") where isJoint(index) && endsLine(at: index):
                    lines.append(text(line..<index))
                    (line, part, equals) = (index + 1, index + 1, nil)
                default: break
                }
            }
            lines.append(text(line..<bytes.count))
            return lines.filter { !$0.isEmpty }
        }

        private func isJoint(_ comma: Int) -> Bool {
            comma + 1 < bytes.count && bytes[comma] == UInt8(ascii: ",") && bytes[comma + 1] == 0x20
        }

        private func endsLine(at comma: Int) -> Bool {
            guard comma >= endOfQuotes else { return false }
            let next = next(after: comma)
            let name = bytes[next].firstIndex(of: UInt8(ascii: "=")).map { text(next.lowerBound..<$0) } ?? ""
            if isPair { return HTTPSyntax.isToken(name) || text(next).isEmpty }
            switch attribute(upTo: comma) {
            case "expires": return !name.isEmpty && !isInDate(comma, next)
            case let attribute: return !name.isEmpty || closedAttributes.contains(attribute)
            }
        }

        /// The text behind a comma as far as the next semicolon or comma of the same kind. What is looked at for one
        /// comma is looked at for no other.
        private func next(after comma: Int) -> Range<Int> {
            let start = comma + 1
            let end = bytes[start...].indices.first { bytes[$0] == UInt8(ascii: ";") || isJoint($0) }
            return start..<(end ?? bytes.count)
        }

        /// The attribute's name in lower case; nothing for one that is too long to be any that is known.
        private func attribute(upTo comma: Int) -> String {
            let name = part..<(equals ?? comma)
            return name.count <= maximumNameBytes ? text(name).lowercased() : ""
        }

        /// Whether the text before the comma is no date yet and becomes one by what is behind it.
        private func isInDate(_ comma: Int, _ next: Range<Int>) -> Bool {
            guard let equals, next.upperBound - equals <= maximumDateBytes else { return false }
            return CookieDate.parse(text((equals + 1)..<comma)) == nil
                && CookieDate.parse(text((equals + 1)..<next.upperBound)) != nil
        }

        /// Looks no further than the next quotation mark, so that no byte is looked at twice.
        private mutating func findQuotes(after equals: Int) {
            guard let start = bytes[(equals + 1)...].firstIndex(where: { $0 != 0x20 && $0 != 0x09 }),
                bytes[start] == UInt8(ascii: "\""),
                let end = bytes[(start + 1)...].firstIndex(where: {
                    $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ";")
                }),
                bytes[end] == UInt8(ascii: "\"")
            else { return }
            endOfQuotes = end
        }

        private func text(_ range: Range<Int>) -> String {
            HTTPSyntax.trimmed(String(decoding: bytes[range], as: UTF8.self))
        }
    }
}
