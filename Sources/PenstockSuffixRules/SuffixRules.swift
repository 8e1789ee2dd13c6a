import PenstockCore

/// The public suffix list that comes with the package. ``parts`` and what they hold are made by `Scripts/public-suffixes`.
package enum SuffixRules {
    /// The list, read at its first use: its 9,500 rules take some 20 ms, which no app is to spend at its start.
    package static let list = PublicSuffixList(text)

    /// A rule on each line, as a list has them, private domains included.
    package static var text: String {
        parts.map { $0.replacing(" ", with: "\n") }.joined(separator: "\n")
    }
}
