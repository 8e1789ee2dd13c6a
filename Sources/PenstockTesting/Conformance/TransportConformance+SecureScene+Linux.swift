#if os(Linux)
    import Foundation
    import PenstockCore

    extension TransportConformance.Scene {
        /// Whether there can be a server with TLS.
        static let speaksTLS = true

        init(
            _ security: TransportConformance.Security,
            onConnect: @escaping @Sendable (Int) -> LoopbackServer.ConnectionFault?,
            onHead: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision,
            handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) throws {
            let authority = try TestCertificateAuthority()
            var identity = try Self.identity(of: security, trusted: authority)
            let stranger = try TestCertificateAuthority.selfSigned()
            if security.isAppended { identity.certificates += stranger.certificates }
            var tls = LoopbackServer.TLS(identity, protocols: security.protocols)
            (tls.versions, tls.others) = (security.versions, security.others)
            if security.asksForClient { tls.clientAuthorities = authority.root }
            var configuration = LoopbackServer.Configuration(tls: tls)
            configuration.http2 = security.settings
            self.init(
                server: try LoopbackServer(configuration, onConnect: onConnect, onHead: onHead, handler: handler),
                trust: security.isTrusted ? .authorities(authority.file) : .system, authority: authority,
                keys: try Self.keys(identity, authority, stranger, security))
        }

        private static func keys(
            _ identity: TLSIdentity, _ authority: TestCertificateAuthority, _ stranger: TLSIdentity,
            _ security: TransportConformance.Security
        ) throws -> TransportConformance.Keys {
            var keys = TransportConformance.Keys()
            keys.server = try PublicKeyPin(digest: identity.publicKeyHash())
            keys.authority = try PublicKeyPin(digest: authority.identity.publicKeyHash())
            keys.appended = try PublicKeyPin(digest: stranger.publicKeyHash())
            guard security.asksForClient else { return keys }
            let (anna, bert) = (try authority.issue(.client("anna")), try authority.issue(.client("bert")))
            keys.clients = [anna, bert].map { .pem(certificates: $0.certificates, key: $0.privateKey) }
            keys.container = .pkcs12(try anna.pkcs12(passphrase: "open sesame"), passphrase: "open sesame")
            keys.mismatched = .pem(certificates: anna.certificates, key: bert.privateKey)
            return keys
        }

        /// A policy that trusts somebody else; it holds for as long as the object that comes with it.
        static func otherTrust() throws -> (policy: TrustPolicy, authority: any Sendable) {
            let authority = try TestCertificateAuthority(name: "Somebody else")
            return (.authorities(authority.file), authority)
        }

        private static func identity(
            of security: TransportConformance.Security, trusted: TestCertificateAuthority
        ) throws -> TLSIdentity {
            switch security.signature {
            case .known: try trusted.issue(security.certificate)
            case .intermediate: try trusted.intermediate().issue(security.certificate)
            case .unknown: try TestCertificateAuthority(name: "Nobody's").issue(security.certificate)
            case .own: try TestCertificateAuthority.selfSigned(security.certificate)
            }
        }
    }
#endif
