import Foundation

/// The value of a property that the server did not send.
///
/// ```swift
/// nonisolated enum NotGiven: DefaultValue { static let value = "n/a" }
/// ```
///
/// `nonisolated` is for modules whose default isolation is the main actor: models are decoded elsewhere.
public protocol DefaultValue: SendableMetatype {
    /// The type of the properties that may take it.
    associatedtype Value
    /// Asked anew for each property that the server did not send, on the thread that decodes.
    static var value: Value { get }
}

/// A property that is decoded even when its field is missing.
///
/// ```swift
/// struct Product: Codable, Hashable, Sendable {
///     let id: Int
///     @Default<Zero> var stock: Int
///     @Default<False> var sold: Bool
///     @Default<Empty> var tags: [String]
///     @Default<NotGiven> var maker: String
/// }
/// ```
///
/// Absent or `null` becomes the default. A value of the wrong type fails the decoding or becomes the default, as
/// ``DecodingOptions/wrongTypes`` says. A substitution is noted in the response as a ``DecodingNote``.
/// The wrapper is encoded as its value.
@propertyWrapper
public struct Default<Provider: DefaultValue> {
    /// The value that the server sent, or the default in its place.
    public var wrappedValue: Provider.Value

    /// A property that was not decoded but is made with a value, in the app's own code or a test.
    public init(wrappedValue: Provider.Value) {
        self.wrappedValue = wrappedValue
    }
}

extension Default: Sendable where Provider.Value: Sendable {}

extension Default: Equatable where Provider.Value: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        left.wrappedValue == right.wrappedValue
    }
}

extension Default: Hashable where Provider.Value: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(wrappedValue)
    }
}

extension Default: Encodable where Provider.Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension Default: Decodable where Provider.Value: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard !container.decodeNil() else {
            self.init(standingInFor: .null, in: decoder)
            return
        }
        do {
            self.init(wrappedValue: try container.decode(Provider.Value.self))
        } catch {
            guard decoder.session?.options.wrongTypes == .useDefault else { throw error }
            self.init(standingInFor: .wrongType(DecodingFailure.describe(error).reason), in: decoder)
        }
    }

    fileprivate init(standingInFor reason: DecodingNote.Reason, in decoder: any Decoder) {
        decoder.session?.note(reason, at: JSONPath(decoder.codingPath))
        self.init(wrappedValue: Provider.value)
    }
}

extension KeyedDecodingContainer {
    /// Called by synthesized `init(from:)` in place of the general form, which throws when the key is absent.
    public func decode<Provider: DefaultValue>(
        _ type: Default<Provider>.Type, forKey key: Key
    ) throws -> Default<Provider> where Provider.Value: Decodable {
        let field = try superDecoder(forKey: key)
        guard contains(key) else { return Default(standingInFor: .absent, in: field) }
        return try Default(from: field)
    }
}

/// The default `0`, for any number.
public enum Zero<Value: AdditiveArithmetic>: DefaultValue {
    /// The number's own zero.
    public static var value: Value { .zero }
}

/// The default `false`.
public enum False: DefaultValue {
    /// Always `false`.
    public static var value: Bool { false }
}

/// The default `true`.
public enum True: DefaultValue {
    /// Always `true`.
    public static var value: Bool { true }
}

/// The default that holds nothing: `""`, `[]`, `[:]`, no bytes.
///
/// In a file that also imports Combine, write `Penstock.Empty`.
public enum Empty<Value: EmptyInitializable>: DefaultValue {
    /// What the type's `init()` makes.
    public static var value: Value { Value() }
}

/// A type whose `init()` makes an empty value.
public protocol EmptyInitializable {
    /// A value without characters, elements or bytes.
    init()
}

extension String: EmptyInitializable {}
extension Array: EmptyInitializable {}
extension Set: EmptyInitializable {}
extension Dictionary: EmptyInitializable {}
extension Data: EmptyInitializable {}
