/// The values of one object or list that are secret because of what stands beside them: in `{"name": "password", "value": …}` and in a
/// change of `/password`, in a pair such as `["Authorization", …]` in a list, the `code` of a request for tokens, and tokens that are called
/// `access` and `refresh`.
///
/// It is told each name and each value in turn, and knows the values by whatever place the caller gives them.
struct LabelScope<Place> {
    let isObject: Bool
    /// Whether it is a list in a list, as pairs are.
    private let isInList: Bool
    /// Whether it is the way to a value, name by name.
    private let isWay: Bool
    /// The name of the member that is read, in small letters without its signs.
    private var name = ""
    /// Whether it says that what it labels is secret, and whether it does so by a name that has contents too.
    private var (isSecret, isNamed) = (false, false)
    /// Whether it is a request for tokens (RFC 6749 §4), whose members are parameters.
    private var isGrant = false
    /// How many values of a list were seen.
    private var count = 0
    /// The last text of a way, where that is the name of a secret.
    private var leadsToSecret = false
    /// Whether a label that people read says that it is secret, and whether that is all that it says.
    private var (isTitled, isTitledWhole) = (false, false)
    /// Whether such a label is one word, which may be what a text is a translation of.
    private var isTranslated = false
    /// The values that are labelled, and which of them are plain numbers.
    private var values: [(place: Place, isNumber: Bool)] = []
    /// The values that are labelled where the label is a name, and which of them are no words.
    private var contents: [(place: Place, isWords: Bool)] = []
    /// The values of which a parameter's name would say that they are secret.
    private var parameters: [Place] = []
    /// Which names were seen that the answer to a request for tokens has (RFC 6749 §5.1).
    private var answerNames: Set<String> = []
    /// The texts that may be its tokens.
    private var tokens: [Place] = []

    /// - Parameter outer: what it stands in.
    init(isObject: Bool, in outer: LabelScope?) {
        self.isObject = isObject
        isInList = outer.map { !$0.isObject } ?? false
        isWay = outer.map { !isObject && $0.isObject && LabelNames.ways.contains($0.name) } ?? false
    }

    /// The name of a member.
    mutating func take(name text: String) {
        name = LabelNames.compact(text)
        if LabelNames.isOfAnswer(name) { answerNames.insert(name) }
    }

    /// A value of whatever kind.
    mutating func note(_ place: Place, isNumber: Bool = false, isWords: Bool = false) {
        guard isObject else {
            count += 1
            if count == 2, isInList { values.append((place, isNumber)) }
            return
        }
        if LabelNames.values.contains(name) { values.append((place, isNumber)) }
        if LabelNames.contents.contains(name) { contents.append((place, isWords)) }
        if LabelNames.parameters.contains(name) { parameters.append(place) }
    }

    /// A value that is a text, which may be a label.
    mutating func take(_ text: String, at place: Place) {
        note(place, isWords: LabelNames.contents.contains(name) && LabelNames.isWords(text))
        guard isObject else {
            if isWay { leadsToSecret = LabelNames.isLabel(text) }
            if count == 1, LabelNames.isLabel(text) { isSecret = true }
            return
        }
        if name == "granttype" { isGrant = true }
        if LabelNames.tokens.contains(name), LabelNames.mayBeToken(text) { tokens.append(place) }
        if LabelNames.isLabel(text, of: name) { take(label: text) }
        if LabelNames.ways.contains(name), LabelNames.leadsToSecret(text) { isSecret = true }
    }

    private mutating func take(label text: String) {
        let isTitle = name == LabelNames.title
        if isTitle {
            (isTitled, isTitledWhole) = (true, isTitledWhole || SecretName.isWhole(text))
        } else {
            isSecret = true
        }
        guard LabelNames.labelsContent(text, of: name) else { return }
        if isTitle, LabelNames.isWord(text) { isTranslated = true } else { isNamed = true }
    }

    /// A value that is a list or an object, once it has ended.
    mutating func take(_ inner: LabelScope) {
        if inner.isWay, inner.leadsToSecret { isSecret = true }
    }

    /// The values that are secret, once it has ended.
    var secrets: [Place] {
        var found: [Place] = []
        if isGrant { found += parameters }
        if answerNames.count > 1 { found += tokens }
        if isSecret, isObject || count == 2 { found += values.map(\.place) }
        if isNamed { found += contents.map(\.place) }
        if isTitled, !isSecret { found += values.filter { isTitledWhole || !$0.isNumber }.map(\.place) }
        if isTranslated, !isNamed { found += contents.filter { !$0.isWords }.map(\.place) }
        return found
    }
}

/// A tree of values of which each may be a text, a list or an object.
protocol LabelledTree {
    var text: String? { get }
    var list: [Self]? { get }
    var isNumber: Bool { get }
}

extension LabelScope where Place == Int {
    /// The numbers of the members of an object that are secret because of those beside them.
    static func secrets<Value: LabelledTree>(of members: some Sequence<(name: String, value: Value)>) -> Set<Int> {
        var scope = LabelScope(isObject: true, in: nil)
        for (number, member) in members.enumerated() {
            scope.take(name: member.name)
            scope.take(member.value, at: number)
            if let list = member.value.list, let last = list.last(where: { $0.text != nil }) {
                var way = LabelScope(isObject: false, in: scope)
                way.take(last, at: number)
                scope.take(way)
            }
        }
        return Set(scope.secrets)
    }

