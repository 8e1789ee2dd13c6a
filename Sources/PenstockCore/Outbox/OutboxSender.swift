import Foundation

/// Carries out the decisions: takes the lease, claims rows, sends them through the client, and writes down what came of it.
/// One loop, and one task for each row that is being sent; all are over when ``run()`` returns.
actor OutboxSender {
    /// What the loop is woken for.
    struct Signals: Sendable {
        var isRung = false
        /// Whether what waits should not wait any longer.
        var isHastened = false
    }

    private let client: APIClient
    private let store: any OutboxStore
    private let codec: OutboxCodec
    private let configuration: Outbox.Configuration
    private let feeds: OutboxFeeds
    private let owners: OutboxOwners
    private let time: TimeSource
    nonisolated let signals = Monitor(Signals())
    private let holder: String

    /// What is being sent, by a number of its own: a row may be sent anew while an earlier sending of it still ends.
    private var tasks: [Int: (row: OutboxID, task: Task<Void, Never>)] = [:]
    private var lastTask = 0
    private var lease: OutboxLease?
    /// When it was taken or renewed, on the clock of ``TimeSource/now``.
    private var renewed = Duration.zero
    private var throttle = OutboxThrottle()

    init(
        _ client: APIClient, _ store: any OutboxStore, _ codec: OutboxCodec, _ configuration: Outbox.Configuration,
        _ feeds: OutboxFeeds, _ owners: OutboxOwners
    ) {
        self.client = client
        self.store = store
        self.codec = codec
        self.configuration = configuration
        self.feeds = feeds
        self.owners = owners
        time = client.configuration.time
        holder = UUID().uuidString
    }

    nonisolated func ring(hastening: Bool = false) {
        signals.withLock { signals in
            signals.isRung = true
            if hastening { signals.isHastened = true }
        }
    }

    // MARK: The loop

    /// Sends until the task is cancelled. What is being sent then is left as a crash would leave it.
    func run() async {
        let deadlines = Deadlines(time)
        while !Task.isCancelled {
            let pause: Duration?
            do throws(OutboxStoreError) {
                pause = try await lap()
            } catch {
                pause = recover(from: error)
            }
            await wait(pause, deadlines)
        }
        for sending in tasks.values { sending.task.cancel() }
        while let sending = tasks.values.first { await sending.task.value }
        await letGo()
        feeds.close()
    }

    /// One look at what there is to do.
    ///
    /// - Returns: when to look again at the latest; `nil` for only when something happens.
    private func lap() async throws(OutboxStoreError) -> Duration? {
        let owner = owners.owner(of: client)
        if takeHaste() {
            throttle = OutboxThrottle()
            try await store.hasten(owner, at: time.date())
        }
        let (now, moment) = (time.date(), time.now())
        let next = try await store.nextMoment(of: owner, at: now)
        let free = throttle.free(sending: tasks.count, lanes: configuration.lanes, at: moment)
        let isDue = next.map { $0 <= now } ?? false
        if tasks.isEmpty, !isDue || free == 0 {
            await letGo()
            try await lookElsewhere(isAll: next == nil)
            return pause(until: next, now, moment)
        }
        guard let lease = try await heldLease(now, moment) else {
            loseLease()
            try await lookElsewhere(isAll: false)
            return configuration.lease / 3
        }
        guard isDue, free > 0 else { return heartbeat(next, now, moment) }
        let expired = try await store.expire(of: owner, limit: Self.batch, at: now, under: lease)
        for row in expired {
            if case .undeliverable(let failure) = row.state { feeds.fail(row.id, failure) }
        }
        let claimed = try await store.claim(of: owner, limit: free, at: now, under: lease)
        for row in claimed { begin(row, lease) }
        if expired.count == Self.batch { ring() }
        return heartbeat(try await store.nextMoment(of: owner, at: now), now, moment)
    }

    /// How many rows expire in one change.
    private static let batch = 100

    private func takeHaste() -> Bool {
        signals.withLock { signals in
            defer { signals.isHastened = false }
            return signals.isHastened
        }
    }

    private func pause(until next: Date?, _ now: Date, _ moment: Duration) -> Duration? {
        guard let next else { return nil }
        let wait = max(next.timeIntervalSince(now), throttle.until.map { ($0 - moment).seconds } ?? 0)
        // A clock that is set back makes a wait longer than any is meant to be.
        return .seconds(min(max(wait, 0.001), 3_600))
    }

    /// When to look again while something is being sent: in time to renew the lease, or earlier where something becomes due.
    /// What is due already waits for a place, and the end of a sending wakes the loop.
    private func heartbeat(_ next: Date?, _ now: Date, _ moment: Duration) -> Duration {
        let due = next.flatMap { $0 > now ? Duration.seconds($0.timeIntervalSince(now)) : nil }
        let network = throttle.until.flatMap { $0 > moment ? $0 - moment : nil }
        return [due, network].compactMap(\.self).reduce(configuration.lease / 3) { min($0, $1) }
    }

    private func wait(_ pause: Duration?, _ deadlines: Deadlines) async {
        let ticket = pause.map { deadlines.add(time.now() + $0) { [weak self] in self?.ring() } }
        await withTaskCancellationHandler {
            await signals.wait { signals -> Void? in
                guard signals.isRung else { return nil }
                signals.isRung = false
                return ()
            }
        } onCancel: {
            ring()
        }
        if let ticket { deadlines.remove(ticket) }
    }

    /// - Returns: when to try again.
    private func recover(from error: OutboxStoreError) -> Duration? {
        switch error {
        case .fenced:
            loseLease()
            return .milliseconds(100)
        case .closed: return nil
        // Whoever puts something in is told; here there is only the waiting for better times.
        default: return .seconds(5)
        }
    }

    // MARK: The lease

    /// The lease, taken, or renewed where a third of it is over: each time is a write that is synced.
    ///
    /// - Returns: `nil` while another one has it.
    private func heldLease(_ now: Date, _ moment: Duration) async throws(OutboxStoreError) -> OutboxLease? {
        if let lease, moment - renewed < configuration.lease / 3 { return lease }
        guard let new = try await store.lease(for: holder, at: now, duration: configuration.lease) else { return nil }
        if let lease, lease.token != new.token { loseLease() }
        lease = new
        renewed = moment
        return new
    }

    private func letGo() async {
        guard let held = lease else { return }
        lease = nil
        do throws(OutboxStoreError) { try await store.release(held) } catch {
            // It ends by itself.
        }
    }

    /// Another one sends now: what is under way here is sent there under the same key.
    private func loseLease() {
        lease = nil
        for sending in tasks.values { sending.task.cancel() }
    }

    /// Finds out what other processes have done with the writes that are watched here.
    ///
    /// - Parameter isAll: whether no moment will come at which to look at the rest.
    private func lookElsewhere(isAll: Bool) async throws(OutboxStoreError) {
        for id in feeds.open(limit: isAll ? .max : 64) where !tasks.values.contains(where: { $0.row == id }) {
            guard let row = try await store.row(id) else {
                feeds.tell(id, .settledElsewhere)
                continue
            }
            if case .undeliverable(let failure) = row.state { feeds.fail(id, failure) }
        }
    }

    // MARK: One row

    private func begin(_ row: OutboxRow, _ lease: OutboxLease) {
        feeds.tell(row.id, .sending(attempt: row.attempts))
        lastTask += 1
        tasks[lastTask] = (row.id, Task { [number = lastTask] in await send(row, lease, number) })
    }

    private func send(_ row: OutboxRow, _ lease: OutboxLease, _ number: Int) async {
        let attempt = await attempt(row)
        if !Task.isCancelled || attempt.step == .done { await settle(row, attempt, lease) }
        tasks[number] = nil
        ring()
    }

    private func attempt(_ row: OutboxRow) async -> Attempt {
        let write: OutboxCodec.Write
        do {
            write = try codec.open(row)
        } catch is OutboxCipherUnavailable {
            return Attempt(step: wait(row, OutboxOutcome(.cancelled, sendState: .unsent), OutboxDecider()))
        } catch {
            return Attempt(step: .undeliverable(OutboxFailure(.unreadable, mayBeProcessed: row.unanswered != nil)))
        }
        let decider = OutboxDecider(type(of: write.endpoint).outboxPolicy)
        if let failure = decider.refusal(to: row, at: time.date()) { return Attempt(step: .undeliverable(failure)) }
        return await deliver(write.endpoint, write.request, row, decider)
    }

    private struct Attempt: Sendable {
        var step: OutboxStep
        var end: OutboxEnd?
        var error: APIError?
    }

    private func deliver<E: OutboxEndpoint>(
        _ endpoint: E, _ request: HTTPRequest, _ row: OutboxRow, _ decider: OutboxDecider
    ) async -> Attempt {
        let write = FrozenWrite(request: request) { [owners, owner = row.owner] isolation in
            owners.owner(isolation.identity, in: isolation.environment) == owner
        }
        let result = await client.deliver(endpoint, write)
        switch result {
        case .success(let response):
            throttle.note(.accepted, at: time.now())
            return Attempt(step: .done, end: .answered(response))
        case .failure(let error):
            let outcome = OutboxOutcome(error, at: time.date())
            throttle.note(outcome.result, at: time.now())
            let step = wait(row, outcome, decider) { endpoint.verdict(on: OutboxAnswer(error, row)) }
            return Attempt(step: step, end: .unreadable(error), error: error)
        }
    }

    private func wait(
        _ row: OutboxRow, _ outcome: OutboxOutcome, _ decider: OutboxDecider, _ verdict: () -> OutboxVerdict? = { nil }
    ) -> OutboxStep {
        var random = client.configuration.random
        return decider.decide(outcome, for: row, at: time.date(), random: &random, verdict: verdict)
    }

    /// Writes down what came of an attempt, however often it takes. Until then its lane waits.
    private func settle(_ row: OutboxRow, _ attempt: Attempt, _ lease: OutboxLease) async {
        while true {
            do throws(OutboxStoreError) {
                try await store.settle(row.id, attempt.step, at: time.date(), under: lease)
                break
            } catch {
                if error == .fenced || error == .closed { return }
            }
            do { try await time.sleep(.seconds(1)) } catch { return }
        }
        switch attempt.step {
        case .done: feeds.tell(row.id, .done, attempt.end)
        case .wait(let wait): feeds.tell(row.id, .waiting(until: wait.until))
        case .undeliverable(let failure): feeds.fail(row.id, failure, attempt.error)
        }
    }
}

extension OutboxFeeds {
    func fail(_ id: OutboxID, _ failure: OutboxFailure, _ error: APIError? = nil) {
        tell(id, .undeliverable(failure), .undeliverable(failure, error))
    }
}

extension OutboxAnswer {
    fileprivate init(_ error: APIError, _ row: OutboxRow) {
        let response = error.response ?? HTTPResponse(status: 0)
        let code: BusinessCode? = if case .business(let code, _) = error.kind { code } else { nil }
        self.init(
            status: response.status, code: code,
            payload: Payload(response.body, contentType: response.fields[.contentType]), attempt: row.attempts,
            conflicts: row.conflicts)
    }
}
