import Foundation

/// How JSON becomes a model: the settings of a service or of one endpoint.
public struct DecodingOptions: Sendable {
    /// What ``Default`` does with a value of the wrong type.
    public enum WrongTypePolicy: Hashable, Sendable {
        /// The decoding fails.
        case `throw`
        /// The property takes its default, and the response notes it.
        case useDefault
    }

    /// ``internetDates`` by default, which reads what ``ParameterStyle/Dates`` writes by default.
    public var dates: JSONDecoder.DateDecodingStrategy
    /// How `Data` is written in the JSON: as Base64 by default, which is what ``ParameterStyle/Binary`` writes by
    /// default.
    public var data: JSONDecoder.DataDecodingStrategy
    /// How the keys of models are written. The keys of an ``Envelope`` and of a dotted path are always written as the server writes them.
    public var keys: JSONDecoder.KeyDecodingStrategy
    /// Which texts stand for infinity and not-a-number, for which JSON has no numbers (RFC 8259 §6). By default none
    /// does, and a text where a number belongs fails the decoding.
    public var nonConformingFloats: JSONDecoder.NonConformingFloatDecodingStrategy
    /// What a ``Default`` does with a value of the wrong type. By default it fails the decoding.
    public var wrongTypes: WrongTypePolicy
    /// How deep arrays and objects may nest; deeper JSON is refused.
    ///
    /// A model that contains itself recurses once for each level, on a stack that on Apple's background threads is only
    /// 512 KiB; at 128 there is room for it.
    public var maximumDepth: Int
    /// What is there for the app's own `init(from:)`. Nothing by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// A decoder of the app's own, for services that send no JSON, in place of all that is set here; `nil`, the default, for
    /// JSON. It is handed whole bodies: an output under an ``Envelope`` or at a path fails as
    /// ``APIError/Kind/invalidConfiguration(reason:)``.
    public var decoder: (any ModelDecoder)?

    /// The defaults, but for what is named.
    ///
    /// - Parameter maximumDepth: clamped to 1...512, the limit of Foundation's own reader.
    public init(
        dates: JSONDecoder.DateDecodingStrategy = DecodingOptions.internetDates,
        data: JSONDecoder.DataDecodingStrategy = .base64,
        keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        nonConformingFloats: JSONDecoder.NonConformingFloatDecodingStrategy = .throw,
        wrongTypes: WrongTypePolicy = .throw, maximumDepth: Int = 128
    ) {
        self.dates = dates
        self.data = data
        self.keys = keys
        self.nonConformingFloats = nonConformingFloats
        self.wrongTypes = wrongTypes
        self.maximumDepth = min(max(maximumDepth, 1), 512)
    }

    /// Dates as RFC 3339 §5.6 writes them, the form of ISO 8601 that servers use: `2026-01-31T08:30:00Z`, with or without a
    /// fraction of a second, in any zone. A number, a date without a time and a time without a zone are refused.
    public static let internetDates = JSONDecoder.DateDecodingStrategy.custom { decoder in
        let container = try decoder.singleValueContainer()
        let text = try? container.decode(String.self)
        if let date = text.flatMap(InternetDate.date) { return date }
        throw DecodingError.typeMismatch(
            Date.self, .init(codingPath: decoder.codingPath, debugDescription: "no date of RFC 3339"))
    }

    /// The name under which a container that applies ``keys`` holds the server's `key`.
    func name(of key: String, below path: [any CodingKey]) -> AnyKey {
        switch keys {
        case .convertFromSnakeCase: AnyKey(stringValue: Self.camelCase(key))
        case .custom(let convert): AnyKey(stringValue: convert(path + [AnyKey(stringValue: key)]).stringValue)
        default: AnyKey(stringValue: key)
        }
    }

    /// Turns a key into camel case as `JSONDecoder` does it: underscores at both ends stay.
    static func camelCase(_ key: String) -> String {
        let leading = key.prefix { $0 == "_" }
        let body = key.dropFirst(leading.count)
        let trailing = body.reversed().prefix { $0 == "_" }
        let words = body.dropLast(trailing.count).split(separator: "_")
        guard words.count > 1, let first = words.first else { return key }
        let joined = first.lowercased() + words.dropFirst().map(\.capitalized).joined()
        return leading + joined + String(repeating: "_", count: trailing.count)
    }
}

/// What makes models of bytes in place of JSON: XML, a property list, Protocol Buffers.
///
/// ```swift
/// struct PropertyLists: ModelDecoder {
///     var mediaTypes: String { "application/x-plist" }
///     func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
///         try PropertyListDecoder().decode(type, from: data)
///     }
/// }
///
/// var options = CallOptions()
/// options.modelFormat = DecodingOptions(decoder: PropertyLists())
/// ```
public protocol ModelDecoder: Sendable {
    /// What is asked for in the `Accept` field of requests (RFC 9110 §12.5.1).
    var mediaTypes: String { get }
    /// - Throws: what the caller gets as ``APIError/Kind/decoding(path:reason:)``, the coding path of a `DecodingError` in it.
    func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model
}

extension ModelDecoder {
    /// Anything.
    public var mediaTypes: String { "*/*" }
}

extension DecodingOptions {
    /// The options of a service that sends no JSON.
    public init(decoder: any ModelDecoder) {
        self.init()
        self.decoder = decoder
    }
}
