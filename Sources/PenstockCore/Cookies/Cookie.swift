import Foundation

/// One cookie as a ``CookieJar`` keeps it (RFC 6265bis §5.7).
///
/// Its value is a credential as a rule, so it is in nothing that prints.
public struct Cookie: Hashable, Sendable {
    /// No cookie is kept longer than this, in seconds: 400 days.
    private static let maximumAge: TimeInterval = 400 * 86_400

    /// Empty for a cookie that came without one. Such a cookie is sent as its value alone.
    public let name: String
    /// The value as the server wrote it, quotation marks included.
    public let value: String
    /// The host that set the cookie.
    public let host: String
    /// What the `Domain` attribute asked for, in lower case and without its leading dot; `nil` where there was none, or where
    /// a public suffix asked for itself.
    public let domain: String?
    /// Whether the cookie goes to its ``host`` alone, and not to all that is below its ``domain``. So does one that has no
    /// domain, one of an address, and every one where no ``PublicSuffixes`` tell `co.uk` from `example.com`; the last is
    /// another cookie all the same than one of its name with another domain, or with none.
    public let isHostOnly: Bool
    /// The cookie is sent to this path and what is below it. Without a `Path` attribute it is the folder of the request.
    public let path: String
    /// Whether the cookie is sent over https only.
    public let isSecure: Bool
    /// Whether the server asked that no script sees the cookie. Penstock runs none.
    public let isHTTPOnly: Bool
    /// Whether the cookie goes along where a redirect leads from another site to its own.
    public let sameSite: SameSite
    /// When the cookie ends, at most 400 days after it was set; `nil` for one that ends with its jar.
    public let expiry: Date?

    /// What the `SameSite` attribute asks for (RFC 6265bis §5.6.7).
    @nonexhaustive
    public enum SameSite: String, Hashable, Sendable {
        /// The cookie is not sent where a redirect comes from another site.
        case strict
        /// The cookie is sent there by methods that are safe, such as `GET`, alone.
        case lax
        /// The cookie is sent there too. This is taken from cookies alone that are `Secure`, as browsers do.
        case none
        /// Nothing that is known. As ``lax``.
        case unspecified
    }

    /// Reads one `Set-Cookie` line.
    ///
    /// - Parameters:
    ///   - line: the value of one `Set-Cookie` field.
    ///   - url: what was asked for when the line came.
    ///   - now: what `Max-Age` counts from.
    ///   - suffixes: tell for which domains a host may set cookies. Without them, as by default, for itself alone.
    /// - Returns: `nil` for a line that sets no cookie, or that RFC 6265bis refuses: a domain that the host is not in or that
    ///   is a public suffix, a `Secure` cookie over plain http, `SameSite=None` without `Secure`, or a name that begins with
    ///   `__Secure-` or `__Host-` and does not keep what that promises. Refused too, as in browsers, is one whose name begins with
    ///   `__Http-` or `__Host-Http-` and that is not `Secure` and `HttpOnly`, and
    ///   a domain that a public suffix of the host is in: that of a host below `s3.example` cannot be `example`. So is a line
    ///   with U+FFFD, which stands for bytes that are no UTF-8: the cookie could not go back as it came. A cookie that
    ///   is to be deleted is one whose ``expiry`` has passed.
    public init?(
        setCookie line: String, from url: HTTPURL, at now: Date, suffixes: (any PublicSuffixes)? = nil
    ) {
        guard let line = SetCookieLine(line) else { return nil }
        name = line.name
        value = line.value
        host = url.host
        let isPublic = !Self.isAddress(line.domain) && suffixes?.isPublicSuffix(line.domain) ?? false
        domain = line.domain.isEmpty || isPublic && line.domain == url.host ? nil : line.domain
        isHostOnly = domain == nil || suffixes == nil || Self.isAddress(url.host)
        path = line.path ?? Self.defaultPath(of: url)
        isSecure = line.isSecure
        isHTTPOnly = line.isHTTPOnly
        sameSite = line.sameSite
        expiry = Self.expiry(line, now)
        if let domain, isPublic || !Self.isHost(url.host, in: domain) { return nil }
        if let domain, let suffixes, Self.isBeyondSuffix(domain, of: url.host, suffixes) { return nil }
        if isSecure ? url.scheme == .http : sameSite == .none { return nil }
        guard keepsPromise(hasPath: line.hasPath) else { return nil }
    }

    /// Whether the cookie's time is over.
    public func isExpired(at now: Date) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    /// Whether the cookie goes with a request for `url` that the app itself makes (RFC 6265bis §5.8.3). The port does not
    /// matter.
    public func isSent(to url: HTTPURL, at now: Date) -> Bool {
        (isHostOnly ? url.host == host : Self.isHost(url.host, in: scope)) && !isExpired(at: now)
            && (!isSecure || url.scheme == .https) && Self.isPath(url.path, in: path)
    }

