import Foundation
import PenstockTestSupport
import Testing

/// The samples of the README compile as they stand.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    @Test(
        "Every Swift sample of the README compiles, also in a module whose default isolation is the main actor",
        arguments: [
            [], ["-default-isolation", "MainActor"],
        ])
    func samplesCompile(flags: [String]) async throws {
        let blocks = try Self.samples()
        #expect(blocks.count > 10)
        let declarations = blocks.filter(Self.declares)
        let statements = blocks.filter { !Self.declares($0) }
        let program = declarations.joined(separator: "\n") + "\n" + Self.wrapped(statements)
        let result = try await Compiler.check(["Readme.swift": program, "Prelude.swift": Self.prelude], flags: flags)
        #expect(result.succeeded, "\(result.diagnostics)")
    }

    /// What the samples import: the module that an app imports, and what one of them says it takes besides.
    private static let prelude = """
        @_exported import Foundation
        @_exported import Penstock
        @_exported import PenstockURLSession
        #if canImport(FoundationNetworking)
        @_exported import FoundationNetworking
        #endif
        """

    /// The fenced blocks that are marked as Swift.
    private static func samples() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().map { part in
            String(part.prefix(upTo: part.range(of: "\n```")?.lowerBound ?? part.endIndex))
                .replacingOccurrences(of: "import Penstock\n", with: "")
        }
    }

    private static func declares(_ block: String) -> Bool {
        let first = block.drop { $0.isWhitespace }
        return ["struct", "final class", "extension"].contains { first.hasPrefix($0) }
    }

    /// The statements as one function, in their order; imports stand above it.
    private static func wrapped(_ blocks: [String]) -> String {
        let lines = blocks.joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        let imports = lines.filter { $0.hasPrefix("import ") }.joined(separator: "\n")
        let body = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
        return "\(imports)\n@MainActor func samples() async throws {\n\(body)\n}\n"
    }
}
