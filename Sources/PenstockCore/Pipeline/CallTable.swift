/// What is done for a client beside its calls, and what its end waits for: a credential that is renewed, or on its way to the vault.
struct ClientWork: Sendable {
    let calls: CallTable
    let client: ClientLineage

    /// - Parameter other: for whom it is done; `nil` for the client itself. One that was derived from it, so that it waits as
    ///   well.
    func begin(for other: ClientLineage? = nil) -> Int { calls.beginWork(for: other ?? client) }
    func end(_ number: Int) { calls.endWork(number) }
}

/// The calls under way. Each has a place of its own, so that neither its coming nor its going looks anything up.
final class CallTable: Sendable {
    /// Where a call is in the table.
    struct Place: Sendable {
        fileprivate let index: Int
    }

    private struct Entry: Sendable {
        let call: CallContext
        /// The lineage of the client that made it; `nil` where a table does not tell clients apart.
        let client: ClientLineage?
    }

    private struct State: Sendable {
        var entries: [Entry?] = []
        var free: [Int] = []
        /// What is told of each call and each piece of work that goes.
        var watchers: [Int: @Sendable () -> Void] = [:]
        var lastWatcher = 0
        /// For whom something is done that is no call.
        var work: [Int: ClientLineage] = [:]
        var lastWork = 0

        func hasAny(of client: ClientLineage) -> Bool {
            entries.contains { $0?.client?.descends(from: client) == true }
                || work.values.contains { $0.descends(from: client) }
        }
    }

    private let state = Locked(State())

    /// How many there are, whichever client made them.
    var count: Int { state.withLock { $0.entries.count - $0.free.count } }

    func add(_ call: CallContext, of client: ClientLineage? = nil) -> Place {
        let entry = Entry(call: call, client: client)
        return state.withLock { state in
            guard let index = state.free.popLast() else {
                state.entries.append(entry)
                return Place(index: state.entries.count - 1)
            }
            state.entries[index] = entry
            return Place(index: index)
        }
    }

    /// Nothing where the call has gone already.
    func remove(_ call: CallContext, at place: Place) {
        let watchers = state.withLock { state -> [Int: @Sendable () -> Void] in
            guard place.index < state.entries.count, state.entries[place.index]?.call === call else { return [:] }
            state.entries[place.index] = nil
            state.free.append(place.index)
            // What a crowd took is given back when it has gone.
            if state.free.count == state.entries.count, state.entries.count > 1_024 {
                (state.entries, state.free) = ([], [])
            }
            return state.watchers
        }
        if !watchers.isEmpty { for watcher in watchers.values { watcher() } }
    }

    /// Begins something that is no call, and that ``drained(of:within:by:)`` waits for as it does for calls.
    ///
    /// - Returns: its number, by which ``endWork(_:)`` ends it.
    func beginWork(for client: ClientLineage) -> Int {
        state.withLock { state in
            state.lastWork += 1
            state.work[state.lastWork] = client
            return state.lastWork
        }
    }

    func endWork(_ number: Int) {
        let watchers = state.withLock { state in
            state.work[number] = nil
            return state.watchers
        }
        for watcher in watchers.values { watcher() }
    }

    /// Waits until there are none left, and no work either.
    ///
    /// - Parameters:
    ///   - client: whose calls and work, together with those of the clients derived from it.
    ///   - limit: how long they are waited for at most. It ends with the task as well.
    /// - Returns: whether nothing is left.
    func drained(of client: ClientLineage, within limit: Duration, by time: TimeSource) async -> Bool {
        let promise = Promise<Void>()
        let look: @Sendable () -> Void = { [self] in
            if !state.withLock({ $0.hasAny(of: client) }) { promise.keep(()) }
        }
        let number = state.withLock { state -> Int? in
            guard state.hasAny(of: client) else { return nil }
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = look
            return state.lastWatcher
        }
        // Where there is nothing to wait for, nothing is set up: an alarm may begin to sleep after it was called off, and a test
        // that moves the clock once somebody sleeps would take it for another one.
        guard let number else { return true }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
        let alarm = Task { [end = time.now() + limit] in
            try await time.sleep(until: end)
            promise.abandon()
        }
        defer { alarm.cancel() }
        return await promise.valueUnlessCancelled() != nil
    }

    /// - Parameter client: whose calls, together with those of the clients derived from it; `nil` for everyone's.
    func calls(of client: ClientLineage? = nil) -> [CallContext] {
        let entries = state.withLock { $0.entries }
        return entries.compactMap { entry in
            guard let entry else { return nil }
            guard let client else { return entry.call }
            return entry.client?.descends(from: client) == true ? entry.call : nil
        }
    }

    /// Ends those that match: outside the lock, since that reaches into transports. All are marked before the first one is carried out,
    /// since it may give a place back that another one of them has waited for.
    ///
    /// - Parameter client: whose calls, together with those of the clients derived from it; `nil` for everyone's.
    func end(
        of client: ClientLineage? = nil, _ reason: CallContext.Ending = .requested, where matches: (CallContext) -> Bool
    ) {
        let ends = calls(of: client).compactMap { matches($0) ? $0.markEnded(reason) : nil }
        for end in ends { end.carryOut() }
    }
}
