/// All that clients which are derived from one another keep of their users: each may have a vault, a cookie store and a cache of
/// its own, and a user signs out of all of them. Nothing is kept alive by it.
final class Holdings: Sendable {
    private let all = Locked<[Holding]>([])

    func add(_ holding: Holding) {
        all.withLock { all in
            all.removeAll(where: \.isGone)
            all.append(holding)
        }
    }

    /// Removes what is kept of a user.
    ///
    /// - Returns: whether nothing is left of the cookies and the credentials, and no byte of the responses.
    func forget(_ identity: String) async -> Bool {
        let all = all.withLock { $0 }
        // At once, before anything is waited for.
        for holding in all { holding.forgetCookies(of: identity) }
        var isGone = true
        for holding in all where await !holding.forget(identity) { isGone = false }
        return isGone
    }
}

/// What one client keeps of its users, as long as it is there.
struct Holding: Sendable {
    private weak let credentials: CredentialTable?
    /// It may outlive the client, and then what is in it is known to it alone.
    private weak let vault: (any CredentialVault)?
    private weak let cookies: SharedCookies?
    private weak let cache: CacheAccess?

    init(_ credentials: CredentialTable, _ cookies: SharedCookies?, _ cache: CacheAccess?) {
        self.credentials = credentials
        vault = credentials.vault
        self.cookies = cookies
        self.cache = cache
    }

    var isGone: Bool { credentials == nil && vault == nil && cookies == nil && cache == nil }

    func forgetCookies(of identity: String) {
        cookies?.store.removeAll(ofIdentity: identity)
        // What a login was answered with came while nobody was signed in, and stays nobody's unless it was adopted.
        if !identity.isEmpty { cookies?.store.removeAll(ofIdentity: "") }
    }

    func forget(_ identity: String) async -> Bool {
        let isSignedOut =
            if let credentials {
                await credentials.forget(account: identity)
            } else {
                await vault?.forget(account: identity) ?? true
            }
        let areCookiesGone = await cookies?.store.settle() ?? true
        let isForgotten = isSignedOut && areCookiesGone
        guard let cache else { return isForgotten }
        return await cache.change(nil) { await cache.store.remove([.identity(identity)]) } && isForgotten
    }
}

/// A cookie store as the clients that share it know it.
final class SharedCookies: Sendable {
    let store: any CookieStore

    init(_ store: any CookieStore) {
        self.store = store
    }

    /// The cookies of a client which is derived from another one that has `known`.
    static func of(_ store: (any CookieStore)?, reusing known: SharedCookies?) -> SharedCookies? {
        guard let store else { return nil }
        guard let known, known.store as AnyObject === store as AnyObject else { return SharedCookies(store) }
        return known
    }
}
