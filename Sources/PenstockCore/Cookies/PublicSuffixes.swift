import Foundation

/// Knows the domains under which everybody may register a name, such as `com`, `co.uk` and `github.io`. A server of one of
/// them may set no cookie for all of it (RFC 6265bis §5.7), since its neighbours are strangers.
///
/// The list is kept at <https://publicsuffix.org>. `SystemPublicSuffixes` asks the system's on Linux, and on Apple's systems
/// the one that comes with the package; a ``PublicSuffixList`` reads a newer file that an app brings along.
public protocol PublicSuffixes: Sendable {
    /// Whether a domain is a public suffix. Domains that no rule is about are, if they have a single label; and those are whose
    /// subdomains are by a wildcard, such as `kobe.jp` by `*.kobe.jp`.
    ///
    /// - Parameter domain: lower-case ASCII, without a dot at its end.
    func isPublicSuffix(_ domain: String) -> Bool
}

extension PublicSuffixes {
    /// The part of a host that somebody has registered: its public suffix and one label more.
    ///
    /// - Parameter host: ASCII, in letters of either case.
    /// - Returns: in lower case; `nil` for a host that is a public suffix itself, and for what begins with a dot, which is no host.
    public func registrableDomain(of host: String) -> String? {
        guard host.utf8.first != UInt8(ascii: ".") else { return nil }
        var registrable: String?
        for domain in DomainNames(of: host.lowercased()) {
            if isPublic(domain) { return registrable }
            registrable = domain
        }
        return nil
    }

    /// Whether a name is a public suffix: a dot at its end makes another host of it, and no other domain (RFC 1034 §3.1).
    private func isPublic(_ name: String) -> Bool {
        isPublicSuffix(name.utf8.last == UInt8(ascii: ".") ? String(name.dropLast()) : name)
    }
}

/// A host and every domain it is below, the longest first: `a.b.example`, `b.example`, `example`.
struct DomainNames: Sequence, IteratorProtocol {
    private var rest: Substring?

    init(of host: String) {
        rest = host[...]
    }

    mutating func next() -> String? {
        guard let name = rest else { return nil }
        rest = name.utf8.firstIndex(of: UInt8(ascii: ".")).map { name[name.utf8.index(after: $0)...] }
        return String(name)
    }
}

/// The public suffix list, read from its text as <https://publicsuffix.org/list/public_suffix_list.dat> has it.
///
/// ```swift
/// let list = PublicSuffixList(try String(contentsOf: file, encoding: .utf8))
/// configuration.cookies = MemoryCookieStore(suffixes: list)
/// ```
public struct PublicSuffixList: PublicSuffixes {
    private var rules: Set<String> = []
    /// `ck` for the rule `*.ck`.
    private var wildcards: Set<String> = []
    /// `www.ck` for the rule `!www.ck`.
    private var exceptions: Set<String> = []

    /// Reads the list, private domains included. A line that is no rule is passed over.
    ///
    /// - Returns: `nil` for a text without a rule: it is some other file, by which hardly any domain would be public.
    public init?(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let rule = line.split(whereSeparator: \.isWhitespace).first, !rule.hasPrefix("//") else { continue }
            take(rule)
        }
        if rules.isEmpty { return nil }
    }

    private mutating func take(_ rule: Substring) {
        if rule.hasPrefix("*.") {
            if let name = Self.ascii(rule.dropFirst(2)) { wildcards.insert(name) }
        } else if rule.hasPrefix("!") {
            if let name = Self.ascii(rule.dropFirst()) { exceptions.insert(name) }
        } else if let name = Self.ascii(rule) {
            rules.insert(name)
        }
    }

    /// The form that hosts have in URLs, by the same reader.
    private static func ascii(_ name: Substring) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
        return try? HTTPURL("https://\(name)/").host
    }

    public func isPublicSuffix(_ domain: String) -> Bool {
        if exceptions.contains(domain) { return false }
        if rules.contains(domain) || wildcards.contains(domain) { return true }
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        return wildcards.contains(String(domain[domain.utf8.index(after: dot)...]))
    }
}

extension PublicSuffixList: CustomStringConvertible {
    /// How many rules there are.
    public var description: String { "\(rules.count + wildcards.count + exceptions.count) public suffixes" }
}
