import Foundation

/// Content as a text in which names can be looked for, whatever its encoding.
enum ReadableText {
    private struct Form: Hashable {
        /// The width of a unit, in bytes.
        let width: Int
        let isBigEndian: Bool
    }

    private static let mediaKinds: Set<String> = ["image", "audio", "video", "font"]

    /// The texts that content may be in UTF-16 or UTF-32: by its byte order mark, or else by its `charset`, by its first character
    /// as RFC 4627 §3 has it, and by where its zeros are. Empty for anything else. What breaks the encoding becomes U+FFFD.
    static func wide(_ data: Data, type: String?) -> [String] {
        var forms: [Form] = []
        for form in marked(data) ?? declared(type) + begun(data) + inferred(data, type) where !forms.contains(form) {
            forms.append(form)
        }
        return forms.map { text(data, in: $0) }
    }

    /// Whether content whose `charset` is UTF-16 or UTF-32 is a text in it; so is all that has no such one.
    static func isAsDeclared(_ data: Data, type: String?) -> Bool {
        let forms = marked(data) ?? declared(type)
        // The end may be missing.
        return forms.isEmpty || forms.contains { !text(data, in: $0).unicodeScalars.dropLast().contains("\u{FFFD}") }
    }

    /// The `charset` of a text in which the names that are looked for are other bytes; `nil` where the type says no such one.
    static func unreadableCharset(_ type: String?) -> String? {
        guard let charset = charset(type) else { return nil }
        let name = charset.filter { $0.isLetter || $0.isNumber }
        let isKnown = ["utf7", "unicode11utf7", "scsu", "bocu1"].contains(name) || name.contains("ebcdic")
        return isKnown || ebcdic.contains(name) ? charset : nil
    }

    private static let ebcdic: Set<String> = Set(
        ["037", "273", "277", "278", "280", "284", "285", "297", "424", "500", "870", "871", "1026", "1047", "1140"]
            .flatMap { ["ibm\($0)", "cp\($0)"] })

    /// The charset that a media type names, in small letters.
    private static func charset(_ type: String?) -> String? {
        type.flatMap(ParameterizedValue.init)?.parameters["charset"]?.lowercased()
    }

    private static func marked(_ data: Data) -> [Form]? {
        let (head, two) = (Array(data.prefix(4)), Array(data.prefix(2)))
        if head == [0, 0, 0xFE, 0xFF] { return [Form(width: 4, isBigEndian: true)] }
        if head == [0xFF, 0xFE, 0, 0] { return [Form(width: 4, isBigEndian: false)] }
        if two == [0xFE, 0xFF] { return [Form(width: 2, isBigEndian: true)] }
        return two == [0xFF, 0xFE] ? [Form(width: 2, isBigEndian: false)] : nil
    }

    private static func declared(_ type: String?) -> [Form] {
        guard let charset = charset(type) else { return [] }
        let name = charset.filter { $0.isLetter || $0.isNumber }
        let isNarrow = ["utf16", "ucs2", "iso10646ucs2", "unicode", "csunicode"].contains { name.hasPrefix($0) }
        let isWide = ["utf32", "ucs4", "iso10646ucs4"].contains { name.hasPrefix($0) }
        guard isNarrow != isWide else { return [] }
        return [true, false].filter { !name.hasSuffix($0 ? "le" : "be") }
            .map { Form(width: isWide ? 4 : 2, isBigEndian: $0) }
    }

    private static func begun(_ data: Data) -> [Form] {
        let head = Array(data.prefix(4))
        guard head.count >= 2 else { return [] }
        let zeros = head.map { $0 == 0 }
        if zeros == [true, true, true, false] { return [Form(width: 4, isBigEndian: true)] }
        if zeros == [false, true, true, true] { return [Form(width: 4, isBigEndian: false)] }
        return zeros[0] == zeros[1] ? [] : [Form(width: 2, isBigEndian: zeros[0])]
    }

    /// Tells the form by the zeros in the first bytes: of a text that has signs of ASCII they stand at every second place, or at three of
    /// four.
    private static func inferred(_ data: Data, _ type: String?) -> [Form] {
        guard !mediaKinds.contains(kind(type)) else { return [] }
        let head = Array(data.prefix(1_024))
        var zeros = [0, 0, 0, 0]
        for (index, byte) in head.enumerated() where byte == 0 { zeros[index % 4] += 1 }
        let (first, second) = (zeros[0] + zeros[2], zeros[1] + zeros[3])
        guard first != second else { return [] }
        let isBigEndian = first > second
        let isWide = (isBigEndian ? zeros[1] : zeros[2]) * 8 > head.count
        return (isWide ? [4] : []).map { Form(width: $0, isBigEndian: isBigEndian) } + [
            Form(width: 2, isBigEndian: isBigEndian)
        ]
    }

    private static func text(_ data: Data, in form: Form) -> String {
        form.width == 4
            ? text(data, UInt32.self, UTF32.self, isBigEndian: form.isBigEndian)
            : text(data, UInt16.self, UTF16.self, isBigEndian: form.isBigEndian)
    }

    private static func text<Unit: FixedWidthInteger, Encoding: UnicodeCodec>(
        _ data: Data, _: Unit.Type, _ encoding: Encoding.Type, isBigEndian: Bool
    ) -> String where Encoding.CodeUnit == Unit {
        let bytes = [UInt8](data)
        let width = Unit.bitWidth / 8
        let units = stride(from: 0, through: bytes.count - width, by: width).map { start in
            bytes[start..<(start + width)].enumerated().reduce(into: Unit.zero) { unit, byte in
                unit |= Unit(byte.element) << (8 * (isBigEndian ? width - 1 - byte.offset : byte.offset))
            }
        }
        return String(decoding: units, as: encoding)
    }

    private static func kind(_ type: String?) -> String {
        HTTPSyntax.trimmed(String((type ?? "").prefix { $0 != "/" })).lowercased()
    }

    /// The text of content in an encoding of bytes that is not told, as if it were ISO-8859-1, in which every byte is a character:
    /// names in ASCII are the same in all of them. `nil` for what is no text.
    static func latin(_ data: Data, type: String?) -> String? {
        let kind = kind(type)
        guard !mediaKinds.contains(kind) else { return nil }
        let isText = kind == "text" || (type ?? "").lowercased().contains("json")
        guard isText || !data.contains(0) else { return nil }
        return latin(data)
    }

    /// The bytes as characters of ISO-8859-1.
    static func latin(_ data: Data) -> String {
        String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
    }

    /// The bytes of a text of ``latin(_:type:)`` that was changed: what is no character of ISO-8859-1, as the mark is none, is
    /// in UTF-8.
    static func bytes(ofLatin text: String) -> Data {
        Data(
            text.unicodeScalars.flatMap { scalar in
                UInt8(exactly: scalar.value).map { [$0] } ?? Array(String(scalar).utf8)
            })
    }
}
