import Foundation

/// A store as calls use it: what was decided on before a removal cannot be stored after it.
final class CacheAccess: Sendable {
    typealias Ticket = InvalidationLog<CacheResource>.Ticket

    private struct State: Sendable {
        var invalidations = InvalidationLog<CacheResource>()
        var lastFill: UInt64 = 0
        var fills: Set<UInt64> = []
    }

    let store: any CacheStore
    /// The exchanges under way that calls may share.
    let exchanges = SharedExchanges<CachePurpose, CacheLoad>()
    /// What is being refreshed.
    private let refreshes = Locked<Set<CacheKey>>([])
    /// What stands for credentials in the store. Its key is asked for when it is needed.
    let digests = CredentialDigests()
    private let state = Monitor(State())

    /// The store, where it never waits.
    private let prompt: (any PromptCacheStore)?
    /// Whether the store never waits.
    var isPrompt: Bool { prompt != nil }
    /// How many bytes wait to be stored.
    let waiting = Locked(0)

    init(_ store: any CacheStore) {
        self.store = store
        prompt = store as? any PromptCacheStore
    }

    /// - Returns: `false` when the response is being refreshed already.
    func beginRefresh(of key: CacheKey) -> Bool {
        refreshes.withLock { $0.insert(key).inserted }
    }

    func endRefresh(of key: CacheKey) {
        refreshes.withLock { _ = $0.remove(key) }
    }

    /// Whose a request is.
    ///
    /// - Parameter cookies: those that will be added to it.
    func owner(
        of request: HTTPRequest, in isolation: IsolationKey, _ cookies: @autoclosure () -> String?
    ) -> CacheOwner {
        guard isolation.identity.isEmpty else { return .identity }
        let credentials = RequestCredentials(request, cookies())
        if credentials.isEmpty { return .nobody }
        return digests.digest(of: credentials).map { .bearer(credentials, $0) } ?? .locked
    }

    /// Asks the store for the key of the digests that stand for credentials.
    func unlockDigests() async {
        digests.unlock(with: await store.digestKey())
    }

    /// The key of a request outside a call's path.
    func key(
        of request: HTTPRequest, in isolation: IsolationKey, _ policy: CachePolicy, _ cookies: (any CookieStore)?
    ) async -> CacheKey? {
        let query = CookieQuery(request.url, method: request.method)
        var owner = owner(of: request, in: isolation, cookies?.field(for: query, in: isolation))
        if owner.isLocked {
            await unlockDigests()
            owner = self.owner(of: request, in: isolation, cookies?.field(for: query, in: isolation))
        }
        return CacheKey(
            request, partition: isolation.partition, policy: policy, credentialDigest: owner.credentialDigest)
    }

    /// A ticket for a key, to be taken before the store is read.
    func ticket(for key: CacheKey) -> Ticket {
        state.withLock { $0.invalidations.ticket(for: key) }
    }

    func isValid(_ ticket: Ticket) -> Bool {
        state.withLock { $0.invalidations.isValid(ticket) }
    }

    /// Stores a response that has passed. Of several calls that got the same one, each adds its tags.
    func keep(_ fill: CacheFill, tags: [String]) async {
        guard let body = fill.body else { return }
        await self.fill(fill.ticket) {
            guard let load = fill.load else { return await put(fill.response, body, tags) }
            await load.store(tags) { await put(fill.response, body, $0) }
        }
    }

    private func put(_ response: CachedResponse, _ body: Data, _ tags: [String]) async {
        await store.put(tagged(response, tags), body: body)
    }

    /// The same on the spot.
    ///
    /// - Returns: `false` where the store may have to wait, or others got the same response; nothing was done then.
    func keptAtOnce(_ fill: CacheFill, tags: [String]) -> Bool {
        guard let prompt, fill.load == nil, let body = fill.body else { return false }
        guard let ticket = begin(fill.ticket) else { return true }
        prompt.putAtOnce(tagged(fill.response, tags), body: body)
        end(ticket)
        return true
    }

    /// Adds tags to a response that has answered a call, where the one that is stored now lacks some of them.
    func tag(_ find: CacheFind, _ tags: [String]) async {
        await fill(find.ticket) {
            let stored = await store.find(find.response.key).first { $0.response.variant == find.response.variant }
            guard let stored, stored.response.lacks(tags) else { return }
            await store.update(stored.entry, to: stored.response.adding(tags))
        }
    }

    /// A response with the tags of the call that stores it, and with those that it has in the store: each call that has got it
    /// may clear it by its own.
    func tagged(_ response: CachedResponse, _ tags: [String] = []) -> CachedResponse {
        let stored = store.responsesAtHand(for: response.key)?.first { $0.response.variant == response.variant }
        return response.adding(tags).adding(stored?.response.tags ?? [])
    }

    /// Stores something, unless what the ticket speaks of was changed in the meantime.
    func fill(_ ticket: Ticket, _ store: () async -> Void) async {
        guard let fill = begin(ticket) else { return }
        await store()
        end(fill)
    }

    /// Changes what is stored: of some resources, or of any while they are `nil`.
    func change<Result>(_ resources: [CacheResource]?, _ body: () async -> Result) async -> Result {
        state.withLock { $0.invalidations.begin(resources) }
        await untilFilled()
        let result = await body()
        state.withLock { $0.invalidations.end(resources) }
        return result
    }

