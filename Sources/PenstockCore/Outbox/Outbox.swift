import Foundation

/// Delivers writes that may not be lost: they are on disk before the caller is answered, and are sent when that is possible.
///
/// ```swift
/// let outbox = Outbox(client, store: PlatformOutbox.shared, .init(endpoints: [PlaceOrder.self, SetLike.self]))
/// outbox.start()
/// let receipt = try await outbox.put(PlaceOrder(cart: "7", quantity: 2))
/// ```
///
/// - **Once.** Each write has one `Idempotency-Key` and the same bytes for ever; a server that honours the key does it once,
///   however often the answer is lost. What may have been processed is not sent after the server has forgotten the key.
/// - **In order.** One write of a lane is sent after the other; up to ``Configuration/lanes`` lanes side by side.
/// - **Never lost.** What cannot be delivered is on the list of the undeliverable, with the reason, until the app or a logout
///   removes it. ``OutboxFate/table`` says what becomes of each status.
/// - **By one.** Of all the processes that share a store one sends, for as long as it renews a lease; what it asks the store
///   after it has lost that is refused.
/// - **For whom.** Writes are sent with the identity and in the environment that they were made in, and wait while the
///   client has another one, or still has one that has signed out. One whose options name an environment is sent there, and
///   waits while the client is in another than when it was put.
/// - **Side by side.** What goes to a host that is not there, or is paused (``APIClient/pause(_:)``), waits; the rest goes on.
///
/// An app makes one outbox for each store, and keeps it. What another one of the process does on the same store object its receipts
/// hear of; of what another process does they hear no more than that it was done.
///
/// Sending goes through the client: its interceptors, credentials, cookies and limits apply, and its events tell of it.
public final class Outbox: Sendable {
    /// What an outbox is made of.
    public struct Configuration: Sendable {
        /// The types that are put in, now and by earlier versions of the app, each with an ``OutboxEndpoint/outboxName`` of its own.
        /// A row whose type is not among them, or can no more read what it kept, is delivered all the same: sealed, with or without
        /// a credential, by the redirects and the statuses and for as long as it was to be, but without its interceptors and its
        /// ``OutboxEndpoint/verdict(on:)``. One whose options say whom it trusts or by what way it goes is undeliverable then.
        public var endpoints: [any OutboxEndpoint.Type]
        /// Seals what is kept; `nil` keeps it as it is. A write whose payload is sealed (``SealingChoice``) is refused without one,
        /// unless the store keeps everything in memory: what nobody on the way may read must not lie on the disk in plain.
        public var cipher: (any OutboxCipher)?
        /// How many lanes are sent at once. 4 by default: of the six connections that servers are used to from one client,
        /// two are left to what the user waits for.
        public var lanes = 4
        /// How long a sender that died keeps the others waiting. 15 s by default, and no more than five minutes: renewed three
        /// times as often, it costs a small write every five seconds while something is being sent, and none otherwise.
        public var lease = Duration.seconds(15)
        /// How many bytes the body of a request may have. 192 KiB by default: the endpoint is kept beside it, and both together
        /// are less than a store takes for a row where the endpoint is no longer than half as much again, as one is that holds
        /// the body as `Data`. What is larger is a file to upload, not a write to remember.
        public var bodyBytes = 192 << 10

        /// A configuration with the default of every other property.
        public init(endpoints: [any OutboxEndpoint.Type], cipher: (any OutboxCipher)? = nil) {
            self.endpoints = endpoints
            self.cipher = cipher
        }
    }

    private let client: APIClient
    private let store: any OutboxStore
    private let codec: OutboxCodec
    private let sender: OutboxSender
    private let feeds: OutboxFeeds
    private let owners = OutboxOwners()
    private let running = Locked<Task<Void, Never>?>(nil)
    private let configuration: Configuration

