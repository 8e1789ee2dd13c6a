import Foundation

/// Reads UTF-8 JSON (RFC 8259) into a ``JSONValue`` in one linear pass.
///
/// Foundation's decoder must guess the kind of each value and pays for each wrong guess with an error that holds the whole
/// coding path, so that a small body, deeply nested, would keep it busy for seconds.
struct JSONParser {
    private let bytes: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private let takesRepeatedKeys: Bool
    private var position = 0
    private var depth = 0

    /// - Parameter takesRepeatedKeys: of two equal keys in one object, the first counts; otherwise they are a fault.
    static func parse(
        _ data: Data, maximumDepth: Int, takesRepeatedKeys: Bool = true
    ) throws(JSONFault) -> JSONValue {
        guard !data.isEmpty else { throw .empty }
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in
                var parser = JSONParser(
                    bytes: bytes, maximumDepth: maximumDepth, takesRepeatedKeys: takesRepeatedKeys)
                return try parser.document()
            }
        }
        return try result.get()
    }

    private init(bytes: UnsafeRawBufferPointer, maximumDepth: Int, takesRepeatedKeys: Bool) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.takesRepeatedKeys = takesRepeatedKeys
    }

    private mutating func document() throws(JSONFault) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value()
        guard peek() == nil else { throw .invalid }
        return value
    }

    private mutating func value() throws(JSONFault) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONFault) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONFault) in try parser.array() }
        case UInt8(ascii: "\""): return try .string(JSONStringParser.parse(bytes, at: &position))
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(
        _ read: (inout JSONParser) throws(JSONFault) -> JSONValue
    ) throws(JSONFault) -> JSONValue {
        depth += 1
        guard depth <= maximumDepth else { throw .tooDeep(limit: maximumDepth) }
        position += 1
        let value = try read(&self)
        depth -= 1
        return value
    }

    private mutating func array() throws(JSONFault) -> JSONValue {
        var elements: [JSONValue] = []
        guard !skip(UInt8(ascii: "]")) else { return .array(elements) }
        repeat { try elements.append(value()) } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw .invalid }
        return .array(elements)
    }

    private mutating func object() throws(JSONFault) -> JSONValue {
        var members: [String: JSONValue] = [:]
        guard !skip(UInt8(ascii: "}")) else { return .object(members) }
        repeat {
            guard peek() == UInt8(ascii: "\"") else { throw .invalid }
            let key = try JSONStringParser.parse(bytes, at: &position)
            guard !key.hasRunOfMarks else { throw .tooManyMarks }
            guard skip(UInt8(ascii: ":")) else { throw .invalid }
            let value = try value()
            if members[key] == nil {
                members[key] = value
            } else {
                guard takesRepeatedKeys else { throw .invalid }
            }
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw .invalid }
        return .object(members)
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        let expected = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[position..<end].elementsEqual(expected) else { throw .invalid }
        position = end
        return value
    }

    /// The next byte that is no white space; it is not consumed.
    private mutating func peek() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }
}

extension JSONParser {
    /// RFC 8259 §6. A number too large for any type is invalid.
    ///
    /// It becomes an integer where its digits are exactly one that fits: `1`, `1.0` and `1e3` do. Everything else becomes a
    /// `Double`, and never an integer by way of one, which would round: `-9223372036854775809` is not `Int.min`.
    private mutating func number() throws(JSONFault) -> JSONValue {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let isZeroLed = current == UInt8(ascii: "0")
        let digits = skipDigits()
        guard digits > 0, !isZeroLed || digits == 1 else { throw .invalid }
        try skipFractionAndExponent()
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let number = Int(text) { return .int(number) }
        if let number = UInt(text) { return .uint(number) }
        guard let number = Double(text), number.isFinite else { throw .invalid }
        if let exact = Self.exactInteger(text.utf8) { return .int(exact) }
        return .double(number)
    }

