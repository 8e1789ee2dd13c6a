import Foundation

/// The cookies of one user, by the rules of RFC 6265bis, made narrower where it needs a list of public suffixes.
///
/// - A cookie goes only to the host that set it, whatever `Domain` asked for.
/// - It goes to **every port** of that host, and one without `Secure` goes over **http as well as https**, whichever it was
///   set over: cookies know neither ports nor schemes (RFC 6265bis §8.5 and §8.6).
/// - What comes over plain http neither replaces a `Secure` cookie of its name nor puts any `Secure` cookie out.
/// - There is room for ``Limits-swift.struct/perHost`` cookies of a host and ``Limits-swift.struct/total`` of all hosts. Those
///   that have expired go first, then those without `Secure`, and of either kind those that were not sent for longest.
/// - Nothing is kept longer than 400 days.
///
/// A jar is a value: a copy is a snapshot.
public struct CookieJar: Sendable {
    /// How much a jar holds.
    public struct Limits: Hashable, Sendable {
        /// Cookies of one host. 50 by default, as RFC 6265bis §6.1 asks for at least.
        public var perHost: Int
        /// Cookies of all hosts together. 3,000 by default, likewise. A sixteenth of them goes when there is one too many,
        /// so that room is not made for each cookie anew.
        public var total: Int

        /// The defaults, but for what is named.
        ///
        /// - Parameters:
        ///   - perHost: cookies of one host. 50 by default.
        ///   - total: cookies of all hosts together. 3,000 by default.
        public init(perHost: Int = 50, total: Int = 3_000) {
            self.perHost = perHost
            self.total = total
        }
    }

    private struct Entry {
        var cookie: Cookie
        /// Larger for what was set or sent later; no two are the same.
        var lastUse: UInt64
    }

    /// How much the jar holds.
    public let limits: Limits
    /// How many cookies there are, expired ones that nothing has removed yet included.
    public private(set) var count = 0
    /// Of each host that has any, in the order they were first set.
    private var hosts: [String: [Entry]] = [:]
    private var uses: UInt64 = 0

    /// An empty jar.
    public init(limits: Limits = .init()) {
        self.limits = limits
    }

    /// Whether there is no cookie at all, not even one that has expired.
    public var isEmpty: Bool { count == 0 }

    /// All cookies: those of one host in the order they were first set, and hosts in the order of their names.
    public var cookies: [Cookie] {
        hosts.keys.sorted().flatMap { hosts[$0]?.map(\.cookie) ?? [] }
    }

    // MARK: Sending

    /// The value of a `Cookie` field for a request: cookies with longer paths first, and of one length in the order they
    /// were first set (RFC 6265bis §5.8.3).
    ///
    /// - Returns: `nil` where there is no cookie for it.
    public mutating func field(for url: HTTPURL, at now: Date) -> String? {
        guard let host = hosts.index(forKey: url.host) else { return nil }
        var sent: [Cookie] = []
        for index in hosts.values[host].indices where hosts.values[host][index].cookie.isSent(to: url, at: now) {
            uses += 1
            hosts.values[host][index].lastUse = uses
            sent.append(hosts.values[host][index].cookie)
        }
        guard !sent.isEmpty else { return nil }
        let sorted = sent.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        return sorted.map(\.element.pair).joined(separator: "; ")
    }

    // MARK: Receiving

    /// Takes the values of the `Set-Cookie` fields of a response.
    ///
    /// - Parameters:
    ///   - lines: one field each. A line that cannot be kept is passed over.
    ///   - url: what was asked for.
    public mutating func receive(_ lines: [String], from url: HTTPURL, at now: Date) {
        let usesBefore = uses
        var kept = hosts.removeValue(forKey: url.host) ?? []
        count -= kept.count
        kept.removeAll { $0.cookie.isExpired(at: now) }
        for line in lines {
            guard let cookie = Cookie(setCookie: line, from: url, at: now) else { continue }
            if url.scheme == .http, kept.contains(where: { $0.cookie.isShadowed(by: cookie) }) { continue }
            put(cookie, in: &kept, overTLS: url.scheme == .https, at: now)
        }
        count += kept.count
        if !kept.isEmpty { hosts[url.host] = kept }
        if count > limits.total {
            removeExpired(at: now)
            makeRoom(for: url.scheme == .https ? .tls(since: usesBefore) : .plain)
        }
    }

    /// Lets go of what has expired. It is never sent, but held until this is called, its host sets cookies again, or the
    /// jar is full.
    public mutating func removeExpired(at now: Date) {
        hosts = hosts.compactMapValues { entries in
            let rest = entries.filter { !$0.cookie.isExpired(at: now) }
            return rest.isEmpty ? nil : rest
        }
        count = hosts.values.reduce(0) { $0 + $1.count }
    }

    private mutating func put(_ cookie: Cookie, in kept: inout [Entry], overTLS: Bool, at now: Date) {
        let old = kept.firstIndex { $0.cookie.isReplaced(by: cookie) }
        guard !cookie.isExpired(at: now) else {
            if let old { kept.remove(at: old) }
            return
        }
        uses += 1
        let entry = Entry(cookie: cookie, lastUse: uses)
        // A cookie that replaces another keeps its place in the order.
        if let old { return kept[old] = entry }
        kept.append(entry)
        guard kept.count > limits.perHost else { return }
        let arrival = overTLS ? Arrival.tls(since: uses - 1) : .plain
        let victim = kept.indices.filter { arrival.mayPutOut(kept[$0]) }
            .min { arrival.rank(kept[$0]) < arrival.rank(kept[$1]) }
        kept.remove(at: victim ?? kept.endIndex - 1)
    }

    /// How what needs room has come.
    private enum Arrival {
        case plain
        /// With what the uses were before it came.
        case tls(since: UInt64)

        func mayPutOut(_ entry: Entry) -> Bool {
            if case .plain = self { !entry.cookie.isSecure } else { true }
        }

        /// The smallest goes first: what has just come over TLS last of all.
        func rank(_ entry: Entry) -> (Int, UInt64) {
            if case .tls(let uses) = self, entry.lastUse > uses { return (2, entry.lastUse) }
            return (entry.cookie.isSecure ? 1 : 0, entry.lastUse)
        }
    }

    private mutating func makeRoom(for arrival: Arrival) {
        let room = max(limits.total, 0)
        guard count > room else { return }
        let victims = hosts.values.joined().filter(arrival.mayPutOut).map(arrival.rank).sorted(by: <)
            .prefix(count - room + room / 16).map(\.1)
        let out = Set(victims)
        hosts = hosts.compactMapValues { entries in
            let rest = entries.filter { !out.contains($0.lastUse) }
            return rest.isEmpty ? nil : rest
        }
        count -= out.count
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many cookies of how many hosts there are.
    public var description: String { "\(count) cookies of \(hosts.count) hosts" }

    public var debugDescription: String { description }

    /// Without any value of a cookie.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: cookies, displayStyle: .collection) }
}
