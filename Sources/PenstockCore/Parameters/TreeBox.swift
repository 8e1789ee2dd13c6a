/// A place of the tree that is still being written. Shared by the containers of one encoder, which are values.
final class TreeBox {
    enum Kind {
        case single, array, object
    }

    /// What a finished leaf or an open place holds; leaves need no object of their own.
    enum Slot {
        case value(ParameterValue)
        case open(TreeBox)
    }

    private var kind: Kind?
    private var hasConflict = false
    private var single = ParameterValue.null
    private var elements: [Slot] = []
    private var keys: [String] = []
    /// Whether a dictionary has written it, whose pairs have another order on every run.
    var sortsKeys = false

    var count: Int { elements.count }

    /// A container cannot be refused when it is asked for, so a conflict is remembered and thrown at the end.
    func begin(_ kind: Kind) {
        if let current = self.kind, current != kind { hasConflict = true }
        self.kind = kind
    }

    func set(_ value: ParameterValue) {
        begin(.single)
        single = value
    }

    func append(_ slot: Slot) {
        elements.append(slot)
    }

    func insert(_ slot: Slot, for key: String) {
        keys.append(key)
        elements.append(slot)
    }

    /// The place for a nested container at `key`: the one already open there, or a new one.
    func open(at key: String) -> TreeBox {
        if let index = keys.lastIndex(of: key), case .open(let box) = elements[index] { return box }
        let box = TreeBox()
        insert(.open(box), for: key)
        return box
    }

    func finished(at path: [any CodingKey]) throws(ParameterEncodingError) -> ParameterValue {
        guard !hasConflict else { throw ParameterEncodingError(.conflictingContainers, at: path) }
        switch kind {
        case .single: return single
        case .array:
            var array: [ParameterValue] = []
            array.reserveCapacity(elements.count)
            for (index, slot) in elements.enumerated() {
                array.append(try finished(slot, at: path, ParameterKey(index: index)))
            }
            return .array(array)
        case .object, nil:
            var object = ParameterObject()
            for (key, slot) in zip(keys, elements) {
                object[key] = try finished(slot, at: path, ParameterKey(key))
            }
            if sortsKeys { object.sortKeys() }
            return .object(object)
        }
    }

    private func finished(
        _ slot: Slot, at path: [any CodingKey], _ key: ParameterKey
    ) throws(ParameterEncodingError) -> ParameterValue {
        switch slot {
        case .value(let value): value
        case .open(let box): try box.finished(at: path + [key])
        }
    }
}

/// The type of key that every dictionary writes its pairs under, whose keys are text, integers, or stand for such
/// (`CodingKeyRepresentable`). The standard library keeps it to itself, and so a dictionary is asked.
enum DictionaryKeys {
    static let type: Any.Type? = {
        let witness = Witness()
        try? ["": 0].encode(to: witness)
        return witness.type
    }()

    /// An encoder that remembers the type of the keys that are written.
    private final class Witness: Encoder {
        var type: Any.Type?
        private let encoder = TreeEncoder(box: TreeBox(), codingPath: [], options: ParameterEncoder())

        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            self.type = type
            return KeyedEncodingContainer(KeyedTreeContainer<Key>(encoder: encoder))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }

        func singleValueContainer() -> any SingleValueEncodingContainer { encoder.singleValueContainer() }
    }
}

/// A collection that is written as a list whose order differs from run to run.
protocol UnorderedParameters {
    /// The encoded collection, in an order that depends on its content alone.
    static func ordered(_ tree: ParameterValue) throws(ParameterEncodingError) -> ParameterValue
}

extension Dictionary: UnorderedParameters {
    static func ordered(_ tree: ParameterValue) throws(ParameterEncodingError) -> ParameterValue {
        // Keys that are neither strings nor integers: keys and values alternate.
        guard case .array(let flat) = tree else { return tree }
        let pairs = stride(from: 0, to: flat.count - 1, by: 2).map { [flat[$0], flat[$0 + 1]] }
        return .array(try sortedByText(pairs.map { .array($0) }).flatMap { $0.elements })
    }
}

extension Set: UnorderedParameters {
    static func ordered(_ tree: ParameterValue) throws(ParameterEncodingError) -> ParameterValue {
        guard case .array(let elements) = tree else { return tree }
        return .array(try sortedByText(elements))
    }
}

extension ParameterValue {
    fileprivate var elements: [ParameterValue] {
        if case .array(let elements) = self { elements } else { [] }
    }
}

/// Integers and dates in their own order, anything else by its JSON, in which a date has all of its precision.
private func sortedByText(_ values: [ParameterValue]) throws(ParameterEncodingError) -> [ParameterValue] {
    let integers = values.compactMap { if case .int(let value) = $0 { value } else { nil } }
    if integers.count == values.count { return integers.sorted().map { .int($0) } }
    let dates = values.compactMap { if case .date(let value) = $0 { value } else { nil } }
    if dates.count == values.count { return dates.sorted().map { .date($0) } }
    let format = JSONFormat(dates: .secondsSince1970)
    var texts: [(text: [UInt8], value: ParameterValue)] = []
    for value in values { texts.append((try format.bytes(value), value)) }
    return texts.sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.value)
}
