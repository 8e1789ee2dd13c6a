import Foundation

/// A switch that a user taps, and its way to the server: a like, a star, a subscription.
///
/// ```swift
/// let like = try await OutboxToggle("like/\(product.id)", initially: product.isLiked, in: outbox) { isOn in
///     SetLike(product: product.id, isLiked: isOn)
/// }
/// like.toggle()                                       // at once
/// for await shown in like.updates { show(shown.value) }
/// ```
///
/// It shows what the user wants at once. However often it is tapped, one write is under way and one waits behind it at
/// most, which says what was tapped last. The first tap is sent at once, and those that follow as one write, once there was none
/// for a quiet period, however quick the server is; each is on disk all the same, and ``Outbox/wake()``, or the next start of
/// the app, sends what is there. When that fails for good, it shows what the server has again, until the app has it
/// sent once more (``Outbox/retry(_:)``). What the user wants survives the end of the app: a toggle that is made then shows it,
/// and what it rolls back to.
public final class OutboxToggle<E: OutboxEndpoint>: Sendable {
    /// What is shown, and how sure it is.
    public struct Update: Sendable {
        /// What the user is to see.
        public var value: Bool
        /// Whether the server does not have it yet.
        public var isPending: Bool
        /// Why it was rolled back; `nil` while nothing has gone wrong since the last tap, or since that was queued again.
        public var failure: OutboxError?
    }

    private struct State: Sendable {
        var value: Bool
        /// What the server has, as far as anybody knows.
        var confirmed: Bool
        /// The tap that the server has it from.
        var confirmedTap = 0
        /// Counts the taps; what is told of an earlier one does not change what a later one shows.
        var lastTap = 0
        /// The last tap that is on disk.
        var stored = 0
        var isStoring = false
        /// When the quiet period after the last tap is over, on the clock of ``TimeSource/now``; `nil` before the first tap.
        var quietEnd: Duration?
        /// Whether what is stored next is sent at once: there was a quiet period before the tap that it began with.
        var isAtOnce = true
        var isPending = false
        /// Whether the outbox was closed before the server had the last tap.
        var isClosed = false
        var failure: OutboxError?
        var listeners: [Int: AsyncStream<Update>.Continuation] = [:]
        var lastListener = 0
        /// What looks at the writes that are not over. Undeliverable ones are not, for as long as the app likes.
        var watches: [Int: Task<Void, Never>] = [:]
        var lastWatch = 0

        var update: Update { Update(value: value, isPending: isPending, failure: failure) }

        /// Tells those who listen. Under the lock, so that nobody hears of an earlier update last.
        func tell() {
            for listener in listeners.values { listener.yield(update) }
        }
    }

    private let outbox: Outbox
    private let fold: OutboxFold
    private let quiet: Duration
    private let makeWrite: @Sendable (Bool) -> E
    private let state: Monitor<State>

    /// - Parameters:
    ///   - fold: names what is switched. The write that `makeWrite` makes must have the same ``OutboxEndpoint/fold``.
    ///   - value: what the server has, as the app learned it. What waits to be delivered goes before it.
    ///   - quiet: how long there is no tap before the last of several is sent; the first is sent at once. 500 ms by default, which
    ///     is longer than a finger takes from one tap to the next; `.zero` sends each when the one before it is done.
    ///   - makeWrite: sets the value, rather than changing it: of several only the last is sent.
    /// - Throws: ``OutboxError/request(_:)`` for a write of another fold; ``OutboxError/store(_:)``; ``OutboxError/cipher(_:)``
    ///   while what waits cannot be read, since nobody knows then what the user wants.
    public init(
        _ fold: OutboxFold, initially value: Bool, in outbox: Outbox, quiet: Duration = .milliseconds(500),
        makeWrite: @escaping @Sendable (Bool) -> E
    ) async throws(OutboxError) {
        let write = makeWrite(value)
        guard write.fold == fold else {
            throw .request(
                APIError(
                    .invalidParameter(field: "fold", reason: "the write of a toggle must have its fold"),
                    stage: .prepare))
        }
        self.outbox = outbox
        self.fold = fold
        self.quiet = quiet
        self.makeWrite = makeWrite
        let (waiting, known) = try await Self.waiting(of: fold, write, in: outbox, initially: value)
        let confirmed = waiting.first?.rollback ?? known
        let last = waiting.last
        var state = State(value: last?.intent ?? known, confirmed: confirmed)
        state.isPending = last != nil
        // Each is a tap: what becomes of one before the last says what the server has, and not what is wanted.
        (state.lastTap, state.stored) = (waiting.count, waiting.count)
        self.state = Monitor(state)
        for (index, write) in waiting.enumerated() {
            watch(write.receipt, sets: write.intent ?? state.value, tap: index + 1)
        }
    }