    /// The integer that a number with a fraction or an exponent is exactly; `nil` when it is none, or does not fit.
    private static func exactInteger(_ text: String.UTF8View) -> Int? {
        let zero = UInt8(ascii: "0")
        let mark = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") }
        let mantissa = text[..<(mark ?? text.endIndex)].drop { $0 == UInt8(ascii: "-") }
        let parts = mantissa.split(separator: UInt8(ascii: "."))
        var digits = Array(parts.joined().drop { $0 == zero })
        guard let exponent = mark.map({ Int(Substring(text[text.index(after: $0)...])) }) ?? 0 else { return nil }
        guard !digits.isEmpty else { return 0 }
        // How many zeros stand behind the digits, which would make a fraction of them where it is less than none.
        let scale = exponent.subtractingReportingOverflow(parts.dropFirst().first?.count ?? 0)
        guard !scale.overflow else { return nil }
        var zeros = scale.partialValue
        while digits.last == zero {
            digits.removeLast()
            zeros += 1
        }
        guard (0...18).contains(zeros) else { return nil }
        digits += Array(repeating: zero, count: zeros)
        let sign = text.first == UInt8(ascii: "-") ? "-" : ""
        return Int(sign + String(decoding: digits, as: UTF8.self))
    }

    private var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func skipFractionAndExponent() throws(JSONFault) {
        if current == UInt8(ascii: ".") {
            position += 1
            guard skipDigits() > 0 else { throw .invalid }
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            guard skipDigits() > 0 else { throw .invalid }
        }
    }
}

/// Why bytes are not JSON that will be read.
enum JSONFault: Error, Hashable {
    case empty
    case tooDeep(limit: Int)
    case invalid
    case notObject
    /// A member's name that would take too long to be looked up.
    case tooManyMarks

    var reason: String {
        switch self {
        case .empty: "the body is empty"
        case .tooDeep(let limit): "arrays and objects nest deeper than \(limit) levels"
        case .invalid: "the body is not valid JSON"
        case .notObject: "the body is no JSON object"
        case .tooManyMarks: "a member's name has more than \(String.mostMarks) combining marks in a row"
        }
    }

    /// Looks at what would keep a decoder too busy, before it reads: brackets outside strings, since it recurses into them on a stack
    /// that may be small, and long names of members, since it looks each up.
    static func check(_ data: Data, maximumDepth: Int) throws(JSONFault) {
        // A decoder reads UTF-16 and UTF-32 as well (RFC 4627 §3), in which quotes and brackets are other bytes.
        let isWide = data.prefix(4).contains { $0 == 0 || $0 >= 0xFE }
        let texts = isWide ? ReadableText.wide(data, type: nil).map { Data($0.utf8) } : []
        for text in texts.isEmpty ? [data] : texts {
            let found = text.withUnsafeBytes { bytes in fault(in: bytes, maximumDepth) }
            if let found { throw found }
        }
    }

    private static func fault(in bytes: UnsafeRawBufferPointer, _ maximumDepth: Int) -> JSONFault? {
        var depth = 0
        var isInString = false
        var isEscaped = false
        // Of the string that was begun last.
        var start = 0
        for (position, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isInString {
                isEscaped = byte == UInt8(ascii: "\\")
                isInString = byte != UInt8(ascii: "\"")
                guard !isInString, position - start > 2 * String.mostMarks else { continue }
                if hasRunOfMarks(bytes, start, upTo: position) { return .tooManyMarks }
            } else {
                switch byte {
                case UInt8(ascii: "\""): (isInString, start) = (true, position)
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: continue
                }
                if depth > maximumDepth { return .tooDeep(limit: maximumDepth) }
            }
        }
        return nil
    }

    /// Whether a string between two quotes is the name of a member, and has too many marks in a row.
    private static func hasRunOfMarks(_ bytes: UnsafeRawBufferPointer, _ start: Int, upTo end: Int) -> Bool {
        guard bytes[(end + 1)...].first(where: { $0 > 0x20 }) == UInt8(ascii: ":") else { return false }
        var position = start
        return (try? JSONStringParser.parse(bytes, at: &position))?.hasRunOfMarks ?? false
    }
}

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
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        // Foundation's reading is the faster one, but takes a byte order mark off.
        let text = bytes.first == 0xEF ? String(utf8: bytes) : String(bytes: bytes, encoding: .utf8)
        guard let text else { throw .invalid }
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
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .invalid }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }
}
