import Foundation

/// Starts an nginx, and says what each one is told: to stay in its folder, and to end with this process.
enum Nginx {
    /// - Parameters:
    ///   - count: how many ports it has; the first takes no TLS.
    ///   - level: from which on its error log tells.
    ///   - http: what stands in its `http` block. A server at the first port has to answer `/ready` with the given word, so that a
    ///     server of somebody else is not taken for this one.
    /// - Returns: its ports.
    static func start(
        ports count: Int, level: String = "warn", connections: Int = 256,
        http: (_ folder: URL, _ ports: [UInt16], _ ready: String) throws -> String
    ) throws -> [UInt16] {
        guard let program = Programs.nginx else { throw HarnessError("nginx is missing: run `make setup`") }
        let ready = UUID().uuidString
        return try ServerProcess.start(program, ports: count) { folder, ports in
            let text = """
                daemon off;
                \(geteuid() == 0 ? "user root;" : "")
                worker_processes 1;
                pid nginx.pid;
                error_log stderr \(level);
                events { worker_connections \(connections); }
                http {
                    client_body_temp_path body;
                    proxy_temp_path proxy;
                    fastcgi_temp_path fastcgi;
                    uwsgi_temp_path uwsgi;
                    scgi_temp_path scgi;
                \(try http(folder, ports, ready))
                }

                """
            let file = folder.appendingPathComponent("nginx.conf")
            try Data(text.utf8).write(to: file)
            return (
                arguments: ["-p", folder.path, "-c", file.path],
                isReady: { Loopback.get("/ready", port: ports[0])?.contains(ready) == true }
            )
        }
    }
}
