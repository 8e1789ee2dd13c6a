import PenstockCore

/// What kind of Structured Field a field is (RFC 9651 §3), which its definition tells and its text does not.
public enum StructuredFieldKind: String, Hashable, Sendable {
    /// `"a";q=1, (b c)`
    case list
    /// `a=1, b;x=2`
    case dictionary
    /// `"a";q=1`
    case item
}

extension StructuredField {
    /// A field in its one form.
    static func canonical(_ text: String, as kind: StructuredFieldKind) throws(Malformed) -> String {
        switch kind {
        case .dictionary:
            let members = try dictionary(text)
            return members.map { $0.value.hasPrefix("?1") ? $0.key + $0.value.dropFirst(2) : "\($0.key)=\($0.value)" }
                .joined(separator: ", ")
        case .list: return try list(text).joined(separator: ", ")
        case .item: return try item(text)
        }
    }
}
