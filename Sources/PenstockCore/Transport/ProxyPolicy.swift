/// The way by which connections to an origin are made: directly, or through a proxy.
///
/// ```swift
/// let proxy = try HTTPURL("http://proxy.example.com:3128")
/// configuration.options.proxy = .http(proxy, credentials: .init(user: "me", password: word))
/// ```
///
/// The policy holds for every exchange of a call, those after a redirect included; nothing in the environment of the
/// process changes it. Connections of two policies are never shared, and credentials are a part of the policy. What a
/// proxy itself refuses is ``TransportError/Reachability/proxy`` or
/// ``TransportError/Reachability/proxyAuthentication``. A gateway status such as 502 that a proxy answers in place of
/// an `http` origin cannot be told from one of the origin's own, and is a response.
public struct ProxyPolicy: Hashable, Sendable {
    /// The way to an origin.
    @nonexhaustive
    public enum Route: Hashable, Sendable {
        /// The way to the origin itself.
        case direct
        /// The way through an HTTP proxy: a tunnel by `CONNECT` to an `https` origin (RFC 9110 §9.3.6), the absolute form of the
        /// request target for an `http` one (RFC 9112 §3.2.2).
        case http(HTTPURL.Origin)
        /// The way through a SOCKS 5 proxy (RFC 1928), which also looks the origin's name up.
        case socks5(host: String, port: Int)
    }

    /// The way that connections go, as ``none``, ``http(_:credentials:)`` or ``socks5(_:port:credentials:)`` made it.
    public let route: Route
    /// The credentials, sent to the proxy and to nobody else.
    public let credentials: ProxyCredentials?

    private init(_ route: Route, _ credentials: ProxyCredentials? = nil) {
        self.route = route
        self.credentials = credentials
    }

    /// No proxy, whatever the environment says.
    public static let none = ProxyPolicy(.direct)

    /// An HTTP proxy that is itself reached over plain `http`.
    ///
    /// - Parameters:
    ///   - proxy: where the proxy is; its path has no meaning.
    ///   - credentials: sent by the Basic scheme (RFC 7617), in the clear, with the first request already.
    public static func http(_ proxy: HTTPURL, credentials: ProxyCredentials? = nil) -> ProxyPolicy {
        ProxyPolicy(.http(proxy.origin), credentials)
    }

    /// A SOCKS 5 proxy.
    ///
    /// - Parameters:
    ///   - host: a name, or a numeric address; an IPv6 one without brackets.
    ///   - credentials: sent as RFC 1929 has it, in the clear; user and password have 255 bytes at most.
    public static func socks5(
        _ host: String, port: Int = 1_080, credentials: ProxyCredentials? = nil
    ) -> ProxyPolicy {
        ProxyPolicy(.socks5(host: host, port: port), credentials)
    }
}

/// A user's name and password at a proxy. Whatever prints them prints neither.
public struct ProxyCredentials: Hashable, Sendable {
    /// The name at the proxy; by the Basic scheme it can hold no colon (RFC 7617 §2).
    public let user: String
    /// The password at the proxy, in plain text.
    public let password: String

    /// Credentials as the proxy knows them.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public static func == (left: ProxyCredentials, right: ProxyCredentials) -> Bool {
        left.user.isWritten(as: right.user) && left.password.isWritten(as: right.password)
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { Redaction.mark }
    public var debugDescription: String { Redaction.mark }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
