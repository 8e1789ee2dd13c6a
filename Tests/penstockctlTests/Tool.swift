import Foundation
import PenstockTestSupport
import Testing

/// The built `penstockctl`, run as a process.
struct Tool {
    let status: Int32
    /// Standard output, byte for byte.
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs `penstockctl` to its end.
    static func run(_ arguments: String..., input: Data = Data()) async throws -> Tool {
        try await start(arguments, input: input).end()
    }

    /// Runs `penstockctl fetch` to its end.
    static func fetch(_ arguments: String..., input: Data = Data()) async throws -> Tool {
        try await start(["fetch"] + arguments, input: input).end()
    }

    /// Runs a line of shell in which `$0` is `penstockctl`, to its end.
    static func shell(_ line: String, _ arguments: String...) async throws -> Tool {
        let words = ["-c", line, try #require(executable).path] + arguments
        return try await RunningTool(executable: URL(fileURLWithPath: "/bin/sh"), words, input: Data()).end()
    }

    static func start(_ arguments: [String], input: Data = Data()) throws -> RunningTool {
        try RunningTool(executable: #require(executable), arguments, input: input)
    }

    /// Starts a line of shell in which `$0` is `penstockctl`. One that says `exec` is the tool to signals.
    static func startShell(_ line: String, _ arguments: String...) throws -> RunningTool {
        let words = ["-c", line, try #require(executable).path] + arguments
        return try RunningTool(executable: URL(fileURLWithPath: "/bin/sh"), words, input: Data())
    }

    private static let executable = BuiltProgram.url("penstockctl")
}

/// A `penstockctl` that has not ended yet.
final class RunningTool: Sendable {
    private let process: Process
    private let output = Pipe()
    private let errors = Pipe()

    init(executable: URL, _ arguments: [String], input: Data) throws {
        process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        let source = Pipe()
        process.standardInput = source
        try process.run()
        try? source.fileHandleForWriting.write(contentsOf: input)
        try? source.fileHandleForWriting.close()
    }

    func interrupt() {
        kill(process.processIdentifier, SIGINT)
    }

    func terminate() {
        kill(process.processIdentifier, SIGTERM)
    }

    /// The first line of standard output, as soon as it is there.
    func firstLine() async throws -> String {
        let handle = output.fileHandleForReading
        let line = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var line = Data()
                while let byte = try? handle.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty { line += byte }
                continuation.resume(returning: line)
            }
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Closes standard output without reading it.
    func endUnread() async -> Tool {
        try? output.fileHandleForReading.close()
        let text = String(decoding: await Self.read(errors), as: UTF8.self)
        process.waitUntilExit()
        return Tool(status: process.terminationStatus, output: Data(), errors: text)
    }

    /// Reads both streams at once, since a full pipe would stop the process.
    func end() async -> Tool {
        async let output = Self.read(output)
        async let errors = Self.read(errors)
        let (bytes, text) = await (output, String(decoding: errors, as: UTF8.self))
        process.waitUntilExit()
        return Tool(status: process.terminationStatus, output: bytes, errors: text)
    }

    private static func read(_ pipe: Pipe) async -> Data {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: pipe.fileHandleForReading.readDataToEndOfFile())
            }
        }
    }
}
