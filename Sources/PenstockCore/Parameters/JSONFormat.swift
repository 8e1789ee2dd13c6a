import Foundation

/// How parameters become JSON (RFC 8259).
///
/// The output has no white space, no escaped slashes, and exact numbers. By default it depends on nothing but the
/// content: the same parameters give the same bytes on every run.
public struct JSONFormat: Sendable {
    /// What happens to a member whose value is ``ParameterValue/null``. Elements of arrays are always written.
    public enum Nulls: Hashable, Sendable {
        /// `"key":null`.
        case null
        /// The member is left out.
        case dropKey
    }

    /// How keys are written.
    public var keys: ParameterStyle.Keys
    /// In which order the members of an object are written.
    public var order: ParameterStyle.Order
    /// How dates are written.
    public var dates: ParameterStyle.Dates
    /// How binary data is written.
    public var binary: ParameterStyle.Binary
    /// What happens to a member whose value is ``ParameterValue/null``.
    public var nulls: Nulls

    /// The defaults, but for what is named: keys as they are and in the order of their bytes, dates of RFC 3339 in
    /// whole seconds, Base64, and `null` for a null.
    public init(
        keys: ParameterStyle.Keys = .asIs, order: ParameterStyle.Order = .sorted,
        dates: ParameterStyle.Dates = .iso8601, binary: ParameterStyle.Binary = .base64, nulls: Nulls = .null
    ) {
        self.keys = keys
        self.order = order
        self.dates = dates
        self.binary = binary
        self.nulls = nulls
    }

    /// JSON of any value, also of one that is no object.
    public func data(_ value: ParameterValue) throws(ParameterEncodingError) -> Data {
        Data(try bytes(value))
    }

    /// The same as a string.
    public func text(_ value: ParameterValue) throws(ParameterEncodingError) -> String {
        String(decoding: try bytes(value), as: UTF8.self)
    }

    func bytes(_ value: ParameterValue) throws(ParameterEncodingError) -> [UInt8] {
        var writer = JSONWriter(format: self)
        try writer.write(value, depth: 0)
        return writer.output
    }
}
