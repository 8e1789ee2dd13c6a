import Foundation

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
        return jars[key]?.field(for: query, at: now)
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

    /// Of all keys, since some may never be used again. A clock that went back does not put it off.
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
