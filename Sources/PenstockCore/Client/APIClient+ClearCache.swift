extension APIClient {
    /// Removes stored responses, at one moment; what is loading at the time is not stored.
    ///
    /// ```swift
    /// await client.clearCache(.url(try HTTPURL("https://shop.example.com/products?page=2")))
    /// await client.clearCache(.tag("cart"), .tag("orders"))
    /// await client.clearCache(.tag("catalogue", in: .everyone))
    /// ```
    ///
    /// A URL, a path and a tag mean what is stored of the present user (``Configuration/identity``) in the present environment,
    /// here as in ``Endpoint/invalidates``, unless another ``CacheSelection/Owner`` is said.
    ///
    /// - Returns: whether that is so for good; `true` for a client without a cache. See ``CacheStore/remove(_:)``.
    @discardableResult
    public func clearCache(_ selections: CacheSelection...) async -> Bool {
        let partition = CachePartition(environment: environment.name, identity: configuration.identity())
        return await clear(selections.map { $0.of(partition) })
    }

    /// Removes what is stored of an endpoint with exactly its parameters, for the user of the moment.
    ///
    /// - Throws: what stands in the way of making its request.
    @discardableResult
    public func clearCache<E: Endpoint>(of endpoint: E, options: CallOptions = .init()) async throws(APIError) -> Bool {
        let call = begin(endpoint, .init(own: options, isSilent: true, isUnsent: true))
        defer { call.finish(nil) }
        let request = try await presenting(of: endpoint.service) { () throws(APIError) in try prepare(call) }
        guard let cache = state.cache else { return true }
        let (isolation, policy) = (call.context.isolation, call.context.settings.cache)
        guard let key = await cache.key(of: request, in: isolation, policy, configuration.cookies) else { return true }
        return await clear([.key(key), .key(key.forSealedReplies)])
    }

    func clear(_ selections: [CacheSelection]) async -> Bool {
        guard let cache = state.cache else { return true }
        return await cache.change(nil) { await cache.store.remove(selections) }
    }
}
