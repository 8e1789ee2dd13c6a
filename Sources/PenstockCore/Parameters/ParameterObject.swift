/// Named parameters that remember the order in which they were declared.
///
/// Values of the usual types stand in a literal as they are, variables as well as constants:
///
/// ```swift
/// let parameters: ParameterObject = ["account": account, "page": 2, "tags": ["a", "b"], "note": nil]
/// ```
///
/// Two objects with the same members are equal whatever their order, since formats sort keys unless told otherwise.
public struct ParameterObject: Sendable {
    private var members: [(key: String, value: ParameterValue)] = []
    /// Where each key stands; only kept for objects that are too large to search.
    private var positions: [String: Int] = [:]
    private static let searchableCount = 8

    /// No parameters.
    public init() {}

    /// When a key comes twice, the last value counts, in the place of the first.
    public init(_ members: some Sequence<(String, ParameterValue)>) {
        self.members.reserveCapacity(members.underestimatedCount)
        for (key, value) in members { self[key] = value }
    }

    /// The keys in the order they were declared.
    public var keys: [String] { members.map(\.key) }
    /// How many members there are at this level.
    public var count: Int { members.count }
    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The value of `key`. Setting a new key adds it at the end; setting `Optional.none` removes the key, while
    /// `.null` is a value like any other.
    public subscript(key: String) -> ParameterValue? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position].value = value
            case (nil, let value?): append(key, value)
            case (let position?, nil): remove(at: position)
            case (nil, nil): break
            }
        }
    }

    /// These members, and those of `lower` whose keys are missing here. A `.null` here counts as present: it wins over
    /// a value in `lower`, and is then sent or dropped as the format says.
    public func merging(over lower: ParameterObject) -> ParameterObject {
        guard !isEmpty else { return lower }
        var merged = self
        for (key, value) in lower where position(of: key) == nil { merged.append(key, value) }
        return merged
    }

    mutating func sortKeys() {
        members.sort { $0.key.precedesInUTF8($1.key) }
        indexKeys()
    }

    private func position(of key: String) -> Int? {
        count > Self.searchableCount ? positions[key] : members.firstIndex { $0.key == key }
    }

    private mutating func append(_ key: String, _ value: ParameterValue) {
        members.append((key, value))
        if count == Self.searchableCount + 1 { indexKeys() } else { noteLastKey() }
    }

    private mutating func noteLastKey() {
        guard count > Self.searchableCount, let last = members.last else { return }
        positions[last.key] = count - 1
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        indexKeys()
    }

    private mutating func indexKeys() {
        positions.removeAll()
        guard count > Self.searchableCount else { return }
        for (position, member) in members.enumerated() { positions[member.key] = position }
    }
}

extension ParameterObject: Sequence {
    /// The members in the order they were declared.
    public func makeIterator() -> some IteratorProtocol<(key: String, value: ParameterValue)> {
        members.makeIterator()
    }

    public var underestimatedCount: Int { count }
}

extension ParameterObject: Hashable {
    public static func == (left: ParameterObject, right: ParameterObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        var mixed = 0
        for (key, value) in members {
            var member = Hasher()
            member.combine(key)
            member.combine(value)
            mixed ^= member.finalize()
        }
        hasher.combine(mixed)
    }
}

extension String {
    /// Byte order of the UTF-8, which is the order of the code points.
    func precedesInUTF8(_ other: String) -> Bool {
        let order = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in Self.precedes(left, right) }
        }
        return order.flatMap { $0 } ?? utf8.lexicographicallyPrecedes(other.utf8)
    }

    private static func precedes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<Swift.min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}

extension ParameterObject: ExpressibleByDictionaryLiteral {
    /// When a key comes twice, the last value counts. `nil` and `.null` are both ``ParameterValue/null``.
    public init(dictionaryLiteral elements: (String, (any ParameterConvertible)?)...) {
        self.init(elements.lazy.map { ($0.0, $0.1?.parameterValue ?? .null) })
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
