import Foundation

/// The cookies of one user, by the rules of RFC 6265bis.
///
/// - A cookie goes to the host that set it or, where ``PublicSuffixes`` are given, to every host of the domain that it asks
///   for. Without them it goes to its host alone, whatever `Domain` asks for.
/// - It goes to **every port** of that host, and one without `Secure` goes over **http as well as https**, whichever it was
///   set over: cookies know neither ports nor schemes (RFC 6265bis §8.5 and §8.6).
/// - What comes over plain http neither replaces a `Secure` cookie of its name nor puts any `Secure` cookie out.
/// - There is room for ``Limits-swift.struct/perHost`` cookies of a host or domain and ``Limits-swift.struct/total`` of all.
///   Those that have expired go first, then those without `Secure`, and of either kind those that were not sent for longest.
/// - Nothing is kept longer than 400 days.
///
/// ```swift
/// var jar = CookieJar(suffixes: PlatformPublicSuffixes.list)
/// jar.receive(["sid=1; Domain=example.com; Secure"], from: url, at: .now)
/// let field = jar.field(for: another, at: .now)
/// ```
///
/// A jar is a value: a copy is a snapshot.
public struct CookieJar: Sendable {
    /// How much a jar holds.
    public struct Limits: Hashable, Sendable {
        /// Cookies of one host, and of one domain. 50 by default, as RFC 6265bis §6.1 asks for at least.
        public var perHost: Int
        /// Cookies of all hosts together. 3,000 by default, likewise. A sixteenth of them goes when there is one too many,
        /// so that room is not made for each cookie anew.
        public var total: Int

        /// The defaults, but for what is named.
        ///
        /// - Parameters:
        ///   - perHost: cookies of one host, and of one domain. 50 by default.
        ///   - total: cookies of all hosts together. 3,000 by default.
        public init(perHost: Int = 50, total: Int = 3_000) {
            self.perHost = perHost
            self.total = total
        }
    }

    private struct Entry {
        var cookie: Cookie
        /// A number that is larger for what was first set later; no two are the same.
        var creation: UInt64
        /// A number that is larger for what was set or sent later; no two are the same.
        var lastUse: UInt64

        /// The smallest goes first when there is no room, whatever has just come (RFC 6265bis §5.7).
        var rank: (Int, UInt64) { (cookie.isSecure ? 1 : 0, lastUse) }
    }

    /// How much the jar holds.
    public let limits: Limits
    /// The rules of which domains a host may set cookies for; `nil` where nobody can tell.
    public let suffixes: (any PublicSuffixes)?
    /// How many cookies there are, expired ones that nothing has removed yet included.
    public private(set) var count = 0
    /// The cookies of each host and domain that has any, by ``Cookie/scope``, in the order they were first set.
    private var scopes: [String: [Entry]] = [:]
    private var uses: UInt64 = 0

    /// An empty jar.
    ///
    /// - Parameters:
    ///   - limits: 50 cookies a host and 3,000 in all by default.
    ///   - suffixes: tell for which domains a host may set cookies. With `nil` each goes to its host alone, which is less than
    ///     RFC 6265bis grants; so there is no default.
    public init(limits: Limits = .init(), suffixes: (any PublicSuffixes)?) {
        self.limits = limits
        self.suffixes = suffixes
    }

    /// Whether there is no cookie at all, not even one that has expired.
    public var isEmpty: Bool { count == 0 }

    /// All cookies: those of one host or domain in the order they were first set, and these in the order of their names.
    public var cookies: [Cookie] {
        scopes.keys.sorted().flatMap { scopes[$0]?.map(\.cookie) ?? [] }
    }

    /// All cookies in the order they were first set, as a jar that receives them again has them.
    var cookiesByAge: [Cookie] {
        scopes.values.joined().sorted { $0.creation < $1.creation }.map(\.cookie)
    }

    /// What cookies a host may be sent can be filed under.
    private func possibleScopes(of host: String) -> [String] {
        suffixes == nil ? [host] : Array(DomainNames(of: host))
    }

    // MARK: Sending

    /// The value of a `Cookie` field for a request that the app itself makes.
    ///
    /// - Returns: `nil` where there is no cookie for it.
    public mutating func field(for url: HTTPURL, at now: Date) -> String? {
        field(for: CookieQuery(url), at: now)
    }

