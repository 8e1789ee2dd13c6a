import Foundation

/// httpbin, which answers with what it received.
struct HTTPBinServer: Sendable {
    /// Where it is, without a slash at the end.
    let base: String

    static func start() throws -> HTTPBinServer {
        guard let program = Programs.python else { throw HarnessError("httpbin is missing: run `make setup`") }
        let nonce = UUID().uuidString
        let ports = try ServerProcess.start(program, ports: 1) { _, ports in
            (
                arguments: options + ["--bind", "127.0.0.1:\(ports[0])", "httpbin:app"],
                isReady: { Loopback.get("/get?nonce=\(nonce)", port: ports[0])?.contains(nonce) == true }
            )
        }
        return HTTPBinServer(base: "http://127.0.0.1:\(ports[0])")
    }

    private static let options = [
        "-m", "gunicorn", "--worker-class", "gthread", "--threads", "16", "--keep-alive", "60",
        "--graceful-timeout", "0", "--log-level", "warning", "--no-control-socket",
    ]
}
