import Foundation

/// The parameters of a call as a tree, before they become a query, a form or JSON.
///
/// Dates and binary data keep their type until they are written, so that ``FormFormat`` and ``JSONFormat`` decide how
/// they look. Literals make trees directly:
///
/// ```swift
/// let value: ParameterValue = ["account": "alice", "page": 2, "tags": ["a", "b"], "note": nil]
/// ```
public enum ParameterValue: Hashable, Sendable {
    /// Present, but without a value. The format decides whether and how it is sent.
    case null
    /// A truth value. ``FormFormat/bools`` may write it as a number.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// Meant for what ``int(_:)`` cannot hold; ``init(_:)-(BinaryInteger)`` chooses.
    case uint(UInt64)
    /// A number that need not be whole, written with the fewest digits that read back as it and without a trailing
    /// `.0`. An infinite one, and what is not a number, fail the encoding.
    case double(Double)
    /// A decimal number, written with all its digits: for money.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// Bytes, which the format writes as its ``ParameterStyle/Binary`` says: Base64 by default.
    case data(Data)
    /// A moment, which the format writes as its ``ParameterStyle/Dates`` says: RFC 3339 by default.
    case date(Date)
    /// A list, in its order.
    case array([ParameterValue])
    /// Named values.
    case object(ParameterObject)

    /// An integer of any width that fits 64 bits: ``int(_:)`` where possible, otherwise ``uint(_:)``. A wider one
    /// becomes a string of its digits, so that no digit is lost.
    public init(_ integer: some BinaryInteger) {
        if let signed = Int64(exactly: integer) {
            self = .int(signed)
        } else if let unsigned = UInt64(exactly: integer) {
            self = .uint(unsigned)
        } else {
            self = .string(String(integer))
        }
    }

    /// The members, when this is an object.
    public var object: ParameterObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// Whether this is ``null``, which is present all the same.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
}

extension ParameterValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// When a key comes twice, the last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(ParameterObject(elements.lazy.map { ($0.0, $0.1) }))
    }
}

/// Trees are parameters too, alone or as a property of an `Encodable` type. With an encoder other than
/// ``ParameterEncoder``, dates and data are written as that encoder writes them.
extension ParameterValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        if case .object(let object) = self { return try object.encode(to: encoder) }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