    /// - Parameters:
    ///   - client: what sends. Its identity and environment say whose writes are put in and sent.
    ///   - store: shared with other processes, or with none.
    public init(_ client: APIClient, store: any OutboxStore, _ configuration: Configuration) {
        var configuration = configuration
        configuration.lease = min(max(configuration.lease, .milliseconds(30)), .seconds(OutboxLease.longest))
        configuration.lanes = max(configuration.lanes, 1)
        self.client = client
        self.store = store
        self.configuration = configuration
        codec = OutboxCodec(configuration)
        feeds = OutboxFeeds(of: store)
        sender = OutboxSender(client, store, codec, configuration, feeds, owners)
    }

    deinit {
        running.withLock { $0 }?.cancel()
        feeds.close()
    }

    // MARK: Sending

    /// Begins to send, until ``close()`` or until nobody holds the outbox. Nothing when it has begun.
    ///
    /// What another process puts into the same store is sent by that one, or by this one when it next looks: after a ``put(_:)``
    /// of its own, a ``wake()``, or when something that it knows of becomes due.
    public func start() {
        running.withLock { running in
            guard running == nil else { return }
            running = Task { [sender] in await sender.run() }
        }
    }

    /// Begins to send, and tries what waits whenever the sequence gives something: a stream of changes of the network.
    public func start<Signals: AsyncSequence & Sendable>(wakingOn signals: Signals) where Signals.Element: Sendable {
        running.withLock { running in
            guard running == nil else { return }
            running = Task { [sender] in
                // Not waited for in the end, since a sequence need not heed that its task is cancelled.
                let listener = Task { [weak sender] in
                    for try await _ in signals { sender?.ring(hastening: true) }
                }
                await sender.run()
                listener.cancel()
            }
        }
    }

    /// Tries what waits now, but for what a server has named a moment: after a login, or when the network is back. The quiet
    /// period of a toggle (``OutboxToggle``) ends with it.
    public func wake() {
        sender.ring(hastening: true)
    }

    /// Ends sending, and returns when nothing is under way. What was being sent is sent again under its key by the next that
    /// opens the store. Waiting receipts are told ``OutboxState/closed``. The store stays open; the outbox stays closed.
    public func close() async {
        let task = running.withLock { running in
            if running == nil { running = Task {} }
            return running
        }
        task?.cancel()
        await task?.value
        feeds.close()
    }

    // MARK: Writing

    /// Puts a write on disk, and returns when it is there: no crash and no power cut loses it from now on. It is sent once
    /// ``start()`` was called, here or by another process that shares the store.
    ///
    /// - Throws: ``OutboxError/request(_:)`` where its request cannot be made, or where two of the types have one
    ///   ``OutboxEndpoint/outboxName``; ``OutboxError/unregistered(_:)``,
    ///   ``OutboxError/cipher(_:)``, ``OutboxError/store(_:)``. Nothing is kept of it then.
    public func put<E: OutboxEndpoint>(_ endpoint: E) async throws(OutboxError) -> OutboxReceipt<E.Output> {
        try await put(endpoint, intent: nil, rollback: nil)
    }

    /// - Parameters:
    ///   - intent: the value of the fold once it is done.
    ///   - rollback: the value of the fold when it fails.
    ///   - rest: the moment before which it is not sent, on the clock of ``TimeSource/now``; `nil` for at once.
    func put<E: OutboxEndpoint>(
        _ endpoint: E, intent: Data?, rollback: Data?, rest: Duration? = nil
    ) async throws(OutboxError) -> OutboxReceipt<E.Output> {
        if let refusal = codec.refusal(of: E.self) { throw refusal }
        let isSealed = configuration.cipher != nil || store is MemoryOutboxStore
        let (content, owner, destination) = try client.frozen(
            endpoint, limit: configuration.bodyBytes, owners, isSealed: isSealed)
        var random = client.configuration.random
        let policy = E.outboxPolicy
        let time = client.configuration.time
        var row = try codec.row(
            OutboxID(from: &random), content, owner, destination, policy, at: time.date(), intent, rollback)
        if let rest { row.restsUntil = row.created.addingTimeInterval((rest - time.now()).seconds) }
        // Before it is on disk, so that whoever sends it at once has somebody to tell.
        let feed = feeds.feed(for: row.id, .queued)
        // Which rows of its fold it replaces, only the store can say.
        let hands = row.fold == nil ? OutboxHands.none : .all
        let placed = row
        return try await holding(hands) { () async throws(OutboxError) in
            let placement = try await kept { store throws(OutboxStoreError) in
                try await store.put(placed, isNumbered: policy.numberField != nil)
            }
            feeds.noteStored(placed.id)
            for id in placement.replaced { feeds.tell(id, .replaced(by: placed.id)) }
            return OutboxReceipt(id: placed.id, feed: feed)
        }
    }

