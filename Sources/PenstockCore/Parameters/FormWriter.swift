/// Writes an object as escaped pairs into one buffer.
struct FormWriter {
    let format: FormFormat
    private(set) var output: [UInt8] = []

    init(format: FormFormat) {
        self.format = format
        output.reserveCapacity(256)
    }

    mutating func write(_ object: ParameterObject) throws(ParameterEncodingError) {
        try write(object, under: nil, depth: 0)
    }

    private mutating func write(
        _ object: ParameterObject, under parent: String?, depth: Int
    ) throws(ParameterEncodingError) {
        try ParameterEncodingError.checkDepth(depth)
        for (key, value) in try object.members(format.keys, format.order) {
            let name = parent.map { format.nesting.key($0, key) } ?? key
            do { try write(value, key: name, depth: depth + 1) } catch { throw error.within(key) }
        }
    }

    private mutating func write(
        _ value: ParameterValue, key: String, depth: Int
    ) throws(ParameterEncodingError) {
        switch value {
        case .object(let object): try write(object, under: key, depth: depth)
        case .array(let array): try write(array, key: key, depth: depth)
        case .date, .data: try write(value.written(format.dates, format.binary), key: key, depth: depth)
        case .null where format.nulls == .dropKey: return
        default:
            beginPair(key)
            writeSingle(try format.text(ofSingle: value))
        }
    }

    private mutating func write(
        _ array: [ParameterValue], key: String, depth: Int
    ) throws(ParameterEncodingError) {
        try ParameterEncodingError.checkDepth(depth)
        if case .joined(let separator) = format.arrays { return try writeJoined(array, separator, key: key) }
        for (index, element) in array.enumerated() {
            let name = format.arrays.key(key, index)
            do { try write(element, key: name, depth: depth + 1) } catch { throw error.within(String(index)) }
        }
    }

    private mutating func writeJoined(
        _ array: [ParameterValue], _ separator: String, key: String
    ) throws(ParameterEncodingError) {
        var isFirst = true
        for (index, element) in array.enumerated() {
            do throws(ParameterEncodingError) {
                let element = try element.written(format.dates, format.binary)
                if element.isNull, format.nulls == .dropKey { continue }
                let text = try format.text(ofJoined: element)
                if isFirst { beginPair(key) } else { write(separator, keeping: FormCharacters.mayStandAlone) }
                isFirst = false
                writeSingle(text)
            } catch {
                throw error.within(String(index))
            }
        }
    }

    // MARK: Escaped text

    private mutating func beginPair(_ key: String) {
        if !output.isEmpty { output.append(UInt8(ascii: "&")) }
        writeSingle(key)
        output.append(UInt8(ascii: "="))
    }

    private mutating func writeSingle(_ text: String) {
        let allowed = format.allowed
        write(text) { allowed.contains($0) }
    }

    private mutating func write(_ text: String, keeping: (UInt8) -> Bool) {
        if text.utf8.allSatisfy(keeping) { return output.append(contentsOf: text.utf8) }
        for byte in text.utf8 {
            if keeping(byte) {
                output.append(byte)
            } else if byte == UInt8(ascii: " "), format.spaces == .plus {
                output.append(UInt8(ascii: "+"))
            } else {
                PercentEncoding.appendEscape(of: byte, to: &output)
            }
        }
    }
}

extension FormFormat {
    /// The text of a value that is no container, date or data.
    fileprivate func text(ofSingle value: ParameterValue) throws(ParameterEncodingError) -> String {
        switch value {
        case .null: nulls == .literal ? "null" : ""
        case .bool(let value): bools == .numeric ? (value ? "1" : "0") : (value ? "true" : "false")
        case .string(let value): value
        default: try value.numberText()
        }
    }

    fileprivate func text(ofJoined value: ParameterValue) throws(ParameterEncodingError) -> String {
        switch value {
        case .array, .object: throw ParameterEncodingError(.notJoinable)
        default: try text(ofSingle: value)
        }
    }
}

extension FormFormat.Arrays {
    fileprivate func key(_ key: String, _ index: Int) -> String {
        switch self {
        case .brackets: key + "[]"
        case .indexed: "\(key)[\(index)]"
        case .plain, .joined: key
        case .custom(let make): make(key, index)
        }
    }
}

extension FormFormat.Nesting {
    fileprivate func key(_ parent: String, _ key: String) -> String {
        switch self {
        case .brackets: "\(parent)[\(key)]"
        case .dots: "\(parent).\(key)"
        case .custom(let make): make(parent, key)
        }
    }
}
