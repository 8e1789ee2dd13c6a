import Foundation

/// Writes a tree as JSON into one buffer.
struct JSONWriter {
    let format: JSONFormat
    private(set) var output: [UInt8] = []

    init(format: JSONFormat) {
        self.format = format
        output.reserveCapacity(256)
    }

    mutating func write(_ value: ParameterValue, depth: Int) throws(ParameterEncodingError) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .string(let value): write(value)
        case .int, .uint, .double, .decimal: output.append(contentsOf: try value.numberText().utf8)
        case .date, .data: try write(value.written(format.dates, format.binary), depth: depth)
        case .array(let value): try write(value, depth: depth)
        case .object(let value): try write(value, depth: depth)
        }
    }

    private mutating func write(_ array: [ParameterValue], depth: Int) throws(ParameterEncodingError) {
        try ParameterEncodingError.checkDepth(depth)
        output.append(UInt8(ascii: "["))
        for (index, element) in array.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            do { try write(element, depth: depth + 1) } catch { throw error.within(String(index)) }
        }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ object: ParameterObject, depth: Int) throws(ParameterEncodingError) {
        try ParameterEncodingError.checkDepth(depth)
        var isFirst = true
        output.append(UInt8(ascii: "{"))
        for (key, value) in try object.members(format.keys, format.order) {
            do throws(ParameterEncodingError) {
                let value = try value.written(format.dates, format.binary)
                if value.isNull, format.nulls == .dropKey { continue }
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                write(key)
                output.append(UInt8(ascii: ":"))
                try write(value, depth: depth + 1)
            } catch {
                throw error.within(key)
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    // MARK: Strings

    private mutating func write(_ text: String) {
        output.append(UInt8(ascii: "\""))
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { writeEscaped($0) }
        if isDone == nil { Array(text.utf8).withUnsafeBufferPointer { writeEscaped($0) } }
        output.append(UInt8(ascii: "\""))
    }

    /// Copies runs of harmless bytes at once. U+2028 and U+2029 are escaped because JavaScript once read them as ends
    /// of lines.
    private mutating func writeEscaped(_ bytes: UnsafeBufferPointer<UInt8>) {
        var runStart = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            let isLineSeparator =
                byte == 0xE2 && index + 2 < bytes.count && bytes[index + 1] == 0x80 && bytes[index + 2] & 0xFE == 0xA8
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || isLineSeparator else {
                index += 1
                continue
            }
            output.append(contentsOf: bytes[runStart..<index])
            if isLineSeparator {
                output.append(contentsOf: (bytes[index + 2] == 0xA8 ? "\\u2028" : "\\u2029").utf8)
            } else {
                writeEscape(of: byte)
            }
            index += isLineSeparator ? 3 : 1
            runStart = index
        }
        output.append(contentsOf: bytes[runStart...])
    }

    private mutating func writeEscape(of byte: UInt8) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        default:
            output.append(contentsOf: (byte < 0x10 ? "u000" : "u001").utf8)
            output.append(contentsOf: String(byte & 15, radix: 16).utf8)
        }
    }
}

extension ParameterEncodingError {
    static func checkDepth(_ depth: Int) throws(ParameterEncodingError) {
        guard depth < maximumDepth else { throw ParameterEncodingError(.tooDeep) }
    }
}

extension ParameterValue {
    /// The shortest decimal text that reads back as the same number; a whole double has no `.0`, because a server that
    /// expects an integer refuses it. Empty for what is no number.
    func numberText() throws(ParameterEncodingError) -> String {
        switch self {
        case .int(let value): return String(value)
        case .uint(let value): return String(value)
        case .double(let value):
            guard value.isFinite else { throw ParameterEncodingError(.nonFiniteNumber) }
            let text = value.description
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        case .decimal(let value):
            guard value.isFinite else { throw ParameterEncodingError(.nonFiniteNumber) }
            return value.description
        default: return ""
        }
    }
}

/// How parameters become JSON (RFC 8259).
///
/// The output has no white space, no escaped slashes, and exact numbers. By default it depends on nothing but the
/// content: the same parameters give the same bytes on every run.
public struct JSONFormat: Sendable {
    /// What happens to a member whose value is ``ParameterValue/null``. Elements of arrays are always written.
    public enum Nulls: Hashable, Sendable {
        /// `"key":null`.
        case null
        /// The member is left out.
        case dropKey
    }

    /// How keys are written.
    public var keys: ParameterStyle.Keys
    /// The order in which the members of an object are written.
    public var order: ParameterStyle.Order
    /// How dates are written.
    public var dates: ParameterStyle.Dates
    /// How binary data is written.
    public var binary: ParameterStyle.Binary
    /// What happens to a member whose value is ``ParameterValue/null``.
    public var nulls: Nulls

    /// The defaults, but for what is named: keys as they are and in the order of their bytes, dates of RFC 3339 in
    /// whole seconds, Base64, and `null` for a null.
    public init(
        keys: ParameterStyle.Keys = .asIs, order: ParameterStyle.Order = .sorted,
        dates: ParameterStyle.Dates = .iso8601, binary: ParameterStyle.Binary = .base64, nulls: Nulls = .null
    ) {
        self.keys = keys
        self.order = order
        self.dates = dates
        self.binary = binary
        self.nulls = nulls
    }

    /// JSON of any value, also of one that is no object.
    public func data(_ value: ParameterValue) throws(ParameterEncodingError) -> Data {
        Data(try bytes(value))
    }

    /// The same as a string.
    public func text(_ value: ParameterValue) throws(ParameterEncodingError) -> String {
        String(decoding: try bytes(value), as: UTF8.self)
    }

    func bytes(_ value: ParameterValue) throws(ParameterEncodingError) -> [UInt8] {
        var writer = JSONWriter(format: self)
        try writer.write(value, depth: 0)
        return writer.output
    }
}
