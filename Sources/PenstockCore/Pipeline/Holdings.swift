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

    /// The cookie stores that clients have.
    var cookieStores: [any CookieStore] { all.withLock { $0.compactMap(\.cookieStore) } }

    /// Removes what is kept of a user. Cookies and credentials are of no more use when the first is waited for.
    ///
    /// - Parameter work: of the client that the user has signed out of, whose end waits for the removal.
    /// - Returns: whether nothing is left of the cookies and the credentials, and no byte of the responses; `false` as soon as the
    ///   task is cancelled. The removal goes on then.
    func forget(_ leaver: Leaver, as work: ClientWork) async -> Bool {
        let number = work.begin()
        let removals = all.withLock { $0 }.map { $0.forgetting(leaver) }
        let promise = Promise<Bool>()
        Task {
            defer { work.end(number) }
            // Side by side: one that never comes to its end keeps nothing of the others.
            let isGone = await withTaskGroup(of: Bool.self) { group in
                for removal in removals { group.addTask { await removal() } }
                return await group.reduce(true) { $0 && $1 }
            }
            promise.keep(isGone)
        }
        return await promise.valueUnlessCancelled() ?? false
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

    /// The cookie store, as long as a client has it.
    var cookieStore: (any CookieStore)? { cookies?.store }

    private func forgetCookies(of identity: String) {
        cookies?.store.removeAll(ofIdentity: identity)
        // What a login was answered with came while nobody was signed in, and stays nobody's unless it was adopted.
        if !identity.isEmpty { cookies?.store.removeAll(ofIdentity: "") }
    }

    /// - Returns: what does all of it that has to be waited for, and says whether nothing is left.
    func forgetting(_ leaver: Leaver) -> @Sendable () async -> Bool {
        forgetCookies(of: leaver.identity)
        let (credentials, vault, cookies, cache) = (credentials, vault, cookies, cache)
        let signingOut = credentials?.forgetting(leaver)
        return {
            async let isCacheEmpty =
                cache?.change(nil) { await cache?.store.remove([.identity(leaver.identity)]) ?? true } ?? true
            let isSignedOut = if let signingOut { await signingOut() } else { await vault?.forget(leaver) ?? true }
            let areCookiesGone = await cookies?.store.settle() ?? true
            return await isCacheEmpty && isSignedOut && areCookiesGone
        }
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
