import Foundation
import Penstock
import PenstockTestSupport

/// An nginx with an origin for each way in which TLS can be right or wrong.
///
/// Started once for the whole test process, by the first test that asks for it.
struct TrustServers: Sendable {
    enum Site: String, CaseIterable, Sendable {
        case good
        /// Certificates that are good for another host, or for none.
        case commonNameOnly, wildcard, lookalike, otherAddress, otherHost
        case expired, notYetValid, selfSigned
        /// Its chain is ``good``'s, with ``selfSigned``'s certificate behind it.
        case appended
        /// Wants a certificate of the client's.
        case members
        /// Speaks TLS 1.2 alone.
        case old
        /// Taken back by the authority; and with the authority's word on that.
        case revoked, revokedStapled
        /// With the authority's word that it is good.
        case stapled
    }

    /// The certificates of the clients and servers, and what was made of them.
    let authority: URL
    let anna: Certificates.Identity
    let bert: Certificates.Identity
    let annasContainer: Data
    let annasLockedKey: Data
    let revocations: URL
    let staleRevocations: URL
    /// As ``revocations``, with a signature that does not fit.
    let forgedRevocations: URL
    /// By `openssl`'s own hand, of the good certificate, the self-signed one and the authority.
    let pins: (good: String, selfSigned: String, authority: String)
    private let ports: [UInt16]

    static let passphrase = "open sesame"

    func url(_ site: Site, host: String = "localhost") -> String {
        "https://\(host):\(ports[1 + (Site.allCases.firstIndex(of: site) ?? 0)])"
    }

    static func shared() async throws -> TrustServers {
        try await running.value
    }