    /// The receipt of a write that was put earlier, also by an earlier run of the app.
    ///
    /// - Returns: `nil` when it is in the store no more.
    public func receipt<E: OutboxEndpoint>(
        for id: OutboxID, _ type: E.Type
    ) async throws(OutboxError) -> OutboxReceipt<E.Output>? {
        let feed = feeds.feed(for: id, .queued)
        guard let row = try await kept({ store throws(OutboxStoreError) in try await store.row(id) }) else {
            return nil
        }
        feeds.noteStored(id)
        if case .undeliverable(let failure) = row.state { feeds.fail(id, failure) }
        return OutboxReceipt(id: id, feed: feed)
    }

    // MARK: Looking

    /// The user of the moment, where the client is now.
    private var owner: OutboxOwner { owners.owner(of: client) }

    /// How many writes of the user of the moment wait, and how many are undeliverable.
    public func counts() async throws(OutboxError) -> OutboxCounts {
        let owner = self.owner
        return try await kept { store throws(OutboxStoreError) in try await store.counts(of: owner) }
    }

    /// Each change of any write of which this process hears, from now on.
    public var changes: AsyncStream<OutboxChange> { feeds.changes }

    /// The writes of the user of the moment that wait, in the order in which they were put.
    ///
    /// - Parameters:
    ///   - last: those behind this one; `nil` for all.
    ///   - limit: how many at most. 100 by default.
    public func pending(after last: OutboxEntry? = nil, limit: Int = 100) async throws(OutboxError) -> [OutboxEntry] {
        try await list(.pending(owner), last, limit)
    }

    /// The writes of the user of the moment that could not be delivered, in the order in which they were put.
    public func undeliverable(
        after last: OutboxEntry? = nil, limit: Int = 100
    ) async throws(OutboxError) -> [OutboxEntry] {
        try await list(.undeliverable(owner), last, limit)
    }

    private func list(
        _ selection: OutboxSelection, _ last: OutboxEntry?, _ limit: Int
    ) async throws(OutboxError) -> [OutboxEntry] {
        let position = last?.row.position ?? 0
        let rows = try await kept { store throws(OutboxStoreError) in
            try await store.rows(selection, after: position, limit: limit)
        }
        return rows.map { OutboxEntry(row: $0, content: try? codec.content(of: $0)) }
    }

    // MARK: Deciding what becomes of the undeliverable

    /// Queues an undeliverable write again, in its old place, under its old key, with a new lifetime.
    ///
    /// - Returns: `false` where it is not on the list, or a later write of its fold is on its way, which it would undo: that takes it
    ///   off the list once it is done.
    @discardableResult
    public func retry(_ id: OutboxID) async throws(OutboxError) -> Bool {
        guard let row = try await kept({ store throws(OutboxStoreError) in try await store.row(id) }) else {
            return false
        }
        let now = client.configuration.time.date()
        let expires = now.addingTimeInterval(codec.policy(of: row).lifetime.seconds)
        let isQueued = try await kept { store throws(OutboxStoreError) in
            try await store.requeue(id, expires: expires, at: now)
        }
        if isQueued { feeds.tell(id, .queued) }
        sender.ring()
        return isQueued
    }

