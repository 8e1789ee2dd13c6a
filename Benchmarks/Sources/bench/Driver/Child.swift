import Foundation

/// A process of this same program, whose lines are read one after the other. Nothing of it is left when this process
/// ends.
final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter limit: seconds after which it is ended, under a process of its own; `nil` for one that ends by itself,
    ///   whose number then is ``id``.
    init(_ program: String, _ arguments: [String], limit: Int? = nil) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let bounds = limit.map { ["timeout", "\($0)"] } ?? []
        process.arguments = ["setpriv", "--pdeathsig", "TERM"] + bounds + [program] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    var id: Int32 { process.processIdentifier }

    /// The next line it writes, as JSON.
    func value<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(try line().utf8))
    }

    func line() throws -> String {
        var bytes: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        throw Failure("\(process.arguments?.joined(separator: " ") ?? "") ended early")
    }

    func writeLine() throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    }

    /// Closes its input and waits for its end.
    func finish() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(process.arguments?.joined(separator: " ") ?? "") ended with \(process.terminationStatus)")
        }
    }
}
