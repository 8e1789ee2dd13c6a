/// The values in JSON that are secret because of what stands beside them: in `{"name": "password", "value": …}` and in a change
/// of `/password`, in a pair such as `["Authorization", …]` in a list, the `code` of a request for tokens, and tokens that are
/// called `access` and `refresh`.
struct LabelledValues {
    private struct Level {
        let isObject: Bool
        /// Whether it is a list in a list, as pairs are.
        let isInList: Bool
        /// The name of the member that is read, in small letters.
        var name = ""
        /// Whether it says that what it labels is secret.
        var isSecret = false
        /// Whether it is a request for tokens (RFC 6749 §4), whose members are parameters.
        var isGrant = false
        /// How many values of a list were seen.
        var count = 0
        /// Where the values begin that are labelled.
        var values: [Int] = []
        /// Where the values begin of which a parameter's name would say that they are secret.
        var parameters: [Int] = []
        /// Which names were seen that the answer to a request for tokens has (RFC 6749 §5.1).
        var answerNames: Set<String> = []
        /// Where the texts begin that may be its tokens.
        var tokens: [Int] = []
    }

    private static let labels: Set<String> = ["name", "key", "field", "header", "parameter", "property", "attribute"]
    private static let values: Set<String> = ["value", "values", "val"]
    private static let parameters: Set<String> = ["code", "key"]
    /// What tokens are called where `token` is left out. Alone, either says something else more often: `"access": "public"`.
    private static let tokens: Set<String> = ["access", "refresh"]
    private static let shortestToken = 8

    private let bytes: UnsafeRawBufferPointer
    private var levels: [Level] = []
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
                note(start)
                isName = byte == UInt8(ascii: "{")
                let isInList = levels.last.map { !$0.isObject } ?? false
                levels.append(Level(isObject: isName, isInList: isInList))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let level = levels.popLast() { end(level) }
            case UInt8(ascii: ","): isName = levels.last?.isObject ?? false
            case _ where Self.isOfWord(byte):
                note(start)
                position += bytes[start...].prefix(while: Self.isOfWord).count
                continue
            default: break
            }
            position += 1
        }
    }

    /// Whether a byte is one of a number, or of `true`, `false` and `null`.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        SecretName.isAlphanumeric(byte) || "+-.".utf8.contains(byte)
    }

    /// A text: a name, or a value, which may be a label.
    private mutating func take(_ text: String, at start: Int) {
        guard let last = levels.indices.last else { return }
        if isName {
            let name = text.lowercased()
            levels[last].name = name
            if Self.isOfAnswer(name) { levels[last].answerNames.insert(name) }
            isName = false
            return
        }
        note(start)
        if levels[last].isObject {
            let name = levels[last].name
            if name == "grant_type" { levels[last].isGrant = true }
            if Self.tokens.contains(name), Self.mayBeToken(text) { levels[last].tokens.append(start) }
            if Self.labels.contains(name) && Self.isLabel(text) || name == "path" && Self.leadsToSecret(text) {
                levels[last].isSecret = true
            }
        } else if levels[last].count == 1, Self.isLabel(text) {
            levels[last].isSecret = true
        }
    }

    /// A value begins.
    private mutating func note(_ start: Int) {
        guard let last = levels.indices.last else { return }
        if levels[last].isObject {
            let name = levels[last].name
            if Self.values.contains(name) { levels[last].values.append(start) }
            if Self.parameters.contains(name) { levels[last].parameters.append(start) }
        } else {
            levels[last].count += 1
            if levels[last].count == 2, levels[last].isInList { levels[last].values.append(start) }
        }
    }

    private mutating func end(_ level: Level) {
        if level.isGrant { found.formUnion(level.parameters) }
        if level.answerNames.count > 1 { found.formUnion(level.tokens) }
        if level.isSecret, level.isObject || level.count == 2 { found.formUnion(level.values) }
    }

    /// Whether a member is one of the answer to a request for tokens.
    private static func isOfAnswer(_ name: String) -> Bool {
        tokens.contains(name) || name.hasPrefix("expires") || name == "token_type"
    }

    /// Whether a text is no word, as `public` and `daily` are.
    private static func mayBeToken(_ text: String) -> Bool {
        text.utf8.count >= shortestToken && !text.utf8.contains { $0 <= 0x20 }
            && CredentialText.credential(in: text.utf8[...]) != nil
    }

    /// Whether a text is the name of a secret, and no sentence that has one in it.
    private static func isLabel(_ text: some StringProtocol) -> Bool {
        text.utf8.count <= SecretName.longest && !text.utf8.contains { $0 <= 0x20 } && SecretName.saysSecret(text)
    }

    /// Whether a JSON Pointer (RFC 6901) leads to a member with the name of a secret, as in JSON Patch (RFC 6902).
    private static func leadsToSecret(_ pointer: String) -> Bool {
        let sign = UInt8(ascii: "/")
        guard pointer.utf8.first == sign, let slash = pointer.utf8.lastIndex(of: sign) else { return false }
        return isLabel(Substring(pointer.utf8[slash...].dropFirst()))
    }
}
