import PenstockCore

/// What a loopback server saw, and who waits for it to see more.
final class LoopbackLedger: Sendable {
    struct Counts: Sendable {
        var requests = 0
        var connections = 0
        var open = 0
        var aborts = 0
        var refusals = 0
        var heads = 0
        var faults = 0
        var handshakes = 0
        var failedHandshakes = 0
    }

    private struct State {
        var counts = Counts()
        var requests: [LoopbackServer.Request] = []
        var connections: [ConnectionTally] = []
        var faults: [LoopbackServer.FiredFault] = []
        var isStopping = false
        var lastWait = 0
        /// Waits whose time is over.
        var expired: Set<Int> = []
    }

    private let state = Monitor(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var counts: Counts { state.withLock(\.counts) }
    var requests: [LoopbackServer.Request] { state.withLock(\.requests) }
    var connections: [LoopbackServer.ConnectionRecord] { state.withLock(\.connections).map(\.record) }
    var faults: [LoopbackServer.FiredFault] { state.withLock(\.faults) }

    // MARK: The server's side

    func record(_ request: LoopbackServer.Request) {
        change { state in
            state.counts.requests += 1
            if state.requests.count < self.limit { state.requests.append(request) }
        }
    }

    /// - Returns: the number of a request whose head was read.
    func recordHead() -> Int {
        change { $0.counts.heads += 1 }.heads
    }

    func recordConnection() -> ConnectionTally {
        let counts = change { state in
            state.counts.connections += 1
            state.counts.open += 1
        }
        let tally = ConnectionTally(number: counts.connections)
        state.withLock { state in
            if state.connections.count < limit { state.connections.append(tally) }
        }
        return tally
    }

    func recordClose(_ tally: ConnectionTally) {
        tally.closed()
        change { $0.counts.open -= 1 }
    }

    func record(_ handshake: LoopbackServer.Handshake, of tally: ConnectionTally) {
        tally.handshake(handshake)
        change { state in
            if handshake.isComplete {
                state.counts.handshakes += 1
            } else {
                state.counts.failedHandshakes += 1
            }
        }
    }

    func record(
        _ fault: LoopbackServer.Fault, of request: LoopbackServer.Request, on tally: ConnectionTally
    ) {
        tally.fault()
        let fired = LoopbackServer.FiredFault(
            fault: fault, connection: tally.number, request: request.number, stream: request.stream)
        change { state in
            state.counts.faults += 1
            if state.faults.count < self.limit { state.faults.append(fired) }
        }
    }

    /// A client that goes because the server stops has not aborted.
    func recordAbort() {
        change { state in
            if !state.isStopping { state.counts.aborts += 1 }
        }
    }

    func recordRefusal() {
        change { $0.counts.refusals += 1 }
    }

    /// No abort counts from here on.
    func stop() {
        change { $0.isStopping = true }
    }

    @discardableResult
    private func change(_ body: (inout State) -> Void) -> Counts {
        state.withLock { state in
            body(&state)
            return state.counts
        }
    }

    // MARK: The test's side

    /// Waits until the counts satisfy the test; `false` when `limit` passes first.
    func wait(upTo limit: Duration, until isSatisfied: @escaping @Sendable (Counts) -> Bool) async -> Bool {
        let wait = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        let timer = Task { [state] in
            try await Task.sleep(for: limit)
            state.withLock { _ = $0.expired.insert(wait) }
        }
        defer {
            timer.cancel()
            state.withLock { _ = $0.expired.remove(wait) }
        }
        return await state.wait { state in
            if isSatisfied(state.counts) { return true }
            return state.expired.contains(wait) ? false : nil
        }
    }
}
