/// Header or trailer fields: ordered, with duplicates kept, looked up without regard to case (RFC 9110 §5).
///
/// A field is validated on the way in. One that HTTP's grammar forbids (a name that is no token; CR, LF, NUL or another
/// control character in a value) is not stored: it is remembered in ``rejected``, and a request that carries a rejected
/// field is refused before anything is sent, with an error that names it.
///
/// ```swift
/// var fields: HTTPFields = ["Accept": "application/json"]
/// fields[.userAgent] = "Shop/1.0"
/// fields.append("a=1", for: .setCookie)
/// ```
public struct HTTPFields: Sendable {
    private var storage: [HTTPField]
    /// A Bloom filter of the names. Most look-ups are for names that are absent, and a bit that is not set tells so without a
    /// search. The bits of a removed name may stay.
    private var bits: UInt64 = 0
    /// `nil` while there are none, as a copy of `nil` costs nothing.
    private var refused: [String]?

    /// Names of the fields that were refused, in the order they came, escaped so that they can be printed.
    public var rejected: [String] { refused ?? [] }

    /// No fields.
    public init() {
        storage = []
    }

    /// These fields in their order; what HTTP's grammar forbids goes to ``rejected``.
    public init(_ fields: some Sequence<HTTPField>) {
        self.init()
        for field in fields { append(field) }
    }

    /// The same without the fields of these names.
    func without(_ names: HTTPFieldNames) -> HTTPFields {
        guard bits & names.bits != 0, let first = firstIndex(where: { names.contains($0.name) }) else { return self }
        var rest = HTTPFields()
        rest.refused = refused
        rest.reserveCapacity(count)
        for index in 0..<first { rest.add(storage[index]) }
        for index in (first + 1)..<count where !names.contains(storage[index].name) { rest.add(storage[index]) }
        return rest
    }

    /// The name of the first field that has one of these names.
    func first(of names: HTTPFieldNames) -> HTTPFieldName? {
        bits & names.bits == 0 ? nil : storage.first { names.contains($0.name) }?.name
    }

    /// The first value of `name`. Setting replaces every field of that name; setting `nil` removes them.
    public subscript(name: HTTPFieldName) -> String? {
        get { mayHave(name) ? storage.first { $0.name == name }?.value : nil }
        set {
            guard let newValue else { return remove(name) }
            replace(name, with: newValue)
        }
    }

    /// Every value of `name`, in order.
    public func values(of name: HTTPFieldName) -> [String] {
        mayHave(name) ? storage.lazy.filter { $0.name == name }.map(\.value) : []
    }

    /// Every value of `name` joined with `, `, as a list-based field may be read (RFC 9110 §5.3); `nil` when absent.
    public func combined(_ name: HTTPFieldName) -> String? {
        let all = values(of: name)
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }

    /// Whether there is at least one field of the name.
    public func contains(_ name: HTTPFieldName) -> Bool {
        mayHave(name) && storage.contains { $0.name == name }
    }

    private func mayHave(_ name: HTTPFieldName) -> Bool {
        bits & name.bit != 0
    }

    /// Adds a field after those already there.
    public mutating func append(_ value: String, for name: HTTPFieldName) {
        append(HTTPField(name: name, value: value))
    }

    /// Adds a field after those already there, or its name to ``rejected``.
    public mutating func append(_ field: HTTPField) {
        guard let accepted = accept(field) else { return }
        add(accepted)
    }

    /// Adds all fields after those already there, and what the others had rejected to ``rejected``.
    public mutating func append(contentsOf fields: HTTPFields) {
        storage.append(contentsOf: fields.storage)
        bits |= fields.bits
        if let others = fields.refused { refused = rejected + others }
    }

    /// Replaces, for every name in `fields`, all fields of that name.
    public mutating func merge(_ fields: HTTPFields) {
        guard !fields.isEmpty || fields.refused != nil else { return }
        if bits & fields.bits != 0 { storage.removeAll { fields.contains($0.name) } }
        append(contentsOf: fields)
    }

    /// Removes every field of the name. What was rejected stays so.
    public mutating func remove(_ name: HTTPFieldName) {
        guard mayHave(name) else { return }
        storage.removeAll { $0.name == name }
    }

    /// Adds a field that is not validated: of Penstock's own making, or from a peer whose parser has split the line.
    package mutating func add(_ field: consuming HTTPField) {
        bits |= field.name.bit
        storage.append(field)
    }

    /// Replaces every field of a name by one of Penstock's own making, which need not be validated.
    mutating func set(_ name: HTTPFieldName, toValid value: String) {
        remove(name)
        add(HTTPField(name: name, value: value))
    }

    /// Whether both are the same, byte by byte.
    package func isWritten(as other: HTTPFields) -> Bool {
        guard storage.count == other.storage.count else { return false }
        let isOne = storage.withUnsafeBufferPointer { own in
            other.storage.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress }
        }
        return isOne
            || zip(storage, other.storage).allSatisfy { left, right in
                left.name.text.utf8.elementsEqual(right.name.text.utf8)
                    && left.value.utf8.elementsEqual(right.value.utf8)
            }
    }

    package mutating func reserveCapacity(_ count: Int) {
        storage.reserveCapacity(count)
    }

    private mutating func replace(_ name: HTTPFieldName, with value: String) {
        guard let field = accept(HTTPField(name: name, value: value)) else { return }
        guard mayHave(name), let index = storage.firstIndex(where: { $0.name == name }) else { return add(field) }
        storage[index] = field
        let rest = storage[(index + 1)...].filter { $0.name != name }
        storage.replaceSubrange((index + 1)..., with: rest)
    }

    private mutating func accept(_ field: HTTPField) -> HTTPField? {
        guard HTTPSyntax.isToken(field.name.text), HTTPSyntax.isFieldValue(field.value) else {
            refused = rejected + [String(reflecting: field.name.text)]
            return nil
        }
        let value = HTTPSyntax.trimmed(field.value)
        return value.utf8.count == field.value.utf8.count ? field : HTTPField(name: field.name, value: value)
    }
}

extension HTTPFields: RandomAccessCollection {
    public var startIndex: Int { storage.startIndex }
    public var endIndex: Int { storage.endIndex }
    public subscript(position: Int) -> HTTPField { storage[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Fields in their order, beside each other where a name comes twice. One whose value is `nil` is left out.
    public init(dictionaryLiteral elements: (HTTPFieldName, String?)...) {
        self.init(elements.lazy.compactMap { name, value in value.map { HTTPField(name: name, value: $0) } })
    }
}

extension HTTPFields: Hashable {
    /// Same fields, same order; names without regard to case.
    public static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        left.storage == right.storage && left.refused == right.refused
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage)
    }
}

extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line a field, the values as ``Redaction`` allows.
    public var description: String { map(\.description).joined(separator: "\n") }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map(\.description), displayStyle: .collection) }
}
