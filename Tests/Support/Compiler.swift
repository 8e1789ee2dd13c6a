import Foundation
import Testing

/// Type-checks sources against the built modules: for rules that the compiler itself keeps.
public struct Compiler: Sendable {
    /// Whether there was no error.
    public let succeeded: Bool
    /// What the compiler said, without the notes' source excerpts.
    public let diagnostics: String

    /// - Parameters:
    ///   - sources: the files of one program, by name.
    ///   - flags: for the compiler, besides those that it always has.
    public static func check(_ sources: [String: String], flags: [String] = []) async throws -> Compiler {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("snippet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        for (name, text) in sources {
            let file = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
            files.append(file.path)
        }
        return try await run(flags + files.sorted())
    }

    private static func run(_ files: [String]) async throws -> Compiler {
        let folders = try [modules()] + moduleMaps()
        let options = ["-typecheck", "-swift-version", "6", "-parse-as-library"] + folders.flatMap { ["-I", $0] }
        let compiler = try await Subprocess.run(
            URL(fileURLWithPath: "/usr/bin/env"), ["swiftc"] + options + files)
        return Compiler(succeeded: compiler.status == 0, diagnostics: compiler.output)
    }

    /// The folders that tell the compiler of the C libraries below some of the modules.
    private static func moduleMaps() throws -> [String] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { root.deleteLastPathComponent() }
        let sources = root.appendingPathComponent("Sources")
        return try FileManager.default.contentsOfDirectory(atPath: sources.path)
            .map { sources.appendingPathComponent($0).path }
            .filter { FileManager.default.fileExists(atPath: "\($0)/module.modulemap") }
    }

    /// The folder of the modules that this test was built with: beside the test's own executable, or above it.
    private static func modules() throws -> String {
        let executable = try #require(Bundle.main.executableURL)
        let arguments = CommandLine.arguments.map { URL(fileURLWithPath: $0) }
        for start in [executable] + arguments {
            var folder = start
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                let modules = folder.appendingPathComponent("Modules")
                let core = modules.appendingPathComponent("PenstockCore.swiftmodule")
                if FileManager.default.fileExists(atPath: core.path) { return modules.path }
            }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "PenstockCore.swiftmodule"])
    }
}
