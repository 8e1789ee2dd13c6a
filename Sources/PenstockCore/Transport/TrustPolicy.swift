import Foundation

/// Whom TLS trusts. The chain, the dates and the host name are verified under every policy; there is none that
/// switches verification off.
public struct TrustPolicy: Hashable, Sendable {
    /// Which authorities a chain of certificates must end in.
    @nonexhaustive
    public enum Anchors: Hashable, Sendable {
        /// The platform's own authorities.
        case system
        /// Only the certificates of this PEM file.
        case file(URL)
    }

    /// The authorities that are trusted.
    public let anchors: Anchors

    /// A policy that trusts these authorities and no others. No file is read here, but when a connection is made: one
    /// that cannot be read fails it with ``TransportError/TLSFailure/trustMaterial``.
    public init(anchors: Anchors) {
        self.anchors = anchors
    }

    /// Trusts the platform's own authorities. The default.
    public static let system = TrustPolicy(anchors: .system)

    /// Trusts only the authorities of a PEM file: a company's own, or a test's.
    public static func authorities(_ file: URL) -> TrustPolicy {
        TrustPolicy(anchors: .file(file))
    }
}
