/// Which of a URL's representations was stored: the request fields that `Vary` names, with their values (RFC 9111 §4.1).
public struct CacheVariant: Hashable, Sendable {
    /// A request field that takes part in the choice.
    public struct Selector: Hashable, Sendable {
        /// Lower-case.
        public let name: String
        /// The field's value, normalised, and as a keyed digest where ``Redaction`` would hide something of it; `nil` when the request had no such field, which
        /// is not the same as an empty one.
        public let value: String?

        /// A selector that was stored, as it was read: nothing is normalised here.
        ///
        /// - Parameters:
        ///   - name: in lower case.
        ///   - value: normalised; `nil` for a request without the field.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }

        public static func == (left: Selector, right: Selector) -> Bool {
            left.name == right.name && left.value.map(ExactText.init) == right.value.map(ExactText.init)
        }
    }

    /// Each name once, in alphabetical order. Empty when the response does not vary.
    public let selectors: [Selector]
    /// `Vary: *`, or one of more names than are looked up: no request is known to match.
    public let isUnmatchable: Bool

    /// A variant that was stored, as it was read.
    public init(selectors: [Selector] = [], isUnmatchable: Bool = false) {
        self.selectors = selectors
        self.isUnmatchable = isUnmatchable
    }
}

/// What `Vary` makes of a request (RFC 9111 §4.1).
extension CacheVariant {
    /// The variant that `response` is, having been selected by `request`. Where a credential takes part and the key of the
    /// digests is not known, no request is known to match.
    init(response: HTTPFields, request: HTTPFields, _ digests: CredentialDigests) {
        let names = Self.names(response)
        var isUnmatchable = names.contains("*")
        var selectors: [Selector] = []
        for name in names.subtracting(["*"]).sorted() {
            switch SelectorValue.of(name, in: request, digests) {
            case .absent: selectors.append(Selector(name: name, value: nil))
            case .known(let value): selectors.append(Selector(name: name, value: value))
            case .locked: isUnmatchable = true
            }
        }
        self.init(selectors: selectors, isUnmatchable: isUnmatchable)
    }

    /// The most names that are looked up in a request. With thousands of them each look at the response would cost more than to load
    /// it anew.
    private static let nameLimit = 64

    /// The names in lower case; `*` for too many. What is no token is left out, as no request has a field of such a name.
    private static func names(_ response: HTTPFields) -> Set<String> {
        let names = FieldList.members(response.values(of: .vary))
            .filter { $0.utf8.allSatisfy(HTTPSyntax.isTokenByte) }
        return names.count > nameLimit ? ["*"] : Set(names.map { $0.lowercased() })
    }

    /// Whether the variant that a response is depends on a credential of the request, so that the key of the digests is
    /// needed to tell it.
    static func needsKey(_ response: HTTPFields, _ request: HTTPFields) -> Bool {
        response.contains(.vary)
            && names(response).contains { SelectorValue.isSecret($0, in: request) }
    }

    /// Whether it was chosen by a credential, so that the key of the digests is needed to tell what it matches.
    var holdsDigest: Bool {
        selectors.contains { selector in
            selector.value.map { SelectorValue.isSecret(selector.name) || SelectorValue.isDigest($0) } ?? false
        }
    }

    /// Whether `request` has the nominated fields with the same values. A field it lacks matches only one that was
    /// lacking.
    func matches(_ request: HTTPFields, _ digests: CredentialDigests) -> Bool {
        !isUnmatchable
            && selectors.allSatisfy { SelectorValue.of($0.name, in: request, digests).isSame(as: $0.value) }
    }

    /// Whether `request` would get the same representation although its `Accept-Language` is another one.
    ///
    /// It would where the stored response is in the one language that the request prefers to all others: whatever the
    /// server holds besides, it can do no better. All other fields have to match.
    func matches(_ request: HTTPFields, language: String, _ digests: CredentialDigests) -> Bool {
        let name = "accept-language"
        guard !isUnmatchable, selectors.contains(where: { $0.name == name && $0.value != nil }),
            LanguagePreference.first(in: request.values(of: .acceptLanguage))?.isWritten(as: language.lowercased())
                ?? false
        else { return false }
        return selectors.allSatisfy {
            $0.name == name || SelectorValue.of($0.name, in: request, digests).isSame(as: $0.value)
        }
    }
}

/// The value of a nominated request field in the one form that values of the same meaning share.
///
/// All field lines are joined, and white space around the commas of a list is left out: both are without meaning in any
/// list-based field (RFC 9110 §5.3, §5.6.1), and in others a comma is either absent or quoted. Letter case does not count
/// in the fields whose members are case-insensitive by definition. The order of members is kept, except for languages.
///
/// `Accept-Language: en, nl` and `nl, en` are the same value. Order says nothing there: only the weight does, and that
/// servers take the first of several equal ones "cannot be relied upon" (RFC 9110 §12.5.4). An app that prefers one says so by
/// a weight, as every system's list of preferred languages does when it becomes a field. What one app sends in two orders,
/// because a list was sorted anew, would otherwise be stored twice.
enum SelectorValue {
    /// The request has no such field.
    case absent
    case known(String)
    /// A credential, while the key of the digests is not known. It is the same as nothing.
    case locked

    func isSame(as stored: String?) -> Bool {
        switch self {
        case .absent: stored == nil
        case .known(let value): stored?.isWritten(as: value) ?? false
        case .locked: false
        }
    }

    /// Whether what is stored of a field of this name is a digest, which tells equal from unequal and no more, whatever its value.
    static func isSecret(_ name: String) -> Bool {
        guard !plain.contains(name) else { return false }
        guard name.utf8.count <= 128 else { return Redaction.isSecret(HTTPFieldName(name)) }
        if let answer = knownNames.withLock({ $0[name] }) { return answer }
        let answer = Redaction.isSecret(HTTPFieldName(name))
        knownNames.withLock { known in
            if known.count >= mostKnown { known.removeAll() }
            known[name] = answer
        }
        return answer
    }

