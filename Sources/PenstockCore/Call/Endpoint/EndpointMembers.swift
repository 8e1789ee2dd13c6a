import Foundation

/// What an ``Endpoint`` is made for, and what its members are declared as, whatever their types.
///
/// A member that has a default and is declared with another type would be one of its own: it would compile, and the default
/// would be used. Here every type is taken, so that ``Endpoint`` can ask for the right ones. Nothing of it is to be declared but
/// ``Output``.
public protocol EndpointMembers: EndpointParameters {
    /// What a call gives back: a `Decodable` model, made from JSON; `Data`, the bytes; `String`, the text
    /// (``ResponseDecoding/standard``); ``Payload``; `Void`; or anything with a ``Endpoint/decoding-swift.property`` of its own.
    associatedtype Output: Sendable
    /// What is sent: the endpoint itself where it is `Encodable`.
    associatedtype Parameters: Encodable & Sendable = NoParameters

    /// What is sent, encoded as ``Endpoint/placement`` says. An `Encodable` endpoint sends itself.
    var parameters: Parameters { get }

    /// The type that ``service`` is declared with.
    associatedtype _Service
    /// See ``Endpoint/service``.
    var service: _Service { get }
    /// The type that ``placement`` is declared with.
    associatedtype _Placement
    /// See ``Endpoint/placement``.
    var placement: _Placement { get }
    /// The type that ``body`` is declared with.
    associatedtype _Body
    /// See ``Endpoint/body``.
    var body: _Body { get }
    /// The type that ``headers`` is declared with.
    associatedtype _Headers
    /// See ``Endpoint/headers``.
    var headers: _Headers { get }
    /// The type that ``options`` is declared with.
    associatedtype _Options
    /// See ``Endpoint/options``.
    var options: _Options { get }
    /// The type that ``envelope`` is declared with.
    associatedtype _Envelope
    /// See ``Endpoint/envelope``.
    var envelope: _Envelope { get }
    /// The type that ``cacheTags`` is declared with.
    associatedtype _Tags
    /// See ``Endpoint/cacheTags``.
    var cacheTags: _Tags { get }
    /// The type that ``invalidates`` is declared with.
    associatedtype _Invalidates
    /// See ``Endpoint/invalidates``.
    var invalidates: _Invalidates { get }
    /// The type that ``decoding`` is declared with.
    associatedtype _Decoding
    /// See ``Endpoint/decoding-swift.property``.
    var decoding: _Decoding { get }
    /// ``Output`` again. What decoding has for `Void` and for ``Payload`` goes by this name, so that each default is declared
    /// with the same type, and the compiler can tell which type the endpoint's own has.
    associatedtype _Value = Output
    /// The type that ``payloadValidator`` is declared with.
    associatedtype _PayloadValidator
    /// See ``Endpoint/payloadValidator``.
    var payloadValidator: _PayloadValidator { get }
    /// The type that ``validator`` is declared with.
    associatedtype _Validator
    /// See ``Endpoint/validator``.
    var validator: _Validator { get }
    /// The type that ``callInterceptors`` is declared with.
    associatedtype _Calls
    /// See ``Endpoint/callInterceptors``.
    var callInterceptors: _Calls { get }
    /// The type that ``attemptInterceptors`` is declared with.
    associatedtype _Attempts
    /// See ``Endpoint/attemptInterceptors``.
    var attemptInterceptors: _Attempts { get }
    /// The type that ``parameterRules`` is declared with.
    associatedtype _Rules
    /// See ``Endpoint/parameterRules``.
    static var parameterRules: _Rules { get }
    /// The type that rules are declared with that are an endpoint's and not its type's, and would be ignored.
    associatedtype _RulesOfOne
    /// A member that is not to be declared: the rules are `static`.
    var parameterRules: _RulesOfOne { get }
}

/// What an endpoint declares as its parameters, whatever their type; see ``EndpointMembers``.
public protocol EndpointParameters: Sendable {
    /// The type that ``parameters`` is declared with.
    associatedtype _Parameters
    /// See ``Endpoint``.
    var parameters: _Parameters { get }
}

/// Members of which the types are those that they must be.
public protocol MembersAsDeclared {}

/// The types of some members, and what they must be.
public enum Members<Are, MustBe> {}

extension Members: MembersAsDeclared where Are == MustBe {}

