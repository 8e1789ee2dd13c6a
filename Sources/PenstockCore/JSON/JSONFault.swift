import Foundation

/// Why bytes are not JSON that will be read.
enum JSONFault: Error, Hashable {
    case empty
    case tooDeep(limit: Int)
    case invalid
    case notObject

    var reason: String {
        switch self {
        case .empty: "the body is empty"
        case .tooDeep(let limit): "arrays and objects nest deeper than \(limit) levels"
        case .invalid: "the body is not valid JSON"
        case .notObject: "the body is no JSON object"
        }
    }

    /// Counts brackets outside strings, before a decoder recurses into them on a stack that may be small.
    static func checkDepth(of data: Data, limit: Int) throws(JSONFault) {
        let deepest = data.withUnsafeBytes { bytes in depth(of: bytes, giveUpAfter: limit) }
        guard deepest <= limit else { throw .tooDeep(limit: limit) }
    }

    private static func depth(of bytes: UnsafeRawBufferPointer, giveUpAfter limit: Int) -> Int {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if isInString {
                isEscaped = byte == UInt8(ascii: "\\")
                isInString = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: continue
                }
                if depth > limit { return depth }
            }
        }
        return 0
    }
}
