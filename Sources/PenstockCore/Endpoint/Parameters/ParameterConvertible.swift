import Foundation

/// A value that may stand in a ``ParameterObject`` literal.
///
/// A type with a raw value needs only the declaration:
///
/// ```swift
/// enum Order: String, ParameterConvertible { case newest, cheapest }
/// ```
public protocol ParameterConvertible {
    var parameterValue: ParameterValue { get }
}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
    public var parameterValue: ParameterValue { rawValue.parameterValue }
}

extension ParameterConvertible where Self: BinaryInteger {
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
    public var parameterValue: ParameterValue { self }
}

extension ParameterObject: ParameterConvertible {
    public var parameterValue: ParameterValue { .object(self) }
}

extension Bool: ParameterConvertible {
    public var parameterValue: ParameterValue { .bool(self) }
}

extension Double: ParameterConvertible {
    public var parameterValue: ParameterValue { .double(self) }
}

extension Float: ParameterConvertible {
    /// The double with the same shortest digits: `0.1` stays `0.1`.
    public var parameterValue: ParameterValue { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ParameterConvertible {
    public var parameterValue: ParameterValue { .decimal(self) }
}

extension String: ParameterConvertible {
    public var parameterValue: ParameterValue { .string(self) }
}

extension Substring: ParameterConvertible {
    public var parameterValue: ParameterValue { .string(String(self)) }
}

extension URL: ParameterConvertible {
    public var parameterValue: ParameterValue { .string(absoluteString) }
}

extension UUID: ParameterConvertible {
    public var parameterValue: ParameterValue { .string(uuidString) }
}

extension Data: ParameterConvertible {
    public var parameterValue: ParameterValue { .data(self) }
}

extension Date: ParameterConvertible {
    public var parameterValue: ParameterValue { .date(self) }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// ``ParameterValue/null`` when there is no value.
    public var parameterValue: ParameterValue { map(\.parameterValue) ?? .null }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    public var parameterValue: ParameterValue { .array(map(\.parameterValue)) }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// A dictionary has no order of its own, so its keys are sorted.
    public var parameterValue: ParameterValue {
        var object = ParameterObject(lazy.map { ($0.key, $0.value.parameterValue) })
        object.sortKeys()
        return .object(object)
    }
}
