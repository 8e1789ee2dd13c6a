import Foundation

/// An absolute `http` or `https` URL, parsed once and strictly (RFC 3986, RFC 9110 §4.2).
///
/// The one parse decides everything that is derived from it: the socket, the TLS server name, the `Host` field, the
/// cache key. A text that two parsers could read differently (user information, a backslash, an escape in the host, a
/// number that is not a dotted quad) is refused, where the URL Standard of browsers would repair many of them.
public struct HTTPURL: Hashable, Sendable {
    private let parts: Boxed<Parts>

    private struct Parts: Sendable {
        let origin: Origin
        let path: String
        let query: String?
        /// All of it: made once, as each call needs it more often than that.
        let text: String
    }

    /// Scheme, host and port.
    public var origin: Origin { parts.origin }
    /// The path with its percent-escapes; begins with `/`.
    public var path: String { parts.path }
    /// The query with its percent-escapes, without the `?`.
    public var query: String? { parts.query }

    /// The request target in origin form: path and query.
    public var target: String { Self.target(path, query) }

    /// The whole URL as text, without a fragment: ASCII, the port left out where it is the scheme's own.
    public var absoluteString: String { parts.text }

    /// `http` or `https`.
    public var scheme: Scheme { origin.scheme }
    /// Lower-case ASCII; an IPv6 address without its brackets, in the form of RFC 5952: one that holds an IPv4 address ends in
    /// a dotted quad (§5), as in `::ffff:192.0.2.1`, where browsers write `::ffff:c000:201`.
    public var host: String { origin.host }
    /// The port to connect to, from 1 to 65535: the scheme's own where the URL names none.
    public var port: Int { origin.port }

    package init(origin: Origin, path: String, query: String?) {
        let text = origin.text + Self.target(path, query)
        parts = Boxed(Parts(origin: origin, path: path, query: query, text: text))
    }

    static func target(_ path: String, _ query: String?) -> String {
        guard let query else { return path }
        return "\(path)?\(query)"
    }

    /// Parses an absolute URL. A fragment is dropped, as it is never sent. Characters that a URL may not hold, such as
    /// spaces and those beyond ASCII, are percent-encoded as UTF-8; an international host name becomes its ASCII form (UTS #46, strict with hyphens). On iOS 16, macOS 13, tvOS 16
    /// and watchOS 9 Foundation knows of no such form, and such a name is refused: write the ASCII form (`xn--…`) there.
    ///
    /// A `%` in the path or the query that does not begin an escape, which is two hexadecimal digits after it, is kept and sent as
    /// it is, as browsers do (URL Standard §4.4): a link or a redirect to `/100%` goes to `/100%`, which is another URL than
    /// `/100%25`. Foundation has no such URL, so `URLSessionTransport` refuses it before anything is sent, with
    /// ``APIError/Kind/unsupported(feature:)``. In a ``RoutePath`` such a `%` is escaped, so that no argument can complete it. In
    /// the host a `%` is refused.
    ///
    /// - Throws: what is wrong with the text.
    public init(_ text: String) throws(ParseError) {
        self = try HTTPURLParser.parse(text)
    }

    /// Resolves a URI reference, such as the value of `Location`, against this URL (RFC 3986 §5.2).
    public func resolving(_ reference: String) throws(ParseError) -> HTTPURL {
        try HTTPURLParser.resolve(reference, against: self)
    }
}

extension HTTPURL {
    /// Two URLs are equal when they are written alike.
    public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.parts.text == right.parts.text
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts.text)
    }
}

extension HTTPURL {
    /// The schemes that Penstock speaks (RFC 9110 §4.2).
    public enum Scheme: String, Hashable, Sendable {
        /// HTTP without TLS; refused unless a ``CleartextPolicy`` allows it for the host (RFC 9110 §4.2.1).
        case http
        /// HTTP over TLS (RFC 9110 §4.2.2).
        case https

        /// The port that a URL without one means: 80 for `http`, 443 for `https`.
        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// Scheme, host and port: what may share a connection and see the same credentials (RFC 9110 §4.3.1).
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// `http` or `https`.
        public let scheme: Scheme
        /// Lower-case ASCII; an IPv6 address without its brackets.
        public let host: String
        /// The port, from 1 to 65535; the scheme's own where the URL names none.
        public let port: Int
        /// The serialised form, for example `https://shop.example.com` or `http://[::1]:8080`.
        public let text: String

        package init(scheme: Scheme, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
            let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            text = "\(scheme.rawValue)://\(bracketed)" + (port == scheme.defaultPort ? "" : ":\(port)")
        }

        public var description: String { text }
    }

    /// Why a text is no URL that Penstock would connect to.
    @nonexhaustive
    public enum ParseError: Error, Hashable, Sendable {
        /// A control character or a backslash somewhere in the text, or a space before or behind it.
        case forbiddenCharacter
        /// No scheme, or no `//` after it.
        case notAbsolute
        /// A scheme other than `http` and `https`.
        case foreignScheme(String)
        /// `user:password@` before the host: credentials belong in a header.
        case userInformation
        /// Nothing stands where the host belongs, as in `https:///path`.
        case missingHost
        /// The host is no name, dotted quad or bracketed IPv6 address: a character or a label that names cannot have,
        /// more than 253 characters, a number in another form than a dotted quad, or an international name without an
        /// ASCII form.
        case invalidHost
        /// The port is no decimal number from 1 to 65535. An empty one, as in `https://a.example:/`, means the scheme's
        /// own.
        case invalidPort
    }
}

extension HTTPURL.ParseError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .forbiddenCharacter: "the URL holds a control character or a backslash, or a space before or behind it"
        case .notAbsolute: "the URL has no scheme"
        case .foreignScheme(let scheme): "the scheme \(String(reflecting: scheme)) is neither http nor https"
        case .userInformation: "the URL holds user information before its host"
        case .missingHost: "the URL has no host"
        case .invalidHost: "the URL's host is not valid"
        case .invalidPort: "the URL's port is not a number from 1 to 65535"
        }
    }
}

extension HTTPURL {
    /// Foundation's URL as Penstock reads it.
    ///
    /// - Throws: what is wrong with it: it is relative, or of another scheme than `http` and `https`, or holds user information.
    public init(_ url: URL) throws(ParseError) {
        try self.init(url.absoluteString)
    }
}

extension URL {
    /// The same URL, character by character, as Foundation has it.
    ///
    /// - Returns: `nil` for the few that Foundation does not take as they are.
    public init?(_ url: HTTPURL) {
        self.init(string: url.absoluteString)
        guard absoluteString == url.absoluteString else { return nil }
    }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL with its secret parameters redacted; ``absoluteString`` is the whole of it.
    public var description: String {
        let (path, query) = (RedactedText.make(of: path, byShape: false), query.map { Redaction.query($0) })
        // Nothing was replaced, as in most URLs: the text of those is at hand.
        if path == self.path, query == self.query { return absoluteString }
        return origin.text + Self.target(path, query)
    }

    /// Origin and path, the parameters of the path redacted.
    var place: String { origin.text + RedactedText.make(of: path, byShape: false) }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["url": description], displayStyle: .struct) }
}
