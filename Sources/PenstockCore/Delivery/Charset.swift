import Foundation

/// A character set of the web (WHATWG Encoding §4.2), and how its bytes are read.
enum Charset: Hashable, Sendable {
    case utf8
    case utf16(isBigEndian: Bool)
    case windows1252
    case japaneseEUC
    /// One that Foundation reads as the web does. Where it has characters that the web has not, it makes them of those for private
    /// use, which mean nothing to anybody else: such text is refused.
    case foundation(String.Encoding, isPrivateUseRefused: Bool = false)

    /// The one that a name stands for, whatever its case; `nil` for a name that is not known.
    ///
    /// Who says Latin-1, GBK or EUC-KR sends the larger set that contains it, which is what its name stands for.
    init?(named name: String) {
        guard let set = Self.known[name.lowercased()] else { return nil }
        self = set
    }

    /// The text that the bytes are; `nil` where they are none.
    func text(of data: Data) -> String? {
        switch self {
        case .utf8: return String(utf8: data)
        case .utf16(let isBigEndian):
            // Foundation leaves a lone byte at the end out.
            guard data.count.isMultiple(of: 2) else { return nil }
            return String(data: data, encoding: isBigEndian ? .utf16BigEndian : .utf16LittleEndian)
        case .windows1252: return Self.windows1252(data)
        // By way of Shift_JIS, as Foundation reads the one on Apple's systems alone.
        case .japaneseEUC:
            return JapaneseEUC.shiftJIS(data).flatMap { String(data: $0, encoding: .shiftJIS) }
        case .foundation(let encoding, let isPrivateUseRefused):
            guard let text = String(data: data, encoding: encoding) else { return nil }
            let isRefused = isPrivateUseRefused && text.unicodeScalars.contains { 0xE000...0xF8FF ~= $0.value }
            return isRefused ? nil : text
        }
    }

    /// Every byte is a character: five of those that Windows has not are the control characters of Latin-1 (§9), which
    /// Foundation refuses.
    private static func windows1252(_ data: Data) -> String {
        var text = String.UnicodeScalarView()
        for byte in data {
            text.append((0x80...0x9F).contains(byte) ? windows[Int(byte - 0x80)] : Unicode.Scalar(byte))
        }
        return String(text)
    }

    private static let windows = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)
}

// MARK: Names

extension Charset {
    private static let known: [String: Charset] = {
        var known: [String: Charset] = [:]
        for (set, names) in labels {
            for name in names.split(whereSeparator: \.isWhitespace) { known[String(name)] = set }
        }
        return known
    }()

    /// Every name of the web for a character set that is read here.
    private static let labels: [(Charset, String)] = [
        (.utf8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
        (
            .utf16(isBigEndian: false),
            "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"
        ),
        (.utf16(isBigEndian: true), "utf-16be unicodefffe"),
        (
            .windows1252,
            """
            windows-1252 cp1252 x-cp1252 us-ascii ascii ansi_x3.4-1968 cp819 ibm819 csisolatin1 iso-8859-1 iso8859-1 iso88591
            iso_8859-1 iso_8859-1:1987 iso-ir-100 l1 latin1
            """
        ),
        (.foundation(.windowsCP1250), "windows-1250 cp1250 x-cp1250"),
        (.foundation(.windowsCP1251), "windows-1251 cp1251 x-cp1251"),
        (.foundation(.windowsCP1253), "windows-1253 cp1253 x-cp1253"),
        (
            .foundation(.windowsCP1254),
            """
            windows-1254 cp1254 x-cp1254 csisolatin5 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 iso-ir-148 l5
            latin5
            """
        ),
        (.foundation(.coreFoundation(0x0505)), "windows-1255 cp1255 x-cp1255"),
        (.foundation(.coreFoundation(0x0506)), "windows-1256 cp1256 x-cp1256"),
        (.foundation(.coreFoundation(0x0507)), "windows-1257 cp1257 x-cp1257"),
        (.foundation(.coreFoundation(0x0508)), "windows-1258 cp1258 x-cp1258"),
        (
            .foundation(.coreFoundation(0x041D), isPrivateUseRefused: true),
            "windows-874 dos-874 tis-620 iso-8859-11 iso8859-11 iso885911"
        ),
        (
            .foundation(.isoLatin2),
            "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 iso-ir-101 csisolatin2 l2 latin2"
        ),
        (
            .foundation(.coreFoundation(0x0203)),
            "iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 iso-ir-109 csisolatin3 l3 latin3"
        ),
        (
            .foundation(.coreFoundation(0x0204)),
            "iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 iso-ir-110 csisolatin4 l4 latin4"
        ),
        (
            .foundation(.coreFoundation(0x0205)),
            "iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 iso-ir-144 csisolatincyrillic cyrillic"
        ),
        (
            .foundation(.coreFoundation(0x0206)),
            """
            iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 iso-8859-6-e iso-8859-6-i csiso88596e csiso88596i
            csisolatinarabic iso-ir-127 arabic asmo-708 ecma-114
            """
        ),
        (
            .foundation(.coreFoundation(0x0207)),
            """
            iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 iso-ir-126 csisolatingreek ecma-118 elot_928 greek greek8
            sun_eu_greek
            """
        ),
        (
            .foundation(.coreFoundation(0x0208)),
            """
            iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 iso-8859-8-e iso-8859-8-i csiso88598e csiso88598i
            csisolatinhebrew iso-ir-138 hebrew visual logical
            """
        ),
        (
            .foundation(.coreFoundation(0x020A)),
            "iso-8859-10 iso8859-10 iso885910 iso-ir-157 csisolatin6 l6 latin6"
        ),
        (.foundation(.coreFoundation(0x020D)), "iso-8859-13 iso8859-13 iso885913"),
        (.foundation(.coreFoundation(0x020E)), "iso-8859-14 iso8859-14 iso885914"),
        (.foundation(.coreFoundation(0x020F)), "iso-8859-15 iso8859-15 iso885915 iso_8859-15 csisolatin9 l9"),
        (.foundation(.coreFoundation(0x0210)), "iso-8859-16"),
        (.foundation(.coreFoundation(0x041B)), "ibm866 866 cp866 csibm866"),
        (.foundation(.coreFoundation(0x0A02)), "koi8-r koi8_r koi8 koi cskoi8r"),
        (.foundation(.coreFoundation(0x0A08)), "koi8-u koi8-ru"),
        (.foundation(.coreFoundation(0x0000)), "macintosh mac x-mac-roman csmacintosh"),
        (.foundation(.coreFoundation(0x0007)), "x-mac-cyrillic x-mac-ukrainian"),
        (
            .foundation(.shiftJIS),
            "shift_jis shift-jis sjis x-sjis csshiftjis ms932 ms_kanji windows-31j"
        ),
        (.japaneseEUC, "euc-jp x-euc-jp cseucpkdfmtjapanese"),
        (.foundation(.iso2022JP), "iso-2022-jp csiso2022jp"),
        (
            .foundation(.coreFoundation(0x0632)),
            "gb18030 gbk x-gbk gb2312 gb_2312 gb_2312-80 csgb2312 csiso58gb231280 iso-ir-58 chinese"
        ),
        // With the characters of Hong Kong, as on the web.
        (
            .foundation(.coreFoundation(0x0A06), isPrivateUseRefused: true),
            "big5 big5-hkscs cn-big5 csbig5 x-x-big5"
        ),
        (
            .foundation(.coreFoundation(0x0422), isPrivateUseRefused: true),
            """
            euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
            """
        ),
    ]
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
