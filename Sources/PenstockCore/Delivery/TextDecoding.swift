import Foundation

/// Bytes to text, by what the bytes and their media type say of the character set.
///
/// A byte order mark decides; without one the `charset` parameter of `Content-Type` (RFC 9110 §8.3.2), and without that
/// UTF-8. A character set that is not known, and bytes that do not fit theirs, are errors: text that looks nearly right
/// would be worse.
enum TextDecoding {
    /// Where a parameter of a media type is being read.
    private enum Place {
        case name, beginning, value, quoted, escaped, behind
    }

    /// - Throws: ``APIError/Kind/decoding(path:reason:)``.
    static func text(of data: Data, contentType: String?) throws(APIError) -> String {
        let mark = byteOrderMark(of: data)
        let name = mark?.charset ?? contentType.flatMap(charset(in:)) ?? "utf-8"
        let set = Charset(named: name)
        if let text = set?.text(of: data.dropFirst(mark?.length ?? 0)) { return text }
        let printable = PrintableText.bounded(name)
        let reason =
            set == nil
            ? "the character set \(printable) is not known" : "the body is no text in the character set \(printable)"
        throw APIError(.decoding(path: "", reason: reason), stage: .decoding)
    }

    private static func byteOrderMark(of data: Data) -> (charset: String, length: Int)? {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return ("utf-8", 3) }
        if data.starts(with: [0xFE, 0xFF]) { return ("utf-16be", 2) }
        if data.starts(with: [0xFF, 0xFE]) { return ("utf-16le", 2) }
        return nil
    }

    /// The first `charset` parameter of a media type that names one, without its quotes; one pass over the text. Who sends the field
    /// twice has both values joined by a comma; some put apostrophes for quotes, or a comment behind the name. A quote is one
    /// where a value begins, and a character of its own anywhere else (WHATWG MIME Sniffing §4.4); what is behind the closing one belongs to
    /// nothing.
    static func charset(in contentType: String) -> String? {
        var parameters: [[UInt8]] = [[]]
        var place = Place.name
        for byte in contentType.utf8 {
            switch (place, byte) {
            case (.escaped, _):
                place = .quoted
                parameters[parameters.count - 1].append(byte)
            case (.quoted, UInt8(ascii: "\\")): place = .escaped
            case (.quoted, UInt8(ascii: "\"")): place = .behind
            case (.quoted, _): parameters[parameters.count - 1].append(byte)
            case (_, UInt8(ascii: ";")):
                place = .name
                parameters.append([])
            case (.behind, _): break
            case (.beginning, UInt8(ascii: "\"")): place = .quoted
            default:
                if place == .name, byte == UInt8(ascii: "=") {
                    place = .beginning
                } else if place == .beginning, !FieldList.isSpace(byte) {
                    place = .value
                }
                parameters[parameters.count - 1].append(byte)
            }
        }
        for parameter in parameters.dropFirst() {
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = HTTPSyntax.trimmed(String(decoding: parameter[..<equals], as: UTF8.self))
            guard name.lowercased() == "charset" else { continue }
            let value = HTTPSyntax.trimmed(String(decoding: parameter[(equals + 1)...], as: UTF8.self))
            var charset = value.prefix { !", \t".contains($0) }
            if charset.count > 1, charset.first == "'", charset.last == "'" { charset = charset.dropFirst().dropLast() }
            if HTTPSyntax.isToken(String(charset)) { return String(charset) }
        }
        return nil
    }
}
