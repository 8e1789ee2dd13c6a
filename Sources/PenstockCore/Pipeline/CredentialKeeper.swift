import Foundation

/// Keeps one credential for all calls that need it: carries out what a ``RefreshCoordinator`` decides.
///
/// A cycle runs in a task of its own, so that the caller who began it may be cancelled without harm to the others, and a
/// request that is under way is given up only when the user signs out or in: its answer may hold the only refresh token that still
/// works.
final class CredentialKeeper: Sendable {
    private struct State: Sendable {
        var coordinator: RefreshCoordinator
        /// Who waits, by the number of their coming.
        var waiting: [Int: Waiter] = [:]
        var lastWaiter = 0
        /// Why the server or the user has given no credential when last asked for one.
        var cause: Cause?
        /// What asks the server for a credential, until the app's code in it has returned.
        var renewals: [Renewal] = []
        /// The clients whose calls have waited for a cycle that is under way, each by its work: their ends wait for it, also
        /// where the calls have given up. By the number of the cycle.
        var followers: [Int: [ObjectIdentifier: Int]] = [:]

        /// Has a client's end wait for the cycle that is under way.
        mutating func follow(_ work: ClientWork, by client: ClientLineage) {
            let follower = ObjectIdentifier(client)
            guard followers[coordinator.cycle]?[follower] == nil else { return }
            followers[coordinator.cycle, default: [:]][follower] = work.begin(for: client)
        }

        /// - Returns: the waiter's number.
        mutating func add(_ waiter: Waiter) -> Int {
            lastWaiter += 1
            waiting[lastWaiter] = waiter
            return lastWaiter
        }

