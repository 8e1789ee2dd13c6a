import Foundation

/// Any JSON value (RFC 8259 §3), for what has no type of its own.
///
/// ```swift
/// let name = value[path: "data.items[0].name"]?.string
/// let first = value["data"]?["items"]?[0]
/// ```
///
/// Of two equal keys in one object, the first counts.
public enum JSONValue: Hashable, Sendable {
    /// `null`, which is a value: a member that is absent is Swift's `nil`.
    case null
    /// `true` or `false`. The numbers 1 and 0 are none.
    case bool(Bool)
    /// A whole number that `Int` holds, exactly.
    case int(Int)
    /// Only for integers above `Int.max`.
    case uint(UInt)
    /// A number with a fraction, or an integer that neither `Int` nor `UInt` holds; beyond 2^53 it may have lost digits.
    case double(Double)
    /// A text, its escapes resolved.
    case string(String)
    /// A list, in its order.
    case array([JSONValue])
    /// The members of an object, whose order JSON gives no meaning (RFC 8259 §4).
    case object([String: JSONValue])
}

extension JSONValue {
    /// The member `key` of an object; `nil` when there is none or this is no object.
    public subscript(key: String) -> JSONValue? {
        object?[key]
    }

    /// The element at `index`; `nil` outside the array or when this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// The value at a dotted path, for example `data.items[0].name`; `nil` when there is none.
    public subscript(path path: String) -> JSONValue? {
        self[JSONPath(path)]
    }

    subscript(path: JSONPath) -> JSONValue? {
        path.steps.reduce(self) { value, step in
            switch step {
            case .key(let key): value?[key]
            case .index(let index): value?[index]
            }
        }
    }

    /// Whether this is JSON's `null`.
    public var isNull: Bool { self == .null }

    /// The text, when this is a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The text, when this is a string that is no longer than the words of a standard: a longer one that a server writes may take long to
    /// be compared with one of them.
    var word: String? {
        string.flatMap { $0.utf8.count <= 64 ? $0 : nil }
    }

    /// The truth value, when this is one.
    public var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The number, when it is a whole one that `Int` holds: never another number near it.
    ///
    /// A number in a document beyond 64 bits gives `nil`, and so does a ``double(_:)`` from 2^53 on, where one `Double`
    /// stands for several whole numbers; ``double`` gives the nearest that there is.
    public var int: Int? {
        switch self {
        case .int(let number): number
        case .double(let number) where number.magnitude < 0x1p53: Int(exactly: number)
        default: nil
        }
    }

