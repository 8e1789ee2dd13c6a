import Foundation
import Penstock

/// The proxies of the end-to-end tests: squid, with a port for everybody and one for who is known, and microsocks.
///
/// Started once for the whole test process, by the first test that asks for them.
struct ProxyServers: Sendable {
    /// Lets everybody through.
    let http: HTTPURL
    /// Lets ``credentials`` through.
    let guarded: HTTPURL
    /// The port of a SOCKS proxy that lets ``credentials`` through.
    let socks: Int
    /// Names the origins that the SOCKS proxy was asked for.
    let socksLog: URL

    static let credentials = ProxyCredentials(user: "me", password: "p%41:s/ w@rd")

    static func shared() async throws -> ProxyServers {
        try await running.value
    }

    private static let running = Task {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try start() })
            }
        }
    }

    private static func start() throws -> ProxyServers {
        let (http, guarded) = try startSquid()
        let (socks, log) = try startMicrosocks()
        return ProxyServers(
            http: try HTTPURL("http://127.0.0.1:\(http)"), guarded: try HTTPURL("http://127.0.0.1:\(guarded)"),
            socks: Int(socks), socksLog: log)
    }

    // MARK: SOCKS

    private static func startMicrosocks() throws -> (UInt16, URL) {
        guard let program = Programs.microsocks else { throw HarnessError("microsocks is missing: run `make setup`") }
        var log = URL(fileURLWithPath: "/")
        let ports = try ServerProcess.start(program, ports: 1) { folder, ports in
            log = folder.appendingPathComponent("output.log")
            let user = ["-u", credentials.user, "-P", credentials.password]
            return (
                arguments: ["-i", "127.0.0.1", "-p", "\(ports[0])"] + user,
                // It answers what is no greeting by closing the connection.
                isReady: { Loopback.get("/", port: ports[0]) != nil }
            )
        }
        return (ports[0], log)
    }

    // MARK: HTTP

    private static func startSquid() throws -> (UInt16, UInt16) {
        guard let program = Programs.squid else { throw HarnessError("squid is missing: run `make setup`") }
        let ports = try ServerProcess.start(program, ports: 2) { folder, ports in
            let own = try makeOwnFolder(in: folder)
            let hash = try Programs.run(Programs.openssl, ["passwd", "-apr1", credentials.password])
            try Data("\(credentials.user):\(hash)".utf8).write(to: own.appendingPathComponent("users"))
            let file = folder.appendingPathComponent("squid.conf")
            try Data(configuration(own, ports).utf8).write(to: file)
            return (
                arguments: ["-N", "-f", file.path, "-n", "penstock\(ports[0])"],
                isReady: { Loopback.get("/", port: ports[0])?.contains("squid") == true }
            )
        }
        return (ports[0], ports[1])
    }

    /// Squid gives up being root, and must then still be able to write.
    private static func makeOwnFolder(in folder: URL) throws -> URL {
        let own = folder.appendingPathComponent("squid")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false)
        guard geteuid() == 0 else { return own }
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
        try FileManager.default.setAttributes([.ownerAccountName: "proxy"], ofItemAtPath: own.path)
        return own
    }

    private static func configuration(_ folder: URL, _ ports: [UInt16]) -> String {
        """
        http_port 127.0.0.1:\(ports[0])
        http_port 127.0.0.1:\(ports[1]) name=guarded
        auth_param basic program /usr/lib/squid/basic_ncsa_auth \(folder.path)/users
        auth_param basic children 1
        acl guarded myportname guarded
        acl known proxy_auth REQUIRED
        http_access deny guarded !known
        http_access allow all
        cache deny all
        pinger_enable off
        pid_filename none
        cache_log \(folder.path)/cache.log
        access_log none
        coredump_dir \(folder.path)
        visible_hostname localhost
        shutdown_lifetime 0 seconds
        max_filedescriptors 1024

        """
    }
}
