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

    /// The members of a dictionary, whose keys are sorted, since it has no order of its own.
    ///
    /// ```swift
    /// let filter: [String: String] = form.filled
    /// let users: [User] = try await client.get("/users", parameters: ParameterObject(filter))
    /// ```
    public init(_ dictionary: [String: some ParameterConvertible]) {
        self.init(dictionary.lazy.map { ($0.key, $0.value.parameterValue) })
        sortKeys()
    }

    /// A dictionary of anything says of no value how it is sent.
    @available(
        *, unavailable,
        message: "a value of any type cannot be sent: make it a [String: JSONValue], or a literal of the values"
    )
    @_disfavoredOverload
    public init(_ dictionary: [String: Any]) {
        self.init()
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

/// How parameters print: the values of secret names, and those that others name so, redacted, however deep they are.

extension ParameterValue: LabelledTree {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var list: [ParameterValue]? { if case .array(let elements) = self { elements } else { nil } }
    var isNumber: Bool {
        switch self {
        case .int, .uint, .double, .decimal: true
        default: false
        }
    }
}

extension ParameterValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value, texts in quotes, data by its size, the secret members of objects redacted.
    public var description: String { text(isSecret: false) }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["value": description], displayStyle: .enum) }

    /// - Parameter isInList: whether it stands in a list, and is a pair where it is one of two.
    fileprivate func text(isSecret: Bool, isInList: Bool = false) -> String {
        switch self {
        case .null: "null"
        case .object(let object): object.text(isSecret: isSecret)
        case .array(let elements): Self.text(of: elements, isSecret, isInList)
        case _ where isSecret: Redaction.mark
        case .string(let text): "\"\(PrintableText.escaped(Redaction.text(text)))\""
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .data(let data): "\(data.count) bytes"
        case .date(let date): "\(date)"
        }
    }

    private static func text(of elements: [ParameterValue], _ isSecret: Bool, _ isInList: Bool) -> String {
        let isPair = isInList && LabelScope.holdsSecret(elements)
        let texts = elements.enumerated().map { position, element in
            element.text(isSecret: isSecret || isPair && position == 1, isInList: true)
        }
        return "[\(texts.joined(separator: ", "))]"
    }
}

extension ParameterObject: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The members in their order, the values of secret ones redacted.
    public var description: String { text(isSecret: false) }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(
            self, children: shown(isSecret: false).map { (label: $0.name, value: $0.text) }, displayStyle: .dictionary)
    }

    private func shown(isSecret: Bool) -> [(name: String, text: String)] {
        let labelled = LabelScope.secrets(of: lazy.map { (name: $0.0, value: $0.1) })
        return enumerated().map { position, member in
            let isNamed = labelled.contains(position) || Redaction.isSecret(parameter: member.0)
            return (member.0, member.1.text(isSecret: isSecret || isNamed))
        }
    }

    fileprivate func text(isSecret: Bool) -> String {
        let members = shown(isSecret: isSecret).map { "\"\(PrintableText.escaped($0.name))\": \($0.text)" }
        return members.isEmpty ? "[:]" : "[" + members.joined(separator: ", ") + "]"
    }
}

/// The parameters of one call from everyone who has a say in them.
///
/// Where a top-level key comes from several, the nearest to the call wins: call, endpoint, service, client. Values are
/// never merged into each other. A `.null` wins like any value; in a form with ``FormFormat/Nulls/dropKey`` it thereby
/// takes a common parameter out of a call.
public struct ParameterLayers: Sendable {
    /// The parameters in the options of the call, over those in the options of its endpoint.
    public var call: ParameterObject
    /// The endpoint's own parameters; `nil` when it has none.
    public var endpoint: ParameterValue?
    /// The parameters in the options of the service, over what its ``Service/parameters`` gives.
    public var service: ParameterObject
    /// The parameters in the options of the client, over what its ``ClientConfiguration/parameters`` gives.
    public var client: ParameterObject

    /// The layers of a call; those that are left out are empty.
    ///
    /// - Parameter endpoint: `nil`, the default, for an endpoint without parameters.
    public init(
        call: ParameterObject = [:], endpoint: ParameterValue? = nil, service: ParameterObject = [:],
        client: ParameterObject = [:]
    ) {
        self.call = call
        self.endpoint = endpoint
        self.service = service
        self.client = client
    }

    /// One value, or `nil` when nobody has parameters. An endpoint's list or single value stays as it is when it is
    /// alone.
    ///
    /// - Throws: ``ParameterEncodingError/Reason/notAnObject`` when the endpoint's parameters are not an object and
    ///   there are others to add to them.
    public func merged() throws(ParameterEncodingError) -> ParameterValue? {
        let common = service.merging(over: client)
        switch endpoint {
        case nil:
            let merged = call.merging(over: common)
            return merged.isEmpty ? nil : .object(merged)
        case .object(let object): return .object(call.merging(over: object).merging(over: common))
        case .some(let value):
            guard call.isEmpty, common.isEmpty else { throw ParameterEncodingError(.notAnObject) }
            return value
        }
    }
}
