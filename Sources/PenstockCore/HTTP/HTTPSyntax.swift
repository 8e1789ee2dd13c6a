/// The character classes of HTTP's grammar, decided on bytes (RFC 9110 §5.5 and §5.6.2).
package enum HTTPSyntax {
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// A field value may hold visible characters, spaces, tabs and bytes above 0x7F, never CR, LF, NUL or another
    /// control character.
    package static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    package static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    /// Bytes of a head as text: UTF-8 where they are that, else one character for each byte, so that nothing is lost. So are those
    /// of a text that nobody writes, which would take too long to be looked through.
    package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        utf8(bytes) ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    private static func utf8(_ bytes: UnsafeRawBufferPointer) -> String? {
        String(validating: bytes, as: UTF8.self).flatMap { $0.hasRunOfMarks ? nil : $0 }
    }

    /// The value of a field as text. In `Location`, which is resolved to bytes once more, those that are no such text are escaped
    /// as browsers escape them, or the characters that stand for them would lead elsewhere. A `Set-Cookie` that is none becomes U+FFFD,
    /// by which the line is refused: a cookie goes back as it came (RFC 6265bis §5.8.3), and what stands for its bytes would go back as
    /// others.
    package static func value(_ bytes: UnsafeRawBufferPointer, of name: HTTPFieldName) -> String {
        guard name == .location || name == .setCookie, utf8(bytes) == nil else { return text(bytes) }
        if name == .setCookie { return "\u{FFFD}" }
        var escaped = ""
        for byte in bytes {
            if byte < 0x80 {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += "%" + String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }

    /// ASCII upper-case letters become lower-case, every other byte stays.
    @inlinable
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    package static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // They mostly are the same: one storage, or a few words.
        if left == right { return true }
        var others = right.utf8.makeIterator()
        for byte in left.utf8 {
            guard let other = others.next(), byte == other || lowercased(byte) == lowercased(other) else {
                return false
            }
        }
        return true
    }

    /// Removes the optional white space around a field value (RFC 9110 §5.6.3).
    package static func trimmed(_ text: String) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let first = text.utf8.first, let last = text.utf8.last, isSpace(first) || isSpace(last) else {
            return text
        }
        var view = text.utf8[...]
        while let byte = view.first, isSpace(byte) { view = view.dropFirst() }
        while let byte = view.last, isSpace(byte) { view = view.dropLast() }
        return String(Substring(view))
    }
}
