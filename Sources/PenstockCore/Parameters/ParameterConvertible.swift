import Foundation

/// A value that may stand in a ``ParameterObject`` literal.
///
/// A type with a raw value needs only the declaration:
///
/// ```swift
/// enum Order: String, ParameterConvertible { case newest, cheapest }
/// ```
public protocol ParameterConvertible {
    /// What is sent for the value. An implementation gives the case of ``ParameterValue`` that keeps most of it, so
    /// that the format still decides how dates and data are written.
    var parameterValue: ParameterValue { get }
}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
    /// What is sent for the raw value.
    public var parameterValue: ParameterValue { rawValue.parameterValue }
}

extension ParameterConvertible where Self: BinaryInteger {
    /// The same number (``ParameterValue/init(_:)-(BinaryInteger)``).
    public var parameterValue: ParameterValue { ParameterValue(self) }
}

extension Int: ParameterConvertible {}
extension Int8: ParameterConvertible {}
extension Int16: ParameterConvertible {}
extension Int32: ParameterConvertible {}
extension Int64: ParameterConvertible {}
extension UInt: ParameterConvertible {}
extension UInt8: ParameterConvertible {}
extension UInt16: ParameterConvertible {}
extension UInt32: ParameterConvertible {}
extension UInt64: ParameterConvertible {}

extension ParameterValue: ParameterConvertible {
    /// The tree itself.
    public var parameterValue: ParameterValue { self }
}

/// What `.null` is in a ``ParameterObject`` literal.
public struct NullParameter: ParameterConvertible, Hashable, Sendable {
    /// ``ParameterValue/null``.
    public var parameterValue: ParameterValue { .null }
}

extension ParameterConvertible where Self == NullParameter {
    /// Present, but without a value: ``ParameterValue/null``.
    public static var null: NullParameter { NullParameter() }
}

extension ParameterObject: ParameterConvertible {
    /// The object as a tree.
    public var parameterValue: ParameterValue { .object(self) }
}

extension Bool: ParameterConvertible {
    /// `true` or `false`; ``FormFormat/bools`` may write them as numbers.
    public var parameterValue: ParameterValue { .bool(self) }
}

extension Double: ParameterConvertible {
    /// The number, written with the fewest digits that read back as it. An infinite one fails the encoding.
    public var parameterValue: ParameterValue { .double(self) }
}

extension Float: ParameterConvertible {
    /// The double with the same shortest digits: `0.1` stays `0.1`.
    public var parameterValue: ParameterValue { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ParameterConvertible {
    /// The number with all its digits.
    public var parameterValue: ParameterValue { .decimal(self) }
}

extension String: ParameterConvertible {
    /// The text.
    public var parameterValue: ParameterValue { .string(self) }
}

extension Substring: ParameterConvertible {
    /// The text.
    public var parameterValue: ParameterValue { .string(String(self)) }
}

extension URL: ParameterConvertible {
    /// The absolute URL as text.
    public var parameterValue: ParameterValue { .string(absoluteString) }
}

extension UUID: ParameterConvertible {
    /// The 36 characters that Foundation writes, in capitals: `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    public var parameterValue: ParameterValue { .string(uuidString) }
}

extension Data: ParameterConvertible {
    /// The bytes, which the format writes as its ``ParameterStyle/Binary`` says.
    public var parameterValue: ParameterValue { .data(self) }
}

extension Date: ParameterConvertible {
    /// The moment, which the format writes as its ``ParameterStyle/Dates`` says.
    public var parameterValue: ParameterValue { .date(self) }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// ``ParameterValue/null`` when there is no value.
    public var parameterValue: ParameterValue { map(\.parameterValue) ?? .null }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// The elements in their order, each as it is sent by itself.
    public var parameterValue: ParameterValue { .array(map(\.parameterValue)) }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// A dictionary has no order of its own, so its keys are sorted.
    public var parameterValue: ParameterValue {
        .object(ParameterObject(self))
    }
}
