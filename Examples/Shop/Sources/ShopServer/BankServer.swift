// The embedded server speaks TLS on Linux alone.
#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTesting

    /// A bank behind TLS, with a certificate that is made when it starts.
    public final class BankServer: Sendable {
        /// The sockets, and the server's own count of what came by them.
        public let wire: LoopbackServer
        private let authority: TestCertificateAuthority
        private let identity: TLSIdentity

        public init() throws {
            authority = try TestCertificateAuthority(name: "Authority of the demo")
            identity = try authority.issue()
            wire = try LoopbackServer(.init(tls: .init(identity))) { request in
                request.path == "/cards/4" ? .json("2000") : .init(status: 404)
            }
        }

        public var url: String { wire.url.absoluteString }

        /// Trusts the authority, as it would trust those of the system, and of all whom that has signed, the bank alone.
        public func trust() throws -> TrustPolicy {
            try trust(key: PublicKeyPin(digest: identity.publicKeyHash()))
        }

        /// The same, for who takes another key for the bank's.
        public func mistakenTrust() throws -> TrustPolicy {
            try trust(key: PublicKeyPin(digest: authority.issue().publicKeyHash()))
        }

        private func trust(key: PublicKeyPin) throws -> TrustPolicy {
            // Of a key that the bank keeps in reserve.
            let reserve = try PublicKeyPin(digest: authority.issue().publicKeyHash())
            return try .authorities(authority.file).pinned([PinSet(wire.url.host, keys: [key, reserve])])
        }
    }
#endif
