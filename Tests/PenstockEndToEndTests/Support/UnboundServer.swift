import Foundation

/// unbound: name servers over HTTPS, with names of their own.
struct UnboundServer: Sendable {
    /// Where it is asked.
    let url: String
    let authority: URL
    /// A URL at the same host that answers no questions.
    var wrongURL: String { url.replacingOccurrences(of: "dns-query", with: "nowhere") }

    static func shared() async throws -> UnboundServer {
        try await running.value
    }

    private static let running = Task {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try start() })
            }
        }
    }

    private static func start() throws -> UnboundServer {
        guard let program = Programs.unbound else { throw HarnessError("unbound is missing: run `make setup`") }
        var authority = URL(fileURLWithPath: "/")
        let ports = try ServerProcess.start(program, ports: 1) { folder, ports in
            let certificates = try Certificates(in: folder)
            authority = certificates.authority.certificate
            let file = folder.appendingPathComponent("unbound.conf")
            try Data(configuration(folder, ports[0], certificates.valid).utf8).write(to: file)
            return (arguments: ["-d", "-c", file.path], isReady: { Loopback.isOpen(port: ports[0]) })
        }
        return UnboundServer(url: "https://localhost:\(ports[0])/dns-query", authority: authority)
    }

    private static func configuration(_ folder: URL, _ port: UInt16, _ identity: Certificates.Identity) -> String {
        """
        server:
            directory: "\(folder.path)"
            chroot: ""
            username: ""
            pidfile: ""
            use-syslog: no
            do-daemonize: no
            num-threads: 1
            interface: 127.0.0.1@\(port)
            https-port: \(port)
            tls-service-key: "\(identity.key.path)"
            tls-service-pem: "\(identity.certificate.path)"
            http-endpoint: "/dns-query"
            access-control: 127.0.0.0/8 allow
            do-not-query-localhost: no
            local-zone: "shop.test." static
            local-data: "api.shop.test. 20 IN A 127.0.0.1"
            local-data: "both.shop.test. 30 IN A 127.0.0.1"
            local-data: "both.shop.test. 10 IN AAAA 2001:db8::1"
        remote-control:
            control-enable: no

        """
    }
}
