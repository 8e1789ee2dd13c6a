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
        /// The key of a member, from the object's key as it is written so far and the member's own.
        case custom(@Sendable (_ parent: String, _ key: String) -> String)
    }

    /// How a truth value is written.
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

    /// How a space is written, in keys and in values.
    public enum Spaces: Hashable, Sendable {
        /// `%20`, which is right in a query and in a form alike.
        case percent
        /// `+`, as HTML forms write it.
        case plus
    }

    /// How the elements of an array are told apart.
    public var arrays: Arrays
    /// How the key of an object and the key of its member become one.
    public var nesting: Nesting
    /// How keys are written, before they are joined with those of the objects around them.
    public var keys: ParameterStyle.Keys
    /// The order in which the members of an object are written.
    public var order: ParameterStyle.Order
    /// How truth values are written.
    public var bools: Bools
    /// How dates are written.
    public var dates: ParameterStyle.Dates
    /// How binary data is written.
    public var binary: ParameterStyle.Binary
    /// What is sent for ``ParameterValue/null``.
    public var nulls: Nulls
    /// How spaces are written.
    public var spaces: Spaces
    /// What is written without an escape, in keys and in values.
    public var allowed: FormCharacters

    /// The defaults, but for what is named: `a[]=1&a[]=2`, `a[b]=1`, keys as they are and in the order of their bytes,
    /// `true`, dates of RFC 3339 in whole seconds, Base64, no pair for a null, `%20`, and no character but the
    /// unreserved ones (RFC 3986 §2.3) without an escape.
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

/// The characters that a form or a query may show without an escape.
///
/// Whatever is asked for, characters that structure a form (`& = + # %`), and those that no URL may hold, stay escaped.
/// Square brackets can be allowed in a form; in a query they are escaped again, as no URL holds them there.
public struct FormCharacters: Hashable, Sendable, ExpressibleByStringLiteral {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Letters, digits and `-._~` (RFC 3986 §2.3).
    public static let unreserved = FormCharacters("")
    /// ``unreserved`` and `/?`, which a query may show (RFC 3986 §3.4).
    public static let query: FormCharacters = "/?"

    /// The unreserved characters and those of `text`.
    public init(_ text: String) {
        for byte in 0x21...0x7E as ClosedRange<UInt8> where PercentEncoding.isUnreserved(byte) { insert(byte) }
        for byte in text.utf8 where Self.mayStandAlone(byte) { insert(byte) }
    }

    public init(stringLiteral value: String) {
        self.init(value)
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low : high) & (1 << UInt64(byte & 63)) != 0
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
    }

    static func mayStandAlone(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "@"),
            UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default:
            PercentEncoding.isUnreserved(byte)
        }
    }
}