    /// What writes at some URLs do to everything that is stored of them (RFC 9111 §4.4).
    ///
    /// - Parameter ticket: of the write, whose own answer is newer than what it makes invalid.
    /// - Returns: the ticket to store that answer with, which is out of date where something else was changed meanwhile.
    func invalidate(
        _ urls: [HTTPURL], in partition: CachePartition, by ticket: Ticket
    ) async -> Ticket {
        let resources = urls.map { CacheResource($0, in: partition) }
        let begun = state.withLock { $0.invalidations.isValid(ticket) ? $0.invalidations.time : nil }
        _ = await change(resources) { await store.invalidate(urls.map { .url($0, in: .partition(partition)) }) }
        // Ours alone: it is counted when it begins and when it ends.
        return state.withLock {
            $0.invalidations.time == begun.map { $0 + 2 } ? $0.invalidations.renewed(ticket) : ticket
        }
    }

    private func begin(_ ticket: Ticket) -> UInt64? {
        state.withLock { state in
            guard state.invalidations.isValid(ticket) else { return nil }
            state.lastFill += 1
            state.fills.insert(state.lastFill)
            return state.lastFill
        }
    }

    private func end(_ fill: UInt64) {
        state.withLock { _ = $0.fills.remove(fill) }
    }

    /// Returns when the fills that were let through before it have ended.
    private func untilFilled() async {
        let fills = state.withLock { $0.fills }
        await state.wait { $0.fills.isDisjoint(with: fills) }
    }
}

extension CachedResponse {
    /// Whether one of these tags is not among its own.
    func lacks(_ tags: [String]) -> Bool {
        !tags.allSatisfy(hasTag)
    }

    /// The same with these tags beside its own.
    fileprivate func adding(_ tags: [String]) -> CachedResponse {
        guard lacks(tags) else { return self }
        var response = self
        for tag in tags where !response.hasTag(tag) { response.tags.append(tag) }
        return response
    }

    private func hasTag(_ tag: String) -> Bool {
        tags.contains { $0.isWritten(as: tag) }
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

    /// What a client that was derived from another one has: `known`, which was made by the `former` choice, where both mean the
    /// same store.
    static func of(_ choice: CacheChoice, reusing known: CacheAccess?, madeBy former: CacheChoice) -> CacheAccess? {
        switch (choice, former) {
        case (.standard, .standard): known
        case (.store(let store), .store) where known?.holds(store) == true: known
        default: of(choice)
        }
    }

    private func holds(_ other: any CacheStore) -> Bool {
        store as AnyObject === other as AnyObject
    }
}

/// What calls ask of the store. Where the store may have to wait, for a disk or for another process, the call does not
/// wait longer than it may.
extension CacheAccess {
    /// Every variant that is stored for a key.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first.
    func responses(for key: CacheKey, _ call: CallContext) async throws(APIError) -> [StoredResponse] {
        if isPrompt { return await store.responses(for: key) }
        return try await call.interruptible(at: .cache) { [store] () async throws(APIError) in
            await store.responses(for: key)
        }
    }

    /// The body of a stored response; `nil` when it is no longer there.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first.
    func body(of stored: StoredResponse, _ call: CallContext) async throws(APIError) -> Data? {
        if isPrompt { return await store.body(of: stored) }
        return try await call.interruptible(at: .cache) { [store] () async throws(APIError) in
            await store.body(of: stored)
        }
    }

    /// A reader of the body of a stored response; `nil` when it is no longer there.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first.
    func reader(of stored: StoredResponse, _ call: CallContext) async throws(APIError) -> (any CacheBodyReader)? {
        if let body = stored.body { return WholeBody(body) }
        if isPrompt { return await store.bodyReader(of: stored.entry) }
        return try await call.interruptible(at: .cache) { [store] () async throws(APIError) in
            await store.bodyReader(of: stored.entry)
        }
    }

    /// Asks the store for the key of the digests that stand for credentials.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first.
    func unlockDigests(_ call: CallContext) async throws(APIError) {
        if isPrompt { return await unlockDigests() }
        try await call.interruptible(at: .cache) { [self] () async throws(APIError) in await unlockDigests() }
    }

    /// The same for a response that has come: it does not wait for long, and what is not known by then is not stored.
    func unlockDigests(behind call: CallContext) async {
        if isPrompt { return await unlockDigests() }
        await call.patiently(upTo: Self.patience) { [self] in await unlockDigests() }
    }

    /// Changes the store. The call waits for it, but not past its end, and no longer than its deadline leaves.
    func change(for call: CallContext, _ body: @escaping @Sendable () async -> Void) async {
        if isPrompt { return await body() }
        await call.patiently(body)
    }

    /// How long a call waits for its response to be stored: until the next one finds it, as a rule, and not for a disk that
    /// hangs.
    private static let patience = Duration.seconds(1)
    /// How much may wait for the store at a time. What comes while there is as much is not stored.
    private static let backlog = 64 << 20

    /// Stores something that has been delivered as far as its caller is concerned.
    ///
    /// - Parameter bytes: how large it is.
    func store(_ bytes: Int, for call: CallContext, _ body: @escaping @Sendable () async -> Void) async {
        if isPrompt { return await body() }
        let fits = waiting.withLock { waiting in
            guard waiting == 0 || waiting + bytes <= Self.backlog else { return false }
            waiting += bytes
            return true
        }
        guard fits else { return }
        await call.patiently(upTo: Self.patience) { [waiting] in
            await body()
            waiting.withLock { $0 -= bytes }
        }
    }
}