    /// The value of a `Cookie` field for a request: cookies with longer paths first, and of one length in the order they
    /// were first set (RFC 6265bis §5.8.3).
    ///
    /// - Returns: `nil` where there is no cookie for it.
    public mutating func field(for query: CookieQuery, at now: Date) -> String? {
        var sent: [Entry] = []
        for scope in possibleScopes(of: query.url.host) {
            guard let entries = scopes.index(forKey: scope) else { continue }
            for index in scopes.values[entries].indices {
                let cookie = scopes.values[entries][index].cookie
                guard cookie.isSent(to: query.url, at: now), query.allows(cookie.sameSite, by: suffixes) else {
                    continue
                }
                uses += 1
                scopes.values[entries][index].lastUse = uses
                sent.append(scopes.values[entries][index])
            }
        }
        guard !sent.isEmpty else { return nil }
        let sorted = sent.sorted {
            ($1.cookie.path.utf8.count, $0.creation) < ($0.cookie.path.utf8.count, $1.creation)
        }
        return sorted.map(\.cookie.pair).joined(separator: "; ")
    }

    // MARK: Receiving

    /// Takes the values of the `Set-Cookie` fields of a response (RFC 6265bis §5.7).
    ///
    /// - Parameters:
    ///   - lines: one field each. A line that cannot be kept is passed over.
    ///   - url: what was asked for.
    /// - Returns: whether anything has changed that outlives the app: a cookie with an expiry came, went, or was replaced.
    @discardableResult
    public mutating func receive(_ lines: [String], from url: HTTPURL, at now: Date) -> Bool {
        let overTLS = url.scheme == .https
        var isChanged = false
        for scope in possibleScopes(of: url.host) { change(scope) { $0.removeAll { $0.cookie.isExpired(at: now) } } }
        for line in lines {
            let cookie = Cookie(setCookie: line, from: url, at: now, suffixes: suffixes)
            guard let cookie, !isShadowed(cookie, overTLS: overTLS, at: now) else { continue }
            if put(cookie, at: now) { isChanged = true }
        }
        if count > limits.total {
            removeExpired(at: now)
            makeRoom(overTLS: overTLS)
            isChanged = true
        }
        return isChanged
    }

    /// Takes the cookies of another jar, as if they were set now. Since it is not known what they were set over, one that is not
    /// `Secure` takes the place of none that is.
    mutating func take(_ other: CookieJar, at now: Date) {
        for cookie in other.cookiesByAge where !cookie.isExpired(at: now) {
            if cookie.isSecure || !isShadowed(cookie, overTLS: false, at: now) { _ = put(cookie, at: now) }
        }
        removeExpired(at: now)
        makeRoom(overTLS: true)
    }

    private mutating func change(_ scope: String, _ body: (inout [Entry]) -> Void) {
        var entries = scopes.removeValue(forKey: scope) ?? []
        count -= entries.count
        body(&entries)
        count += entries.count
        if !entries.isEmpty { scopes[scope] = entries }
    }

    /// Whether a cookie that came in the clear shadows one that is there, of any host above or below its own as well, since the two might
    /// be sent together. One that has expired is sent with nothing, though hosts below may still have some.
    private func isShadowed(_ cookie: Cookie, overTLS: Bool, at now: Date) -> Bool {
        guard !overTLS else { return false }
        let scope = cookie.scope
        return scopes.contains { other, entries in
            (Cookie.isHost(other, in: scope) || Cookie.isHost(scope, in: other))
                && entries.contains { !$0.cookie.isExpired(at: now) && $0.cookie.isShadowed(by: cookie) }
        }
    }

    /// Lets go of what has expired. It is never sent, but held until this is called, its host sets cookies again, or the
    /// jar is full.
    public mutating func removeExpired(at now: Date) {
        scopes = scopes.compactMapValues { entries in
            let rest = entries.filter { !$0.cookie.isExpired(at: now) }
            return rest.isEmpty ? nil : rest
        }
        count = scopes.values.reduce(0) { $0 + $1.count }
    }

