import Foundation

/// What a certificate made for a test says: by default that its holder is `localhost` and 127.0.0.1, from yesterday to
/// tomorrow.
public struct TestCertificate: Hashable, Sendable {
    /// The subject's name; clients compare host names with the alternative names only (RFC 9110 §4.3.4).
    public var commonName = "localhost"
    /// The host names it is for. With a `*` as the first label it is a wildcard.
    public var hosts = ["localhost"]
    /// The IP addresses it is for.
    public var addresses = ["127.0.0.1", "::1"]
    /// How long it has been valid.
    public var notBefore = Date(timeIntervalSinceNow: -86_400)
    /// How long it will be.
    public var notAfter = Date(timeIntervalSinceNow: 86_400)
    /// Whether it shows a client instead of a server.
    public var isForClient = false

    /// What is given at each property.
    public init() {}

    /// A certificate for `localhost` and the loopback addresses, valid today.
    public static var localhost: Self { Self() }

    /// A certificate as ``localhost``, but one that was valid until an hour ago.
    public static var expired: Self { with { $0.notAfter = Date(timeIntervalSinceNow: -3_600) } }

    /// A certificate as ``localhost``, but one that will be valid in an hour.
    public static var notYetValid: Self { with { $0.notBefore = Date(timeIntervalSinceNow: 3_600) } }

    /// A certificate for another host than the one that shows it.
    public static var wrongHost: Self { hosts(["elsewhere.test"]) }

    /// Has the host as its common name only, which clients must not look at.
    public static func commonNameOnly(_ host: String = "localhost") -> Self {
        with { ($0.commonName, $0.hosts, $0.addresses) = (host, [], []) }
    }

    /// A certificate for these host names and no address. `*.shop.test` is a wildcard; `*.test` is one that clients must not accept.
    public static func hosts(_ hosts: [String]) -> Self {
        with { ($0.commonName, $0.hosts, $0.addresses) = (hosts.first ?? "", hosts, []) }
    }

    /// Shows a client of this name.
    public static func client(_ name: String) -> Self {
        with { ($0.commonName, $0.hosts, $0.addresses, $0.isForClient) = (name, [], [], true) }
    }

    private static func with(_ change: (inout Self) -> Void) -> Self {
        var copy = Self()
        change(&copy)
        return copy
    }
}
