import Foundation

/// A numeric address of a host.
public struct HostAddress: Hashable, Sendable {
    /// A dotted quad, or an IPv6 address without brackets, in the one form that the system writes it in (RFC 5952).
    public let text: String
    /// The number of the interface that a link-local IPv6 address belongs to (RFC 4007 §11); 0 for any other address.
    package let zone: UInt32

    /// An address as a text has it.
    ///
    /// - Parameter text: a dotted quad of four decimal numbers, or an IPv6 address without brackets and zone.
    /// - Returns: `nil` where it is anything else: whatever a name server says is looked at before it is used.
    public init?(_ text: String) {
        guard !text.utf8.contains(0) else { return nil }
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.init(bytes: bytes)
                return
            }
        }
        return nil
    }

    /// An address of 4 or 16 bytes; `nil` of any other number of them.
    package init?(bytes: some Collection<UInt8>, zone: UInt32 = 0) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, Array(bytes), &text, socklen_t(text.count)) != nil
        else { return nil }
        self.init(trusted: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self), zone)
    }

    /// - Parameter text: as the system has written it.
    package init(trusted text: String, _ zone: UInt32 = 0) {
        (self.text, self.zone) = (text, zone)
    }

    /// Whether it has 16 bytes and not four.
    public var isIPv6: Bool { text.utf8.contains(UInt8(ascii: ":")) }
}

extension HostAddress: CustomStringConvertible {
    public var description: String { text }
}

/// What a source says of a name.
public struct HostAnswer: Hashable, Sendable {
    /// The best first; none where the name has none.
    public let addresses: [HostAddress]
    /// How long they may be used before the source is asked again; zero where it is to be asked each time.
    public let lifetime: Duration

    /// An answer.
    ///
    /// - Parameters:
    ///   - addresses: the best first.
    ///   - lifetime: how long they hold: what a name server calls the time to live. Zero, the default, where the source is to be
    ///     asked each time.
    public init(_ addresses: [HostAddress], lifetime: Duration = .zero) {
        self.addresses = addresses
        self.lifetime = max(.zero, lifetime)
    }
}

/// A source of the addresses of names: a list of the app's own, name servers over HTTPS, a provider's HTTPDNS.
///
/// ```swift
/// struct ProvidersNames: HostSource {
///     func answer(for host: String, port: Int) async throws -> HostAnswer? {
///         let reply = try await client.send(LookUp(host))
///         return HostAnswer(reply.ips.compactMap { HostAddress($0) }, lifetime: .seconds(reply.ttl))
///     }
/// }
/// ```
public protocol HostSource: Sendable {
    /// The addresses of a host.
    ///
    /// Only connections are made to them. What a URL, a `Host` field, a certificate, a cookie and a cache say stays the name.
    ///
    /// - Parameters:
    ///   - host: in ASCII and lower case; never a numeric address, nor `localhost` or a name below it.
    ///   - port: of the connection.
    /// - Returns: `nil` where it does not know the name, as an answer without an address: the next source is asked then.
    /// - Throws: anything: the next source is asked, and this one rests for a while; not for ``HostSourceError/unanswered(_:)``, which
    ///   is of this name alone.
    func answer(for host: String, port: Int) async throws -> HostAnswer?
}

/// Why no source is made of a list, or what a source has not answered.
@nonexhaustive
public enum HostSourceError: Error, Hashable, Sendable {
    /// The text is no host, or its port is none.
    case malformedHost(String)
    /// The text is no numeric address.
    case malformedAddress(String)
    /// The host has no address in the list.
    case noAddress(String)
    /// The source is well, and cannot say anything of this name at the moment, nor that it does not exist: a name server whose own
    /// question failed. The next source is asked, and the source is asked for other names as before.
    case unanswered(String)
}

extension HostSourceError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What is wrong, without the secrets of a text that was taken for a host or an address.
    public var description: String {
        switch self {
        case .malformedHost(let text): "\(PrintableText.redactedHost(text)) is no host, or its port is none"
        case .malformedAddress(let text): "\(PrintableText.redactedHost(text)) is no numeric address"
        case .noAddress(let host): "\(PrintableText.redactedHost(host)) has no address in the list"
        case .unanswered(let host): "nothing can be said of \(PrintableText.redactedHost(host)) at the moment"
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["reason": description], displayStyle: .enum) }
}

/// Names and their addresses, as the app has written them down. `localhost` is always this machine: of
/// its addresses in the list those of another one are left out.
///
/// ```swift
/// let hosts = try StaticHosts(["api.shop.example": ["203.0.113.7", "203.0.113.8"], "img.shop.example:8443": ["2001:db8::1"]])
/// ```
public struct StaticHosts: HostSource, Hashable {
    private let addresses: [String: [HostAddress]]

    /// A list.
    ///
    /// - Parameter list: addresses by host, for every port, or by host and port as `host:port`.
    /// - Throws: ``HostSourceError``.
    public init(_ list: [String: [String]]) throws(HostSourceError) {
        var addresses: [String: [HostAddress]] = [:]
        for (name, texts) in list {
            var found: [HostAddress] = []
            for text in texts {
                guard let address = HostAddress(text) else { throw .malformedAddress(text) }
                found.append(address)
            }
            guard !found.isEmpty else { throw .noAddress(name) }
            addresses[try Self.key(name), default: []] += found
        }
        self.addresses = addresses
    }

    public func answer(for host: String, port: Int) async -> HostAnswer? {
        addresses(of: host, port: port).map { HostAnswer($0) }
    }

    func addresses(of host: String, port: Int) -> [HostAddress]? {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return addresses["\(name):\(port)"] ?? addresses[name]
    }

    /// The parser of URLs decides what a host is. An origin leaves the default port of its scheme out.
    private static func key(_ name: String) throws(HostSourceError) -> String {
        let lowered = name.lowercased()
        guard let url = try? HTTPURL("http://\(lowered)/"), HostAddress(url.host) == nil, !url.host.hasSuffix("."),
            url.origin.text == "http://\(lowered)" || lowered == "\(url.host):80"
        else { throw .malformedHost(name) }
        return lowered
    }
}
