/// A rule of a conformance suite that does not hold, of whichever suite.
public struct ConformanceViolation: Error, CustomStringConvertible {
    /// The rule's name.
    public let rule: String
    /// What was expected, and what was seen.
    public let explanation: String

    public var description: String { "\(rule): \(explanation)" }
}

/// What was expected did not happen; the rule that expected it makes a ``ConformanceViolation`` of it.
struct Unmet: Error, CustomStringConvertible {
    let description: String
}
