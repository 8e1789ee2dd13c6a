import Foundation

/// Keeps responses for a private HTTP cache: finds them, never judges them.
///
/// What a store promises, and `CacheStoreConformance` in `PenstockTesting` checks:
///
/// - It holds at most one response for each pair of key and variant; a new one takes the place of the old one at once.
/// - What it hands out is what was put in, byte for byte, or nothing. A body belongs to the metadata it comes with.
/// - It never fails a call: what it cannot do is a miss, or is not stored.
/// - Finding the responses of a key counts as a use of them; the least recently used go first when a limit is reached.
/// - A change of several responses is seen by readers as a whole or not at all.
public protocol CacheStore: Sendable {
    /// The responses of a key if they are in memory; `nil` when ``responses(for:)`` must be asked, which may go to a
    /// disk. For the fast path: it neither waits nor suspends.
    func responsesAtHand(for key: CacheKey) -> [StoredResponse]?

    /// Every variant that is stored for a key; empty when there is none.
    func responses(for key: CacheKey) async -> [StoredResponse]

    /// Some of a stored body: from `offset` on, at least one byte, as many as it is cheap to hold at a time.
    ///
    /// - Returns: `nil` at the end of the body, and when the response is no longer stored or can no longer be read.
    func bytes(of entry: CacheEntryID, from offset: Int) async -> Data?

    /// The whole body; `nil` when it is no longer stored as it was found.
    func body(of stored: StoredResponse) async -> Data?

    /// Stores a response with its whole body, in place of the one with the same key and variant.
    ///
    /// - Parameter response: its ``CachedResponse/bodyLength`` becomes the body's.
    /// - Returns: what is stored now; `nil` when it is too large or the store cannot write.
    @discardableResult
    func put(_ response: CachedResponse, body: Data) async -> StoredResponse?

    /// Begins to store a response whose body is still on its way. Nothing of it is found before it is finished.
    ///
    /// - Returns: `nil` when the store cannot write.
    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)?

    /// Replaces what is known about a stored response, which keeps its body: a validation brought new fields
    /// (RFC 9111 §4.3.4).
    ///
    /// - Parameter response: of the same key and variant.
    /// - Returns: what is stored now; `nil` when the entry is gone, or the store cannot write.
    @discardableResult
    func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse?

    /// Marks all that is selected: it must be validated before any use (RFC 9111 §4.4).
    ///
    /// - Returns: whether that is so for good. A store that could not note it finds nothing until it can.
    @discardableResult
    func invalidate(_ selections: [CacheSelection]) async -> Bool

    /// Removes all that is selected, at one moment. After ``CacheSelection/all``, ``CacheSelection/identity(_:)``,
    /// ``CacheSelection/environment(_:)`` and ``CacheSelection/partition(_:)`` no byte of it remains in any file.
    ///
    /// - Returns: whether that is so for good. A store that could not do it finds nothing until it can.
    @discardableResult
    func remove(_ selections: [CacheSelection]) async -> Bool

    /// Counts a use that this store has not seen itself. It does not wait.
    func touch(_ entries: [CacheEntryID])

    /// Whether replies that came sealed may be kept here, whose content is handed over in plain: they are where what is kept
    /// never leaves the memory, or is encrypted before it does. `false` unless a store says so, and then they are not stored.
    var holdsSealedReplies: Bool { get }

    /// The secret key by which digests of credentials are made for ``CacheKey/credentialDigest``: random, at least 16
    /// bytes, made once and kept with what is stored and as well protected, so that a later process finds what this one
    /// has stored. Asked for when the first request with credentials is made for nobody in particular.
    ///
    /// - Returns: `nil`, as by default, where the store keeps none: each client then has a key of its own, and finds
    ///   nothing of this kind that another one has stored.
    func digestKey() async -> Data?

    /// How much is stored.
    func statistics() async -> CacheStatistics

    /// Goes through all that is stored, without counting as a use: `limit` entries after one, in the store's own order.
    ///
    /// - Parameter entry: the last of those that came before; `nil` to begin.
    func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse]

    /// Returns when what was stored so far will outlive the process, as far as the store keeps anything that long.
    func flush() async

    /// Lets go of files and threads. A store that is used afterwards may open them again.
    func close() async
}

/// A store that other processes may change too.
public protocol SharedCacheStore: CacheStore {
    /// Another number whenever it was noticed that somebody else has replaced, changed, invalidated or removed a response.
    /// It does not wait.
    var foreignChanges: UInt64 { get }

