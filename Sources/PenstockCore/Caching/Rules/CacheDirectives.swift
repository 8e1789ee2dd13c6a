/// The directives of `Cache-Control` (RFC 9111 §5.2): names, arguments, and what becomes of malformed ones.
struct CacheDirectives {
    struct Directive: Equatable {
        /// Lower-case.
        let name: String
        /// `nil` when there is none.
        let argument: Argument?
    }

    enum Argument: Equatable {
        /// A token or the text of a quoted string: recipients accept both forms (§5.2).
        case text(String)
        /// Neither of them.
        case malformed
    }

    /// A number of seconds.
    enum Seconds: Equatable {
        case absent
        /// Malformed, or given twice with different values.
        case invalid
        case value(Int)
    }

    let directives: [Directive]

    init(_ lines: [String]) {
        directives = FieldList.members(lines).compactMap(Self.parse)
    }

    func contains(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Values that differ are as invalid as one that is no number, and make a response stale (§4.2.1).
    func seconds(_ name: String) -> Seconds {
        var result = Seconds.absent
        for directive in directives where directive.name == name {
            guard case .text(let text) = directive.argument, let value = DeltaSeconds.parse(text),
                result == .absent || result == .value(value)
            else { return .invalid }
            result = .value(value)
        }
        return result
    }

    /// The field names of `no-cache="…"`. `nil` when the directive stands without names, which is the stricter form.
    func fieldNames(of name: String) -> [HTTPFieldName]? {
        var names: [HTTPFieldName] = []
        for directive in directives where directive.name == name {
            guard case .text(let text) = directive.argument else { return nil }
            let listed = FieldList.members(text).map(String.init)
            guard !listed.isEmpty, listed.allSatisfy(HTTPSyntax.isToken) else { return nil }
            names.append(contentsOf: listed.map { HTTPFieldName($0) })
        }
        return names
    }

    /// What follows the name belongs to the argument, so `no-store;x` is still `no-store`, and `max-age=1 2` or
    /// `max-age =1` is a `max-age` without a number.
    private static func parse(_ member: Substring) -> Directive? {
        let nameEnd = member.utf8.firstIndex { !HTTPSyntax.isTokenByte($0) } ?? member.endIndex
        let name = member[..<nameEnd].lowercased()
        guard !name.isEmpty else { return nil }
        let rest = member[nameEnd...]
        guard rest.utf8.first == UInt8(ascii: "=") else {
            return Directive(name: name, argument: rest.isEmpty ? nil : .malformed)
        }
        return Directive(name: name, argument: argument(Substring(rest.utf8.dropFirst())))
    }

    private static func argument(_ text: Substring) -> Argument {
        if let unquoted = FieldList.unquoted(text) { return .text(unquoted) }
        let token = String(text)
        return HTTPSyntax.isToken(token) ? .text(token) : .malformed
    }
}

/// A non-negative number of seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// What stands for every greater number.
    static let maximum = Int(clamping: most)
    /// Where `Int` has 32 bits this is one more than it holds.
    private static let most: Int64 = 2_147_483_648

    static func parse(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        return Int(clamping: text.utf8.reduce(Int64(0)) { min($0 * 10 + Int64($1 - UInt8(ascii: "0")), most) })
    }
}
