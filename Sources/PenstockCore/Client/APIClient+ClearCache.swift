extension APIClient {
    /// Removes stored responses, at one moment; what is loading at the time is not stored.
    ///
    /// ```swift
    /// await client.clearCache(.url(try HTTPURL("https://shop.example.com/products?page=2")))
    /// await client.clearCache(.tag("cart"), .tag("orders"))
    /// ```
    ///
    /// - Returns: whether that is so for good; `true` for a client without a cache. See ``CacheStore/remove(_:)``.
    @discardableResult
    public func clearCache(_ selections: CacheSelection...) async -> Bool {
        await clear(selections)
    }

    /// Removes what is stored of an endpoint with exactly its parameters, for the user of the moment.
    ///
    /// - Throws: what stands in the way of making its request.
    @discardableResult
    public func clearCache<E: Endpoint>(of endpoint: E, options: CallOptions = .init()) async throws(APIError) -> Bool {
        let call = begin(endpoint, .init(own: options, isSilent: true))
        defer { call.finish(nil) }
        let request = try prepare(call)
        guard let cache = state.cache else { return true }
        let (isolation, policy) = (call.context.isolation, call.context.settings.cache)
        guard let key = await cache.key(of: request, in: isolation, policy, configuration.cookies) else { return true }
        return await clear([.key(key)])
    }

    /// A user has signed out: ends the calls that were made for them, in this client, in those derived from it and in the one
    /// it was derived from; and removes their cookies, their credentials, and all responses that are stored of them, in every
    /// environment. Nothing that was under way is kept afterwards. Set ``Configuration/identity`` to another one first.
    ///
    /// - Returns: whether nothing is left of the credentials, and no byte of the responses; see ``CacheStore/remove(_:)``.
    @discardableResult
    public func forget(identity: String) async -> Bool {
        state.calls.end { $0.isolation.identity == identity }
        configuration.cookies?.removeAll(ofIdentity: identity)
        let isSignedOut = await state.credentials.forget(account: identity)
        return await clear([.identity(identity)]) && isSignedOut
    }

    private func clear(_ selections: [CacheSelection]) async -> Bool {
        guard let cache = state.cache else { return true }
        return await cache.change(nil) { await cache.store.remove(selections) }
    }
}

extension CacheAccess {
    static func of(_ choice: CacheChoice) -> CacheAccess? {
        switch choice {
        case .none: nil
        case .standard: CacheAccess(MemoryCacheStore())
        case .store(let store): CacheAccess(store)
        }
    }

    /// That of a client from which another one is derived, when both have the same store.
    static func of(_ choice: CacheChoice, reusing client: APIClient) -> CacheAccess? {
        switch (choice, client.configuration.cache) {
        case (.standard, .standard): client.state.cache
        case (.store(let store), .store) where client.state.cache?.holds(store) == true: client.state.cache
        default: of(choice)
        }
    }

    private func holds(_ other: any CacheStore) -> Bool {
        store as AnyObject === other as AnyObject
    }
}
