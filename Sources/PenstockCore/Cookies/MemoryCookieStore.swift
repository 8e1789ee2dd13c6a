import Foundation

/// Keeps cookies in memory, by the rules of RFC 6265 §5, made narrower where it is lax.
///
/// A cookie goes only to the host that set it: one that asks for a wider domain is kept for that host alone, because
/// only a list of public suffixes could tell `co.uk` from `example.com`. `Secure` is accepted and sent over https only.
/// At most 50 cookies a host, 4,096 bytes each, and 400 days of age; the oldest goes first.
public final class MemoryCookieStore: CookieStore {
    private let jar = Locked<[Key: [Cookie]]>([:])
    private let time: TimeSource

    private struct Key: Hashable {
        let host: String
        let partition: ConnectionPartition
    }

    public init(time: TimeSource = .system) {
        self.time = time
    }

    public func field(for url: HTTPURL, in partition: ConnectionPartition) -> String? {
        let now = time.date()
        let matching = jar.withLock { jar in
            jar[Key(host: url.host, partition: partition)]?.filter { $0.isSent(to: url, at: now) } ?? []
        }
        guard !matching.isEmpty else { return nil }
        // Longer paths first, and in the order they came (RFC 6265 §5.4).
        let sorted = matching.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    public func receive(_ setCookie: [String], from url: HTTPURL, in partition: ConnectionPartition) {
        let now = time.date()
        let cookies = setCookie.compactMap { Cookie($0, from: url, at: now) }
        let key = Key(host: url.host, partition: partition)
        jar.withLock { jar in
            var kept = jar[key] ?? []
            for cookie in cookies {
                kept.removeAll { $0.name == cookie.name && $0.path == cookie.path }
                if !cookie.isExpired(at: now) { kept.append(cookie) }
            }
            jar[key] = kept.suffix(Cookie.maximumCount)
        }
    }

    public func removeAll(in partition: ConnectionPartition?) {
        jar.withLock { jar in
            guard let partition else { return jar = [:] }
            jar = jar.filter { $0.key.partition != partition }
        }
    }

    public func removeAll(ofIdentity identity: String) {
        jar.withLock { jar in jar = jar.filter { $0.key.partition.identity != identity } }
    }
}

/// One cookie as a store keeps it.
struct Cookie: Sendable {
    static let maximumCount = 50
    private static let maximumBytes = 4_096
    private static let maximumAge: TimeInterval = 400 * 86_400

    let name: String
    let value: String
    private(set) var path: String
    private var isSecure = false
    private var expiry: Date?
    private var maxAge: Int?
    private var domain = ""

    /// `nil` for a line that sets no cookie, or one that must not be kept (RFC 6265 §5.2).
    init?(_ line: String, from url: HTTPURL, at now: Date) {
        guard line.utf8.count <= Self.maximumBytes, HTTPSyntax.isFieldValue(line) else { return nil }
        let parts = line.split(separator: ";", omittingEmptySubsequences: false).map { HTTPSyntax.trimmed(String($0)) }
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        name = HTTPSyntax.trimmed(String(pair[..<equals]))
        value = HTTPSyntax.trimmed(String(pair[pair.index(after: equals)...]))
        path = Self.defaultPath(of: url)
        guard HTTPSyntax.isToken(name) else { return nil }
        for part in parts.dropFirst() { apply(part, now) }
        if isForeign(to: url.host) { return nil }
        if isSecure, url.scheme == .http { return nil }
        guard keepsPrefixPromise(url) else { return nil }
    }

    func isSent(to url: HTTPURL, at now: Date) -> Bool {
        !isExpired(at: now) && (!isSecure || url.scheme == .https) && pathMatches(url.path)
    }

    func isExpired(at now: Date) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    /// `Max-Age` wins over `Expires`, whichever comes first.
    private mutating func apply(_ attribute: String, _ now: Date) {
        let pair = attribute.split(separator: "=", maxSplits: 1).map { HTTPSyntax.trimmed(String($0)) }
        let argument = pair.count == 2 ? pair[1] : ""
        switch pair.first?.lowercased() {
        case "secure": isSecure = true
        case "path": if argument.hasPrefix("/") { path = argument }
        case "domain": domain = String(argument.trimmingPrefix(".")).lowercased()
        case "max-age": setAge(argument, now)
        case "expires":
            if maxAge == nil, let date = HTTPDate.parseOfCookie(argument) { expiry = min(date, now + Self.maximumAge) }
        default: break
        }
    }

    private mutating func setAge(_ text: String, _ now: Date) {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return }
        let age = text.hasPrefix("-") ? 0 : Int(digits) ?? Int.max
        maxAge = age
        expiry = age == 0 ? .distantPast : now + min(TimeInterval(age), Self.maximumAge)
    }

    /// Whether it asks for a domain that the host is not in (RFC 6265 §5.3, step 6).
    private func isForeign(to host: String) -> Bool {
        !domain.isEmpty && host != domain && !host.hasSuffix(".\(domain)")
    }

    /// `__Secure-` and `__Host-` names promise how they were set (RFC 6265bis §4.1.3).
    private func keepsPrefixPromise(_ url: HTTPURL) -> Bool {
        let lower = name.lowercased()
        if lower.hasPrefix("__host-") { return isSecure && path == "/" && domain.isEmpty }
        return !lower.hasPrefix("__secure-") || isSecure
    }

    private func pathMatches(_ requestPath: String) -> Bool {
        guard requestPath.hasPrefix(path) else { return false }
        return requestPath.utf8.count == path.utf8.count || path.hasSuffix("/")
            || requestPath.dropFirst(path.count).hasPrefix("/")
    }

    private static func defaultPath(of url: HTTPURL) -> String {
        guard let slash = url.path.lastIndex(of: "/"), slash != url.path.startIndex else { return "/" }
        return String(url.path[..<slash])
    }
}
