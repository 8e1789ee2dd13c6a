import Foundation

/// One cookie as a ``CookieJar`` keeps it (RFC 6265bis §5.7).
///
/// Its value is a credential as a rule, so it is in nothing that prints.
public struct Cookie: Sendable {
    /// No cookie is kept longer than this, in seconds: 400 days.
    private static let maximumAge: TimeInterval = 400 * 86_400

    /// Empty for a cookie that came without one. Such a cookie is sent as its value alone.
    public let name: String
    /// As the server wrote it, quotation marks included.
    public let value: String
    /// The host that set the cookie, and the only one that it is sent to.
    public let host: String
    /// What the `Domain` attribute asked for, in lower case and without its leading dot; `nil` where there was none. The
    /// cookie goes to its ``host`` alone all the same, because only a list of public suffixes could tell `co.uk` from
    /// `example.com`; but it is another cookie than one of the same name with another domain, or with none.
    public let domain: String?
    /// The cookie is sent to this path and what is below it. Without a `Path` attribute it is the folder of the request.
    public let path: String
    /// Whether the cookie is sent over https only.
    public let isSecure: Bool
    /// Whether the server asked that no script sees the cookie. Penstock runs none.
    public let isHTTPOnly: Bool
    /// When the cookie ends, at most 400 days after it was set; `nil` for one that ends with its jar.
    public let expiry: Date?

    /// Reads one `Set-Cookie` line.
    ///
    /// - Parameters:
    ///   - line: the value of one `Set-Cookie` field.
    ///   - url: what was asked for when the line came.
    ///   - now: what `Max-Age` counts from.
    /// - Returns: `nil` for a line that sets no cookie, or that RFC 6265bis refuses: a domain that the host is not in, a
    ///   `Secure` cookie over plain http, or a name that begins with `__Secure-` or `__Host-` and does not keep what that
    ///   promises. A cookie that is to be deleted is one whose ``expiry`` has passed.
    public init?(setCookie line: String, from url: HTTPURL, at now: Date) {
        guard let line = SetCookieLine(line) else { return nil }
        name = line.name
        value = line.value
        host = url.host
        domain = line.domain.isEmpty ? nil : line.domain
        path = line.path ?? Self.defaultPath(of: url)
        isSecure = line.isSecure
        isHTTPOnly = line.isHTTPOnly
        expiry = Self.expiry(line, now)
        if let domain, !Self.isHost(url.host, in: domain) { return nil }
        if isSecure, url.scheme == .http { return nil }
        guard keepsPromise(hasPath: line.path != nil) else { return nil }
    }

    /// Whether the cookie's time is over.
    public func isExpired(at now: Date) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    /// Whether the cookie goes with a request for `url` (RFC 6265bis §5.8.3). The port does not matter.
    public func isSent(to url: HTTPURL, at now: Date) -> Bool {
        url.host == host && !isExpired(at: now) && (!isSecure || url.scheme == .https)
            && Self.isPath(url.path, in: path)
    }

    /// How the cookie stands in a `Cookie` field.
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The name that a server finds when it reads ``pair``: a cookie without a name can pretend to have one.
    private var readName: Substring.UTF8View {
        name.isEmpty ? value.utf8.prefix { $0 != UInt8(ascii: "=") } : name.utf8[...]
    }

    /// Whether a later cookie with the same answers takes this one's place (RFC 6265bis §5.7, step 23).
    func isReplaced(by other: Cookie) -> Bool {
        name.utf8.elementsEqual(other.name.utf8) && domain == other.domain && path.utf8.elementsEqual(other.path.utf8)
            && host == other.host
    }

    /// Whether a server could take another cookie, which came over plain http, for this one, which is secure (RFC 6265bis
    /// §5.7, step 16). Both are of one host, so that the domain of one always matches that of the other.
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
    private static func isHost(_ host: String, in domain: String) -> Bool {
        if host == domain { return true }
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) || host.utf8.last.map { $0 &- 0x30 < 10 } ?? false
        return !isAddress && host.hasSuffix(".\(domain)")
    }

    /// Whether a path is another one or below it (RFC 6265bis §5.1.4).
    private static func isPath(_ path: String, in folder: String) -> Bool {
        guard path.utf8.starts(with: folder.utf8) else { return false }
        let slash = UInt8(ascii: "/")
        return path.utf8.count == folder.utf8.count || folder.utf8.last == slash
            || path.utf8.dropFirst(folder.utf8.count).first == slash
    }

    /// What the prefixes of names promise (RFC 6265bis §4.1.3). A server reads them without regard to who wrote them, so
    /// a value without a name may not begin with one either.
    private func keepsPromise(hasPath: Bool) -> Bool {
        let isHost = hasPrefix("__host-")
        guard isHost || hasPrefix("__secure-") else { return true }
        guard !name.isEmpty, isSecure else { return false }
        return !isHost || hasPath && path == "/" && domain == nil
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
