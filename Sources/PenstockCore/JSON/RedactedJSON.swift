import Foundation

/// JSON as it may be shown: what is secret in it replaced, and every other byte as it was.
///
/// It goes by the tokens and not by the values that they make: of two members of one name, such a value has only one.
struct RedactedJSON {
    private struct Level {
        let isObject: Bool
        let isSecret: Bool
    }

    private static let deepest = 512

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// Where values begin that are secret because of what stands beside them.
    private let labelled: Set<Int>
    private var output: [UInt8] = []
    private var levels: [Level] = []
    /// Whether the next text is the name of a member.
    private var isName = false
    /// Whether the next value is a secret.
    private var isSecret = false
    /// Whether it is one if it may be a signature.
    private var isWeak = false

    /// - Returns: `nil` where it is no JSON in UTF-8 (RFC 8259).
    static func make(of data: Data) -> Data? {
        guard (try? JSONParser.parse(data, maximumDepth: deepest)) != nil else { return nil }
        return data.withUnsafeBytes { bytes in
            var redacted = RedactedJSON(bytes, labelled: (try? LabelledValues.places(in: bytes)) ?? [])
            guard (try? redacted.read()) != nil else { return nil }
            return Data(redacted.output)
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer, labelled: Set<Int>) {
        self.bytes = bytes
        self.labelled = labelled
        output.reserveCapacity(bytes.count)
    }

    private mutating func read() throws(JSONFault) {
        while position < bytes.count {
            if !labelled.isEmpty, labelled.contains(position) { isSecret = true }
            switch bytes[position] {
            case UInt8(ascii: "\""): try readText()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): readNumber()
            default: readSign()
            }
        }
    }

    /// What stands between texts and numbers. Words such as `true` tell nothing.
    private mutating func readSign() {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            isName = byte == UInt8(ascii: "{")
            isWeak = false
            levels.append(Level(isObject: isName, isSecret: isSecret))
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            levels.removeLast(min(1, levels.count))
        case UInt8(ascii: ","):
            isName = levels.last?.isObject ?? false
            isSecret = levels.last?.isSecret ?? false
            isWeak = false
        default: break
        }
        output.append(byte)
        position += 1
    }

    private mutating func readText() throws(JSONFault) {
        let start = position
        let text = try JSONStringParser.parse(bytes, at: &position)
        if isName {
            isWeak = SecretName.isWeak(text)
            isSecret = levels.last?.isSecret ?? false || !isWeak && Redaction.isSecret(HTTPFieldName(text))
            isName = false
            output += bytes[start..<position]
            return
        }
        let shown = isSecret || isWeak && SecretShape.mayBeSignature(text) ? Redaction.mark : Redaction.text(text)
        if shown.utf8.elementsEqual(text.utf8) {
            output += bytes[start..<position]
        } else {
            output += Self.encoded(shown)
        }
    }

    static func encoded(_ text: String) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)) ?? Data("\"\(Redaction.mark)\"".utf8)
    }

    private mutating func readNumber() {
        let number = bytes[position...].prefix { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        let isHidden = isSecret || isWeak && SecretShape.mayBeSignature(String(decoding: number, as: UTF8.self))
        if isHidden { output.append(UInt8(ascii: "0")) } else { output += number }
        position = number.endIndex
    }
}
