extension APIClient {
    /// What is stored, if it is fresh or stale within a ``CachePolicy/maxStale`` that is set, and then what the server says
    /// (``CachePolicy/Mode/cacheThenNetwork``): one response or two. The first of two may be ``APIResponse/isStale``. When
    /// the load fails, also by a server error, the stored one has been given and the sequence throws.
    ///
    /// ```swift
    /// for try await page in client.responses(to: ProductList(page: 1)) { show(page.value, isOld: page.source != .network) }
    /// ```
    ///
    /// The sequence owns the call: ending the iteration ends it.
    public func responses<E: Endpoint>(to endpoint: E, options: CallOptions = .init()) -> CachedResponses<E.Output> {
        let policy = resolve(options, endpoint, try? runtime(for: endpoint.service)).settings.cache
        let isTwofold = !policy.isOff && policy.mode != .cacheOnly
        let call = start(endpoint, options: isTwofold ? options.cache(.cacheThenNetwork) : options)
        return .owning(call, \.arrival)
    }
}