    private struct Waiting {
        let receipt: OutboxReceipt<E.Output>
        let intent: Bool?
        let rollback: Bool?
    }

    /// The writes of a fold that wait, and what the server has as far as anybody knows. One that goes while it is being
    /// looked at was delivered, so what it set is known, and the rest is looked at anew.
    private static func waiting(
        of fold: OutboxFold, _ write: E, in outbox: Outbox, initially value: Bool
    ) async throws(OutboxError) -> (writes: [Waiting], known: Bool) {
        var known = value
        while true {
            var (writes, isWhole): ([Waiting], Bool) = ([], true)
            for row in try await outbox.intents(of: fold, like: write) where !row.row.isUndeliverable {
                let intent = Bool(intent: row.intent)
                if let receipt = try await outbox.receipt(for: row.id, E.self) {
                    writes.append(Waiting(receipt: receipt, intent: intent, rollback: Bool(intent: row.rollback)))
                } else {
                    known = intent ?? known
                    isWhole = false
                }
            }
            if isWhole { return (writes, known) }
        }
    }

    deinit {
        let (listeners, watches) = state.withLock { state in
            defer { (state.listeners, state.watches) = ([:], [:]) }
            return (Array(state.listeners.values), Array(state.watches.values))
        }
        for listener in listeners { listener.finish() }
        for watch in watches { watch.cancel() }
    }

    /// What the user sees: the last tap, until that fails for good.
    public var value: Bool { state.withLock { $0.value } }

