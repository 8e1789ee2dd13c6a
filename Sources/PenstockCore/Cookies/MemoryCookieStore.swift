/// Keeps cookies in memory, in one ``CookieJar`` for each isolation key.
///
/// The jar's documentation says which cookies are kept and where they go. What has expired is let go of within a minute
/// of the next use of the store, whosever it is; a key without cookies takes no room.
public final class MemoryCookieStore: CookieStore {
    private let time: TimeSource
    private let state: Locked<CookieJars<IsolationKey>>

    /// A store without cookies.
    ///
    /// - Parameters:
    ///   - limits: of each key. 50 cookies a host and 3,000 in all by default.
    ///   - suffixes: tell for which domains a host may set cookies. None by default: each cookie goes to its host alone.
    ///   - time: what ages are counted by.
    public init(
        limits: CookieJar.Limits = .init(), suffixes: (any PublicSuffixes)? = nil, time: TimeSource = .system
    ) {
        self.time = time
        state = Locked(CookieJars(limits: limits, suffixes: suffixes))
    }

    /// What is kept for a key at the moment.
    public func jar(of isolation: IsolationKey) -> CookieJar {
        state.withLock { $0.jar(of: isolation) }
    }

    public func field(for url: HTTPURL, in isolation: IsolationKey) -> String? {
        field(for: CookieQuery(url), in: isolation)
    }

    public func field(for query: CookieQuery, in isolation: IsolationKey) -> String? {
        let now = time.date()
        return state.withLock { $0.field(for: query, of: isolation, at: now) }
    }

    public func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey) {
        let now = time.date()
        _ = state.withLock { $0.receive(setCookie, from: url, of: isolation, at: now) }
    }

    public func removeAll(in isolation: IsolationKey?) {
        state.withLock { $0.removeAll { isolation == nil || $0 == isolation } }
    }

    public func removeAll(ofIdentity identity: String) {
        state.withLock { $0.removeAll { $0.identity == identity } }
    }
}

extension MemoryCookieStore: CustomReflectable {
    /// How many cookies each key has, and none of them.
    public var customMirror: Mirror {
        let counts = state.withLock { state in state.jars.map { "\($0.key.environment): \($0.value)" } }
        return Mirror(self, unlabeledChildren: counts.sorted(), displayStyle: .collection)
    }
}
