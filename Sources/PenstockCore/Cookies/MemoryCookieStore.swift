import Foundation

/// Keeps cookies in memory, in one ``CookieJar`` for each isolation key.
///
/// The jar's documentation says which cookies are kept and where they go. What has expired is let go of within a minute
/// of the next use of the store, whosever it is; a key without cookies takes no room.
public final class MemoryCookieStore: CookieStore {
    /// How long expired cookies may stay, in seconds.
    private static let sweepInterval: TimeInterval = 60

    private struct State {
        var jars: [IsolationKey: CookieJar] = [:]
        var lastSweep = Date.distantPast
    }

    private let limits: CookieJar.Limits
    private let time: TimeSource
    private let state = Locked(State())

    /// A store without cookies.
    ///
    /// - Parameters:
    ///   - limits: of each key. 50 cookies a host and 3,000 in all by default.
    ///   - time: what ages are counted by.
    public init(limits: CookieJar.Limits = .init(), time: TimeSource = .system) {
        self.limits = limits
        self.time = time
    }

    /// What is kept for a key at the moment.
    public func jar(of isolation: IsolationKey) -> CookieJar {
        state.withLock { $0.jars[isolation] } ?? CookieJar(limits: limits)
    }

    public func field(for url: HTTPURL, in isolation: IsolationKey) -> String? {
        let now = time.date()
        return state.withLock { state in
            Self.sweep(&state, now)
            return state.jars[isolation]?.field(for: url, at: now)
        }
    }

    public func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey) {
        let now = time.date()
        state.withLock { state in
            Self.sweep(&state, now)
            var jar = state.jars.removeValue(forKey: isolation) ?? CookieJar(limits: limits)
            jar.receive(setCookie, from: url, at: now)
            if !jar.isEmpty { state.jars[isolation] = jar }
        }
    }

    public func removeAll(in isolation: IsolationKey?) {
        state.withLock { state in
            guard let isolation else { return state.jars = [:] }
            state.jars[isolation] = nil
        }
    }

    public func removeAll(ofIdentity identity: String) {
        state.withLock { state in state.jars = state.jars.filter { $0.key.identity != identity } }
    }

    /// Of all keys, since some may never be used again. A clock that went back does not put it off.
    private static func sweep(_ state: inout State, _ now: Date) {
        guard abs(now.timeIntervalSince(state.lastSweep)) >= sweepInterval else { return }
        state.lastSweep = now
        state.jars = state.jars.compactMapValues { jar in
            var jar = jar
            jar.removeExpired(at: now)
            return jar.isEmpty ? nil : jar
        }
    }
}

extension MemoryCookieStore: CustomReflectable {
    /// How many cookies each key has, and none of them.
    public var customMirror: Mirror {
        let counts = state.withLock { state in state.jars.map { "\($0.key.environment): \($0.value)" } }
        return Mirror(self, unlabeledChildren: counts.sorted(), displayStyle: .collection)
    }
}