    /// What is shown now, and each change from now on.
    public var updates: AsyncStream<Update> {
        let (stream, continuation) = AsyncStream<Update>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            continuation.yield(state.update)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Shows the other value at once, and begins to write it.
    public func toggle() {
        tap { !$0 }
    }

    /// Shows a value at once, and begins to write it. The one that is shown already changes nothing.
    public func set(_ value: Bool) {
        tap { _ in value }
    }

    /// Returns when the last tap is on disk.
    ///
    /// - Throws: why it could not be put there, and it shows what the server has then; ``OutboxError/over(_:)`` with
    ///   ``OutboxState/closed`` where the task is cancelled, which changes nothing of the tap.
    public func stored() async throws(OutboxError) {
        let failure = await state.wait(orCancelled: .some(.over(.closed))) { state -> OutboxError?? in
            if let failure = state.failure { return .some(failure) }
            return state.stored == state.lastTap ? .some(nil) : nil
        }
        if let failure { throw failure }
    }

    /// Returns when the server has the last tap.
    ///
    /// - Throws: why it never will, and it shows what the server has then; ``OutboxError/over(_:)`` with
    ///   ``OutboxState/closed`` where the outbox was closed before, and the next one that is opened goes on, or where the
    ///   task is cancelled, which changes nothing of the tap.
    public func settled() async throws(OutboxError) {
        let failure = await state.wait(orCancelled: .some(.over(.closed))) { state -> OutboxError?? in
            if let failure = state.failure { return .some(failure) }
            if state.isClosed { return .some(.over(.closed)) }
            return state.isPending ? nil : .some(nil)
        }
        if let failure { throw failure }
    }

    private func tap(_ change: (Bool) -> Bool) {
        let mustStore = state.withLock { state in
            let value = change(state.value)
            guard value != state.value || state.failure != nil else { return false }
            state.value = value
            state.lastTap += 1
            let now = outbox.time.now()
            state.isAtOnce = state.isAtOnce || state.quietEnd.map { $0 <= now } ?? true
            state.quietEnd = now + quiet
            state.isPending = true
            state.isClosed = false
            state.failure = nil
            state.tell()
            defer { state.isStoring = true }
            return !state.isStoring
        }
        // Those that come while one is being stored are stored by it afterwards, the last one alone.
        if mustStore { Task { await store() } }
    }

    private func store() async {
        while true {
            let (value, confirmed, tap, rest) = state.withLock { state in
                defer { state.isAtOnce = false }
                return (state.value, state.confirmed, state.lastTap, state.isAtOnce ? nil : state.quietEnd)
            }
            do throws(OutboxError) {
                let receipt = try await outbox.put(
                    makeWrite(value), intent: value.intent, rollback: confirmed.intent, rest: rest)
                watch(receipt, sets: value, tap: tap)
                state.withLock { $0.stored = tap }
            } catch {
                rollBack(error, tap: tap)
            }
            let isDone = state.withLock { state in
                guard state.lastTap == tap else { return false }
                state.isStoring = false
                return true
            }
            if isDone { return }
        }
    }

    private func watch(_ receipt: OutboxReceipt<E.Output>, sets value: Bool, tap: Int) {
        state.withLock { state in
            state.lastWatch += 1
            state.watches[state.lastWatch] = Task { [weak self, feed = receipt.feed, number = state.lastWatch] in
                var end = await feed.end()
                // One that failed for good is not over: the app may have it sent again.
                while case .undeliverable = end {
                    self?.take(end, value, tap)
                    if await feed.isQueuedAgain() { self?.takeUp(value, tap: tap) }
                    end = await feed.end()
                }
                if case .over(.replaced(let id)) = end {
                    await self?.follow(id, tap)
                } else {
                    self?.take(end, value, tap)
                }
                self?.state.withLock { $0.watches[number] = nil }
            }
        }
    }

    /// Shows what another toggle of the same fold wants, whose write took the place of this one's.
    private func follow(_ id: OutboxID, _ tap: Int) async {
        guard state.withLock({ $0.lastTap == tap }) else { return }
        var next: (value: Bool, receipt: OutboxReceipt<E.Output>)?
        do throws(OutboxError) {
            let row = try await outbox.intents(of: fold, like: makeWrite(value)).first { $0.id == id }
            if let value = Bool(intent: row?.intent), let receipt = try await outbox.receipt(for: id, E.self) {
                next = (value, receipt)
            }
        } catch {
            // Then nobody knows; what is shown stays.
        }
        state.withLock { state in
            guard state.lastTap == tap else { return }
            if let next { (state.value, state.failure) = (next.value, nil) }
            state.isPending = next != nil
            state.tell()
        }
        if let next { watch(next.receipt, sets: next.value, tap: tap) }
    }

    private func take(_ end: OutboxEnd, _ value: Bool, _ tap: Int) {
        switch end {
        case .answered, .unreadable: confirm(value, tap: tap)
        case .undeliverable(let failure, let error): rollBack(.undeliverable(failure, error), tap: tap)
        case .over(.discarded): rollBack(.over(.discarded), tap: tap)
        case .over(.closed): state.withLock { $0.isClosed = $0.isClosed || $0.lastTap == tap }
        case .over: confirm(value, tap: tap)
        }
    }

    /// The write of a tap that had failed is to be delivered after all.
    private func takeUp(_ value: Bool, tap: Int) {
        state.withLock { state in
            guard state.lastTap == tap else { return }
            (state.value, state.isPending, state.failure) = (value, true, nil)
            state.tell()
        }
    }

    /// The server has what a tap has set.
    func confirm(_ value: Bool, tap: Int) {
        state.withLock { state in
            // Each write has a task that looks at it, and they come in any order: the server has what a later tap has set.
            guard tap >= state.confirmedTap else { return }
            (state.confirmed, state.confirmedTap) = (value, tap)
            guard state.lastTap == tap else {
                // The last tap has failed, and shows what the server had before it has taken this one.
                if state.failure != nil, state.value != value {
                    state.value = value
                    state.tell()
                }
                return
            }
            // It may have failed before, and have been delivered before anybody saw that it was queued again.
            (state.value, state.isPending, state.failure) = (value, false, nil)
            state.tell()
        }
    }

    private func rollBack(_ error: OutboxError, tap: Int) {
        state.withLock { state in
            // What the app discards after it has failed changes nothing any more.
            guard state.lastTap == tap, state.failure == nil else { return }
            state.value = state.confirmed
            state.isPending = false
            state.failure = error
            state.tell()
        }
    }
}

extension Bool {
    fileprivate var intent: Data { Data([self ? 1 : 0]) }

    fileprivate init?(intent: Data?) {
        guard let intent, intent.count == 1, let byte = intent.first, byte <= 1 else { return nil }
        self = byte == 1
    }
}