    /// - Returns: whether something came, went or was replaced that outlives the app.
    private mutating func put(_ cookie: Cookie, at now: Date) -> Bool {
        let isExpired = cookie.isExpired(at: now)
        uses += 1
        let (use, room) = (uses, limits.perHost)
        var isChanged = !isExpired && cookie.expiry != nil
        change(cookie.scope) { entries in
            var entry = Entry(cookie: cookie, creation: use, lastUse: use)
            if let place = entries.firstIndex(where: { $0.cookie.isReplaced(by: cookie) }) {
                if entries[place].cookie.expiry != nil { isChanged = true }
                if isExpired {
                    entries.remove(at: place)
                    return
                }
                // A cookie that replaces another keeps its place in the order.
                entry.creation = entries[place].creation
                entries[place] = entry
                return
            }
            if isExpired { return }
            entries.append(entry)
            guard entries.count > room else { return }
            isChanged = true
            if let victim = entries.indices.min(by: { entries[$0].rank < entries[$1].rank }) {
                entries.remove(at: victim)
            }
        }
        return isChanged
    }

    /// - Parameter overTLS: whether what needs room came over TLS. What came over plain http puts out no `Secure` cookie.
    private mutating func makeRoom(overTLS: Bool) {
        let room = max(limits.total, 0)
        guard count > room else { return }
        let victims = scopes.values.joined().filter { overTLS || !$0.cookie.isSecure }.map(\.rank).sorted(by: <)
            .prefix(count - room + room / 16).map(\.1)
        let out = Set(victims)
        scopes = scopes.compactMapValues { entries in
            let rest = entries.filter { !out.contains($0.lastUse) }
            return rest.isEmpty ? nil : rest
        }
        count -= out.count
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many cookies of how many hosts there are.
    public var description: String { "\(count) cookies of \(scopes.count) hosts" }

    public var debugDescription: String { description }

    /// The cookies without any value of a cookie.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: cookies, displayStyle: .collection) }
}

/// One ``CookieJar`` for each key, for stores: a key without cookies has none.
struct CookieJars<Key: Hashable & Sendable>: Sendable {
    /// How long expired cookies may stay, in seconds.
    private static var sweepInterval: TimeInterval { 60 }

    private let empty: CookieJar
    private(set) var jars: [Key: CookieJar] = [:]
    private var lastSweep = Date.distantPast

    init(limits: CookieJar.Limits, suffixes: (any PublicSuffixes)?) {
        empty = CookieJar(limits: limits, suffixes: suffixes)
    }

    func jar(of key: Key) -> CookieJar {
        jars[key] ?? empty
    }

    mutating func field(for query: CookieQuery, of key: Key, at now: Date) -> String? {
        sweep(now)
        // In place: a jar that was taken out and put back would be hashed for twice, before each request.
        guard !jars.isEmpty, let index = jars.index(forKey: key) else { return nil }
        return jars.values[index].field(for: query, at: now)
    }

    /// - Returns: whether anything has changed that outlives the app.
    mutating func receive(_ lines: [String], from url: HTTPURL, of key: Key, at now: Date) -> Bool {
        sweep(now)
        var jar = jars.removeValue(forKey: key) ?? empty
        let isChanged = jar.receive(lines, from: url, at: now)
        if !jar.isEmpty { jars[key] = jar }
        return isChanged
    }

    mutating func removeAll(where isRemoved: (Key) -> Bool) {
        jars = jars.filter { !isRemoved($0.key) }
    }

    /// - Parameter rename: makes of the key of a jar the one that its cookies are to have; one that it leaves alone keeps them.
    mutating func moveAll(at now: Date, _ rename: (inout Key) -> Void) {
        for (key, moved) in jars {
            var heir = key
            rename(&heir)
            guard heir != key else { continue }
            jars[key] = nil
            var jar = jar(of: heir)
            jar.take(moved, at: now)
            if !jar.isEmpty { jars[heir] = jar }
        }
    }

    /// Removes what has expired, of all keys, since some may never be used again. A clock that went back does not put it off.
    private mutating func sweep(_ now: Date) {
        guard abs(now.timeIntervalSince(lastSweep)) >= Self.sweepInterval else { return }
        lastSweep = now
        jars = jars.compactMapValues { jar in
            var jar = jar
            jar.removeExpired(at: now)
            return jar.isEmpty ? nil : jar
        }
    }
}
