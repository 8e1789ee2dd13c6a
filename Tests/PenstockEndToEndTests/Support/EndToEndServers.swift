import Foundation
import Testing

/// The servers of the end-to-end tests: programs that the authors of this package did not write.
///
/// Started once for the whole test process, by the first test that asks for them, and gone when the process is.
struct EndToEndServers: Sendable {
    let nginx: NginxServer
    let httpbin: HTTPBinServer

    /// The running servers; every caller gets the same ones.
    ///
    /// - Throws: ``HarnessError`` with the output of the server that did not start.
    static func shared() async throws -> EndToEndServers {
        try await running.value
    }

    private static let running = Task {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try start() })
            }
        }
    }

    /// Waits for other processes: not to be called on a thread that serves tasks.
    private static func start() throws -> EndToEndServers {
        EndToEndServers(nginx: try NginxServer.start(), httpbin: try HTTPBinServer.start())
    }

    /// What these servers need and this machine does not have.
    static let missing: [String] = [
        (Programs.nginx, "nginx"), (Programs.openssl, "openssl"), (Programs.python, "httpbin in .venv"),
        (Programs.squid, "squid"), (Programs.microsocks, "microsocks"), (Programs.nghttpd, "nghttpd"),
    ].compactMap { program, name in program == nil ? name : nil }

    /// Whether this run must not skip anything.
    static let isContinuousIntegration = ProcessInfo.processInfo.environment["CI"] == "true"
}

extension Trait where Self == ConditionTrait {
    /// Skips, and says so, where the servers cannot be started; never in continuous integration.
    static var needsServers: Self {
        let missing = EndToEndServers.missing
        return .enabled(
            if: missing.isEmpty || EndToEndServers.isContinuousIntegration,
            "missing: \(missing.joined(separator: ", ")); `make setup` installs them")
    }
}