        /// Those who came first are first.
        mutating func takeWaiting() -> [Waiter] {
            defer { waiting = [:] }
            return waiting.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private struct Waiter: Sendable {
        let refused: RefreshCoordinator.Refused
        let promise: Promise<RefreshCoordinator.Outcome>
    }

    private struct Renewal: Sendable {
        let lane: RefreshLane
        let task: Task<Void, Never>

        /// Ends it, unless it is the renewing code itself that signs in or out, which must be able to go on with that.
        func revoke() {
            guard !lane.isPresent else { return }
            lane.revoke()
            task.cancel()
        }
    }

    /// The error that a failure was made of. The machine decides by the failure alone, so the error is kept beside it.
    private struct Cause: Sendable {
        let failure: AuthenticationFailure
        let error: any Error
    }

    /// What came of asking the server or the user.
    private struct Reply: Sendable {
        let event: RefreshCoordinator.Event
        let cause: Cause?

        init(_ event: RefreshCoordinator.Event) {
            (self.event, cause) = (event, nil)
        }

        /// A failure says by itself what it is; what is kept is the error behind it, where there is one.
        init(_ failure: AuthenticationFailure, of error: any Error) {
            event = .failed(failure)
            let origin: (any Error)? =
                switch error {
                case is AuthenticationFailure: nil
                case let error as APIError:
                    if case .authentication = error.kind { error.underlying } else { error }
                default: error
                }
            cause = origin.map { Cause(failure: failure, error: $0) }
        }
    }

    /// The object that knows how to get a new credential.
    struct Source: Sendable {
        let authenticator: any Authenticator
        let context: RefreshContext

        var abilities: RefreshCoordinator.Abilities {
            .init(
                canLogIn: authenticator.canLogIn, logsInAhead: authenticator.logsInAhead,
                canRefresh: authenticator.canRefresh)
        }
    }

    let key: CredentialKey
    private let vault: any CredentialVault
    private let time: TimeSource
    private let clientWork: ClientWork
    private let state: Locked<State>
    /// How much of what the user did is on its way to the vault. A cycle waits for it: what it would find there is from before that.
    private let writes = Monitor(0)

    init(
        _ key: CredentialKey, in vault: any CredentialVault, _ policy: RefreshPolicy, _ time: TimeSource,
        _ random: RandomSource, _ clientWork: ClientWork
    ) {
        self.key = key
        self.vault = vault
        self.time = time
        self.clientWork = clientWork
        state = Locked(State(coordinator: RefreshCoordinator(policy: policy, random: random)))
    }

    private var moment: RefreshCoordinator.Moment { .init(now: time.now(), date: time.date()) }

    /// The credential, where it can be used at once; `nil` where it has to be asked for.
    func ready() -> RefreshCoordinator.Answer? {
        let moment = moment
        return state.withLock { $0.coordinator.ready(at: moment) }
    }

    /// Whether a call that was refused nothing would have to wait for the credential.
    func makesWait(_ call: CallContext, by source: Source) -> Bool {
        let moment = moment
        let foundWay = call.state.withLock { $0.foundWay }
        // A copy is asked: it answers the same, and begins nothing.
        var coordinator = state.withLock { $0.coordinator }
        if let foundWay { coordinator.forgive(.unavailable, before: foundWay) }
        let answer = coordinator.ask(.nothing, begun: moment.now, by: source.abilities, at: moment)
        return answer == .wait || answer == .begin
    }

    /// The credential to go with, once it is there.
    ///
    /// - Parameters:
    ///   - refused: what the call was refused with.
    ///   - begun: when the attempt began that was refused.
    /// - Throws: ``APIError/Kind/authentication(_:)``, the same to all who wait; the call's own end, where that comes first.
    func credential(
        after refused: RefreshCoordinator.Refused, begun: Duration, for call: CallContext,
        by source: @autoclosure () -> Source
    ) async throws(APIError) -> Credential? {
        // What a cycle ends with may be the very credential that was refused: a cycle that only read the vault.
        for _ in 0..<3 {
            switch try await settle(refused, begun, call, source()) {
            case .fail(let failure):
                call.emit(.credentialDecided(.failed(failure)))
                throw error(of: failure)
            case .use(let credential):
                let isRefused = refused == credential.map { .version($0.version) } ?? .anonymous
                if !isRefused { return credential }
            }
        }
        throw APIError(.authentication(.notRenewed), stage: .authenticate)
    }

    private func settle(
        _ refused: RefreshCoordinator.Refused, _ begun: Duration, _ call: CallContext, _ source: Source
    ) async throws(APIError) -> RefreshCoordinator.Outcome {
        let promise = Promise<RefreshCoordinator.Outcome>()
        let moment = moment
        let foundWay = call.state.withLock { $0.foundWay }
        let (answer, cycle, number) = state.withLock { state in
            if let foundWay { state.coordinator.forgive(.unavailable, before: foundWay) }
            let answer = state.coordinator.ask(refused, begun: begun, by: source.abilities, at: moment)
            let waits = answer == .wait || answer == .begin
            let number = waits ? state.add(Waiter(refused: refused, promise: promise)) : nil
            if waits { state.follow(clientWork, by: call.lineage) }
            return (answer, state.coordinator.cycle, number)
        }
        switch answer {
        case .use(let credential):
            if refused != .nothing { call.emit(.credentialDecided(.alreadyRenewed)) }
            return .use(credential)
        case .fail(let failure): return .fail(failure)
        case .begin:
            call.emit(.credentialDecided(.renewing))
            run(cycle, source)
        case .wait: call.emit(.credentialDecided(.joined))
        }
        defer { leave(number) }
        let outcome = try await call.value(of: promise, at: .authenticate)
        if case .use = outcome { call.emit(.credentialDecided(.renewed)) }
        return outcome
    }

    private func leave(_ number: Int?) {
        guard let number else { return }
        state.withLock { $0.waiting[number] = nil }
    }

    private func error(of failure: AuthenticationFailure) -> APIError {
        let cause = state.withLock { $0.cause }
        return APIError(
            .authentication(failure), stage: .authenticate,
            underlying: cause?.failure == failure ? cause?.error : nil)
    }

    // MARK: The app's own doing

    /// The credential as it is kept, without a look at whether it is due.
    func current() async throws(VaultError) -> Credential? {
        if let known = state.withLock({ $0.coordinator.credential }) { return known }
        return try await vault.load(key).map { item throws(VaultError) in try CredentialRecord(item).credential }
    }

    /// A login or a logout that has taken effect in this process: calling it brings it to the vault, and is to be done once.
    typealias Writing = @Sendable () async throws(VaultError) -> Void

    private func beginWriting(for client: ClientLineage?) -> Int {
        writes.withLock { $0 += 1 }
        return clientWork.begin(for: client)
    }

    private func endWriting(_ number: Int) {
        writes.withLock { $0 -= 1 }
        clientWork.end(number)
    }

    /// Signs in, and writes it.
    func signIn(_ credential: Credential) async throws(VaultError) {
        try await signingIn(credential)()
    }

    /// Signs in, at once. Calls that wait go on.
    ///
    /// - Parameter client: whose end waits for the writing, with those of the clients that it was derived from.
    func signingIn(_ credential: Credential, in client: ClientLineage? = nil) throws(VaultError) -> Writing {
        guard credential.isValid else { throw .invalid }
        let number = beginWriting(for: client)
        let (record, waiting, renewals) = state.withLock { state in
            (state.coordinator.signIn(credential), state.takeWaiting(), state.renewals)
        }
        for renewal in renewals { renewal.revoke() }
        for waiter in waiting { waiter.promise.keep(.use(credential)) }
        return { [self] () throws(VaultError) in
            defer { endWriting(number) }
            do throws(VaultError) {
                try await vault.save(record.item, for: key, over: .anything)
                try await settleVault(after: record.version)
            } catch {
                state.withLock { $0.coordinator.couldNotWrite(record) }
                throw error
            }
        }
    }

    /// Signs out, at once. Calls that wait are told. What is under way comes to nothing, and the old refresh token is sent no more.
    ///
    /// - Parameter client: whose end waits for the writing, with those of the clients that it was derived from.
    func signingOut(in client: ClientLineage? = nil) -> Writing {
        let number = beginWriting(for: client)
        let (waiting, cycle, renewals) = state.withLock { state in
            state.coordinator.signOut()
            return (state.takeWaiting(), state.coordinator.cycle, state.renewals)
        }
        for renewal in renewals { renewal.revoke() }
        for waiter in waiting { waiter.promise.keep(.fail(.signedOut)) }
        return { [self] () throws(VaultError) in
            defer { endWriting(number) }
            do throws(VaultError) {
                try await vault.delete(key, where: .anything)
                try await settleVault(after: nil)
            } catch {
                state.withLock { state in
                    if state.coordinator.cycle == cycle { state.coordinator.note(isErased: false) }
                }
                throw error
            }
        }
    }

    /// The vault has nothing of the account any more.
    func noteErased() {
        state.withLock { $0.coordinator.note(isErased: true) }
    }

    /// Makes the vault have what the user did last, where a login and a logout were on their way to it together: whichever is
    /// written last sees what was meant to be.
    ///
    /// - Parameter written: the version that the vault was left with; `nil` for nothing.
    func settleVault(after written: String?) async throws(VaultError) {
        var written = written
        while true {
            let record = state.withLock { $0.coordinator.record }
            guard record?.version != written else { return }
            if let record {
                try await vault.save(record.item, for: key, over: written.map(VaultCondition.version) ?? .absent)
            } else if let written {
                try await vault.delete(key, where: .version(written))
            }
            written = record?.version
        }
    }

    /// Asks for a new credential, whatever became of the last attempt.
    ///
    /// - Parameter client: that asks, whose end waits for it; `nil` for the one whose credentials they are.
    func insist(_ source: Source, for client: ClientLineage? = nil) async throws(APIError) {
        // A cycle that is under way may end without a new one: it may only have read the vault.
        let begun = time.now()
        repeat {
            if try await insistOnce(source, client) { return }
        } while !state.withLock { $0.coordinator.hasRenewed(since: begun) }
    }

    /// - Returns: whether the cycle that has ended was this caller's own, which renews or fails.
    private func insistOnce(_ source: Source, _ client: ClientLineage?) async throws(APIError) -> Bool {
        let promise = Promise<RefreshCoordinator.Outcome>()
        let (answer, cycle, number) = state.withLock { state in
            let number = state.add(Waiter(refused: .anonymous, promise: promise))
            let answer = state.coordinator.insist(by: source.abilities)
            if let client { state.follow(clientWork, by: client) }
            return (answer, state.coordinator.cycle, number)
        }
        if answer == .begin { run(cycle, source) }
        defer { leave(number) }
        switch await promise.valueUnlessCancelled() {
        case .use: return answer == .begin
        case .fail(let failure): throw error(of: failure)
        case nil: throw APIError(.cancelled, stage: .authenticate)
        }
    }

    // MARK: A cycle

    private func run(_ cycle: Int, _ source: Source) {
        // Before the call that began it can end: whoever waits for both is not to find neither.
        let number = clientWork.begin()
        Task {
            defer {
                let followers = state.withLock { $0.followers.removeValue(forKey: cycle) } ?? [:]
                for follower in followers.values { clientWork.end(follower) }
                clientWork.end(number)
            }
            var event = RefreshCoordinator.Event.begun
            while let action = next(event, cycle) {
                // What is written over anything is waited for by others, as what the user does is.
                let isBlind = if case .save(_, over: .anything) = action { true } else { false }
                if isBlind { writes.withLock { $0 += 1 } }
                let done = await perform(action, source, cycle)
                if isBlind {
                    await rectify(action, cycle)
                    writes.withLock { $0 -= 1 }
                }
                guard let done else { return }
                event = done
            }
        }
    }

    /// Undoes a writing that asks for nothing where the user has signed in or out while it was under way.
    private func rectify(_ action: RefreshCoordinator.Action, _ cycle: Int) async {
        guard case .save(let record, over: .anything) = action, state.withLock({ $0.coordinator.cycle != cycle }) else {
            return
        }
        // Where the vault fails now, it has failed for the user's own doing as well, and they were told.
        try? await settleVault(after: record.version)
    }

    /// The end of a cycle and the word of it to those who wait are one step: whoever asks later begins another one.
    private func next(_ event: RefreshCoordinator.Event, _ cycle: Int) -> RefreshCoordinator.Action? {
        let moment = moment
        let (action, told) = state.withLock {
            state -> (RefreshCoordinator.Action?, [(Waiter, RefreshCoordinator.Outcome)]) in
            let action = state.coordinator.next(event, cycle: cycle, at: moment)
            guard case .end(let outcome) = action else { return (action, []) }
            let told = state.takeWaiting().map { waiter in
                (waiter, state.coordinator.outcome(outcome, for: waiter.refused, at: moment))
            }
            return (action, told)
        }
        for (waiter, outcome) in told { waiter.promise.keep(outcome) }
        return action
    }

    private func perform(
        _ action: RefreshCoordinator.Action, _ source: Source, _ cycle: Int
    ) async -> RefreshCoordinator.Event? {
        do {
            switch action {
            case .load:
                await writes.wait { $0 == 0 }
                return .loaded(try await vault.load(key).map { try CredentialRecord($0) })
            case .save(let record, let condition):
                return .saved(try await vault.save(record.item, for: key, over: condition))
            case .delete(let version): return .deleted(try await vault.delete(key, where: .version(version)))
            case .refresh(let credential): return noted(await refresh(credential, source, cycle), cycle)
            case .logIn(let credential): return noted(await logIn(credential, source), cycle)
            case .sleep(let duration):
                try? await time.sleep(duration)
                return .slept
            case .end: return nil
            }
        } catch {
            return .vaultFailed(error as? VaultError ?? .unavailable)
        }
    }

    /// Keeps why a new credential could not be had, for those who are told that it could not.
    private func noted(_ reply: Reply, _ cycle: Int) -> RefreshCoordinator.Event {
        state.withLock { state in
            if state.coordinator.cycle == cycle { state.cause = reply.cause }
        }
        return reply.event
    }

    /// Renews a credential. Code of the app's may run in it, which may never return: it has its time, and what it brings later is dropped.
    ///
    /// - Returns: nothing of use where the user has signed in or out before it began.
    private func refresh(_ credential: Credential, _ source: Source, _ cycle: Int) async -> Reply {
        let promise = Promise<Reply>()
        let lane = RefreshLane(key, isTimed: true)
        // Whoever signs in or out finds either another cycle here, or this task there.
        let begun = state.withLock { state -> Task<Void, Never>? in
            guard state.coordinator.cycle == cycle else { return nil }
            let work = work(credential, source, lane, promise)
            state.renewals.append(Renewal(lane: lane, task: work))
            return work
        }
        guard let work = begun else { return Reply(.failed(.signedOut)) }
        let alarm = Task { [time, end = time.now() + source.authenticator.refreshPolicy.timeout] in
            try await time.sleep(until: end)
            promise.keep(Reply(.lost, of: APIError(.timeout(.total), stage: .authenticate)))
            work.cancel()
        }
        defer {
            alarm.cancel()
            lane.end()
        }
        return await promise.value() ?? Reply(.failed(.lost))
    }

    private func work(
        _ credential: Credential, _ source: Source, _ lane: RefreshLane, _ promise: Promise<Reply>
    ) -> Task<Void, Never> {
        Task {
            do {
                let new = try await lane.run { try await source.authenticator.refresh(credential, in: source.context) }
                // What was sent may have been used up for it, as when the answer cannot be read.
                promise.keep(new.isValid ? Reply(.obtained(new)) : Reply(.failed(.lost)))
            } catch {
                promise.keep(Reply(AuthenticationFailure(refreshing: error), of: error))
            }
            lane.leave()
            state.withLock { state in state.renewals.removeAll { $0.lane === lane } }
        }
    }

    private func logIn(_ credential: Credential?, _ source: Source) async -> Reply {
        let lane = RefreshLane(key, isTimed: false)
        defer { lane.end() }
        do {
            let new = try await lane.run { try await source.authenticator.logIn(after: credential, in: source.context) }
            return new.isValid ? Reply(.obtained(new)) : Reply(.failed(.unavailable))
        } catch {
            return Reply(AuthenticationFailure(loggingIn: error), of: error)
        }
    }
}
