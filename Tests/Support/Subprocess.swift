import Foundation

/// A program that ran to its end, with nothing on its standard input.
public struct Subprocess: Sendable {
    public let status: Int32
    /// Both of its output streams, as they came.
    public let output: String

    /// Runs a program and waits for it on a thread of its own: those of a dispatch queue that does several things at a time serve
    /// tasks too.
    public static func run(
        _ executable: URL, _ arguments: [String] = [], in folder: URL? = nil
    ) async throws -> Subprocess {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try runAndWait(executable, arguments, in: folder) })
            }
        }
    }

    /// Runs a program and waits for it on this thread.
    public static func runAndWait(
        _ executable: URL, _ arguments: [String] = [], in folder: URL? = nil
    ) throws -> Subprocess {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Subprocess(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }
}
