/// The values in JSON that are secret because of what stands beside them, as ``LabelScope`` says.
struct LabelledValues {
    private let bytes: UnsafeRawBufferPointer
    private var levels: [LabelScope<Int>] = []
    /// Whether the next text is the name of a member.
    private var isName = false
    private var found: Set<Int> = []

    /// The places of their first bytes in what is JSON.
    static func places(in bytes: UnsafeRawBufferPointer) throws(JSONFault) -> Set<Int> {
        var labelled = LabelledValues(bytes)
        try labelled.read()
        return labelled.found
    }

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    private mutating func read() throws(JSONFault) {
        var position = 0
        while position < bytes.count {
            let (start, byte) = (position, bytes[position])
            switch byte {
            case UInt8(ascii: "\""):
                take(try JSONStringParser.parse(bytes, at: &position), at: start)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                isName = byte == UInt8(ascii: "{")
                let inner = LabelScope(isObject: isName, in: levels.last)
                note(start)
                levels.append(inner)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): end()
            case UInt8(ascii: ","): isName = levels.last?.isObject ?? false
            case _ where Self.isOfWord(byte):
                note(start, isNumber: byte == UInt8(ascii: "-") || SecretName.isDigit(byte))
                position += bytes[start...].prefix(while: Self.isOfWord).count
                continue
            default: break
            }
            position += 1
        }
    }

    /// Whether a byte is one of a number, or of `true`, `false` and `null`.
    static func isOfWord(_ byte: UInt8) -> Bool {
        SecretName.isAlphanumeric(byte) || "+-.".utf8.contains(byte)
    }

    private mutating func take(_ text: String, at start: Int) {
        guard let last = levels.indices.last else { return }
        if isName { levels[last].take(name: text) } else { levels[last].take(text, at: start) }
        isName = false
    }

    private mutating func note(_ start: Int, isNumber: Bool = false) {
        guard let last = levels.indices.last else { return }
        levels[last].note(start, isNumber: isNumber)
    }

    private mutating func end() {
        guard let level = levels.popLast() else { return }
        found.formUnion(level.secrets)
        if let outer = levels.indices.last { levels[outer].take(level) }
    }
}
