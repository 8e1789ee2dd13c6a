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
            var tls = LoopbackServer.TLS(
                try Self.identity(of: security, trusted: authority), protocols: security.protocols)
            tls.versions = security.versions
            var configuration = LoopbackServer.Configuration(tls: tls)
            configuration.http2 = security.settings
            self.init(
                server: try LoopbackServer(configuration, onConnect: onConnect, onHead: onHead, handler: handler),
                trust: security.isTrusted ? .authorities(authority.file) : .system, authority: authority)
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