    /// Whether a request has a field of this name, of which a digest would be stored.
    static func isSecret(_ name: String, in request: HTTPFields) -> Bool {
        let lines = request.values(of: HTTPFieldName(name))
        return !lines.isEmpty && (isSecret(name) || read(lines, of: name).isSecret)
    }

    // MARK: What was found out

    /// What a request has in a field: its value, and whether something of that would be hidden, so that a digest of it is stored,
    /// whatever the name says.
    private typealias Reading = (value: String, isSecret: Bool)

    private struct Written: Hashable, Sendable {
        let name: String
        let lines: [ExactText]
    }

    /// Names and whether they are those of secrets, and values without a secret in them by what stands in the request. Each
    /// variant of each look-up asks, and few others are ever sent.
    private static let knownNames = Locked<[String: Bool]>([:])
    private static let knownValues = Locked<[Written: String]>([:])
    private static let mostKnown = 256
    /// No line that is longer is remembered.
    private static let longestKnown = 1_024

    private static func read(_ lines: [String], of name: String) -> Reading {
        let written = Written(name: name, lines: lines.map(ExactText.init))
        if let value = knownValues.withLock({ $0[written] }) { return (value, false) }
        let value = normalised(lines, of: name)
        if Redaction.hides(value, in: HTTPFieldName(name)) { return (value, true) }
        if lines.count <= 4, lines.allSatisfy({ $0.utf8.count <= longestKnown }) {
            knownValues.withLock { known in
                if known.count >= mostKnown { known.removeAll() }
                known[written] = value
            }
        }
        return (value, false)
    }

    // MARK: Values

    private static let mark = "keyed "

    /// Whether a stored value stands for one that is a secret by itself.
    static func isDigest(_ value: String) -> Bool { value.hasPrefix(mark) }

    /// Fields that `Vary` mostly names, and that carry no credentials: known without a look at the name's parts.
    private static let plain: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "origin", "user-agent",
    ]
    private static let caseless: Set = ["accept-encoding", "accept-language", "accept-charset"]

    static func of(_ name: String, in request: HTTPFields, _ digests: CredentialDigests) -> SelectorValue {
        let lines = request.values(of: HTTPFieldName(name))
        guard !lines.isEmpty else { return .absent }
        if isSecret(name) {
            return digests.digest(of: normalised(lines, of: name), in: name).map(SelectorValue.known) ?? .locked
        }
        let (value, isSecret) = read(lines, of: name)
        guard isSecret else { return .known(value) }
        return digests.digest(of: value, in: name).map { .known(mark + $0) } ?? .locked
    }

    private static func normalised(_ lines: [String], of name: String) -> String {
        if lines.count == 1, lines[0].utf8.allSatisfy(isPlain) { return lines[0] }
        let members = FieldList.members(lines).map { caseless.contains(name) ? withoutSpace($0) : String($0) }
        let ordered = name == "accept-language" ? LanguagePreference.sorted(members) : members
        return ordered.joined(separator: ",")
    }

    /// Whether the byte needs no normalising: a value of such bytes alone has no space, comma, parameter or capital.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x2C && byte != UInt8(ascii: ";") && byte != 0x7F && HTTPSyntax.lowercased(byte) == byte
    }

    /// A weight may have white space before its parameter: `de ; q=0.5`.
    private static func withoutSpace(_ member: Substring) -> String {
        String(decoding: member.utf8.lazy.filter { !FieldList.isSpace($0) }.map(HTTPSyntax.lowercased), as: UTF8.self)
    }
}

/// The language a request prefers (RFC 9110 §12.5.4).
enum LanguagePreference {
    /// The range whose weight is greater than that of each other one; lower-case. `nil` when there is no such range,
    /// when it is `*`, or when a weight cannot be read.
    static func first(in lines: [String]) -> String? {
        let members = FieldList.members(lines)
        let entries = members.compactMap(parse)
        guard entries.count == members.count, let most = entries.map(\.weight).max(), most > 0 else { return nil }
        let best = entries.filter { $0.weight == most }
        return best.count == 1 && best[0].range != "*" ? best[0].range : nil
    }

    /// The members of `Accept-Language`, the preferred ones first and equally preferred ones by name, in one way of writing
    /// for each weight. As they are when one of them cannot be read.
    static func sorted(_ members: [String]) -> [String] {
        let entries = members.compactMap { parse($0[...]) }
        guard entries.count == members.count else { return members }
        return entries.sorted { ($1.weight, $0.range) < ($0.weight, $1.range) }
            .map { $0.weight == 1_000 ? $0.range : "\($0.range);q=\($0.weight)" }
    }

    private static func parse(_ member: Substring) -> (range: String, weight: Int)? {
        let parts = member.lowercased().split(separator: ";").map { HTTPSyntax.trimmed(String($0)) }
        switch parts.count {
        case 1: return (parts[0], 1_000)
        case 2 where parts[1].hasPrefix("q="): return weight(parts[1].dropFirst(2)).map { (parts[0], $0) }
        default: return nil
        }
    }

    /// Thousandths (RFC 9110 §12.4.2).
    private static func weight(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), let value = Double(text), (0...1).contains(value),
            text.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Int((value * 1_000).rounded())
    }
}

extension CacheVariant.Selector: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field as it would be printed.
    public var description: String {
        value.map { "\(name): \(Redaction.value($0, of: HTTPFieldName(name)))" } ?? "no \(name)"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["field": description], displayStyle: .struct) }
}
