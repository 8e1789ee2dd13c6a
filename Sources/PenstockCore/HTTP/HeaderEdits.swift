/// Changes to the headers that a call would have: later edits see the result of earlier ones.
///
/// ```swift
/// let edits: HeaderEdits = ["Accept": "text/csv"]           // replaces
/// let less: HeaderEdits = ["User-Agent": nil]               // removes
/// let more = HeaderEdits().adding("X-Tag", "a").removing("X-App")
/// ```
public struct HeaderEdits: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private enum Edit: Hashable {
        case set(HTTPField)
        case add(HTTPField)
        case remove(HTTPFieldName)
    }

    private var edits: [Edit] = []

    /// No edits: the headers stay as they are.
    public init() {}

    /// Each pair replaces the fields of its name; `nil` removes them.
    public init(dictionaryLiteral elements: (HTTPFieldName, String?)...) {
        edits = elements.map { name, value in
            value.map { .set(HTTPField(name: name, value: $0)) } ?? .remove(name)
        }
    }

    /// These edits, and then one that replaces every field of the name by this one.
    public func setting(_ name: HTTPFieldName, _ value: String) -> HeaderEdits {
        with(.set(HTTPField(name: name, value: value)))
    }

    /// Adds a field beside those of the same name.
    public func adding(_ name: HTTPFieldName, _ value: String) -> HeaderEdits {
        with(.add(HTTPField(name: name, value: value)))
    }

    /// These edits, and then one that removes every field of the name, also one that is common to all calls.
    public func removing(_ name: HTTPFieldName) -> HeaderEdits {
        with(.remove(name))
    }

    /// Whether nothing is edited.
    public var isEmpty: Bool { edits.isEmpty }

    /// These edits, then `later`.
    func followed(by later: HeaderEdits) -> HeaderEdits {
        var result = self
        result.edits += later.edits
        return result
    }

    func apply(to fields: inout HTTPFields) {
        for edit in edits {
            switch edit {
            case .set(let field): fields[field.name] = field.value
            case .add(let field): fields.append(field)
            case .remove(let name): fields.remove(name)
            }
        }
    }

    private func with(_ edit: Edit) -> HeaderEdits {
        var copy = self
        copy.edits.append(edit)
        return copy
    }
}