/// A property that the route is made of, and that is not sent again as a parameter.
///
/// ```swift
/// struct PlaceOrder: Endpoint, Encodable {
///     typealias Output = Order
///     @PathArgument var product: Int
///     let quantity: Int
///     var route: Route { .post("/products/\(product)/orders") }      // {"quantity":2}
/// }
/// ```
///
/// In an endpoint that is not `Encodable` it says the same to whom it may concern: that the property is used. An
/// ``OutboxEndpoint`` may have it as well: the outbox keeps the property with the endpoint.
@propertyWrapper
public struct PathArgument<Value: Sendable>: Sendable {
    /// The property.
    public var wrappedValue: Value

    /// Made by the endpoint's own initializer.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension PathArgument: Equatable where Value: Equatable {}
extension PathArgument: Hashable where Value: Hashable {}

extension PathArgument: Encodable {
    /// Writes nothing, but where an ``Outbox`` keeps the endpoint.
    public func encode(to encoder: any Encoder) throws {
        try kept?.encode(to: encoder)
    }

    /// The value, where the endpoint is being kept whole and has to be read again; `nil` where parameters are made of it.
    fileprivate var kept: (any Encodable)? { EndpointKeeping.isUnderWay ? wrappedValue as? any Encodable : nil }
}

extension PathArgument: Decodable where Value: Decodable {
    /// Reads what an ``Outbox`` has kept: the value itself.
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Value(from: decoder))
    }
}

