import Foundation
import PenstockTestSupport
import Testing

/// The samples of the documentation comments compile as they stand.
@Suite(.timeLimit(.minutes(5))) struct DocumentationSampleTests {
    @Test(
        "Every Swift sample of PenstockInspect's documentation compiles, given a client, its configuration and a folder"
    )
    func inspect() async throws {
        let samples = try Self.samples(of: "PenstockInspect")
        #expect(samples.count >= 6)
        let program = samples.enumerated().map { Self.program($1, number: $0) }.joined()
        let result = try await Compiler.check(["Samples.swift": program, "Prelude.swift": Self.prelude])
        #expect(result.succeeded, "\(result.diagnostics)")
    }

    /// What a sample takes as given, and of swift-log as much as is used.
    private static let prelude = """
        @_exported import Foundation
        @_exported import PenstockCore
        @_exported import PenstockInspect
        struct Logger: Sendable {
            enum Level: Sendable { case trace, debug, info, warning, error }
            enum MetadataValue: Sendable { case string(String) }
            func log(level: Level, _ message: String, metadata: [String: MetadataValue]) {}
        }
        """

    /// A sample that declares something stands by itself, any other in a function of its own.
    private static func program(_ sample: String, number: Int) -> String {
        guard !sample.hasPrefix("struct") else { return sample + "\n" }
        let parameters = "client: APIClient, configuration: inout APIClient.Configuration, folder: URL"
        return "func sample\(number)(\(parameters)) async throws {\n\(sample)\n}\n"
    }

    /// The fenced blocks that are marked as Swift; a line that is an ellipsis is left out.
    private static func samples(of module: String) throws -> [String] {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...4 { folder.deleteLastPathComponent() }
        folder.appendPathComponent("Sources/\(module)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .flatMap { try samples(in: String(contentsOf: $0, encoding: .utf8)) }
    }

    private static func samples(in source: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }.map { String($0.dropFirst(4)) }
        return lines.split(separator: "```swift", omittingEmptySubsequences: false).dropFirst().map { lines in
            lines.prefix { $0 != "```" }.filter { $0 != "…" }.joined(separator: "\n")
        }
    }
}
