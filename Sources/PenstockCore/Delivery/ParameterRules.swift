/// The rules on the parameters of an endpoint, in the order in which they are checked.
///
/// ```swift
/// static let rules: ParameterRules<Login> = [
///     .notEmpty("account", \.account),
///     .length("password", \.password, 8...64),
/// ]
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