    /// The same for invalidations and removals alone: these may be about a response that this process has not handed over
    /// yet, too. ``foreignChanges`` by default, for a store that cannot tell.
    var foreignRemovals: UInt64 { get }

    /// Begins to look for such changes; it does not wait for the outcome.
    func lookForForeignChanges()
}

extension SharedCacheStore {
    /// The same as ``foreignChanges``: another number as often as anything changes.
    public var foreignRemovals: UInt64 { foreignChanges }
}

/// A shared store that says when it has looked, so that who has asked it knows from when on nothing else was changed.
package protocol PunctualCacheStore: SharedCacheStore {
    /// Begins to look for changes by others; it does not wait.
    ///
    /// - Parameter didLook: called when the counts tell of everything that was committed before the look began, or when nothing
    ///   could be seen.
    func lookForForeignChanges(_ didLook: @escaping @Sendable () -> Void)
}

/// Takes a body piece by piece. Letting go of it before ``finish()`` is to abandon it.
public protocol CacheBodyWriter: AnyObject, Sendable {
    /// Adds bytes to the end. Not to be called by two tasks at a time.
    ///
    /// - Returns: `false` when the body has become too large or the store can no longer write; nothing will be stored. What
    ///   has the response's place while its body becomes too large is removed, as it is out of date.
    func append(_ data: Data) async -> Bool

    /// The body is whole: the response can be found from now on, with the length that was written.
    ///
    /// - Returns: what is stored; `nil` when it could not be.
    func finish() async -> StoredResponse?

    /// Leaves nothing behind. After ``finish()`` it does nothing.
    func abandon()
}

extension CacheStore {
    /// What is kept may be read by others.
    public var holdsSealedReplies: Bool { false }

    /// A store that keeps no key for digests.
    public func digestKey() async -> Data? { nil }

    /// A store without memory has nothing at hand.
    public func responsesAtHand(for key: CacheKey) -> [StoredResponse]? { nil }

    /// What is at hand, or else what the store finds.
    public func find(_ key: CacheKey) async -> [StoredResponse] {
        if let atHand = responsesAtHand(for: key) { return atHand }
        return await responses(for: key)
    }

    /// What came along, or else all the pieces.
    public func body(of stored: StoredResponse) async -> Data? {
        if let body = stored.body { return body }
        let length = stored.response.bodyLength
        var body = Data()
        while body.count < length {
            guard let more = await bytes(of: stored.entry, from: body.count) else { return nil }
            body.append(more)
        }
        return body.count == length ? body : nil
    }
}

extension CacheStore {
    /// Removes what a response would take the place of, where that is out of date and the response itself is not stored.
    package func removeOlder(than response: CachedResponse) async {
        let older = await find(response.key).filter {
            $0.response.variant == response.variant && $0.response.responseTime <= response.responseTime
        }
        if !older.isEmpty { await remove(older.map { .entry($0.entry) }) }
    }
}

/// A store that never waits, so that nobody needs to watch over it: it has no disk, and no other process has it.
protocol PromptCacheStore: CacheStore {
    /// ``CacheStore/put(_:body:)`` without a wait.
    @discardableResult
    func putAtOnce(_ response: CachedResponse, body: Data) -> StoredResponse?
}

/// A writer for stores that keep a body in one piece: collects it, and puts it at the end.
package final class CollectingWriter: CacheBodyWriter {
    private let response: CachedResponse
    private let limit: Int
    private let store: any CacheStore
    /// What came so far; `nil` once it is over.
    private let body = Locked<Data?>(Data())

    /// - Parameter limit: the largest body, in bytes.
    package init(_ response: CachedResponse, limit: Int, store: any CacheStore) {
        self.response = response
        self.limit = limit
        self.store = store
    }

    package func append(_ data: Data) async -> Bool {
        let step = body.withLock { body -> Step in
            guard let count = body?.count else { return .over }
            guard count + data.count <= limit else {
                body = nil
                return .tooLong
            }
            body?.append(data)
            return .taken
        }
        if step == .tooLong { await store.removeOlder(than: response) }
        return step == .taken
    }

    private enum Step {
        case taken, tooLong, over
    }

    package func finish() async -> StoredResponse? {
        let whole = body.withLock { body in
            defer { body = nil }
            return body
        }
        guard let whole else { return nil }
        return await store.put(response, body: whole)
    }

    package func abandon() {
        body.withLock { $0 = nil }
    }
}
