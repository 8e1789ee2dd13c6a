import Foundation

/// Turns any `Encodable` value into a ``ParameterValue`` tree.
///
/// Dates, data and decimals stay typed; a URL becomes its text. The elements of a set and the pairs of a dictionary,
/// which have another order on every run, are put in order, so that the same value always gives the same bytes.
///
/// One order cannot be seen: a type that writes itself by handing its own encoder to a set, or to a dictionary whose keys are
/// neither text nor integers, looks as one that writes a list in an order of its own. It is ordered as well once the type
/// hands the collection on as a value:
///
/// ```swift
/// struct Labels: Encodable {
///     var all: Set<String>
///     func encode(to encoder: any Encoder) throws {
///         var container = encoder.singleValueContainer()
///         try container.encode(all)      // not: all.encode(to: encoder)
///     }
/// }
/// ```
public struct ParameterEncoder: Sendable {
    /// What an optional property without a value leaves behind.
    public enum NilProperties: Sendable {
        /// Nothing, as everywhere in Swift.
        case omitted
        /// ``ParameterValue/null``, which the format may then send.
        case null
    }

    /// What an optional property without a value leaves behind: nothing by default.
    public var nilProperties: NilProperties
    /// What is handed to every `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// The defaults, but for what is named.
    ///
    /// - Parameters:
    ///   - nilProperties: what an optional property without a value leaves behind. Nothing by default.
    ///   - userInfo: handed to every `encode(to:)`. Empty by default.
    public init(nilProperties: NilProperties = .omitted, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.nilProperties = nilProperties
        self.userInfo = userInfo
    }

    /// The tree of a value. A value that encodes nothing gives an empty object.
    ///
    /// - Throws: ``ParameterEncodingError`` with the path that leads to what could not be encoded.
    public func encode(_ value: some Encodable) throws(ParameterEncodingError) -> ParameterValue {
        do {
            return try TreeEncoder(box: TreeBox(), codingPath: [], options: self).value(of: value, at: nil)
        } catch {
            throw .wrapping(error)
        }
    }
}

/// The encoder of one place in the tree.
struct TreeEncoder: Encoder {
    let box: TreeBox
    let codingPath: [any CodingKey]
    let options: ParameterEncoder

    var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        box.begin(.object)
        // Known by its keys, a dictionary is ordered whoever hands it the encoder.
        if Key.self == DictionaryKeys.type { box.sortsKeys = true }
        return KeyedEncodingContainer(KeyedTreeContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        box.begin(.array)
        return UnkeyedTreeContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueTreeContainer(encoder: self)
    }

    /// The encoder of a place below this one.
    func nested(in box: TreeBox, at key: any CodingKey) -> TreeEncoder {
        TreeEncoder(box: box, codingPath: codingPath + [key], options: options)
    }

    /// The finished tree of `value`, which stands at `key` below this place.
    func value<Value: Encodable>(of value: Value, at key: (any CodingKey)?) throws -> ParameterValue {
        if let special = Self.special(value) { return special }
        let path = key.map { codingPath + [$0] } ?? codingPath
        guard path.count <= ParameterEncodingError.maximumDepth else {
            throw ParameterEncodingError(.tooDeep, at: path)
        }
        let box = TreeBox()
        do {
            try value.encode(to: TreeEncoder(box: box, codingPath: path, options: options))
        } catch {
            throw ParameterEncodingError.wrapping(error, at: path)
        }
        let tree = try box.finished(at: path)
        guard case .array = tree, let unordered = Value.self as? any UnorderedParameters.Type else { return tree }
        return try unordered.ordered(tree)
    }

    /// Types are compared before the cast because a failing cast is slow.
    private static func special<Value>(_ value: Value) -> ParameterValue? {
        if Value.self == String.self { return (value as? String).map { .string($0) } }
        if Value.self == Int.self { return (value as? Int).map { .int(Int64($0)) } }
        if Value.self == Double.self { return (value as? Double).map { .double($0) } }
        if Value.self == Bool.self { return (value as? Bool).map { .bool($0) } }
        if Value.self == Date.self { return (value as? Date).map { .date($0) } }
        if Value.self == Data.self { return (value as? Data).map { .data($0) } }
        if Value.self == URL.self { return (value as? URL).map { .string($0.absoluteString) } }
        if Value.self == Decimal.self { return (value as? Decimal).map { .decimal($0) } }
        if Value.self == ParameterValue.self { return value as? ParameterValue }
        if Value.self == ParameterObject.self { return (value as? ParameterObject).map { .object($0) } }
        return nil
    }
}

/// Where the parameters of a call go, and how they are written.
public enum ParameterEncoding: Sendable {
    /// Parameters go into the query of the URL.
    case query(FormFormat)
    /// Parameters go into the body, as `application/x-www-form-urlencoded`.
    case form(FormFormat)
    /// Parameters go into the body, as `application/json`.
    case json(JSONFormat)

    /// A query with the defaults of ``FormFormat``.
    public static let query = ParameterEncoding.query(FormFormat())
    /// A form with the defaults of ``FormFormat``.
    public static let form = ParameterEncoding.form(FormFormat())
    /// JSON with the defaults of ``JSONFormat``.
    public static let json = ParameterEncoding.json(JSONFormat())

    /// What the encoding adds to a request.
    public enum Output: Hashable, Sendable {
        /// Escaped pairs for the URL; may be empty.
        case query(String)
        /// The content of the request, and the media type for its `Content-Type`.
        case body(Data, contentType: String)
    }

    /// What the parameters add to a request.
    ///
    /// - Throws: ``ParameterEncodingError/Reason/notAnObject`` where a query or a form is to be made of what has no
    ///   names, and the errors of the value's parts.
    public func encode(_ value: ParameterValue) throws(ParameterEncodingError) -> Output {
        switch self {
        case .query(let format): .query(try format.text(value))
        case .form(let format): .body(try format.data(value), contentType: "application/x-www-form-urlencoded")
        case .json(let format): .body(try format.data(value), contentType: "application/json")
        }
    }
}
