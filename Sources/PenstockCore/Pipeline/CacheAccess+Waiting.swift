import Foundation

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

    /// Asks the store for the key of the digests that stand for credentials.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` or ``APIError/Kind/timeout(_:)`` when the call ends first.
    func unlockDigests(_ call: CallContext) async throws(APIError) {
        if isPrompt { return await unlockDigests() }
        try await call.interruptible(at: .cache) { [self] () async throws(APIError) in await unlockDigests() }
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
