/// A rule that could not be checked. Not nested in the generic type, where the optimiser fails on it.
private struct RuleFailure: Error {
    let rule: String
    let cause: any Error
}

/// A named rule over a payload or a decoded value.
///
/// ```swift
/// let complete: Validator<User> = .all(
///     .rule("the user has an id") { !$0.id.isEmpty },
///     .nonEmpty("the user has a role", \.roles)
/// )
/// ```
///
/// A value that breaks it fails the call with ``APIError/Kind/validation(rule:)``, which names the rule.
public struct Validator<Value>: Sendable {
    /// What holds for a valid value, in words.
    public let name: String
    /// The broken rule's name, `nil` when all hold.
    private let breach: (@Sendable (Value) throws(RuleFailure) -> String?)?

    private init(_ name: String, broken: (@Sendable (Value) throws(RuleFailure) -> String?)?) {
        self.name = name
        breach = broken
    }

    private func broken(_ value: Value) throws(RuleFailure) -> String? {
        try breach?(value)
    }

    /// No rule: every value is valid.
    public static var none: Validator { Validator("", broken: nil) }

    /// Whether it has no rule at all, so that a value need not be shown to it.
    var isNone: Bool { breach == nil }

    /// Checks the rule on a value.
    ///
    /// - Throws: ``APIError/Kind/validation(rule:)`` with the name of the rule that the value breaks. When the rule itself
    ///   threw, its error is the ``APIError/underlying`` one.
    public func validate(_ value: Value) throws(APIError) {
        try validate(value, at: .validation)
    }

    /// Checks the rule on a value, in a stage that the error then names.
    func validate(_ value: Value, at stage: StageName) throws(APIError) {
        do {
            guard let rule = try broken(value) else { return }
            throw APIError(.validation(rule: rule), stage: stage)
        } catch let failure as RuleFailure {
            throw APIError(.validation(rule: failure.rule), stage: stage, underlying: failure.cause)
        } catch {
            throw error as? APIError ?? APIError(.validation(rule: name), stage: stage, underlying: error)
        }
    }
}

extension Validator {
    /// A rule of the app's own. One that throws counts as broken.
    public static func rule(_ name: String, _ holds: @escaping @Sendable (Value) throws -> Bool) -> Validator {
        Validator(name) { (value) throws(RuleFailure) in
            do { return try holds(value) ? nil : name } catch { throw RuleFailure(rule: name, cause: error) }
        }
    }

    /// Every rule holds; checked in order up to the first that is broken, which gives its own name to the error.
    public static func all(_ rules: Validator...) -> Validator {
        all(rules)
    }

    /// Every rule holds; with none, always.
    public static func all(_ rules: [Validator]) -> Validator {
        Validator(rules.map(\.name).joined(separator: ", and ")) { (value) throws(RuleFailure) in
            for rule in rules {
                if let name = try rule.broken(value) { return name }
            }
            return nil
        }
    }

    /// At least one rule holds; one that throws does not. With none, never.
    ///
    /// - Parameter name: the error's; the names of the rules when left out.
    public static func any(_ name: String? = nil, _ rules: Validator...) -> Validator {
        let name = name ?? rules.map(\.name).joined(separator: ", or ")
        return Validator(name) { value in rules.contains { $0.holds(for: value) } ? nil : name }
    }

    /// The rule does not hold.
    ///
    /// - Parameter name: the error's; "not: " and the rule's name when left out.
    public static func not(_ rule: Validator, name: String? = nil) -> Validator {
        let name = name ?? "not: \(rule.name)"
        return Validator(name) { (value) throws(RuleFailure) in try rule.broken(value) == nil ? name : nil }
    }

    /// Both hold; this one is checked first.
    public func and(_ other: Validator) -> Validator {
        .all(self, other)
    }

    /// The same rule over the part of a larger value.
    public func on<Root>(_ part: any KeyPath<Root, Value> & Sendable) -> Validator<Root> {
        Validator<Root>(name) { (root) throws(RuleFailure) in
            try broken(root[keyPath: part])
        }
    }

    private func holds(for value: Value) -> Bool {
        do { return try broken(value) == nil } catch { return false }
    }
}

extension Validator {
    /// The collection at `part` has an element.
    public static func nonEmpty<Elements: Collection & Sendable>(
        _ name: String, _ part: any KeyPath<Value, Elements> & Sendable
    ) -> Validator {
        .rule(name) { !$0[keyPath: part].isEmpty }
    }
}

extension Validator where Value: Collection & Sendable {
    /// The collection has an element.
    public static var nonEmpty: Validator { nonEmpty("not empty") }

    /// The collection has an element.
    ///
    /// - Parameter name: what the error calls the rule.
    public static func nonEmpty(_ name: String) -> Validator {
        .rule(name) { !$0.isEmpty }
    }
}
