import Foundation

/// The SHA-256 digest of a certificate's subject public key info (RFC 7469 §2.4): it stays the same when the certificate is
/// renewed with its key.
///
/// ```sh
/// openssl x509 -in server.crt -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Hashable, Sendable {
    /// 32 bytes.
    public let digest: Data

    /// The pin of a digest.
    ///
    /// - Throws: ``PinError/malformedPin(_:)`` unless it has 32 bytes.
    public init(digest: Data) throws(PinError) {
        guard digest.count == 32 else { throw .malformedPin("\(digest.count) bytes in place of 32") }
        self.digest = Data(digest)
    }

    /// The pin of a text: the digest in Base64, alone or behind `sha256/`.
    ///
    /// - Throws: ``PinError/malformedPin(_:)`` unless it is the one text that 32 bytes have in Base64 (RFC 4648 §3.5).
    public init(_ text: String) throws(PinError) {
        let base64 = String(text.hasPrefix("sha256/") ? text.dropFirst(7) : text[...])
        // Foundation passes over bits behind the last byte and over padding that is too long, so a slip would go unseen.
        guard let digest = Data(base64Encoded: base64), digest.base64EncodedString() == base64 else {
            throw .malformedPin(text)
        }
        try self.init(digest: digest)
    }

    /// The pin of a key as a certificate holds it: the DER of its subject public key info.
    public init(ofKey info: some Sequence<UInt8>) {
        digest = SHA256.bytes(info)
    }

    /// The pin of the key of a certificate.
    ///
    /// - Parameter certificate: DER.
    /// - Returns: `nil` where the bytes are no certificate (RFC 5280 §4.1).
    public init?(ofCertificate certificate: Data) {
        guard let info = CertificateKey.info(in: certificate) else { return nil }
        self.init(ofKey: info)
    }
}

extension PublicKeyPin: CustomStringConvertible {
    /// `sha256/` and the digest in Base64, as ``init(_:)`` reads it.
    public var description: String { "sha256/\(digest.base64EncodedString())" }
}

/// Why pins were refused when they were made: an app that ships them would lock itself out, or would not be protected.
@nonexhaustive
public enum PinError: Error, Hashable, Sendable {
    /// The text, or the digest, is no SHA-256 digest.
    case malformedPin(String)
    /// It is no host: pins are for a name or an address, without scheme, port or wildcard.
    case malformedHost(String)
    /// There are fewer than two pins that differ. The second belongs to a key that is kept away from the server, so that the
    /// first can be replaced when it is lost (RFC 7469 §4.3).
    case noBackup(host: String)
    /// Two sets are for the same host.
    case hostPinnedTwice(String)
}

extension PinError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What is wrong, without the secrets of a text that was taken for a pin or a host.
    public var description: String {
        switch self {
        case .malformedPin(let text): "\(PrintableText.redacted(text)) is no pin: sha256/ and the digest in base64"
        case .malformedHost(let text):
            "\(PrintableText.redactedHost(text)) is no host: a name or an address, without scheme, port or wildcard"
        case .noBackup(let host):
            "the pins of \(PrintableText.redactedHost(host)) lack a second one, of a key that is kept in reserve"
        case .hostPinnedTwice(let host): "\(PrintableText.redactedHost(host)) has two sets of pins"
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["reason": description], displayStyle: .enum) }
}

/// The keys that may speak for a host. One of them must be the key of a certificate of the chain that was validated, whatever
/// else the server has sent.
///
/// ```swift
/// let pins = try PinSet(
///     "shop.example", includesSubdomains: true,
///     pins: ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256/K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols="],
///     expires: release.addingTimeInterval(365 * 86_400))
/// let shop = Service(.shop, "https://api.shop.example", options: .trust(try .system.pinned([pins])))
/// ```
public struct PinSet: Hashable, Sendable {
    /// What a chain without any of the pins leads to.
    public enum Mode: Hashable, Sendable {
        /// The connection is refused as ``TransportError/TLSFailure/pinMismatch``, and reported.
        case enforced
        /// It is reported, and goes on.
        case reportOnly
    }

    /// Lower case, without a trailing dot.
    public let host: String
    /// Whether the pins are for the names below the host as well.
    public let includesSubdomains: Bool
    /// The pins, at least two.
    public let pins: Set<PublicKeyPin>
    /// The moment from which on the pins are only reported on, so that an app that is no longer updated is not locked out; `nil` for never.
    public let expires: Date?
    /// What happens before ``expires``.
    public let mode: Mode

