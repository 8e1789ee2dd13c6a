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
    private var tasks: [Int: Sending] = [:]
    private var lastTask = 0
    private var lease: OutboxLease?
    /// When it was taken or renewed, on the clock of ``TimeSource/now``.
    private var renewed = Duration.zero
    private var traffic = OutboxTraffic()
    /// How far the clock of the wall was ahead of ``TimeSource/now`` when that was last seen.
    private var lead: TimeInterval?
    /// Whether it has looked at what there is.
    private var hasBegun = false
    /// How often in a row the user of the moment was one who has signed out.
    private var barredLaps = 0

    private struct Sending {
        let row: OutboxID
        let destination: String?
        let task: Task<Void, Never>
    }

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
        lead = client.configuration.time.lead
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
        let identity = client.configuration.identity()
        let owner = owners.owner(identity, in: client.environment.name)
        let isHastened = takeHaste()
        if isHastened { traffic.hasten() }
        let lead = time.lead ?? self.lead
        // Moments that were written before the clock was set back are that much further away, and nobody has meant that. A user
        // who has tapped twice waits for one of them, so a correction by seconds counts.
        let isSetBack = if let lead, let last = self.lead { lead < last - Self.step } else { false }
        if isHastened || isSetBack { try await store.hasten(owner, at: time.date()) }
        self.lead = lead
        traffic.review { client.isPaused($0) }
        let (now, moment) = (time.date(), time.now())
        let held = heldBack(at: moment)
        var next = try await store.nextMoment(of: owner, avoiding: held, at: now)
        // What is found at the beginning rests no longer: with another holder of the lease that ends.
        if !hasBegun, next != nil, try await heldLease(now, moment) != nil {
            next = try await store.nextMoment(of: owner, avoiding: held, at: now)
        }
        hasBegun = true
        // Nothing is begun for a user who has signed out: every call of theirs is refused until the app names another.
        let isBarred = client.hasSignedOut(identity)
        barredLaps = isBarred ? barredLaps + 1 : 0
        let free = isBarred ? 0 : configuration.lanes - tasks.count
        let isDue = next.map { $0 <= now } ?? false
        if tasks.isEmpty, !isDue || free == 0 {
            await letGo()
            let all = held.isEmpty ? next : try await store.nextMoment(of: owner, at: now)
            let isSoon = try await lookElsewhere(isAll: all == nil)
            return [all == nil ? nil : pause(until: next, now, moment), isSoon ? Self.glance : nil]
                .compactMap(\.self).min()
        }
        guard let lease = try await heldLease(now, moment) else {
            loseLease()
            let isSoon = try await lookElsewhere(isAll: false)
            return isSoon ? min(Self.glance, configuration.lease / 3) : configuration.lease / 3
        }
        guard isDue, free > 0 else {
            giveUpPaused()
            return heartbeat(next, now, moment)
        }
        let expired = try await store.expire(of: owner, limit: Self.batch, at: now, under: lease)
        for row in expired {
            if case .undeliverable(let failure) = row.state { feeds.fail(row.id, failure) }
        }
        try await claim(free, of: owner, now, moment, lease)
        if expired.count == Self.batch { ring() }
        return heartbeat(
            try await store.nextMoment(of: owner, avoiding: heldBack(at: moment), at: now), now, moment)
    }

    /// Begins as many rows as there is room for; one after the other while a host has failed, which one row alone finds out
    /// about.
    private func claim(
        _ free: Int, of owner: OutboxOwner, _ now: Date, _ moment: Duration, _ lease: OutboxLease
    ) async throws(OutboxStoreError) {
        var left = free
        let isProbing = traffic.isProbing(at: moment)
        while left > 0 {
            let claimed = try await store.claim(
                of: owner, avoiding: heldBack(at: moment), limit: isProbing ? 1 : left, at: now, under: lease)
            for row in claimed { begin(row, lease) }
            guard !claimed.isEmpty, isProbing else { return }
            left -= claimed.count
        }
    }

    private func heldBack(at moment: Duration) -> Set<String> {
        traffic.held(at: moment, sending: tasks.values.compactMap(\.destination))
    }

    /// Ends what waits in the client for the app to resume it, so that it holds no place: its row is queued again.
    private func giveUpPaused() {
        for call in client.state.admissions.paused where call.endpointType is any OutboxEndpoint.Type {
            call.end(.requested)
        }
    }

    /// How many seconds a clock is set back by for what waits to wait no longer. Fewer make a wait longer by that little.
    private static let step: TimeInterval = 1

    /// How many rows expire in one change.
    private static let batch = 100

    private func takeHaste() -> Bool {
        signals.withLock { signals in
            defer { signals.isHastened = false }
            return signals.isHastened
        }
    }

    private func pause(until next: Date?, _ now: Date, _ moment: Duration) -> Duration? {
        // The app names another user soon after a logout, which must not go unseen when the same one comes back at once.
        if barredLaps > 0 { return min(.milliseconds(100) * (1 << min(barredLaps - 1, 6)), Self.patience) }
        let due = next.map { max($0.timeIntervalSince(now), 0.001) }
        let held = heldFor(moment).map(\.seconds)
        // A clock that is set back makes a wait longer than any is meant to be.
        return [due, held].compactMap(\.self).min().map { .seconds(min($0, 3_600)) }
    }

    /// How long what is held back may be so, at the least; `nil` where nothing is.
    private func heldFor(_ moment: Duration) -> Duration? {
        let rest = traffic.firstEnd(after: moment).map { $0 - moment }
        return [rest, traffic.hasPauses ? Self.glance : nil].compactMap(\.self).min()
    }

    /// How soon at the latest it is looked again whether a user who has signed out is still named, and after a store failed.
    private static let patience = Duration.seconds(5)
    /// How soon it is looked again at what the app has paused, while something of it waits.
    private static let glance = Duration.seconds(1)

    /// When to look again while something is being sent: in time to renew the lease, or earlier where something becomes due.
    /// What is due already waits for a place, and the end of a sending wakes the loop.
    private func heartbeat(_ next: Date?, _ now: Date, _ moment: Duration) -> Duration {
        let due = next.flatMap { $0 > now ? Duration.seconds($0.timeIntervalSince(now)) : nil }
        return [due, heldFor(moment)].compactMap(\.self).reduce(configuration.lease / 3) { min($0, $1) }
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
        default: return Self.patience
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
    /// - Returns: whether to look again soon: a row is gone that is in hand, by somebody who need not have removed it.
    private func lookElsewhere(isAll: Bool) async throws(OutboxStoreError) -> Bool {
        var isSoon = false
        for id in feeds.open(limit: isAll ? .max : 64) where !tasks.values.contains(where: { $0.row == id }) {
            guard let row = try await store.row(id) else {
                // Asked after it was seen to be gone: who has it in hand tells of it before letting go.
                if feeds.isInHand(id) { isSoon = true } else { feeds.tellSettledElsewhere(id) }
                continue
            }
            if case .undeliverable(let failure) = row.state { feeds.fail(id, failure) }
        }
        return isSoon
    }

    // MARK: One row

    private func begin(_ row: OutboxRow, _ lease: OutboxLease) {
        feeds.takesInHand(.these([row.id]))
        feeds.tell(row.id, .sending(attempt: row.attempts))
        lastTask += 1
        tasks[lastTask] = Sending(
            row: row.id, destination: row.destination,
            task: Task { [number = lastTask] in await send(row, lease, number) })
    }

    private func send(_ row: OutboxRow, _ lease: OutboxLease, _ number: Int) async {
        let attempt = await attempt(row)
        if !Task.isCancelled || attempt.step == .done { await settle(row, attempt, lease) }
        feeds.letsGo(of: .these([row.id]))
        tasks[number] = nil
        ring()
    }

    private func attempt(_ row: OutboxRow) async -> Attempt {
        let write: OutboxCodec.Write
        do {
            write = try codec.open(row)
        } catch is OutboxCipherUnavailable {
            let decider = OutboxDecider(UnknownWrite.outboxPolicy)
            return Attempt(step: wait(row, OutboxOutcome(.cancelled, sendState: .unsent), decider))
        } catch let needed as OutboxCodec.TypeNeeded {
            return Attempt(
                step: .undeliverable(OutboxFailure(.blocked, mayBeProcessed: row.unanswered != nil)),
                error: APIError(needed))
        } catch {
            return Attempt(step: .undeliverable(OutboxFailure(.unreadable, mayBeProcessed: row.unanswered != nil)))
        }
        let decider = OutboxDecider(write.policy)
        if let failure = decider.refusal(to: row, at: time.date()) { return Attempt(step: .undeliverable(failure)) }
        return await deliver(write.endpoint, write, row, decider)
    }

    private struct Attempt: Sendable {
        var step: OutboxStep
        var end: OutboxEnd?
        var error: APIError?
    }

    private func deliver<E: OutboxEndpoint>(
        _ endpoint: E, _ kept: OutboxCodec.Write, _ row: OutboxRow, _ decider: OutboxDecider
    ) async -> Attempt {
        let origin = kept.request.url.origin
        traffic.learn(row.destination, leadsTo: origin)
        if let wait = holdBack(endpoint, origin, row) { return Attempt(step: .wait(wait)) }
        let isAsked = Locked(false)
        let write = FrozenWrite(request: kept.request) { [owners, client, owner = row.owner] isolation in
            isAsked.withLock { $0 = true }
            let home = kept.terms.environment == nil ? isolation.environment : client.environment.name
            return owners.owner(isolation.identity, in: home) == owner
        }
        let result = await client.deliver(endpoint, write, kept.terms)
        switch result {
        case .success(let response):
            traffic.note(.accepted, from: origin, at: time.now())
            return Attempt(step: .done, end: .answered(response))
        case .failure(let error):
            var outcome = OutboxOutcome(error, at: time.date(), expiry: client.expiry(of: endpoint))
            // What is refused before anybody asks for the write says nothing about it: its user has signed out meanwhile.
            if case .blocked = error.kind, !isAsked.withLock({ $0 }) {
                outcome = OutboxOutcome(.cancelled, sendState: .unsent)
            }
            traffic.note(outcome.result, from: origin, at: time.now())
            if let pause = pause(of: origin, after: error) { traffic.spare(origin, for: pause, at: time.now()) }
            let step = wait(row, outcome, decider) { endpoint.verdict(on: OutboxAnswer(error, row)) }
            return Attempt(step: step, end: .unreadable(error), error: error)
        }
    }

    /// How long the client leaves an origin alone, to which it has not sent a write for that reason.
    ///
    /// - Returns: `nil` where the error says nothing of the origin.
    private func pause(of origin: HTTPURL.Origin, after error: APIError) -> Duration? {
        guard case .unavailable = error.kind, error.request?.url.origin == origin else { return nil }
        let (admissions, origins) = (client.state.admissions, client.state.origins)
        return [admissions.pause(of: origin), origins.openTime(of: origin)].compactMap(\.self).max() ?? Self.glance
    }

    /// How a row waits that was taken before it was known where it goes: its host rests, or the app has paused its calls.
    ///
    /// - Returns: `nil` where it may go.
    private func holdBack(_ endpoint: some OutboxEndpoint, _ origin: HTTPURL.Origin, _ row: OutboxRow) -> OutboxWait? {
        let moment = time.now()
        var rest = traffic.rest(of: origin, at: moment).map { $0 - moment }
        if client.isPaused(endpoint) {
            traffic.pause(row.destination, endpoint)
            rest = Self.glance
        }
        return rest.map {
            OutboxWait(
                until: time.date().addingTimeInterval($0.seconds), conflicts: row.conflicts, unanswered: row.unanswered)
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
        var replaced: [OutboxID] = []
        // What goes with the row is in hand until it is told, as the row itself is.
        defer { feeds.letsGo(of: .these(replaced)) }
        while true {
            do throws(OutboxStoreError) {
                if attempt.step == .done {
                    let undone = try await undone(by: row)
                    feeds.takesInHand(.these(undone))
                    feeds.letsGo(of: .these(replaced))
                    replaced = undone
                }
                try await store.settle(row.id, attempt.step, at: time.date(), under: lease)
                break
            } catch {
                if error == .fenced || error == .closed { return }
            }
            do { try await time.sleep(.seconds(1)) } catch { return }
        }
        switch attempt.step {
        case .done:
            feeds.tell(row.id, .done, attempt.end)
            for id in replaced { feeds.tell(id, .replaced(by: row.id)) }
        case .wait(let wait): feeds.tell(row.id, .waiting(until: wait.until))
        case .undeliverable(let failure): feeds.fail(row.id, failure, attempt.error)
        }
    }

    /// What goes with a row that is done, since it would undo it.
    private func undone(by row: OutboxRow) async throws(OutboxStoreError) -> [OutboxID] {
        guard let fold = row.fold else { return [] }
        let rows = try await store.rows(.fold(fold), after: 0, limit: Self.batch)
        return rows.filter { $0.isUndone(by: row) }.map(\.id)
    }
}

extension TimeSource {
    /// How far the clock of the wall, which can be set, is ahead of the one that cannot; `nil` where so much time went by between
    /// the looks at both that it would seem to be set.
    fileprivate var lead: TimeInterval? {
        let before = now()
        let date = date()
        return now() - before < .milliseconds(250) ? date.timeIntervalSince1970 - before.seconds : nil
    }
}

extension OutboxFeeds {
    func fail(_ id: OutboxID, _ failure: OutboxFailure, _ error: APIError? = nil) {
        tell(id, .undeliverable(failure), .undeliverable(failure, error))
    }
}

extension OutboxAnswer {
    fileprivate init(_ error: APIError, _ row: OutboxRow) {
        let response = error.response ?? HTTPResponse(status: error.answeredStatus ?? 0)
        let code: BusinessCode? = if case .business(let code, _) = error.judgement { code } else { nil }
        self.init(
            status: response.status, code: code,
            payload: Payload(response.body, contentType: response.fields.combined(.contentType)), attempt: row.attempts,
            conflicts: row.conflicts)
    }
}

extension APIError {
    fileprivate init(_ needed: OutboxCodec.TypeNeeded) {
        let reason =
            "\(needed.name) says whom it trusts or by what way it goes, and the app does not have it any more, or cannot read it:"
            + " it must be among the outbox's endpoints, and read what earlier versions have kept"
        self.init(.blocked(reason: reason), stage: .prepare, sendState: .unsent)
    }
}
