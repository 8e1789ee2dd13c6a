import Foundation

/// Where a write is.
@nonexhaustive
public enum OutboxState: Hashable, Sendable {
    /// It is on disk and has not been sent.
    case queued
    /// An attempt is under way: 1 for the first.
    case sending(attempt: Int)
    /// It was sent and is kept; at this date it may be sent again.
    case waiting(until: Date)
    /// The server has it.
    case done
    /// It is on the list of the undeliverable, where ``Outbox/retry(_:)`` and ``Outbox/discard(_:)`` find it.
    case undeliverable(OutboxFailure)
    /// A later write of the same fold is sent in its place.
    case replaced(by: OutboxID)
    /// The app has removed it, or its user has signed out.
    case discarded
    /// Another process that shares the store has dealt with it: it was delivered, replaced or removed there.
    case settledElsewhere
    /// The outbox was closed; the write goes on when the next one is opened.
    case closed

    /// Whether the write is to be delivered.
    var isOpen: Bool {
        switch self {
        case .queued, .sending, .waiting: true
        default: false
        }
    }

    /// Whether this is the last one.
    public var isLast: Bool {
        switch self {
        case .queued, .sending, .waiting, .undeliverable: false
        case .done, .replaced, .discarded, .settledElsewhere, .closed: true
        }
    }
}

/// Why a write could not be put, or what became of it in place of an output.
@nonexhaustive
public enum OutboxError: Error, Sendable {
    /// The request could not be made. Nothing was kept.
    case request(APIError)
    /// The type is not among ``Outbox/Configuration/endpoints``. Nothing was kept.
    case unregistered(String)
    /// The cipher did not seal it. Nothing was kept.
    case cipher(any Error)
    /// The store did not do what it was asked.
    case store(OutboxStoreError)
    /// The server has it, and its answer could not be made the output.
    case answer(APIError)
    /// It is on the list of the undeliverable, with the server's last word where there was one.
    case undeliverable(OutboxFailure, APIError?)
    /// It was not delivered by this process, and will not be: ``OutboxState/isLast``.
    case over(OutboxState)
}

extension OutboxError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .request(let error): "the request could not be made: \(error)"
        case .unregistered(let name): "\(name) is not among the endpoints of the outbox's configuration"
        case .cipher(let error): "the cipher did not seal the write: \(error)"
        case .store(.tooLarge(let bytes, let limit)):
            "the write is too large: its body alone, or with the endpoint as JSON and everything beside it, has \(bytes) bytes, of \(limit) at most"
        case .store(let error): "the store failed: \(error)"
        case .answer(let error): "the server has the write, and its answer could not be read: \(error)"
        case .undeliverable(let failure, let error):
            "the write is undeliverable: \(failure.reason)\(error.map { "; \($0)" } ?? "")"
        case .over(let state): "the write is over: \(state)"
        }
    }
}

/// A write that is on disk.
///
/// Letting go of it changes nothing: the write goes on, and ``Outbox/receipt(for:_:)`` gives another one, also after the app
/// was started anew.
public struct OutboxReceipt<Output: Sendable>: Sendable {
    /// The number of the write.
    public let id: OutboxID
    let feed: OutboxFeed

    /// The value of `Idempotency-Key`, without the quotation marks.
    public var key: String { id.key }

    /// Where it is now, as far as this process knows.
    public var state: OutboxState { feed.state }

    /// Where it is, and each change from now on, up to the last. Any number may listen.
    public var states: AsyncStream<OutboxState> { feed.states }

    /// What the server answered, once it has. Cancelling the task ends the wait and nothing else. While nobody sends, it waits: an
    /// outbox sends nothing before ``Outbox/start()``.
    ///
    /// - Throws: ``OutboxError/undeliverable(_:_:)``, ``OutboxError/answer(_:)``, ``OutboxError/over(_:)``.
    public var value: Output {
        get async throws(OutboxError) { try await response.value }
    }

    /// The output with everything it was made from.
    public var response: APIResponse<Output> {
        get async throws(OutboxError) {
            switch await feed.end() {
            case .answered(let response):
                guard let response = response as? APIResponse<Output> else { throw .over(.settledElsewhere) }
                return response
            case .unreadable(let error): throw .answer(error)
            case .undeliverable(let failure, let error): throw .undeliverable(failure, error)
            case .over(let state): throw .over(state)
            }
        }
    }
}

/// What one write comes to.
enum OutboxEnd: Sendable {
    /// An `APIResponse` of the endpoint's output.
    case answered(any Sendable)
    case unreadable(APIError)
    case undeliverable(OutboxFailure, APIError?)
    case over(OutboxState)
}