    /// Pins for a host.
    ///
    /// - Parameters:
    ///   - host: a name or an address; an IPv6 one without brackets.
    ///   - includesSubdomains: whether they are for the names below it as well; not by default.
    ///   - pins: two at least that differ, as ``PublicKeyPin/init(_:)`` reads them.
    ///   - expires: from when on they are only reported on; never by default.
    ///   - mode: enforced by default.
    /// - Throws: ``PinError``.
    public init(
        _ host: String, includesSubdomains: Bool = false, pins: [String], expires: Date? = nil, mode: Mode = .enforced
    ) throws(PinError) {
        var read: [PublicKeyPin] = []
        for text in pins { read.append(try PublicKeyPin(text)) }
        try self.init(host, includesSubdomains: includesSubdomains, keys: read, expires: expires, mode: mode)
    }

    /// Pins for a host as by ``init(_:includesSubdomains:pins:expires:mode:)``, with pins that were read already.
    ///
    /// - Throws: ``PinError``.
    public init(
        _ host: String, includesSubdomains: Bool = false, keys: [PublicKeyPin], expires: Date? = nil,
        mode: Mode = .enforced
    ) throws(PinError) {
        self.host = try Self.normalized(host)
        self.includesSubdomains = includesSubdomains
        self.pins = Set(keys)
        self.expires = expires
        self.mode = mode
        guard self.pins.count >= 2 else { throw .noBackup(host: host) }
    }

    /// Whether the pins are for a host: the same, or one below it where these are included. Letter case and one trailing dot
    /// make no difference.
    public func covers(_ host: String) -> Bool {
        let host = Self.canonical(host)
        return host == self.host || includesSubdomains && host.hasSuffix(".\(self.host)")
    }

    /// Whether a chain without any of the pins is refused at that date.
    public func isEnforced(at date: Date) -> Bool {
        mode == .enforced && (expires.map { date < $0 } ?? true)
    }

    /// The parser of URLs decides what a host is, so that no other reading of it can be pinned.
    private static func normalized(_ host: String) throws(PinError) -> String {
        let name = canonical(host)
        let authority = name.contains(":") ? "[\(name)]" : name
        guard !name.contains("*"), let url = try? HTTPURL("https://\(authority)/"), url.host == name, url.port == 443
        else { throw .malformedHost(host) }
        return name
    }

    static func canonical(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}

/// All pins of a policy, and what they say about a chain.
public struct PinList: Hashable, Sendable {
    /// No two of them for the same host.
    public let sets: [PinSet]

    /// No pins: every chain that is trusted is good.
    public static let none = PinList(unchecked: [])

    /// The pins of several hosts.
    ///
    /// - Throws: ``PinError/hostPinnedTwice(_:)``.
    public init(_ sets: [PinSet]) throws(PinError) {
        var hosts: Set<String> = []
        for set in sets where !hosts.insert(set.host).inserted { throw .hostPinnedTwice(set.host) }
        self.init(unchecked: sets)
    }

    private init(unchecked sets: [PinSet]) {
        self.sets = sets
    }

    /// Whether nothing is pinned.
    public var isEmpty: Bool { sets.isEmpty }

    /// The pins of a host: of all sets that cover it the one with the longest host, whether that has expired or not.
    public func set(for host: String) -> PinSet? {
        sets.filter { $0.covers(host) }.max { $0.host.utf8.count < $1.host.utf8.count }
    }

    /// What a chain means to a host's pins.
    ///
    /// - Parameters:
    ///   - chain: the pins of the certificates of the chain that was validated, not of those that the server sent.
    ///   - date: decides which sets have expired.
    public func verdict(on chain: [PublicKeyPin], for host: String, at date: Date) -> PinVerdict {
        guard let set = set(for: host) else { return .notPinned }
        if chain.contains(where: set.pins.contains) { return .matched }
        let report = PinReport(
            host: PinSet.canonical(host), set: set, chain: chain, date: date, isRefused: set.isEnforced(at: date))
        return report.isRefused ? .refused(report) : .reported(report)
    }
}

/// What pins say about a chain.
@nonexhaustive
public enum PinVerdict: Hashable, Sendable {
    /// Nothing: no set is for the host.
    case notPinned
    /// The chain has one of the pins.
    case matched
    /// It has none of them, and the connection goes on.
    case reported(PinReport)
    /// It has none of them, and the connection is refused.
    case refused(PinReport)
}
