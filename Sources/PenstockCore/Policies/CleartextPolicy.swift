/// Which hosts may be spoken to over plain `http`. By default none.
///
/// With URLSession on Apple's systems, App Transport Security has to allow it too: by `NSExceptionAllowsInsecureHTTPLoads` for the host in
/// the app's Info.plist, under `NSAppTransportSecurity` and `NSExceptionDomains`, or by `NSAllowsLocalNetworking` for local names.
/// Without it a request fails as ``TransportError/Kind/blocked(reason:)``.
public struct CleartextPolicy: Hashable, Sendable {
    private enum Rule: Hashable {
        case refused
        case hosts(Set<String>)
        case everywhere
    }

    private let rule: Rule
    private let allowsLoopback: Bool

    private init(_ rule: Rule, loopback: Bool = false) {
        self.rule = rule
        allowsLoopback = loopback
    }

    /// No host at all, this machine included. The default.
    public static let refused = CleartextPolicy(.refused)

    /// Only this machine: `localhost`, 127.0.0.0/8 and ::1. For embedded servers and tests. A proxy elsewhere would take these
    /// for its own machine, so that nothing in the clear goes through one.
    public static let loopback = CleartextPolicy(.refused, loopback: true)

    /// Every host. For tools whose user names the URL.
    public static let everywhere = CleartextPolicy(.everywhere, loopback: true)

    /// These hosts and no others, compared in lower case and whole.
    public static func hosts(_ hosts: Set<String>) -> CleartextPolicy {
        CleartextPolicy(.hosts(Set(hosts.map { $0.lowercased() })))
    }

    /// Whether a request may go to the URL: always over `https`, and over `http` where the host is one of those
    /// allowed.
    public func allows(_ url: HTTPURL) -> Bool {
        guard url.scheme == .http else { return true }
        if allowsLoopback, Self.isLoopback(url.host) { return true }
        return switch rule {
        case .refused: false
        case .hosts(let hosts): hosts.contains(url.host)
        case .everywhere: true
        }
    }

    /// Whether a request may go to the URL by a proxy, or by none. What stays on this machine may go no other way.
    func allows(_ url: HTTPURL, by proxy: ProxyPolicy) -> Bool {
        guard allows(url) else { return false }
        guard proxy != .none, url.scheme == .http, rule == .refused else { return true }
        return switch proxy.route {
        case .direct: true
        case .http(let origin): Self.isLoopback(origin.host)
        case .socks5(let host, _): Self.isLoopback(host.lowercased())
        }
    }

    /// Why what is not encrypted is refused, and what allows it.
    ///
    /// - Parameter traffic: what would go there.
    func refusal(of url: HTTPURL, _ traffic: String = "plain http") -> String {
        guard !allows(url) else {
            return """
                \(traffic) to \(url.host) is not allowed through a proxy on another machine, which takes \(url.host) for its own; \
                the option .proxy(.none) leads there
                """
        }
        let policy = Self.isLoopback(url.host) ? ".loopback" : ".hosts([\"\(url.host)\"])"
        return "\(traffic) to \(url.host) is not allowed; the option .cleartext(\(policy)) allows it"
    }

    /// The parser leaves only dotted quads as numbers, so a prefix decides.
    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || isLoopbackQuad(host)
    }

    private static func isLoopbackQuad(_ host: String) -> Bool {
        host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || $0 &- UInt8(ascii: "0") < 10 }
    }
}
