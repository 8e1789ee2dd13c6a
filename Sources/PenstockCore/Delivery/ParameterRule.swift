/// A rule on one parameter of an endpoint, checked before anything is sent.
///
/// The words of the rule are the error's reason and the parameter's documentation, so that they cannot disagree. No value
/// is ever part of them.
public struct ParameterRule<Root>: Sendable {
    /// The parameter's name.
    public let field: String
    /// What it must be, in words that follow the name: `must be 3 to 20 characters long`.
    public let requirement: String
    private let holds: @Sendable (Root) -> Bool

    private init(_ field: String, _ requirement: String, holds: @escaping @Sendable (Root) -> Bool) {
        self.field = field
        self.requirement = requirement
        self.holds = holds
    }

    /// Checks the one parameter.
    ///
    /// - Throws: ``APIError/Kind/invalidParameter(field:reason:)``.
    public func check(_ parameters: Root) throws(APIError) {
        guard !holds(parameters) else { return }
        throw APIError(.invalidParameter(field: field, reason: requirement), stage: .parameters)
    }
}

extension ParameterRule {
    /// A property of the parameters, read without touching anything shared.
    public typealias Part<Value> = any KeyPath<Root, Value> & Sendable

    /// A rule of the app's own.
    ///
    /// - Parameter requirement: words that follow the name, for example `must be a coupon of this shop`.
    public static func custom(
        _ field: String, _ requirement: String, _ holds: @escaping @Sendable (Root) -> Bool
    ) -> ParameterRule {
        ParameterRule(field, requirement, holds: holds)
    }

    /// The optional parameter is there.
    public static func required<Value>(_ field: String, _ part: Part<Value?>) -> ParameterRule {
        ParameterRule(field, "is required") { $0[keyPath: part] != nil }
    }

    /// The text or list has at least one character or element.
    public static func notEmpty(_ field: String, _ part: Part<some Collection & Sendable>) -> ParameterRule {
        ParameterRule(field, "must not be empty") { !$0[keyPath: part].isEmpty }
    }

    /// The length in characters, as a person counts them.
    public static func length(_ field: String, _ part: Part<String>, _ bounds: ClosedRange<Int>) -> ParameterRule {
        ParameterRule(field, lengthText(bounds)) { bounds.contains($0[keyPath: part].count) }
    }

    /// The length in characters, when there is a text.
    public static func length(_ field: String, _ part: Part<String?>, _ bounds: ClosedRange<Int>) -> ParameterRule {
        ParameterRule(field, "\(lengthText(bounds)), if given") {
            optional($0[keyPath: part]) { bounds.contains($0.count) }
        }
    }

    /// The number, date or other value that has an order lies within the bounds, both of which are allowed.
    public static func range<Value: Comparable & Sendable>(
        _ field: String, _ part: Part<Value>, _ bounds: ClosedRange<Value>
    ) -> ParameterRule {
        ParameterRule(field, rangeText(bounds)) { bounds.contains($0[keyPath: part]) }
    }

    /// The same for an optional parameter, when there is one.
    public static func range<Value: Comparable & Sendable>(
        _ field: String, _ part: Part<Value?>, _ bounds: ClosedRange<Value>
    ) -> ParameterRule {
        ParameterRule(field, "\(rangeText(bounds)), if given") { optional($0[keyPath: part], bounds.contains) }
    }

    /// One of the values, which are listed in the requirement as they are sent: those of an enumeration by their raw values.
    public static func oneOf<Value: Equatable & Sendable>(
        _ field: String, _ part: Part<Value>, _ values: [Value]
    ) -> ParameterRule {
        ParameterRule(field, listText(values)) { values.contains($0[keyPath: part]) }
    }

    /// The same for an optional parameter, when there is one.
    public static func oneOf<Value: Equatable & Sendable>(
        _ field: String, _ part: Part<Value?>, _ values: [Value]
    ) -> ParameterRule {
        ParameterRule(field, "\(listText(values)), if given") { optional($0[keyPath: part], values.contains) }
    }

    /// The whole text matches a pattern.
    ///
    /// ```swift
    /// .matches("phone", \.phone, "must be 11 digits") { /[0-9]{11}/ }
    /// ```
    public static func matches<Output>(
        _ field: String, _ part: Part<String>, _ requirement: String,
        _ pattern: @escaping @Sendable () -> Regex<Output>
    ) -> ParameterRule {
        ParameterRule(field, requirement) { $0[keyPath: part].wholeMatch(of: pattern()) != nil }
    }

    private static func optional<Value>(_ value: Value?, _ holds: (Value) -> Bool) -> Bool {
        value.map(holds) ?? true
    }

    private static func rangeText<Value>(_ bounds: ClosedRange<Value>) -> String {
        "must be from \(bounds.lowerBound) to \(bounds.upperBound)"
    }

    private static func listText<Value>(_ values: [Value]) -> String {
        let texts = values.map { value in
            if let raw = value as? any RawRepresentable { "\(raw.rawValue)" } else { "\(value)" }
        }
        return "must be one of: \(texts.joined(separator: ", "))"
    }

    private static func lengthText(_ bounds: ClosedRange<Int>) -> String {
        let span =
            bounds.lowerBound == bounds.upperBound
            ? "\(bounds.lowerBound)" : "\(bounds.lowerBound) to \(bounds.upperBound)"
        return "must be \(span) characters long"
    }
}

/// The rules on the parameters of an endpoint, in the order in which they are checked.
///
/// ```swift
/// static var parameterRules: ParameterRules<Login> {
///     [.notEmpty("account", \.account), .length("password", \.password, 8...64)]
/// }
/// ```
public struct ParameterRules<Root>: Sendable {
    /// `nil` where there are none: in a generic type even an empty array takes looking up the type of its elements, for
    /// each call.
    private let rules: [ParameterRule<Root>]?

    /// No rules.
    public init() {
        rules = nil
    }

    /// The rules of a list that is made at run time; a literal makes the others.
    public init(_ list: [ParameterRule<Root>]) {
        rules = list
    }

    /// Every rule, in the order in which they are checked.
    public var list: [ParameterRule<Root>] { rules ?? [] }

    /// Checks the rules in their order, up to the first that is broken.
    ///
    /// - Throws: ``APIError/Kind/invalidParameter(field:reason:)`` for the first rule that is broken.
    public func check(_ parameters: Root) throws(APIError) {
        guard let rules else { return }
        for rule in rules { try rule.check(parameters) }
    }

    /// The rules as text: one line for each parameter, in the order in which the rules first name it.
    ///
    /// ```text
    /// account: must not be empty; must be 3 to 20 characters long
    /// page: must be from 1 to 100
    /// ```
    public var documentation: String {
        fields.map { field in
            let requirements = list.filter { $0.field == field }.map(\.requirement)
            return "\(field): \(requirements.joined(separator: "; "))"
        }.joined(separator: "\n")
    }

    /// The parameters that have rules, each once.
    public var fields: [String] {
        list.reduce(into: []) { fields, rule in
            if !fields.contains(rule.field) { fields.append(rule.field) }
        }
    }
}

extension ParameterRules: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: ParameterRule<Root>...) {
        self.init(elements)
    }
}
