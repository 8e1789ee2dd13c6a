/// One challenge of a `WWW-Authenticate` field: what the server wants to be shown (RFC 9110 §11.3).
///
/// ```swift
/// let challenges = Challenge.all(in: response.fields)
/// ```
public struct Challenge: Hashable, Sendable {
    /// The scheme in small letters, as schemes are compared without regard to case: `bearer`.
    public let scheme: String
    /// What follows the scheme in the place of parameters; `nil` when nothing does.
    public let token68: String?
    /// The parameters by their names in small letters. Of several with one name, the first: a server that says two things has said the
    /// first.
    public let parameters: [String: String]

    /// What a server would say; scheme and names are compared without regard to case.
    public init(_ scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme.lowercased()
        self.token68 = token68
        self.parameters = parameters
    }

    /// The challenges of all lines of a field, in their order: several may stand in one line, and one over several lines
    /// counts as one for each.
    ///
    /// What breaks the grammar is left out, and what stands beside it stays. The work is linear in what is there.
    ///
    /// - Parameter name: `WWW-Authenticate` unless it is a proxy's that is wanted.
    public static func all(in fields: HTTPFields, of name: HTTPFieldName = .wwwAuthenticate) -> [Challenge] {
        fields.values(of: name).flatMap(parse)
    }

    /// The challenges of one line (RFC 9110 §11.6.1). A comma parts challenges as well as parameters: a member that begins
    /// with a name and `=` belongs to the challenge before it, any other one begins with a scheme.
    static func parse(_ line: String) -> [Challenge] {
        var found: [Challenge] = []
        var current: ChallengeParts?
        for member in FieldList.members(line) {
            if let parameter = ChallengeParts.parameter(member) {
                current?.add(parameter)
            } else {
                if let current { found.append(current.challenge) }
                current = ChallengeParts(member)
            }
        }
        if let current { found.append(current.challenge) }
        return found
    }
}

extension Challenge: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and the names of the parameters: what they say may be a ticket or a nonce.
    public var description: String {
        parameters.isEmpty ? scheme : "\(scheme) (\(parameters.keys.sorted().joined(separator: ", ")))"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["challenge": description], displayStyle: .struct) }
}

extension HTTPFieldName {
    /// What the server wants to be shown (RFC 9110 §11.6.1).
    public static let wwwAuthenticate: HTTPFieldName = "WWW-Authenticate"
    /// What the proxy wants to be shown (RFC 9110 §11.7.1).
    public static let proxyAuthenticate: HTTPFieldName = "Proxy-Authenticate"
}

/// A challenge while it is read.
private struct ChallengeParts {
    let scheme: String
    var token68: String?
    var parameters: [String: String] = [:]

    var challenge: Challenge { Challenge(scheme, token68: token68, parameters: parameters) }

    /// - Returns: `nil` when the member begins with no scheme; what follows it has no challenge to belong to.
    init?(_ member: Substring) {
        let name = member.utf8.prefix(while: HTTPSyntax.isTokenByte)
        let rest = member.utf8[name.endIndex...]
        guard !name.isEmpty, rest.first.map({ $0 == UInt8(ascii: " ") }) ?? true else { return nil }
        scheme = String(Substring(name))
        let content = Substring(FieldList.trimmed(rest))
        if content.isEmpty { return }
        if let parameter = Self.parameter(content) {
            add(parameter)
        } else if Self.isToken68(content) {
            token68 = String(content)
        }
    }

    mutating func add(_ parameter: (name: String, value: String)) {
        if parameters[parameter.name] == nil { parameters[parameter.name] = parameter.value }
    }

    /// `name=value`, white space around the `=` allowed, the value a token or a quoted string; `nil` for anything else.
    static func parameter(_ text: Substring) -> (name: String, value: String)? {
        let name = text.utf8.prefix(while: HTTPSyntax.isTokenByte)
        let rest = FieldList.trimmed(text.utf8[name.endIndex...])
        guard !name.isEmpty, rest.first == UInt8(ascii: "=") else { return nil }
        let value = Substring(FieldList.trimmed(rest.dropFirst()))
        let lowercased = String(Substring(name)).lowercased()
        if let text = FieldList.unquoted(value) { return (lowercased, text) }
        return HTTPSyntax.isToken(String(value)) ? (lowercased, String(value)) : nil
    }

    /// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="` (RFC 9110 §11.2).
    private static func isToken68(_ text: Substring) -> Bool {
        let rest = text.utf8.drop { byte in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"),
                UInt8(ascii: "/"):
                true
            default: SecretName.isAlphanumeric(byte)
            }
        }
        return rest.startIndex != text.startIndex && rest.allSatisfy { $0 == UInt8(ascii: "=") }
    }
}
