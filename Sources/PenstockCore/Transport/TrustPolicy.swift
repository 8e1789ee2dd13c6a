import Foundation

/// Whom TLS trusts, and as whom the client shows itself. The chain, the dates and the host name are verified under every
/// policy; there is none that switches verification off.
///
/// ```swift
/// let trust = try TrustPolicy.authorities(file).minimumVersion(.tls13).pinned([pins]).identified(by: certificate)
/// let shop = Service(.shop, "https://api.shop.example", options: .trust(trust))
/// ```
///
/// It is a part of ``IsolationKey``: connections are used again under an equal policy alone, and so are sessions of TLS, but by
/// `URLSessionTransport` on Apple's systems, where those belong to the process: give each host and port one policy there. What a
/// transport cannot do of it, it refuses before anything is sent, as ``TransportError/Kind/unsupported(_:)``.
public struct TrustPolicy: Hashable, Sendable {
    /// Which authorities a chain of certificates must end in.
    @nonexhaustive
    public enum Anchors: Hashable, Sendable {
        /// The platform's own authorities.
        case system
        /// Only the certificates of this PEM file.
        case file(URL)
    }

    /// A version of TLS. None before 1.2 is ever spoken (RFC 8996).
    public enum Version: Int, Comparable, Hashable, Sendable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13

        /// Whether the left version is the older one.
        public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
    }

    /// How a certificate is found out that its authority has taken back.
    @nonexhaustive
    public enum Revocation: Hashable, Sendable {
        /// What the platform does by itself: OpenSSL does not look.
        case platform
        /// The server must show its authority's word that the certificate is good, which is called stapling (RFC 6066 §8).
        /// One without is refused, and by libcurl also one that does not send the certificate of the authority along. Sessions are
        /// not resumed, since the word is not repeated then.
        case stapled
        /// The lists of this PEM file (RFC 5280 §5), which must have one of every authority of a chain, and none out of date.
        case lists(URL)
    }

    private struct Parts: Hashable, Sendable {
        var anchors = Anchors.system
        var minimumVersion = Version.tls12
        var pins = PinList.none
        var reporter: PinReporter?
        var identity: ClientIdentity?
        var revocation = Revocation.platform
    }

    /// The parts, kept outside, since a policy is copied and compared for every call.
    private var parts = Boxed(Parts())

    /// A policy that trusts these authorities and no others. No file is read here, but when a connection is made: one
    /// that cannot be read fails it with ``TransportError/TLSFailure/trustMaterial``. A file that has changed is read anew,
    /// and no connection made under the old one is used again.
    public init(anchors: Anchors) {
        parts.anchors = anchors
    }

    /// Trusts the platform's own authorities. The default.
    public static let system = TrustPolicy(anchors: .system)

    /// Trusts only the authorities of a PEM file: a company's own, or a test's.
    ///
    /// With URLSession on Apple's systems, App Transport Security refuses a host whose authority the system does not trust, whatever a
    /// policy says, unless the app's Info.plist has `NSExceptionAllowsInsecureHTTPLoads` for it, under `NSAppTransportSecurity` and
    /// `NSExceptionDomains`. The certificate is verified all the same.
    public static func authorities(_ file: URL) -> TrustPolicy {
        TrustPolicy(anchors: .file(file))
    }

    // MARK: What it asks for

    /// The authorities that are trusted.
    public var anchors: Anchors { parts.anchors }
    /// The oldest version of TLS that is spoken; 1.2 unless set.
    public var minimumVersion: Version { parts.minimumVersion }
    /// The keys that may speak for some hosts; none unless set.
    public var pins: PinList { parts.pins }
    /// The observer that is told of chains without the pins of their host; nobody unless set.
    public var reporter: PinReporter? { parts.reporter }
    /// What the client shows to a server that asks for a certificate; `nil` unless set.
    public var identity: ClientIdentity? { parts.identity }
    /// How revoked certificates are found out; as the platform does unless set.
    public var revocation: Revocation { parts.revocation }

    /// The same policy, with no version of TLS before this one.
    public func minimumVersion(_ version: Version) -> TrustPolicy { with { $0.minimumVersion = version } }

    /// The same policy with pins in place of those it has. A host that no set covers is trusted as without pins.
    ///
    /// - Parameter reporter: told of chains without the pins of their host; nobody by default.
    /// - Throws: ``PinError/hostPinnedTwice(_:)``.
    public func pinned(_ sets: [PinSet], reporter: PinReporter? = nil) throws(PinError) -> TrustPolicy {
        let pins = try PinList(sets)
        return with { ($0.pins, $0.reporter) = (pins, reporter) }
    }

    /// The same policy with a certificate for servers that ask for one; `nil` for none.
    public func identified(by identity: ClientIdentity?) -> TrustPolicy { with { $0.identity = identity } }

    /// The same policy with another way to find out revoked certificates.
    public func revocation(_ revocation: Revocation) -> TrustPolicy { with { $0.revocation = revocation } }

    private func with(_ change: (inout Parts) -> Void) -> TrustPolicy {
        var (copy, parts) = (self, parts.value)
        change(&parts)
        copy.parts = Boxed(parts)
        return copy
    }

    // MARK: What it takes

    /// What a transport must be able to do to keep the policy.
    public var requires: TransportCapabilities {
        if self == .system { return [] }
        var needed = TransportCapabilities.trustPolicy
        if !pins.isEmpty { needed.insert(.pinning) }
        if revocation != .platform { needed.insert(.revocation) }
        guard let identity else { return needed }
        needed.insert(.clientCertificates)
        if case .pem = identity.form { needed.insert(.pemIdentities) }
        return needed
    }

    /// Why a transport cannot keep the policy; `nil` where it can. A request under a policy that would be kept in part only is
    /// not sent.
    package func refusal(by capabilities: TransportCapabilities) -> String? {
        let missing = requires.subtracting(capabilities)
        return missing.isEmpty ? nil : "a trust policy that needs \(missing)"
    }

    /// The files that it names. When one of them changes, so does what the policy means.
    package var files: [URL] {
        var files: [URL] = []
        if case .file(let file) = anchors { files.append(file) }
        if case .lists(let file) = revocation { files.append(file) }
        return files
    }

    /// Tells policies apart, in other processes as well; holds no secret.
    var fingerprint: String {
        var text = "\(anchors)"
        if minimumVersion != .tls12 { text += " \(minimumVersion)" }
        for set in pins.sets {
            let keys = set.pins.map(\.description).sorted().joined(separator: ",")
            let end = set.expires.map { "\($0.timeIntervalSince1970)" } ?? ""
            text += " \(set.host) \(set.includesSubdomains) \(set.mode) \(end) \(keys)"
        }
        if let identity { text += " \(identity.fingerprint)" }
        if revocation != .platform { text += " \(revocation)" }
        return text
    }
}

extension TrustPolicy: CustomStringConvertible, CustomReflectable {
    /// What it asks for beyond the system's own, without secrets.
    public var description: String {
        var words = ["\(anchors)"]
        if minimumVersion != .tls12 { words.append("\(minimumVersion)") }
        if !pins.isEmpty { words.append("pins for \(pins.sets.map(\.host).joined(separator: ", "))") }
        if identity != nil { words.append("a client certificate") }
        if revocation != .platform { words.append("revocation \(revocation)") }
        return words.joined(separator: ", ")
    }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "anchors": anchors, "minimumVersion": minimumVersion, "pins": pins, "identity": identity as Any,
                "revocation": revocation,
            ] as KeyValuePairs<String, Any>)
    }
}
