import Foundation
import PenstockTestSupport

/// Why a server of the tests could not be started.
struct HarnessError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The programs that the harness starts, and where they are on this machine.
enum Programs {
    static let nginx = find("nginx")
    static let openssl = find("openssl")
    static let squid = find("squid")
    static let microsocks = find("microsocks")
    static let nghttpd = find("nghttpd")
    static let unbound = find("unbound")
    /// The Python of the project's own environment, which has httpbin.
    static let python = executable(root.appendingPathComponent(".venv/bin/python"))

    /// The root of the checkout.
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func find(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.lazy.compactMap { executable(URL(fileURLWithPath: $0).appendingPathComponent(name)) }.first
    }

    private static func executable(_ url: URL) -> URL? {
        FileManager.default.isExecutableFile(atPath: url.path) ? url : nil
    }

    /// Runs a program to its end and returns what it printed on both streams.
    ///
    /// - Throws: ``HarnessError`` with that output where the program does not end with 0.
    @discardableResult
    static func run(_ program: URL?, _ arguments: [String], in folder: URL? = nil) throws -> String {
        guard let program else { throw HarnessError("a program is missing: run `make setup`") }
        let finished = try Subprocess.runAndWait(program, arguments, in: folder)
        guard finished.status == 0 else {
            throw HarnessError("\(program.lastPathComponent) \(arguments.joined(separator: " ")): \(finished.output)")
        }
        return finished.output
    }
}