    /// Removes a write, undeliverable or waiting.
    ///
    /// - Returns: `false` for one that is being sent, which stays.
    @discardableResult
    public func discard(_ id: OutboxID) async throws(OutboxError) -> Bool {
        try await holding(.these([id])) { () async throws(OutboxError) in
            let isGone = try await kept { store throws(OutboxStoreError) in try await store.remove(id) }
            if isGone { feeds.tell(id, .discarded) }
            return isGone
        }
    }

    /// A user has signed out: ends what is being sent for them and removes their writes in every environment, but those
    /// whose policy keeps them until they come back. Set the client's identity to another one first.
    ///
    /// - Returns: how many were removed.
    @discardableResult
    public func forget(identity: String) async throws(OutboxError) -> Int {
        client.state.calls.end {
            $0.isolation.identity.isWritten(as: identity) && $0.endpointType is any OutboxEndpoint.Type
        }
        let digest = OutboxOwner(identity: identity, environment: "").identity
        return try await holding(.all) { () async throws(OutboxError) in
            let gone = try await kept { store throws(OutboxStoreError) in try await store.removeAll(ofIdentity: digest)
            }
            for id in gone { feeds.tell(id, .discarded) }
            return gone.count
        }
    }

    /// Has rows in hand while `body` changes the store and tells of what goes with that, so that nobody wonders meanwhile where
    /// it is gone. However that ends, the sender looks afterwards: what another process has settled by then it has passed over.
    private func holding<Output: Sendable>(
        _ hands: OutboxHands, _ body: () async throws(OutboxError) -> Output
    ) async throws(OutboxError) -> Output {
        feeds.takesInHand(hands)
        defer {
            feeds.letsGo(of: hands)
            sender.ring()
        }
        return try await body()
    }

    private func kept<Output: Sendable>(
        _ body: (any OutboxStore) async throws(OutboxStoreError) -> Output
    ) async throws(OutboxError) -> Output {
        do throws(OutboxStoreError) {
            return try await body(store)
        } catch {
            throw .store(error)
        }
    }

    // MARK: For toggles

    /// The clock by which it is sent.
    var time: TimeSource { client.configuration.time }

    /// What waits of a fold, oldest first, with the values that it stands for.
    ///
    /// - Parameter write: one of the fold.
    /// - Throws: ``OutboxError/cipher(_:)`` while the key cannot be had.
    func intents(of fold: OutboxFold, like write: some OutboxEndpoint) async throws(OutboxError) -> [(
        id: OutboxID, row: OutboxRow, intent: Data?, rollback: Data?
    )] {
        let digest = codec.digest(of: fold, owner, in: client.namedEnvironment(of: write))
        let rows = try await kept { store throws(OutboxStoreError) in
            try await store.rows(.fold(digest), after: 0, limit: 100)
        }
        do {
            return try rows.map {
                ($0.id, $0, try codec.intent(of: $0), try codec.rollback(of: $0))
            }
        } catch {
            throw .cipher(error)
        }
    }
}

/// A write as a list shows it.
public struct OutboxEntry: Sendable, Identifiable {
    let row: OutboxRow
    let content: OutboxContent?

    /// The number of the write, which is its key as well.
    public var id: OutboxID { row.id }
    /// ``OutboxEndpoint/outboxName`` of its type; `nil` where its bytes cannot be read.
    public var name: String? { content?.head.name }
    /// The lane in which it keeps its order; `nil` where its bytes cannot be read.
    public var lane: OutboxLane? { content.map { OutboxLane($0.head.lane) } }
    /// When it was put.
    public var created: Date { row.created }
    /// When it is sent no more.
    public var expires: Date { row.expires }
    /// How often it was sent.
    public var attempts: Int { row.attempts }
    /// `nil` for one that waits.
    public var failure: OutboxFailure? { if case .undeliverable(let failure) = row.state { failure } else { nil } }

    /// The endpoint that was put.
    ///
    /// - Returns: `nil` where it is of another type, or cannot be read.
    public func endpoint<E: OutboxEndpoint>(as type: E.Type = E.self) -> E? {
        guard let content, content.head.name == E.outboxName else { return nil }
        return try? JSONDecoder().decode(E.self, from: content.head.endpoint)
    }
}
