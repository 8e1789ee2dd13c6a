import Foundation

/// Reads a Structured Field strictly and writes it in the one form that the standard has (RFC 9651 §4). The work is linear in the
/// length, whatever stands in it.
package struct StructuredField {
    /// A text that is no field of its kind.
    package struct Malformed: Error {}

    private var bytes: ArraySlice<UInt8>

    private init(_ text: String) {
        bytes = Array(text.utf8)[...]
        skip { $0 == Self.space }
    }

    /// An item in its one form, with its parameters.
    package static func item(_ text: String) throws(Malformed) -> String {
        var field = StructuredField(text)
        let item = try field.item()
        try field.end()
        return item
    }

    /// The members of a list, each in its one form with its parameters.
    package static func list(_ text: String) throws(Malformed) -> [String] {
        var field = StructuredField(text)
        var members: [String] = []
        try field.members { (field: inout StructuredField) throws(Malformed) in members.append(try field.member()) }
        return members
    }

    /// The members of a dictionary in their order, each in its one form with its parameters. Of two with one key, the value of
    /// the last counts.
    package static func dictionary(_ text: String) throws(Malformed) -> [(key: String, value: String)] {
        var field = StructuredField(text)
        var members: [(key: String, value: String)] = []
        var places: [String: Int] = [:]
        try field.members { (field: inout StructuredField) throws(Malformed) in
            let key = try field.key()
            let value = try field.take("=") ? field.member() : "?1" + field.parameters()
            if let place = places[key] {
                members[place].value = value
            } else {
                places[key] = members.count
                members.append((key, value))
            }
        }
        return members
    }

    // MARK: Members

    private static let space = UInt8(ascii: " ")

    private mutating func members(
        _ read: (inout StructuredField) throws(Malformed) -> Void
    ) throws(Malformed) {
        guard !bytes.isEmpty else { return }
        while true {
            try read(&self)
            skip { $0 == Self.space || $0 == 0x09 }
            guard !bytes.isEmpty else { return }
            guard take(",") else { throw Malformed() }
            skip { $0 == Self.space || $0 == 0x09 }
            guard !bytes.isEmpty else { throw Malformed() }
        }
    }

    private mutating func end() throws(Malformed) {
        skip { $0 == Self.space }
        guard bytes.isEmpty else { throw Malformed() }
    }

    private mutating func member() throws(Malformed) -> String {
        guard bytes.first == UInt8(ascii: "(") else { return try item() }
        bytes.removeFirst()
        var items: [String] = []
        while true {
            skip { $0 == Self.space }
            if take(")") { return try "(" + items.joined(separator: " ") + ")" + parameters() }
            items.append(try item())
            guard bytes.first == Self.space || bytes.first == UInt8(ascii: ")") else { throw Malformed() }
        }
    }

    private mutating func item() throws(Malformed) -> String {
        try bareItem() + parameters()
    }

    /// Reads the parameters of an item. Of two parameters with one key, the value of the last counts.
    private mutating func parameters() throws(Malformed) -> String {
        var found: [(key: String, value: String)] = []
        var places: [String: Int] = [:]
        while take(";") {
            skip { $0 == Self.space }
            let key = try self.key()
            let value = try take("=") ? bareItem() : "?1"
            if let place = places[key] {
                found[place].value = value
            } else {
                places[key] = found.count
                found.append((key, value))
            }
        }
        return found.map { $0.value == "?1" ? ";\($0.key)" : ";\($0.key)=\($0.value)" }.joined()
    }

    private mutating func key() throws(Malformed) -> String {
        guard let first = bytes.first, Self.isSmall(first) || first == UInt8(ascii: "*") else { throw Malformed() }
        return takeAll { Self.isSmall($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    // MARK: Bare items

    private mutating func bareItem() throws(Malformed) -> String {
        guard let first = bytes.first else { throw Malformed() }
        switch first {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: ":"): return try byteSequence()
        case UInt8(ascii: "?"): return try boolean()
        case UInt8(ascii: "%"): return try displayString()
        case UInt8(ascii: "@"):
            bytes.removeFirst()
            let number = try self.number()
            guard !number.contains(".") else { throw Malformed() }
            return "@" + number
        default:
            if first == UInt8(ascii: "-") || Self.isDigit(first) { return try number() }
            guard first == UInt8(ascii: "*") || Self.isSmall(first | 0x20) else { throw Malformed() }
            return takeAll { Self.isTokenByte($0) }
        }
    }

    private mutating func number() throws(Malformed) -> String {
        let isNegative = take("-")
        let whole = takeAll(Self.isDigit)
        guard !whole.isEmpty else { throw Malformed() }
        guard take(".") else {
            guard whole.utf8.count <= 15, let value = Int(whole) else { throw Malformed() }
            return String(isNegative ? -value : value)
        }
        let fraction = takeAll(Self.isDigit)
        guard whole.utf8.count <= 12, (1...3).contains(fraction.utf8.count), let value = Int(whole) else {
            throw Malformed()
        }
        var short = Substring(fraction)
        while short.utf8.count > 1, short.last == "0" { short.removeLast() }
        let isZero = value == 0 && short == "0"
        return (isNegative && !isZero ? "-" : "") + "\(value).\(short)"
    }

    private mutating func string() throws(Malformed) -> String {
        bytes.removeFirst()
        var output: [UInt8] = [UInt8(ascii: "\"")]
        while let byte = bytes.popFirst() {
            output.append(byte)
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: output, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = bytes.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else {
                    throw Malformed()
                }
                output.append(escaped)
            default:
                guard (0x20...0x7E).contains(byte) else { throw Malformed() }
            }
        }
        throw Malformed()
    }

    /// Padding may be left out (§4.2.7). Foundation also takes it in the midst, and too much of it.
    private mutating func byteSequence() throws(Malformed) -> String {
        bytes.removeFirst()
        let digits = takeAll { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "=") }
        let padding = takeAll { $0 == UInt8(ascii: "=") }
        // A single digit is six bits, which are no byte.
        let room = (4 - digits.utf8.count % 4) % 4
        guard room < 3, padding.utf8.count <= room, take(":"),
            let data = Data(base64Encoded: digits + String(repeating: "=", count: room))
        else { throw Malformed() }
        return ":\(data.base64EncodedString()):"
    }

    private mutating func boolean() throws(Malformed) -> String {
        bytes.removeFirst()
        if take("1") { return "?1" }
        guard take("0") else { throw Malformed() }
        return "?0"
    }

    /// A text of any characters, whose bytes beyond ASCII are escaped in small digits (§4.1.11 and §4.2.10).
    private mutating func displayString() throws(Malformed) -> String {
        bytes.removeFirst()
        guard take("\"") else { throw Malformed() }
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                guard String(utf8: text) != nil else { throw Malformed() }
                return "%\"" + text.map(Self.displayed).joined() + "\""
            case UInt8(ascii: "%"):
                guard let high = bytes.popFirst().flatMap(Self.smallDigit),
                    let low = bytes.popFirst().flatMap(Self.smallDigit)
                else { throw Malformed() }
                text.append(high << 4 | low)
            case 0x20...0x7E: text.append(byte)
            default: throw Malformed()
            }
        }
        throw Malformed()
    }

    private static func displayed(_ byte: UInt8) -> String {
        guard byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\"") || !(0x20...0x7E).contains(byte) else {
            return String(Unicode.Scalar(byte))
        }
        return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
    }

    /// The value of a digit of a hexadecimal number; capitals are none here.
    private static func smallDigit(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte - UInt8(ascii: "0") }
        return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) ? byte - UInt8(ascii: "a") + 10 : nil
    }

    // MARK: Bytes

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes.removeFirst()
        return true
    }

    private mutating func takeAll(_ isWanted: (UInt8) -> Bool) -> String {
        let taken = bytes.prefix(while: isWanted)
        bytes.removeFirst(taken.count)
        return String(decoding: taken, as: UTF8.self)
    }

    private mutating func skip(_ isUnwanted: (UInt8) -> Bool) {
        bytes = bytes.drop(while: isUnwanted)
    }

    private static func isSmall(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isSmall(byte | 0x20) || isDigit(byte) || "!#$%&'*+-.^_`|~:/".utf8.contains(byte)
    }
}
