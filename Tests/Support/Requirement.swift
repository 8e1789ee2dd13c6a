import Testing

/// Claims that a test shows one or more rows of the requirements.
///
/// ```swift
/// @Test(.covers("S1.10")) func `A connection is used again`() async throws { … }
/// ```
public struct Requirement: TestTrait, SuiteTrait {
    /// The rows' ids, as `Documentation/Requirements.md` lists them.
    public let ids: [String]
    /// A suite's claim holds for each of its tests.
    public var isRecursive: Bool { true }

    /// Names the rows beside a failure.
    public var comments: [Comment] { [Comment(rawValue: "covers \(ids.joined(separator: ", "))")] }
}

extension Trait where Self == Requirement {
    /// Claims rows by their ids: `.covers("S1.9", "S4.4")`.
    public static func covers(_ ids: String...) -> Self {
        Requirement(ids: ids)
    }
}
