import Foundation

/// A script of this repository, run to its end.
struct Script {
    let status: Int32
    /// Both of its output streams, as they came.
    let output: String

    /// Runs the script at `path`, relative to the root of the repository, with nothing on its standard input.
    static func run(_ path: String) async throws -> Script {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = root.appendingPathComponent(path)
        process.currentDirectoryURL = root
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let output = pipe.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                let text = String(decoding: output, as: UTF8.self)
                continuation.resume(returning: Script(status: process.terminationStatus, output: text))
            }
        }
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