    /// Whether the second value of a list in a list is secret, as in pairs.
    static func holdsSecret(_ pair: [some LabelledTree]) -> Bool {
        guard pair.count == 2 else { return false }
        var scope = LabelScope(isObject: false, in: LabelScope(isObject: false, in: nil))
        for (number, value) in pair.enumerated() { scope.take(value, at: number) }
        return !scope.secrets.isEmpty
    }

    private mutating func take(_ value: some LabelledTree, at number: Int) {
        if let text = value.text { take(text, at: number) } else { note(number, isNumber: value.isNumber) }
    }
}

/// The names that labels, and what they label, have.
enum LabelNames {
    private static let labels: Set<String> = [
        "name", "key", "field", "fieldname", "header", "param", "parameter", "parametername", "property",
        "propertyname",
        "attribute", "attributename",
    ]
    /// What is often no name: it is a label where it is a plain word.
    private static let weakLabels: Set<String> = ["id", "label", "k"]
    /// What people read of a row of numbers, of a field, or of a text that is translated.
    static let title = "label"
    /// What leads to a value: a JSON Pointer (RFC 6901), names with dots between them, or a list of names.
    static let ways: Set<String> = [
        "path", "loc", "pointer", "propertypath", "instancepath", "datapath", "jsonpath", "jsonpointer",
    ]
    /// The value itself, or what a server repeats of it.
    static let values: Set<String> = [
        "value", "values", "val", "input", "rejectedvalue", "attemptedvalue", "invalidvalue", "rejected", "received",
    ]
    static let contents: Set<String> = ["v", "text", "content"]
    static let parameters: Set<String> = ["code", "key"]
    /// What tokens are called where `token` is left out. Alone, either says something else more often: `"access": "public"`.
    static let tokens: Set<String> = ["access", "refresh"]
    private static let shortestToken = 8
    /// No name of those above is longer, with its signs.
    private static let longest = 32

    /// A name in small letters without its signs; empty for one that is longer than any that is looked for.
    static func compact(_ name: String) -> String {
        guard name.utf8.count <= longest else { return "" }
        let signs = "_-".utf8
        let bytes = name.utf8.filter { !signs.contains($0) }.map(HTTPSyntax.lowercased)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a member is one of the answer to a request for tokens.
    static func isOfAnswer(_ name: String) -> Bool {
        tokens.contains(name) || name.hasPrefix("expires") || name == "tokentype"
    }

    /// Whether a text is no word, as `public` and `daily` are.
    static func mayBeToken(_ text: String) -> Bool {
        text.utf8.count >= shortestToken && !text.utf8.contains { $0 <= 0x20 }
            && CredentialText.credential(in: text.utf8[...]) != nil
    }

    /// Whether a text is the name of a secret, and no sentence that has one in it.
    static func isLabel(_ text: some StringProtocol) -> Bool {
        text.utf8.count <= SecretName.longest && !text.utf8.contains { $0 <= 0x20 } && SecretName.saysSecret(text)
    }

    /// Whether the text of a member labels what stands beside it as secret.
    static func isLabel(_ text: String, of name: String) -> Bool {
        if labels.contains(name) { return isLabel(text) }
        if name == "type" { return text.utf8.count == 8 && text.lowercased() == "password" }
        return weakLabels.contains(name) && isLabel(text) && !text.utf8.contains(where: SecretName.isDigit)
    }

    /// Whether a label is one word, and not the name of a field, such as `authToken`.
    static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { SecretName.isSmall($0 | 0x20) } && !isMixed(text)
    }

    /// Whether a text is made of words, as a translation is, and has no digit or sign that a secret may have.
    static func isWords(_ text: String) -> Bool {
        let signs = "+/=_~@#$%^&*".utf8
        return !text.utf8.contains { SecretName.isDigit($0) || signs.contains($0) } && !isMixed(text)
    }

    /// Whether small and capital letters change within a word, as in a token.
    private static func isMixed(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { SecretName.isSmall($0) && SecretName.isCapital($1) }
    }

    /// Whether the text of a member, which is a label, labels the content beside it too: what has a dot is the name of a file or
    /// the key of a text, and what is often no name is one where there is nothing else in it.
    static func labelsContent(_ text: String, of name: String) -> Bool {
        guard !text.utf8.contains(UInt8(ascii: ".")) else { return false }
        return !weakLabels.contains(name) || SecretName.isWhole(text)
    }

    /// Whether a text leads to a member with the name of a secret: a JSON Pointer (RFC 6901), as in JSON Patch (RFC 6902), or names with
    /// dots between them. Other paths are those of files.
    static func leadsToSecret(_ text: String) -> Bool {
        let slash = UInt8(ascii: "/")
        if text.utf8.first == slash, let last = text.utf8.lastIndex(of: slash) {
            return isLabel(Substring(text.utf8[last...].dropFirst()))
        }
        guard text.utf8.count <= SecretName.longest, !text.utf8.contains(slash) else { return false }
        let names = text.utf8.split { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }
        return names.last { !$0.allSatisfy(SecretName.isDigit) }.map { isLabel(Substring($0)) } ?? false
    }
}