    /// The number, of whichever kind, as the nearest `Double` (RFC 8259 §6): an integer beyond 2^53 may lose digits.
    public var double: Double? {
        switch self {
        case .int(let number): Double(number)
        case .uint(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    /// The elements, when this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members, when this is an object.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }
}

extension JSONValue {
    /// Reads a document in which no object has a key twice, which what is signed or sealed must not have (RFC 7515 §4).
    ///
    /// - Returns: `nil` for any other, and for one that nests deeper.
    package static func strict(_ data: Data, maximumDepth: Int) -> JSONValue? {
        try? JSONParser.parse(data, maximumDepth: maximumDepth, takesRepeatedKeys: false)
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// An object of these members. Of two equal keys, the first counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }
}

extension JSONValue: LabelledTree {
    var text: String? { string }
    var list: [JSONValue]? { array }
    var isNumber: Bool {
        switch self {
        case .int, .uint, .double: true
        default: false
        }
    }
}

extension JSONValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// JSON with sorted keys, the values of secret members and of those that others name so redacted, cut off after about 256 scalars.
    public var description: String {
        var text = ""
        write(to: &text)
        let head = text.head(Self.descriptionLimit)
        return head.endIndex < text.endIndex ? head + "…" : text
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["json": description], displayStyle: .enum) }

    private static var descriptionLimit: Int { 256 }

    /// - Parameter isInList: whether it stands in a list, and is a pair where it is one of two.
    private func write(to text: inout String, isSecret: Bool = false, isInList: Bool = false) {
        guard text.utf8.count <= Self.descriptionLimit else { return Self.cutOff(&text) }
        switch self {
        case .null: text += "null"
        case .array(let elements):
            let isPair = isInList && !isSecret && LabelScope.holdsSecret(elements)
            Self.write(elements, between: "[]", to: &text) { element, position, text in
                element.write(to: &text, isSecret: isSecret || isPair && position == 1, isInList: true)
            }
        case .object(let members): Self.write(members, to: &text, isSecret: isSecret)
        case _ where isSecret: text += Redaction.mark
        case .bool(let flag): text += String(flag)
        case .int(let number): text += String(number)
        case .uint(let number): text += String(number)
        case .double(let number): text += String(number)
        case .string(let string):
            // A secret that the limit cuts off has to be known all the same.
            let head = Redaction.text(String(string.head(4 * Self.descriptionLimit)))
            text += String(reflecting: String(head.head(Self.descriptionLimit)))
        }
    }

    private static func write(_ members: [String: JSONValue], to text: inout String, isSecret: Bool) {
        let sorted = members.sorted { $0.key < $1.key }
        let labelled = isSecret ? [] : LabelScope.secrets(of: sorted.lazy.map { (name: $0.key, value: $0.value) })
        write(sorted, between: "{}", to: &text) { member, position, text in
            guard text.utf8.count <= descriptionLimit else { return cutOff(&text) }
            JSONValue.string(member.key).write(to: &text)
            text += ": "
            let isNamed = labelled.contains(position) || member.value.isSecret(of: member.key)
            member.value.write(to: &text, isSecret: isSecret || isNamed)
        }
    }

    private func isSecret(of name: String) -> Bool {
        switch self {
        case .int(let number): SecretName.saysSecret(name, of: String(number))
        case .uint(let number): SecretName.saysSecret(name, of: String(number))
        case .string(let text): SecretName.saysSecret(name, of: text)
        default: SecretName.saysSecret(name, of: "")
        }
    }

    private static func write<Element>(
        _ elements: [Element], between brackets: String, to text: inout String,
        each write: (Element, Int, inout String) -> Void
    ) {
        text += brackets.prefix(1)
        for (position, element) in elements.enumerated() {
            guard text.utf8.count <= descriptionLimit else { return cutOff(&text) }
            if position > 0 { text += ", " }
            write(element, position, &text)
        }
        text += brackets.suffix(1)
    }

    /// Says, once, that something is left out.
    private static func cutOff(_ text: inout String) {
        if !text.hasSuffix("…") { text += "…" }
    }
}

extension JSONValue: Decodable {
    /// Keys stay as they are in the document, whatever key strategy the decoder has.
    ///
    /// Decoders other than Penstock's must be asked for one type after the other, which is slow for large or deep values.
    public init(from decoder: any Decoder) throws {
        if let value = try decoder.session?.freeForm(at: decoder.codingPath) {
            self = value
            return
        }
        let container = try decoder.singleValueContainer()
        if let scalar = try Self.scalar(in: container) {
            self = scalar
        } else if let elements = try? decoder.unkeyedContainer() {
            self = try .array(Self.elements(of: elements))
        } else {
            self = try .object(container.decode([String: JSONValue].self))
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> JSONValue? {
        if container.decodeNil() { return .null }
        if let text = try? container.decode(String.self) { return .string(text) }
        if let flag = try? container.decode(Bool.self) { return .bool(flag) }
        if let number = try? container.decode(Int.self) { return .int(number) }
        if let number = try? container.decode(UInt.self) { return .uint(number) }
        do { return try .double(container.decode(Double.self)) } catch DecodingError.typeMismatch { return nil }
    }

    private static func elements(of container: any UnkeyedDecodingContainer) throws -> [JSONValue] {
        var container = container
        var elements: [JSONValue] = []
        while !container.isAtEnd { try elements.append(container.decode(JSONValue.self)) }
        return elements
    }
}

extension JSONValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .int(let number): try container.encode(number)
        case .uint(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}
