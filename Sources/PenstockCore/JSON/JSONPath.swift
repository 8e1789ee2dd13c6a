/// A place in a JSON document: keys joined by dots, indices in brackets, for example `data.items[0].name`.
///
/// Every text is a path; the empty one is the document itself. A bracket that holds no index belongs to its key. A key
/// that itself holds a dot cannot be reached this way; the subscripts of ``JSONValue`` reach it.
package struct JSONPath: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    package let steps: [Step]

    package init(_ text: String) {
        steps = text.split(separator: ".").flatMap(Self.steps)
    }

    private init(steps: [Step]) {
        self.steps = steps
    }

    package var text: String { Self.text(of: steps) }
    package var isRoot: Bool { steps.isEmpty }

    package func appending(_ other: JSONPath) -> JSONPath {
        JSONPath(steps: steps + other.steps)
    }

    static func text(of steps: some Sequence<Step>) -> String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            }
        }
    }

    /// `items[0][1]` is a key and two indices.
    private static func steps(of part: Substring) -> [Step] {
        var rest = part
        var indices: [Step] = []
        while rest.hasSuffix("]"), let open = rest.lastIndex(of: "["),
            let index = Int(rest[rest.index(after: open)...].dropLast()), index >= 0
        {
            indices.insert(.index(index), at: 0)
            rest = rest[..<open]
        }
        return (rest.isEmpty ? [] : [.key(String(rest))]) + indices
    }
}

extension JSONPath {
    /// The place that a decoder's coding path names.
    init(_ codingPath: [any CodingKey]) {
        steps = codingPath.map { key in key.intValue.map(Step.index) ?? .key(key.stringValue) }
    }
}

/// A coding key for names that are known only at run time.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
