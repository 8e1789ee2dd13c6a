import Foundation
import PenstockTestSupport

/// A server of resumable uploads in a process of its own: tuspyserver, which others wrote, and one of the IETF's draft, of which
/// there is none to be had here.
struct UploadServers: Sendable {
    let port: UInt16
    /// Where uploads begin.
    let path: String

    var base: String { "http://127.0.0.1:\(port)" }

    static func tus() async throws -> UploadServers { try await start("tus.py", "files") }
    static func draft() async throws -> UploadServers { try await start("draft.py", "uploads") }

    private static func start(_ script: String, _ path: String) async throws -> UploadServers {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try launch(script, path) })
            }
        }
    }

    private static func launch(_ script: String, _ path: String) throws -> UploadServers {
        guard let program = Programs.python else { throw HarnessError("tuspyserver is missing: run `make setup`") }
        let file = self.script(script)
        let ports = try ServerProcess.start(program, ports: 1) { folder, ports in
            (
                arguments: [file.path, folder.path, "\(ports[0])"],
                isReady: { Loopback.get("/stats", port: ports[0])?.contains("objects") == true }
            )
        }
        return UploadServers(port: ports[0], path: path)
    }

    private static func script(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("UploadServers").appendingPathComponent(name)
    }

    /// Runs a program that speaks to this server by way of another port, and is killed when its first request with a method has
    /// come that far (`killed_at.py`).
    ///
    /// - Returns: `killed`, or `ended` and the status of the program.
    func relay(from port: UInt16, _ method: String, _ moment: String, _ command: [String]) async throws -> String {
        guard let program = Programs.python else { throw HarnessError("python is missing: run `make setup`") }
        let script = Self.script("killed_at.py")
        let arguments = [script.path, "\(port)", "\(self.port)", method, moment, "--"] + command
        return try await Subprocess.run(program, arguments).output
    }

    /// What has come of all uploads: the SHA-256 of each object, how many bytes of content have come in all, and how many requests
    /// bring more now.
    struct Stats: Decodable, Sendable {
        var objects: [String]
        var received: Int
        var appending: Int
    }
}
