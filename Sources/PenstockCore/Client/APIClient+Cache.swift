extension APIClient {
    /// Makes a call's response of an exchange. A stored response that does not pass is dropped, and fetched once anew.
    @inline(__always)
    func deliver<E: Endpoint>(
        _ exchange: Exchange, of request: HTTPRequest, for call: ActiveCall<E>
    ) async throws(APIError) -> APIResponse<E.Output> {
        do throws(APIError) {
            return try deliver(exchange, for: call)
        } catch {
            guard let cache, let entry = exchange.cache?.entry, request.body.isReplayable, !call.context.isCancelled
            else { throw error }
            _ = await cache.store.remove([.entry(entry)])
            let fresh = try await self.exchange(request, for: call)
            return try deliver(fresh, for: call)
        }
    }

    /// What a call that has succeeded does to the cache.
    @inline(__always)
    func keep<E: Endpoint>(_ response: APIResponse<E.Output>, of call: ActiveCall<E>, request: HTTPRequest) async {
        guard let cache else { return }
        let record = response.exchange.cache
        if let fill = record?.fill {
            await cache.keep(fill, tags: call.endpoint.cacheTags + call.context.settings.cacheTags)
        }
        let invalidates = call.endpoint.invalidates
        if !invalidates.isEmpty { await invalidate(invalidates, for: call, in: cache) }
        if record?.wantsRefresh == true { refresh(request, for: call, in: cache) }
    }

    /// Gives a stored response to those who listen, if it passes; if not, nobody is to hear of it again.
    func deliverCached<E: Endpoint>(
        _ exchange: Exchange, for call: ActiveCall<E>, to listener: (APIResponse<E.Output>) -> Void
    ) {
        if let response = try? deliver(exchange, for: call) { listener(response) }
    }

    /// The content of a streamed response, noted while it is read.
    func teed<E: Endpoint>(_ exchange: Exchange, for call: ActiveCall<E>) async -> Exchange {
        guard let cache, let fill = exchange.cache?.fill, let content = exchange.content else { return exchange }
        var teed = exchange
        if let writer = await cache.store.writer(for: marked(fill.response, by: call)) {
            teed.content = TeedContent(content, writer: writer, fill: fill, cache: cache)
        }
        return teed
    }

    private func marked<E: Endpoint>(_ response: CachedResponse, by call: ActiveCall<E>) -> CachedResponse {
        let tags = call.endpoint.cacheTags + call.context.settings.cacheTags
        guard !tags.isEmpty else { return response }
        var marked = response
        marked.tags = tags
        return marked
    }

    private func invalidate<E: Endpoint>(
        _ selections: [CacheSelection], for call: ActiveCall<E>, in cache: CacheAccess
    ) async {
        let partition = call.context.partition
        let own = selections.map { $0.within(partition) }
        _ = await cache.change(nil) { await cache.store.invalidate(own) }
    }

    /// Asks the server about what was just given out stale, in a call of its own that nobody waits for.
    private func refresh<E: Endpoint>(_ request: HTTPRequest, for call: ActiveCall<E>, in cache: CacheAccess) {
        guard let key = CacheKey(request, partition: call.context.partition, policy: call.context.settings.cache),
            cache.flights.beginRefresh(of: key)
        else { return }
        let refresh = begin(
            call.endpoint, call.own, in: nil, isRefresh: true, runtime: call.runtime)
        let task = Task {
            _ = await Result { () async throws(APIError) in
                try await self.perform(refresh) { () async throws(APIError) in
                    let response = try await self.load(request, for: refresh, of: key, in: cache)
                    try self.succeed(refresh)
                    return response
                }
            }
        }
        refresh.context.runs(in: task)
    }

    private func load<E: Endpoint>(
        _ request: HTTPRequest, for refresh: ActiveCall<E>, of key: CacheKey, in cache: CacheAccess
    ) async throws(APIError) -> APIResponse<E.Output> {
        defer { cache.flights.endRefresh(of: key) }
        let exchange = try await exchange(request, for: refresh)
        let response = try deliver(exchange, for: refresh)
        await keep(response, of: refresh, request: request)
        return response
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
        case (.standard, .standard): client.cache
        case (.store(let store), .store) where client.cache?.holds(store) == true: client.cache
        default: of(choice)
        }
    }

    private func holds(_ other: any CacheStore) -> Bool {
        store as AnyObject === other as AnyObject
    }
}

extension CacheSelection {
    /// The same, for one partition where it names none.
    fileprivate func within(_ partition: ConnectionPartition) -> CacheSelection {
        switch self {
        case .url(let url, nil): .url(url, in: partition)
        case .path(let url, nil): .path(url, in: partition)
        case .tag(let tag, nil): .tag(tag, in: partition)
        default: self
        }
    }
}
