import Foundation

/// How parameters become a query or an `application/x-www-form-urlencoded` body.
///
/// The defaults are what most servers read: `tags[]=a&tags[]=b`, `filter[shop]=1`, `true`, dates of RFC 3339, spaces
/// as `%20`, and no pair for a null. Every byte of keys and values that is not unreserved is escaped, so no value can
/// end its pair. An empty array or object leaves nothing behind.
///
/// ```swift
/// let format = FormFormat(arrays: .plain, keys: .snakeCase, spaces: .plus)
/// let query = try format.text(["tagNames": ["red wine", "beer"]])   // tag_names=red+wine&tag_names=beer
/// ```
public struct FormFormat: Sendable {
    /// How the elements of an array are told apart.
    public enum Arrays: Sendable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case plain
        /// `a[0]=1&a[1]=2`: the only one that keeps an array of objects apart.
        case indexed
        /// `a=1,2`: elements are escaped, and so is a separator that cannot stand in a query. Only for single values.
        case joined(separator: String)
        /// The key of an element, from the array's key and the element's position.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// How the key of an object and the key of its member become one.
    public enum Nesting: Sendable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
        case custom(@Sendable (_ parent: String, _ key: String) -> String)
    }

    public enum Bools: Hashable, Sendable {
        /// `true` and `false`.
        case literal
        /// `1` and `0`.
        case numeric
    }

    /// What is sent for ``ParameterValue/null``.
    public enum Nulls: Hashable, Sendable {
        /// Nothing.
        case dropKey
        /// `a=`
        case emptyValue
        /// `a=null`
        case literal
    }

    public enum Spaces: Hashable, Sendable {
        /// `%20`, which is right in a query and in a form alike.
        case percent
        /// `+`, as HTML forms write it.
        case plus
    }

    public var arrays: Arrays
    public var nesting: Nesting
    public var keys: ParameterStyle.Keys
    public var order: ParameterStyle.Order
    public var bools: Bools
    public var dates: ParameterStyle.Dates
    public var binary: ParameterStyle.Binary
    public var nulls: Nulls
    public var spaces: Spaces
    /// What is written without an escape, in keys and in values.
    public var allowed: FormCharacters

    public init(
        arrays: Arrays = .brackets, nesting: Nesting = .brackets, keys: ParameterStyle.Keys = .asIs,
        order: ParameterStyle.Order = .sorted, bools: Bools = .literal, dates: ParameterStyle.Dates = .iso8601,
        binary: ParameterStyle.Binary = .base64, nulls: Nulls = .dropKey, spaces: Spaces = .percent,
        allowed: FormCharacters = .unreserved
    ) {
        self.arrays = arrays
        self.nesting = nesting
        self.keys = keys
        self.order = order
        self.bools = bools
        self.dates = dates
        self.binary = binary
        self.nulls = nulls
        self.spaces = spaces
        self.allowed = allowed
    }

    /// The pairs as text: a query without its `?`, or the content of a form. Empty when there are none.
    ///
    /// - Throws: ``ParameterEncodingError/Reason/notAnObject`` when `value` is not an object, and errors of its parts.
    public func text(_ value: ParameterValue) throws(ParameterEncodingError) -> String {
        String(decoding: try bytes(value), as: UTF8.self)
    }

    /// The same as bytes.
    public func data(_ value: ParameterValue) throws(ParameterEncodingError) -> Data {
        Data(try bytes(value))
    }

    private func bytes(_ value: ParameterValue) throws(ParameterEncodingError) -> [UInt8] {
        guard case .object(let object) = value else { throw ParameterEncodingError(.notAnObject) }
        var writer = FormWriter(format: self)
        try writer.write(object)
        return writer.output
    }
}
