import Foundation
import PenstockCore

extension TransportConformance {
    /// Where a rule is tried: its server, and whom to trust for it.
    struct Scene: Sendable {
        let server: LoopbackServer
        var trust = TrustPolicy.system
        /// Whoever signed the server's certificate; the file that the policy names goes with it.
        var authority: (any Sendable)?
        var keys = Keys()
    }

    /// What there is to be pinned, and to be shown by a client.
    struct Keys: Sendable {
        /// The pin of the server's own certificate.
        var server: PublicKeyPin?
        /// The pin of the authority that the policy trusts.
        var authority: PublicKeyPin?
        /// The pin of nobody's certificate, which the server may append to its chain.
        var appended: PublicKeyPin?
        /// Identities in PEM, for Anna and for Bert; the server believes both.
        var clients: [ClientIdentity] = []
        /// Anna's again, in PKCS#12.
        var container: ClientIdentity?
        /// Anna's certificate with Bert's key.
        var mismatched: ClientIdentity?
    }

    /// What the server of a rule speaks over TLS.
    struct Security: Sendable {
        enum Signature: Sendable {
            case known
            /// The certificate is signed by one that the known authority has signed.
            case intermediate
            /// The certificate is signed by an authority that the client does not trust.
            case unknown
            /// The certificate is signed by nobody but the certificate's own key.
            case own
        }

        var protocols: [LoopbackServer.TLS.ApplicationProtocol]
        /// What every second connection is spoken in, where that is something else.
        var others: [LoopbackServer.TLS.ApplicationProtocol]?
        var certificate = TestCertificate.localhost
        var signature = Signature.known
        /// Whether requests ask for the server's authority to be trusted, or leave it to the system.
        var isTrusted = true
        var versions: ClosedRange<LoopbackServer.TLS.Version> = .tls12 ... .tls13
        var settings = LoopbackServer.HTTP2Settings()
        /// Whether the server sends somebody else's certificate behind its own chain.
        var isAppended = false
        /// Whether clients must show a certificate.
        var asksForClient = false

        static let tls = Security(protocols: [.http1])
        /// TLS that nobody trusts, for what goes wrong before that matters.
        static let unknown = tls.with { $0.isTrusted = false }
        static let http2 = Security(protocols: [.http2, .http1])
        /// HTTP/2 on every second connection, HTTP/1.1 on the others.
        static let mixed = http2.with { ($0.protocols, $0.others) = ([.http1], [.http2]) }

        /// The same server with something else about it.
        func with(_ change: (inout Security) -> Void) -> Security {
            var copy = self
            change(&copy)
            return copy
        }

        /// What a transport must be able to do for a request to succeed.
        var requires: TransportCapabilities {
            if !isTrusted { return [] }
            return (protocols + (others ?? [])).contains(.http2) ? [.trustPolicy, .http2] : .trustPolicy
        }
    }

    /// Time enough for a slow machine, and too short for a rule to hang.
    static let soon = Timeouts(connect: .seconds(10), firstByte: nil, idle: nil, total: .seconds(20))
}

extension TransportConformance.Rule {
    /// A rule whose server speaks TLS.
    ///
    /// - Parameter requires: what a transport must be able to do; by default what it takes to be answered at all.
    init(
        _ name: String, over security: TransportConformance.Security, requires: TransportCapabilities? = nil,
        and others: TransportCapabilities = [],
        onConnect: @escaping @Sendable (Int) -> LoopbackServer.ConnectionFault? = { _ in nil },
        onHead: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision = { _ in .proceed },
        server respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in .text("ok") },
        check: @escaping @Sendable (TransportConformance.Probe) async throws -> Void
    ) {
        self.init(
            name, requires: (requires ?? security.requires).union(others), needsWire: true, isSecure: true,
            scene: {
                try TransportConformance.Scene(
                    security, onConnect: onConnect, onHead: onHead, handler: respond)
            }, check: check)
    }
}
