import Foundation

/// nghttpd: an HTTP/2 server that writes the frames of many responses at once.
enum NghttpdServer {
    /// Of `/content.bin`.
    static let contentLength = 100_000

    /// The base URL; the certificate is that of nginx.
    static func shared() async throws -> String {
        try await running.value
    }

    private static let running = Task {
        let nginx = try await EndToEndServers.shared().nginx
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try start(nginx) })
            }
        }
    }

    private static func start(_ nginx: NginxServer) throws -> String {
        guard let program = Programs.nghttpd else { throw HarnessError("nghttpd is missing: run `make setup`") }
        let ports = try ServerProcess.start(program, ports: 1) { folder, ports in
            try Data(count: contentLength).write(to: folder.appendingPathComponent("content.bin"))
            let identity = [nginx.identity.key.path, nginx.identity.certificate.path]
            return (
                arguments: ["-a", "127.0.0.1", "-d", folder.path, "\(ports[0])"] + identity,
                isReady: { Loopback.get("/", port: ports[0]) != nil }
            )
        }
        return "https://localhost:\(ports[0])"
    }
}
