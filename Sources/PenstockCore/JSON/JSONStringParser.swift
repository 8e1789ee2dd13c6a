import Foundation

/// Reads one JSON string (RFC 8259 §7), opening quote to closing quote.
enum JSONStringParser {
    /// - Parameter position: of the opening quote; afterwards, behind the closing one.
    static func parse(_ bytes: UnsafeRawBufferPointer, at position: inout Int) throws(JSONFault) -> String {
        position += 1
        var text = ""
        var start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                text += try plain(bytes[start..<position])
                position += 1
                return text
            case UInt8(ascii: "\\"):
                text += try plain(bytes[start..<position])
                position += 1
                try text.unicodeScalars.append(escape(in: bytes, at: &position))
                start = position
            case 0..<0x20: throw .invalid
            default: position += 1
            }
        }
        throw .invalid
    }

    private static func plain(_ bytes: Slice<UnsafeRawBufferPointer>) throws(JSONFault) -> String {
        guard let text = String(bytes: UnsafeRawBufferPointer(rebasing: bytes), encoding: .utf8) else { throw .invalid }
        return text
    }

    private static func escape(
        in bytes: UnsafeRawBufferPointer, at position: inout Int
    ) throws(JSONFault) -> Unicode.Scalar {
        guard position < bytes.count else { throw .invalid }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar(in: bytes, at: &position)
        default: throw .invalid
        }
    }

    /// Four hex digits, or two surrogates of four each; half a pair is invalid.
    private static func scalar(
        in bytes: UnsafeRawBufferPointer, at position: inout Int
    ) throws(JSONFault) -> Unicode.Scalar {
        let high = try unit(in: bytes, at: &position)
        guard UTF16.isLeadSurrogate(high) else {
            guard let scalar = Unicode.Scalar(high) else { throw .invalid }
            return scalar
        }
        guard bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { throw .invalid }
        position += 2
        let low = try unit(in: bytes, at: &position)
        guard UTF16.isTrailSurrogate(low) else { throw .invalid }
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private static func unit(in bytes: UnsafeRawBufferPointer, at position: inout Int) throws(JSONFault) -> UInt16 {
        guard position + 4 <= bytes.count else { throw .invalid }
        var unit: UInt16 = 0
        for byte in bytes[position..<(position + 4)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { throw .invalid }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }
}