    /// The host that it is sent to, or the domain whose hosts it is sent to.
    var scope: String { isHostOnly ? host : domain ?? host }

    /// How the cookie stands in a `Cookie` field.
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The name that a server finds when it reads ``pair``: a cookie without a name can pretend to have one.
    private var readName: Substring.UTF8View {
        name.isEmpty ? value.utf8.prefix { $0 != UInt8(ascii: "=") } : name.utf8[...]
    }

    /// Whether a later cookie with the same answers takes this one's place (RFC 6265bis §5.7, step 23).
    func isReplaced(by other: Cookie) -> Bool {
        name.utf8.elementsEqual(other.name.utf8) && domain == other.domain && path.utf8.elementsEqual(other.path.utf8)
            && isHostOnly == other.isHostOnly && scope == other.scope
    }

    /// Whether a server could take another cookie, which came over plain http, for this one, which is secure (RFC 6265bis
    /// §5.7, step 16). The two are of scopes of which one is in the other.
    func isShadowed(by other: Cookie) -> Bool {
        isSecure && readName.elementsEqual(other.readName) && Self.isPath(other.path, in: path)
    }

    // MARK: The rules

    /// `Max-Age` wins over `Expires`, whichever comes first.
    private static func expiry(_ line: SetCookieLine, _ now: Date) -> Date? {
        if let age = line.maxAge { return age <= 0 ? .distantPast : now + min(TimeInterval(age), maximumAge) }
        return line.expires.map { min($0, now + maximumAge) }
    }

    /// Whether a host is a domain or below it (RFC 6265bis §5.1.3). An address is below nothing.
    static func isHost(_ host: String, in domain: String) -> Bool {
        let (host, domain) = (host.utf8, domain.utf8)
        guard host.count > domain.count else { return host.elementsEqual(domain) }
        let rest = host.dropLast(domain.count)
        return rest.last == UInt8(ascii: ".") && host.suffix(domain.count).elementsEqual(domain)
            && !isAddress(host)
    }

    /// Whether a public suffix stands between a host and a domain that it is in, as `s3.example` does between `me.s3.example` and
    /// `example`: then the domain has hosts of strangers as well, though it is no public suffix itself.
    private static func isBeyondSuffix(_ domain: String, of host: String, _ suffixes: any PublicSuffixes) -> Bool {
        !isAddress(host) && DomainNames(of: host).prefix { $0 != domain }.contains { suffixes.isPublicSuffix($0) }
    }

    /// The last label of a host's name is no number, as that of an IPv4 address is.
    static func isAddress(_ host: String) -> Bool { isAddress(host.utf8) }

    private static func isAddress(_ host: String.UTF8View) -> Bool {
        host.contains(UInt8(ascii: ":"))
            || host.reversed().prefix { $0 != UInt8(ascii: ".") }.allSatisfy { $0 &- 0x30 < 10 }
    }

    /// Whether a path is another one or below it (RFC 6265bis §5.1.4).
    private static func isPath(_ path: String, in folder: String) -> Bool {
        guard path.utf8.starts(with: folder.utf8) else { return false }
        let slash = UInt8(ascii: "/")
        return path.utf8.count == folder.utf8.count || folder.utf8.last == slash
            || path.utf8.dropFirst(folder.utf8.count).first == slash
    }

    /// What the prefixes of names promise (RFC 6265bis §5.7, steps 20 to 22; those with `Http` are of its successor,
    /// draft-ietf-httpbis-layered-cookies, and in browsers). A server cannot tell a value without a name from a name, so that
    /// one may not begin with a prefix at all. A `Path` that cannot be read stands for the folder of the request, and that may
    /// be `/`.
    private func keepsPromise(hasPath: Bool) -> Bool {
        let isForHost = hasPrefix("__host-")
        let isForHTTP = hasPrefix("__http-") || hasPrefix("__host-http-")
        guard isForHost || isForHTTP || hasPrefix("__secure-") else { return true }
        guard !name.isEmpty, isSecure, isHTTPOnly || !isForHTTP else { return false }
        return !isForHost || hasPath && path == "/" && domain == nil
    }

    private func hasPrefix(_ prefix: String) -> Bool {
        let text = name.isEmpty ? value : name
        return text.utf8.prefix(prefix.utf8.count).map(HTTPSyntax.lowercased).elementsEqual(prefix.utf8)
    }

    private static func defaultPath(of url: HTTPURL) -> String {
        guard let slash = url.path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != url.path.startIndex else {
            return "/"
        }
        return String(url.path[..<slash])
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name, host and path.
    public var description: String { "\(name)=\(Redaction.mark) for \(host)\(Redaction.text(path))" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["cookie": description], displayStyle: .struct) }
}
