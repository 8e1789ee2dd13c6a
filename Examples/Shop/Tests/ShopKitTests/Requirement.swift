import Testing

/// Claims that a test shows one or more rows of `Documentation/Requirements.md`.
struct Requirement: TestTrait, SuiteTrait {
    let ids: [String]
    var isRecursive: Bool { true }
    var comments: [Comment] { [Comment(rawValue: "covers \(ids.joined(separator: ", "))")] }
}

extension Trait where Self == Requirement {
    static func covers(_ ids: String...) -> Self {
        Requirement(ids: ids)
    }
}
