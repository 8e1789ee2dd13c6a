import Foundation

/// nginx with one plain origin, a second one to be redirected to, and four TLS origins of which one deserves trust.
struct NginxServer: Sendable {
    /// HTTP/1.1 without TLS. No URL here ends with a slash.
    let http: String
    /// Another HTTP/1.1 origin with the same content.
    let elsewhere: String
    /// HTTP/2 or HTTP/1.1 by ALPN, with a certificate of ``certificateAuthority`` for `localhost` and 127.0.0.1.
    let https: String
    let expired: String
    let selfSigned: String
    let wrongHost: String
    /// The certificate that a client must trust to reach ``https``, as a PEM file.
    let certificateAuthority: URL
    /// What ``https`` shows.
    let identity: Certificates.Identity
    /// A line for each request that was read: port, status, bytes of content sent, target. Written when a request ends.
    let accessLog: URL

    static let accessLogName = "access.log"
    /// The bytes of `/large.bin`.
    static let largeFile = pattern(kibibytes: 8 << 10)
    /// The text of `/list.json`, which compresses well.
    static let list = "[" + (1...500).map { #"{"id":\#($0),"name":"Thing \#($0)"}"# }.joined(separator: ",") + "]"

    static func start() throws -> NginxServer {
        var (authority, accessLog) = (URL(fileURLWithPath: "/"), URL(fileURLWithPath: "/"))
        var identity = Certificates.Identity(certificate: accessLog, key: accessLog)
        let ports = try Nginx.start(ports: 6, connections: 1_024) { folder, ports, ready in
            let certificates = try Certificates(in: folder)
            authority = certificates.authority.certificate
            identity = certificates.valid
            accessLog = folder.appendingPathComponent(accessLogName)
            try writeContent(to: folder)
            return NginxConfiguration(folder: folder, ports: ports, certificates: certificates, ready: ready).text
        }
        return NginxServer(
            http: "http://127.0.0.1:\(ports[0])", elsewhere: "http://127.0.0.1:\(ports[1])",
            https: "https://localhost:\(ports[2])", expired: "https://localhost:\(ports[3])",
            selfSigned: "https://localhost:\(ports[4])", wrongHost: "https://localhost:\(ports[5])",
            certificateAuthority: authority, identity: identity, accessLog: accessLog)
    }

    private static func writeContent(to folder: URL) throws {
        let content = folder.appendingPathComponent("content")
        try FileManager.default.createDirectory(at: content, withIntermediateDirectories: false)
        try largeFile.write(to: content.appendingPathComponent("large.bin"))
        try Data(list.utf8).write(to: content.appendingPathComponent("list.json"))
    }
}