extension KeyedEncodingContainer {
    /// Called by a synthesized `encode(to:)` in place of the general form, and leaves the key out, but where an ``Outbox`` keeps
    /// the endpoint.
    public mutating func encode<Value>(_ value: PathArgument<Value>, forKey key: Key) throws {
        guard let kept = value.kept else { return }
        try encode(kept, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Called by a synthesized `init(from:)` in place of the general form: a value that is `nil` is not there.
    public func decode<Value: Decodable & Sendable>(
        _ type: PathArgument<Value?>.Type, forKey key: Key
    ) throws -> PathArgument<Value?> {
        PathArgument(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

/// Tells a property that is no parameter whether its endpoint is being written to be read again: an encoding container does not
/// know what it is written for.
enum EndpointKeeping {
    @TaskLocal static var isUnderWay = false

    /// An endpoint as JSON with all its properties.
    static func json(of endpoint: some Encodable) throws -> Data {
        try $isUnderWay.withValue(true) { try JSONEncoder().encode(endpoint) }
    }
}

/// Looks, at the first use of each endpoint type, for what compiles and cannot be meant: a property that goes nowhere, since
/// the endpoint is not `Encodable`; the name of an argument in the text of a path; an envelope whose codes for success cannot
/// occur.
enum EndpointCheck {
    private static let checked = Locked<Set<ObjectIdentifier>>([])

    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` with what to write.
    static func check<E: Endpoint>(_ endpoint: E, of service: Service) throws(APIError) {
        if case .ofService = endpoint.envelope, endpoint.decoding.opensEnvelope, let reason = service.fault {
            throw APIError(.invalidConfiguration(reason: reason), stage: .prepare)
        }
        guard checked.withLock({ !$0.contains(ObjectIdentifier(E.self)) }) else { return }
        if let reason = fault(of: endpoint) {
            throw APIError(.invalidConfiguration(reason: reason), stage: .prepare)
        }
        // A value that is not there, or is empty, tells nothing of where its property goes: the next endpoint of the type may.
        guard (candidates(of: endpoint) + bareArguments(of: endpoint)).allSatisfy({ !$0.text.isEmpty }) else { return }
        _ = checked.withLock { $0.insert(ObjectIdentifier(E.self)) }
    }

    private static func fault<E: Endpoint>(of endpoint: E) -> String? {
        if case .custom(let envelope) = endpoint.envelope, endpoint.decoding.opensEnvelope, let fault = envelope.fault {
            return "the envelope of \(E.self) \(fault)"
        }
        if let name = unsentProperty(of: endpoint) {
            return
                "\(E.self) has the property \(name), which is sent nowhere: let \(E.self) conform to Encodable, or write"
                + " @PathArgument var \(name) where the route or anything else is made of it"
        }
        guard let name = bareArgument(of: endpoint) else { return nil }
        return
            "the path of \(E.self) has the name of its path argument \(name) in place of the value: write \\(\(name)) there, or"
            + " make the path with RoutePath(literal:) where (\(name)) itself is meant"
    }

    /// The name of a property that could be a parameter and is nowhere to be found in what is sent. In the path that is what was
    /// interpolated: the text around it may have any number by chance.
    static func unsentProperty<E: Endpoint>(of endpoint: E) -> String? {
        let candidates = candidates(of: endpoint)
        guard !candidates.isEmpty else { return nil }
        var fields = HTTPFields()
        endpoint.headers.apply(to: &fields)
        let (path, method) = (endpoint.route.path, endpoint.route.method.rawValue)
        let sent = path.arguments.map(String.init) + fields.map(\.value) + endpoint.cacheTags
        return candidates.first { property in
            let text = property.text
            let escaped = PercentEncoding.escaped(text)
            return text != method && !text.isEmpty && !sent.contains { $0.contains(text) || $0.contains(escaped) }
        }?.name
    }

    /// The name of an argument that the text of the path has in bare parentheses, as where `\` was forgotten, and that was
    /// interpolated nowhere. What else an argument is for cannot be seen: it may choose the path, the service or the decoding,
    /// or be written in any form, so that none is missed where something was interpolated that is no other property.
    static func bareArgument<E: Endpoint>(of endpoint: E) -> String? {
        let (path, arguments) = (endpoint.route.path, bareArguments(of: endpoint))
        return arguments.first { argument in
            let (text, escaped) = (argument.text, PercentEncoding.escaped(argument.text))
            return !text.isEmpty && !path.arguments.contains { $0.contains(text) || $0.contains(escaped) }
                && isMade(path, of: endpoint, without: argument.name)
        }?.name
    }

    /// Whether all that was interpolated into a path is the value of a property other than one argument.
    private static func isMade(_ path: RoutePath, of endpoint: some Endpoint, without name: String) -> Bool {
        guard !path.arguments.isEmpty else { return true }
        let others = Mirror(reflecting: endpoint).children.filter { $0.label != "_" + name }
            .map { text(of: ($0.value as? any AnyPathArgument)?.anyValue ?? $0.value) }
        let known = Set(others.flatMap { [$0, PercentEncoding.escaped($0)] })
        return path.arguments.allSatisfy { known.contains(String($0)) }
    }

    /// The arguments whose names stand in the path; none where that was made at run time, and whoever made it knows what it is
    /// to hold. One that is true or false chooses a path rather than stand in it.
    private static func bareArguments(of endpoint: some Endpoint) -> [(name: String, text: String)] {
        let path = endpoint.route.path
        guard !path.isMadeAtRunTime, path.template.utf8.contains(UInt8(ascii: "(")) else { return [] }
        return Mirror(reflecting: endpoint).children.compactMap { property in
            guard let name = property.label?.dropFirst(), let argument = property.value as? any AnyPathArgument,
                !argument.isFlag, path.template.contains("(\(name))")
            else { return nil }
            return (String(name), text(of: argument.anyValue))
        }
    }

    /// The properties that could be parameters, with the texts of their values; none where the endpoint sends any parameters.
    private static func candidates<E: Endpoint>(of endpoint: E) -> [(name: String, text: String)] {
        guard E.Parameters.self == NoParameters.self, endpoint.body.isNone, endpoint.options.isEmpty else { return [] }
        return Mirror(reflecting: endpoint).children.compactMap { property in
            guard let name = property.label, property.value is any Encodable, !isKnown(property.value),
                !members.contains(name)
            else { return nil }
            return (name, text(of: property.value))
        }
    }

    /// Properties of these names are the endpoint's own.
    private static let members: Set<String> = ["placement", "cacheTags", "invalidates", "decoding", "route"]

    /// What says itself where it goes, and another endpoint, which this one stands for.
    private static func isKnown(_ value: Any) -> Bool {
        value is any AnyPathArgument || value is any Endpoint
    }

    /// The text of a value as a path's argument writes it; empty for an optional that is `nil`.
    private static func text(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text(of: $0.value) } ?? "" }
        if let raw = value as? any RawRepresentable { return "\(raw.rawValue)" }
        return "\(value)"
    }
}

/// A path's argument of whatever type.
private protocol AnyPathArgument {
    var anyValue: Any { get }
    /// Whether its type is `Bool`, or an optional one.
    var isFlag: Bool { get }
}

extension PathArgument: AnyPathArgument {
    fileprivate var anyValue: Any { wrappedValue }
    fileprivate var isFlag: Bool { Value.self == Bool.self || Value.self == Bool?.self }
}
