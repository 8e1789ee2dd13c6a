/// Named parameters that remember the order in which they were declared.
///
/// Values of the usual types stand in a literal as they are, variables as well as constants:
///
/// ```swift
/// let parameters: ParameterObject = ["account": account, "page": 2, "tags": ["a", "b"]]
/// ```
///
/// Two objects with the same members are equal whatever their order, since formats sort keys unless told otherwise.
public struct ParameterObject: Sendable {
    /// The keys in the order they were declared.
    public private(set) var keys: [String] = []
    private var members: [String: ParameterValue] = [:]

    public init() {}

    /// When a key comes twice, the last value counts, in the place of the first.
    public init(_ members: some Sequence<(String, ParameterValue)>) {
        for (key, value) in members { self[key] = value }
    }

    public var count: Int { keys.count }
    public var isEmpty: Bool { keys.isEmpty }

    /// The value of `key`. Setting a new key adds it at the end; setting `Optional.none` removes the key, while
    /// `.null` is a value like any other.
    public subscript(key: String) -> ParameterValue? {
        get { members[key] }
        set {
            let old = members[key]
            members[key] = newValue
            if old == nil, newValue != nil { keys.append(key) }
            if old != nil, newValue == nil { keys.removeAll { $0 == key } }
        }
    }

    /// These members, and those of `lower` whose keys are missing here. A `.null` here counts as present: it wins over
    /// a value in `lower`, and is then sent or dropped as the format says.
    public func merging(over lower: ParameterObject) -> ParameterObject {
        guard !isEmpty else { return lower }
        var merged = self
        for (key, value) in lower where merged.members[key] == nil { merged[key] = value }
        return merged
    }

    mutating func sortKeys() {
        keys.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension ParameterObject: Sequence {
    /// The members in the order they were declared.
    public func makeIterator() -> some IteratorProtocol<(key: String, value: ParameterValue)> {
        keys.lazy.map { (key: $0, value: members[$0] ?? .null) }.makeIterator()
    }
}

extension ParameterObject: Hashable {
    public static func == (left: ParameterObject, right: ParameterObject) -> Bool {
        left.members == right.members
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members)
    }
}

extension ParameterObject: ExpressibleByDictionaryLiteral {
    /// When a key comes twice, the last value counts.
    public init(dictionaryLiteral elements: (String, any ParameterConvertible)...) {
        self.init(elements.lazy.map { ($0.0, $0.1.parameterValue) })
    }
}

extension ParameterObject: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ParameterKey.self)
        for (key, value) in self { try container.encode(value, forKey: ParameterKey(key)) }
    }
}

/// A coding key made of any text or any position.
struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ text: String) {
        stringValue = text
        intValue = nil
    }

    init(index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}
