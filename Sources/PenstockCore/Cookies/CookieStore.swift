/// Keeps cookies, those of each isolation key apart from those of every other.
///
/// A key is one user in one environment, by one way. Within it a cookie belongs to a **host**, or to the hosts of a domain, not to
/// an origin: it goes to every port of the host that set it, and one without the `Secure` attribute goes over plain http as well
/// as https, where the call's ``CleartextPolicy`` allows http at all (RFC 6265bis §8.5 and §8.6).
///
/// The client asks for cookies before each request, redirects included, and hands over what each response sets. Of the
/// redirects that one call follows, it hands over twenty cookies in all, so that a chain through many hosts cannot fill a
/// store; what deletes a cookie does not count.
public protocol CookieStore: Sendable {
    /// The value of a `Cookie` field for a request that the app itself makes, or `nil` for none.
    func field(for url: HTTPURL, in isolation: IsolationKey) -> String?

    /// The value of a `Cookie` field for any request, or `nil` for none. What a redirect from another site asks for goes
    /// without those that their `SameSite` attribute keeps back. Unless implemented, none are kept back.
    func field(for query: CookieQuery, in isolation: IsolationKey) -> String?

    /// Takes the values of the `Set-Cookie` fields of a response from `url`.
    func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey)

    /// Forgets everything of a key, or of all.
    func removeAll(in isolation: IsolationKey?)

    /// Forgets everything of a user, in every environment: they have signed out.
    func removeAll(ofIdentity identity: String)

    /// Gives one user what another one has in an environment, by whatever way, and leaves the other one nothing there. Of two
    /// cookies that a server takes for the same the moved one stays, but for one that is not `Secure` and would take the place of
    /// one that is. See ``APIClient/adoptCookies(of:)``.
    func moveAll(ofIdentity identity: String, to heir: String, in environment: String)

    /// Returns when all that has changed so far is where it outlives the process, for a sign-out to say so.
    ///
    /// - Returns: `false` where it could not be brought there. `true` unless implemented, as for a store that outlives nothing.
    func settle() async -> Bool
}

extension CookieStore {
    /// Returns at once.
    public func settle() async -> Bool { true }

    /// Asks for what a request of the app itself would be sent with.
    public func field(for query: CookieQuery, in isolation: IsolationKey) -> String? {
        field(for: query.url, in: isolation)
    }
}

/// A request as far as it decides which cookies go with it.
public struct CookieQuery: Hashable, Sendable {
    /// What is asked for.
    public var url: HTTPURL
    /// A method that is not safe takes no cookie along to another site, unless that cookie is `SameSite=None`.
    public var method: HTTPMethod
    /// Where the request comes from: for a redirect, what the app has asked for. `nil`, where the app itself asks.
    public var initiator: HTTPURL?

    /// A query; by default one of the app itself.
    ///
    /// - Parameters:
    ///   - method: `GET` by default.
    ///   - initiator: `nil`, the default, where the app itself asks.
    public init(_ url: HTTPURL, method: HTTPMethod = .get, initiator: HTTPURL? = nil) {
        self.url = url
        self.method = method
        self.initiator = initiator
    }

    /// Whether a cookie may go along by its `SameSite` attribute (RFC 6265bis §5.8.3). An app is no web page: what it asks
    /// for by itself is of the same site. Where a redirect leads to another site, it is as if a link there were followed.
    ///
    /// - Parameter suffixes: tell what one site is. Without them every host is one of its own.
    func allows(_ sameSite: Cookie.SameSite, by suffixes: (any PublicSuffixes)?) -> Bool {
        guard sameSite != .none, let initiator, !isSameSite(initiator, by: suffixes) else { return true }
        return sameSite != .strict && method.isSafe
    }

    /// Same scheme and same registrable domain (RFC 6265bis §5.2).
    private func isSameSite(_ initiator: HTTPURL, by suffixes: (any PublicSuffixes)?) -> Bool {
        guard initiator.scheme == url.scheme else { return false }
        if initiator.host == url.host { return true }
        guard let suffixes, !Cookie.isAddress(initiator.host), !Cookie.isAddress(url.host),
            let home = suffixes.registrableDomain(of: initiator.host)
        else { return false }
        return home == suffixes.registrableDomain(of: url.host)
    }
}

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
        state.withLock { $0.removeAll { $0.identity.isWritten(as: identity) } }
    }

    public func moveAll(ofIdentity identity: String, to heir: String, in environment: String) {
        let now = time.date()
        state.withLock { jars in
            jars.moveAll(at: now) { key in
                guard key.identity.isWritten(as: identity), key.environment.isWritten(as: environment) else { return }
                key.identity = heir
            }
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
