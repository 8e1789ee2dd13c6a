import Foundation

/// Bytes to text, by what the bytes and their media type say of the character set.
///
/// A byte order mark decides; without one the `charset` parameter of `Content-Type` (RFC 9110 §8.3.2), and without that
/// UTF-8. A character set that is not known, and bytes that do not fit theirs, are errors: text that looks nearly right
/// would be worse.
enum TextDecoding {
    /// - Throws: ``APIError/Kind/decoding(path:reason:)``.
    static func text(of data: Data, contentType: String?) throws(APIError) -> String {
        let mark = byteOrderMark(of: data)
        let name = mark?.charset ?? contentType.flatMap(charset(in:)) ?? "utf-8"
        let encodings = encodings(named: name.lowercased())
        let content = data.dropFirst(mark?.length ?? 0)
        if let text = encodings.lazy.compactMap({ read(content, in: $0) }).first { return text }
        let printable = PrintableText.bounded(name)
        let reason =
            encodings.isEmpty
            ? "the character set \(printable) is not known" : "the body is no text in the character set \(printable)"
        throw APIError(.decoding(path: "", reason: reason), stage: .decoding)
    }

    /// EUC-JP by way of Shift_JIS, as Foundation reads the one on Apple's systems alone.
    private static func read(_ data: Data, in encoding: String.Encoding) -> String? {
        guard encoding == .japaneseEUC else { return String(data: data, encoding: encoding) }
        return JapaneseEUC.shiftJIS(data).flatMap { String(data: $0, encoding: .shiftJIS) }
    }

    private static func byteOrderMark(of data: Data) -> (charset: String, length: Int)? {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return ("utf-8", 3) }
        if data.starts(with: [0xFE, 0xFF]) { return ("utf-16be", 2) }
        if data.starts(with: [0xFF, 0xFE]) { return ("utf-16le", 2) }
        return nil
    }

    /// The first `charset` parameter of a media type that names one, without its quotes; one pass over the text. Who sends the field
    /// twice has both values joined by a comma; some put apostrophes for quotes, or a comment behind the name.
    static func charset(in contentType: String) -> String? {
        var parameters: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in contentType.utf8 {
            switch byte {
            case _ where isEscaped:
                isEscaped = false
                parameters[parameters.count - 1].append(byte)
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ";") where !isQuoted: parameters.append([])
            default: parameters[parameters.count - 1].append(byte)
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

    /// How to read a character set, the best way first; none for one that is not known. Names stand for what they mean on
    /// the web (WHATWG Encoding §4.2): who says Latin-1, GBK or EUC-KR sends the larger set that
    /// contains it.
    private static func encodings(named name: String) -> [String.Encoding] {
        switch name {
        case "utf-8", "utf8": [.utf8]
        case "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252", "cp1252": [.windowsCP1252, .isoLatin1]
        case "utf-16", "utf-16le": [.utf16LittleEndian]
        case "utf-16be": [.utf16BigEndian]
        case "iso-8859-2", "latin2": [.isoLatin2]
        case "iso-8859-5": [.coreFoundation(0x0205)]
        case "iso-8859-6": [.coreFoundation(0x0206)]
        case "iso-8859-7": [.coreFoundation(0x0207)]
        case "iso-8859-8", "iso-8859-8-i": [.coreFoundation(0x0208)]
        case "iso-8859-9", "windows-1254": [.windowsCP1254]
        case "iso-8859-15": [.coreFoundation(0x020F)]
        case "windows-1250": [.windowsCP1250]
        case "windows-1251": [.windowsCP1251]
        case "windows-1253": [.windowsCP1253]
        case "windows-1255": [.coreFoundation(0x0505)]
        case "windows-1256": [.coreFoundation(0x0506)]
        case "koi8-r": [.coreFoundation(0x0A02)]
        case "shift_jis", "shift-jis", "sjis", "windows-31j": [.shiftJIS]
        case "euc-jp": [.japaneseEUC]
        case "iso-2022-jp": [.iso2022JP]
        case "gb2312", "gbk", "gb18030": [.coreFoundation(0x0632)]
        case "big5": [.coreFoundation(0x0A03)]
        case "euc-kr", "ks_c_5601-1987", "windows-949": [.coreFoundation(0x0422)]
        default: []
        }
    }
}

extension String.Encoding {
    /// An encoding that Foundation knows by its number in Core Foundation alone, which the highest bit marks.
    fileprivate static func coreFoundation(_ number: UInt) -> String.Encoding {
        String.Encoding(rawValue: 0x8000_0000 | number)
    }
}

/// EUC-JP (WHATWG Encoding §12.1), whose characters are those of Shift_JIS under other numbers.
private enum JapaneseEUC {
    /// The same text in Shift_JIS; `nil` where the bytes are none, or have a character of JIS X 0212, which that has not.
    static func shiftJIS(_ data: Data) -> Data? {
        var output: [UInt8] = []
        var rest = data[...]
        while let first = rest.popFirst() {
            guard first >= 0x80 else {
                output.append(first)
                continue
            }
            guard let second = rest.popFirst(), (0xA1...0xFE).contains(second) else { return nil }
            switch first {
            case 0x8E where second < 0xE0: output.append(second)
            case 0xA1...0xFE:
                // Two rows of 94 characters are one of 188.
                let (pair, half) = (first - 0xA1).quotientAndRemainder(dividingBy: 2)
                let place = half * 94 + (second - 0xA1)
                output.append(pair + (pair < 31 ? 0x81 : 0xC1))
                output.append(place + (place < 63 ? 0x40 : 0x41))
            default: return nil
            }
        }
        return Data(output)
    }
}