/// Tells of one write.
final class OutboxFeed: Sendable {
    private struct Content: Sendable {
        var state: OutboxState
        var end: OutboxEnd?
        var listeners: [Int: AsyncStream<OutboxState>.Continuation] = [:]
        var lastListener = 0
    }

    private let content: Monitor<Content>

    init(_ state: OutboxState) {
        content = Monitor(Content(state: state, end: state.isLast ? .over(state) : nil))
    }

    var state: OutboxState { content.withLock { $0.state } }

    var states: AsyncStream<OutboxState> {
        let (stream, continuation) = AsyncStream<OutboxState>.makeStream()
        let (number, isOver) = content.withLock { content in
            content.lastListener += 1
            // Under the lock, so that nobody hears of a later state first.
            continuation.yield(content.state)
            if !content.state.isLast { content.listeners[content.lastListener] = continuation }
            return (content.lastListener, content.state.isLast)
        }
        if isOver { continuation.finish() }
        // Whoever listens keeps the feed alive, also without a receipt.
        continuation.onTermination = { _ in
            self.content.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// - Parameter end: what waiters are given; `nil` while it goes on. What is over stays so.
    func tell(_ state: OutboxState, _ end: OutboxEnd? = nil) {
        let finished = content.withLock { content -> [AsyncStream<OutboxState>.Continuation] in
            guard !content.state.isLast, content.state != state else { return [] }
            content.state = state
            content.end = end ?? (state.isLast ? .over(state) : nil)
            for listener in content.listeners.values { listener.yield(state) }
            guard state.isLast else { return [] }
            defer { content.listeners = [:] }
            return Array(content.listeners.values)
        }
        // Past the lock, which a stream that ends asks for.
        for listener in finished { listener.finish() }
    }

    /// What it comes to; ``OutboxState/closed`` for a task that is cancelled.
    func end() async -> OutboxEnd {
        await content.wait(orCancelled: .over(.closed)) { $0.end }
    }

    /// Waits for a write that is undeliverable to be something else.
    ///
    /// - Returns: whether it is to be delivered again; `false` where it is over, and for a task that is cancelled.
    func isQueuedAgain() async -> Bool {
        await content.wait(orCancelled: false) { content in
            if case .undeliverable = content.state { nil } else { content.state.isOpen }
        }
    }
}

extension Monitor {
    /// Returns what `take` finds in the value, now or after any change to come; `end` for a task that is cancelled.
    func wait<Value: Sendable>(
        orCancelled end: Value, for take: @escaping @Sendable (State) -> Value?
    ) async -> Value {
        let cancelled = Locked(false)
        return await withTaskCancellationHandler {
            await wait { state in cancelled.withLock { $0 } ? end : take(state) }
        } onCancel: {
            cancelled.withLock { $0 = true }
            withLock { _ in }
        }
    }
}

/// The feeds of writes that somebody holds a receipt of.
final class OutboxFeeds: Sendable {
    private struct WeakFeed: Sendable {
        weak let feed: OutboxFeed?
        /// Whether its row is in the store: one that is not there any more has been dealt with elsewhere.
        var isStored = false
    }

    private struct Content: Sendable {
        var feeds: [OutboxID: WeakFeed] = [:]
        /// How many there were after those that nobody holds any more were last taken out.
        var swept = 0
        /// How many were given by ``OutboxFeeds/open(limit:)``.
        var looked = 0
        var isClosed = false
        var listeners: [Int: AsyncStream<OutboxChange>.Continuation] = [:]
        var lastListener = 0
    }

    private let content = Locked(Content())
    private let company: OutboxCompany

    init(of store: any OutboxStore) {
        company = OutboxCompany.of(store)
        company.join(self)
    }

    func feed(for id: OutboxID, _ state: OutboxState) -> OutboxFeed {
        content.withLock { content in
            if let known = content.feeds[id]?.feed { return known }
            let new = OutboxFeed(content.isClosed ? .closed : state)
            content.feeds[id] = WeakFeed(feed: new)
            if content.feeds.count > 2 * content.swept + 64 {
                content.feeds = content.feeds.filter { $0.value.feed != nil }
                content.swept = content.feeds.count
            }
            return new
        }
    }

    func tell(_ id: OutboxID, _ state: OutboxState, _ end: OutboxEnd? = nil) {
        hear(id, state, end)
        company.tell(id, state, end, butNot: self)
    }

    /// Notes that the outbox of these feeds has rows in hand, so that nobody else wonders where one is gone before the end of it
    /// is told.
    func takesInHand(_ hands: OutboxHands) { company.note(hands, by: 1) }

    func letsGo(of hands: OutboxHands) { company.note(hands, by: -1) }

    /// Whether one of the outboxes that share the store has the row in hand, and will tell of it.
    func isInHand(_ id: OutboxID) -> Bool { company.isInHand(id) }

    /// Tells that a row is gone which nobody in this process has in hand, unless it was told before what has become of it. It is
    /// no news to the other outboxes: each of them looks for itself.
    func tellSettledElsewhere(_ id: OutboxID) {
        let isOpen = content.withLock { $0.feeds[id]?.feed?.state.isOpen == true }
        if isOpen { hear(id, .settledElsewhere, nil) }
    }

    fileprivate func hear(_ id: OutboxID, _ state: OutboxState, _ end: OutboxEnd?) {
        let feed = content.withLock { content in
            for listener in content.listeners.values { listener.yield(OutboxChange(id: id, state: state)) }
            defer { if state.isLast { content.feeds[id] = nil } }
            return content.feeds[id]?.feed
        }
        feed?.tell(state, end)
    }

    func noteStored(_ id: OutboxID) {
        content.withLock { $0.feeds[id]?.isStored = true }
    }

    /// The writes that are not over, as far as this process has heard; others each time, where there are more.
    func open(limit: Int) -> [OutboxID] {
        content.withLock { content in
            let open = content.feeds.filter { $0.value.isStored && $0.value.feed?.state.isOpen == true }
            let first = open.isEmpty ? 0 : content.looked % open.count
            content.looked &+= min(limit, open.count)
            return Array((Array(open.keys.dropFirst(first)) + Array(open.keys.prefix(first))).prefix(limit))
        }
    }

    var changes: AsyncStream<OutboxChange> {
        let (stream, continuation) = AsyncStream<OutboxChange>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
        let number = content.withLock { content -> Int? in
            guard !content.isClosed else { return nil }
            content.lastListener += 1
            content.listeners[content.lastListener] = continuation
            return content.lastListener
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.content.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Nothing is told any more.
    func close() {
        let (feeds, listeners) = content.withLock { content in
            content.isClosed = true
            defer { (content.feeds, content.listeners) = ([:], [:]) }
            return (content.feeds.values.compactMap(\.feed), Array(content.listeners.values))
        }
        for feed in feeds { feed.tell(.closed) }
        for listener in listeners { listener.finish() }
    }
}

/// Which rows somebody has in hand: nobody else wonders where one of them is gone, since its end will be told.
enum OutboxHands: Sendable {
    case none
    case these([OutboxID])
    /// Those that are not known before are all of them.
    case all
}

/// The outboxes of this process that have one store object: what one of them does with a write, those hear who have put it.
final class OutboxCompany: Sendable {
    private struct Member: Sendable {
        weak let feeds: OutboxFeeds?
    }

    private struct Known: Sendable {
        weak let company: OutboxCompany?
    }

    private struct Content: Sendable {
        var members: [Member] = []
        /// How often each row is in somebody's hands: a sender's, or of whom removes it.
        var inHand: [OutboxID: Int] = [:]
        /// How often all of them are.
        var allInHand = 0
    }

    private static let known = Locked<[ObjectIdentifier: Known]>([:])

    /// The store, held so that no other store takes its identity.
    private let store: any OutboxStore
    private let content = Locked(Content())

    private init(_ store: any OutboxStore) {
        self.store = store
    }

    /// The company of a store; one of its own for a store that is no object.
    static func of(_ store: any OutboxStore) -> OutboxCompany {
        guard type(of: store) is AnyClass else { return OutboxCompany(store) }
        let identity = ObjectIdentifier(store as AnyObject)
        return known.withLock { known in
            if let company = known[identity]?.company { return company }
            let company = OutboxCompany(store)
            known = known.filter { $0.value.company != nil }
            known[identity] = Known(company: company)
            return company
        }
    }

    func join(_ feeds: OutboxFeeds) {
        content.withLock { content in
            content.members.removeAll { $0.feeds == nil }
            content.members.append(Member(feeds: feeds))
        }
    }

    func tell(_ id: OutboxID, _ state: OutboxState, _ end: OutboxEnd?, butNot feeds: OutboxFeeds) {
        let others = content.withLock { $0.members.compactMap(\.feeds) }.filter { $0 !== feeds }
        for other in others { other.hear(id, state, end) }
    }

    func note(_ hands: OutboxHands, by change: Int) {
        content.withLock { content in
            switch hands {
            case .none: break
            case .these(let ids):
                for id in ids {
                    let count = content.inHand[id, default: 0] + change
                    content.inHand[id] = count > 0 ? count : nil
                }
            case .all: content.allInHand += change
            }
        }
    }

    func isInHand(_ id: OutboxID) -> Bool {
        content.withLock { $0.inHand[id] != nil || $0.allInHand > 0 }
    }
}

/// A write is somewhere else than before.
public struct OutboxChange: Hashable, Sendable {
    /// Which write.
    public let id: OutboxID
    /// Where it is now.
    public let state: OutboxState
}
