import Foundation

/// Whom TLS trusts. The chain, the dates and the host name are verified under every policy; there is none that
/// switches verification off.
public struct TrustPolicy: Hashable, Sendable {
    @nonexhaustive
    public enum Anchors: Hashable, Sendable {
        /// The platform's own authorities.
        case system
        /// Only the certificates of this PEM file.
        case file(URL)
    }

    public let anchors: Anchors

    public init(anchors: Anchors) {
        self.anchors = anchors
    }

    public static let system = TrustPolicy(anchors: .system)

    /// Trusts only the authorities of a PEM file: a company's own, or a test's.
    public static func authorities(_ file: URL) -> TrustPolicy {
        TrustPolicy(anchors: .file(file))
    }
}
