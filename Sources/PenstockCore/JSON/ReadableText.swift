import Foundation

/// Content as a text in which names can be looked for, whatever its encoding.
enum ReadableText {
    /// The text of content that is UTF-16 or UTF-32, known as RFC 4627 §3 has it, by its byte order mark or by where its zeros
    /// are; `nil` for anything else. What breaks the encoding becomes U+FFFD.
    static func wide(_ data: Data) -> String? {
        let head = Array(data.prefix(4))
        guard head.count >= 2 else { return nil }
        if head.count == 4 {
            switch (head[0], head[1], head[2], head[3]) {
            case (0, 0, 0xFE, 0xFF), (0, 0, 0, 1...): return wide(data, UInt32.self, UTF32.self, isBigEndian: true)
            case (0xFF, 0xFE, 0, 0), (1..., 0, 0, 0): return wide(data, UInt32.self, UTF32.self, isBigEndian: false)
            default: break
            }
        }
        switch (head[0], head[1]) {
        case (0xFE, 0xFF), (0, 1...): return wide(data, UInt16.self, UTF16.self, isBigEndian: true)
        case (0xFF, 0xFE), (1..., 0): return wide(data, UInt16.self, UTF16.self, isBigEndian: false)
        default: return nil
        }
    }

    private static func wide<Unit: FixedWidthInteger, Encoding: UnicodeCodec>(
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

    /// The text of content in an encoding of bytes that is not told, as if it were ISO-8859-1, in which every byte is a character:
    /// names in ASCII are the same in all of them. `nil` for what is no text.
    static func latin(_ data: Data, type: String?) -> String? {
        let type = (type ?? "").lowercased()
        let kind = HTTPSyntax.trimmed(String(type.prefix { $0 != "/" }))
        guard !["image", "audio", "video", "font"].contains(kind) else { return nil }
        guard kind == "text" || type.contains("json") || !data.contains(0) else { return nil }
        return String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
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