    private static let running = Task {
        let echo = try await WebSocketServers.shared().direct
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try start(echo) })
            }
        }
    }

    /// - Parameter echo: where WebSockets are handed on to.
    private static func start(_ echo: String) throws -> TrustServers {
        var made: Material?
        let ports = try Nginx.start(ports: Site.allCases.count + 1, level: "crit") { folder, ports, ready in
            let material = try Material(in: folder)
            made = material
            return configuration(ports, material, echo, ready)
        }
        guard let made else { throw HarnessError("there are no certificates") }
        return TrustServers(
            authority: made.basic.authority.certificate, anna: made.anna, bert: made.bert,
            annasContainer: made.annasContainer, annasLockedKey: made.annasLockedKey, revocations: made.revocations,
            staleRevocations: made.staleRevocations, forgedRevocations: made.forgedRevocations, pins: made.pins,
            ports: ports)
    }

    // MARK: What they show

    private struct Material {
        let basic: Certificates
        let sites: [Site: Certificates.Identity]
        let anna: Certificates.Identity
        let bert: Certificates.Identity
        let annasContainer: Data
        let annasLockedKey: Data
        let revocations: URL
        let staleRevocations: URL
        let forgedRevocations: URL
        let pins: (good: String, selfSigned: String, authority: String)
        let staples: [Site: URL]

        init(in folder: URL) throws {
            basic = try Certificates(in: folder)
            let maker = Certificates.Maker(folder: folder)
            let names = "DNS:localhost,IP:127.0.0.1"
            let soon = ["-startdate", "20990101000000Z", "-enddate", "20990201000000Z"]
            var sites: [Site: Certificates.Identity] = [
                .good: basic.valid, .members: basic.valid, .old: basic.valid,
                .expired: basic.expired, .selfSigned: basic.selfSigned, .otherHost: basic.wrongHost,
            ]
            sites[.commonNameOnly] = try maker.issue("common-name", for: nil, subject: "localhost")
            sites[.wildcard] = try maker.issue("wildcard", for: "DNS:*,DNS:*.localhost")
            sites[.lookalike] = try maker.issue("lookalike", for: "DNS:localhost.elsewhere.example,DNS:1ocalhost")
            sites[.otherAddress] = try maker.issue("other-address", for: "IP:127.0.0.2,DNS:127.0.0.1")
            sites[.notYetValid] = try maker.issue("not-yet", for: names, dates: soon)
            let revoked = try maker.issue("revoked", for: names)
            sites[.revoked] = revoked
            try maker.revoke("revoked")
            func chain(_ name: String, _ holder: Certificates.Identity, _ other: Certificates.Identity) throws
                -> Certificates.Identity
            {
                let file = folder.appendingPathComponent("\(name).crt")
                try (Data(contentsOf: holder.certificate) + Data(contentsOf: other.certificate)).write(to: file)
                return Certificates.Identity(certificate: file, key: holder.key)
            }
            sites[.appended] = try chain("appended", basic.valid, basic.selfSigned)
            // libcurl looks for the authority among what the server sends.
            sites[.stapled] = try chain("stapled", basic.valid, basic.authority)
            sites[.revokedStapled] = try chain("revoked-stapled", revoked, basic.authority)
            self.sites = sites
            (anna, bert) = (try maker.issue("anna", for: nil), try maker.issue("bert", for: nil))
            annasContainer = try maker.makeContainer(anna, passphrase: TrustServers.passphrase)
            annasLockedKey = try maker.makeLocked(anna.key, passphrase: TrustServers.passphrase)
            revocations = try maker.makeRevocationList("now")
            staleRevocations = try maker.makeRevocationList(
                "stale", dates: ["-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20210101000000Z"])
            forgedRevocations = folder.appendingPathComponent("forged.crl")
            try ForgedSignature.on(Data(contentsOf: revocations)).write(to: forgedRevocations)
            staples = [
                .stapled: try maker.makeStaple("valid"), .revokedStapled: try maker.makeStaple("revoked"),
            ]
            pins = (
                try maker.pin(of: basic.valid.certificate), try maker.pin(of: basic.selfSigned.certificate),
                try maker.pin(of: basic.authority.certificate)
            )
        }
    }

    private static func configuration(
        _ ports: [UInt16], _ material: Material, _ echo: String, _ ready: String
    ) -> String {
        let sites = zip(Site.allCases, ports.dropFirst()).map { site, port in
            server(site, port, material, echo)
        }
        return """
            access_log off;
            server { listen 127.0.0.1:\(ports[0]); location = /ready { return 200 "\(ready)"; } }
            \(sites.joined(separator: "\n"))
            """
    }

    private static func server(_ site: Site, _ port: UInt16, _ material: Material, _ echo: String) -> String {
        guard let identity = material.sites[site] else { return "" }
        var extra: [String] = []
        if let staple = material.staples[site] { extra = ["ssl_stapling on;", "ssl_stapling_file \(staple.path);"] }
        // nginx closes a connection after its answer over HTTP/1.1 alone.
        let isMultiplexed = site != .members && site != .stapled
        if site == .members {
            extra += ["ssl_verify_client on;", "ssl_client_certificate \(material.basic.authority.certificate.path);"]
        }
        return """
            server {
                listen 127.0.0.1:\(port) ssl\(isMultiplexed ? " http2" : "");
                ssl_protocols \(site == .old ? "TLSv1.2" : "TLSv1.2 TLSv1.3");
                ssl_session_cache shared:\(site.rawValue):1m;
                ssl_certificate \(identity.certificate.path);
                ssl_certificate_key \(identity.key.path);
                \(extra.joined(separator: "\n    "))
                location = /who {
                    default_type application/json;
                    return 200 '{"connection":$connection,"client":"$ssl_client_s_dn","session":"$ssl_session_reused",\
            "version":"$ssl_protocol"}\\n';
                }
                location = /chat {
                    proxy_pass \(echo);
                    proxy_http_version 1.1;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection upgrade;
                }
                location = /last {
                    default_type application/json;
                    keepalive_timeout 0;
                    return 200 '{"connection":$connection,"client":"$ssl_client_s_dn","session":"$ssl_session_reused",\
            "version":"$ssl_protocol"}';
                }
            }
            """
    }
}

/// What the server saw of the connection.
struct Who: Endpoint {
    struct Reply: Decodable, Sendable {
        let connection: Int
        let client: String
        /// `r` for a session that went on, `.` for one that began.
        let session: String
        let version: String
    }

    typealias Output = Reply
    let route: Route

    /// - Parameter closing: whether the server closes the connection after its answer.
    init(closing: Bool = false) {
        route = closing ? .get("/last") : .get("/who")
    }
}
