import Foundation

/// Decides who may use which credential, and when a new one is asked for: a state machine that neither waits nor calls.
///
/// There is one for each credential in a process. Whoever needs the credential asks (``ask(_:begun:by:at:)``); the first that
/// finds it unusable begins a *cycle*, and the others wait for its end. The cycle is a conversation: each ``Action`` that the
/// machine wants done is answered by an ``Event``, until the action is ``Action/end(_:)``.
///
/// Two coordinators that share a vault renew a credential once, because whoever asks for a new one first writes a
/// ``RefreshClaim`` over the very version that it has read; and what it gets is written over its own claim and over nothing
/// else. So a logout, a login, and another process's new credential always win.
public struct RefreshCoordinator: Sendable {
    /// What came of an action.
    public enum Event: Hashable, Sendable {
        /// The cycle has begun.
        case begun
        /// What the vault has; `nil` for nothing.
        case loaded(CredentialRecord?)
        /// Whether the condition was satisfied, and the record written.
        case saved(Bool)
        /// Whether the condition was satisfied, and the record deleted.
        case deleted(Bool)
        /// The server or the user has given a new credential.
        case obtained(Credential)
        /// The server or the user has given none.
        case failed(AuthenticationFailure)
        /// The time has passed.
        case slept
        /// The vault did not do what it was asked.
        case vaultFailed(VaultError)
    }

    private enum Phase {
        case idle
        case reading
        /// The claim is being written.
        case claiming(CredentialRecord)
        case refreshing(CredentialRecord)
        /// What was obtained is being written.
        case storing(CredentialRecord, over: CredentialRecord?)
        /// It could not be written, as something else is there by now.
        case holding(CredentialRecord, over: CredentialRecord?)
        case removing(CredentialRecord)
        case releasing(AuthenticationFailure)
        case loggingIn(CredentialRecord?)
    }

    /// A failure that is told to others as well.
    private struct Remembered {
        let subject: Refused
        let failure: AuthenticationFailure
        /// A call that began until then has met the same failure.
        let at: Duration
        /// The moment until which it holds for others as well.
        let until: Duration
    }

    /// How credentials are renewed.
    public let policy: RefreshPolicy
    private let holder: String
    private let random: RandomSource
    private var known: CredentialRecord?
    /// Whether the credential is known: a cycle reads it before all else, and whoever signs in or out says it.
    private var isLoaded = false
    /// When the vault was last looked at, or, after a logout, when its credential was first missed.
    private var lookedAt: Duration?
    /// What the user has signed out of in this process, or the server has rejected. It is of no more use, also where the vault could
    /// not delete it.
    private var discarded: CredentialVersion?
    private var remembered: Remembered?
    private var phase = Phase.idle
    private var wanted = Refused.nothing
    private var abilities = Abilities { _ in false }
    /// Whether the app takes the risk of a refresh token that may have been used.
    private var isInsisting = false
    /// What was obtained last in place of another one, and when.
    private var renewed: (version: CredentialVersion, at: Duration)?
    /// The claim of somebody else, and since when it is looked at.
    private var watched: (claim: RefreshClaim, since: Duration)?
    /// What was obtained and could not be written, to be written first when next a cycle begins.
    private var unwritten: (record: CredentialRecord, over: VaultCondition)?
    /// Whether the user has signed out, and the vault could not delete what it has: the next that is found there is of no more use.
    private var isUnerased = false
    /// The number of the cycle under way, or of the last one. What answers an older one is not listened to.
    public private(set) var cycle = 0

    /// - Parameter random: for the names of records and of this coordinator, so that no two in the world are alike.
    public init(policy: RefreshPolicy = RefreshPolicy(), random: RandomSource = .system) {
        self.policy = policy
        self.random = random
        holder = CredentialVersion.new(random).text
    }

    /// The credential as this process knows it.
    public var credential: Credential? { known?.credential }

    /// The credential as the vault is to have it.
    var record: CredentialRecord? { known }

    /// Whether a cycle is under way.
    public var isBusy: Bool {
        if case .idle = phase { false } else { true }
    }
}

// MARK: Asking

extension RefreshCoordinator {
    /// The credential, for whoever needs it and was not refused; quick, because every request asks.
    ///
    /// - Returns: `nil` where ``ask(_:begun:by:at:)`` has to be asked; otherwise what it would answer.
    public func ready(at moment: Moment) -> Answer? {
        isLoaded && !isBusy && !isDue(at: moment) ? .use(known?.credential) : nil
    }

    /// Answers a call that is about to send a request, or was refused, with what to do.
    ///
    /// - Parameter begun: when the attempt began that was refused. A failure that came later is also its own.
    public mutating func ask(
        _ refused: Refused, begun: Duration, by abilities: Abilities, at moment: Moment
    ) -> Answer {
        if isBusy { return isOnlyLooking && refused == .nothing ? .use(nil) : .wait }
        guard isLoaded else { return begin(refused, abilities) }
        guard isUnusable(after: refused, abilities, moment) || isNoBetter(than: refused, begun: begun, at: moment)
        else {
            return .use(known?.credential)
        }
        if let failure = failure(after: refused, begun: begun, at: moment) {
            let outcome = Self.outcome(.fail(failure), for: refused, known?.credential, at: moment)
            if case .use(let credential) = outcome { return .use(credential) }
            return .fail(failure)
        }
        guard !isRenewedJustNow(refused, abilities, at: moment) else {
            remember(refused, .notRenewed, at: moment, for: policy.pause)
            return .fail(.notRenewed)
        }
        guard abilities.canLogIn || known.map({ abilities.canRefresh($0.credential) }) ?? false || claimLook(at: moment)
        else {
            return .fail(known == nil && refused != .anonymous ? .signedOut : .missing)
        }
        return begin(refused, abilities)
    }

    /// Nothing can be asked for here, but another process that shares the vault may have signed in. The vault is looked at once in
    /// a while, and not for each request that is refused.
    ///
    /// - Returns: whether it is time to.
    private mutating func claimLook(at moment: Moment) -> Bool {
        guard let last = lookedAt else {
            lookedAt = moment.now
            return false
        }
        return moment.now - last >= policy.pause
    }

    /// Whether the cycle under way finds out no more than whether there is a credential by now. Who was refused nothing goes without,
    /// as before.
    private var isOnlyLooking: Bool {
        guard case .reading = phase else { return false }
        return isLoaded && known == nil && !abilities.canLogIn && !isInsisting
    }

    /// What the end of a cycle means for one who has waited for it: whoever was not refused can still use what has not
    /// expired, though it could not be renewed.
    public func outcome(_ outcome: Outcome, for refused: Refused, at moment: Moment) -> Outcome {
        Self.outcome(outcome, for: refused, known?.credential, at: moment)
    }

    private static func outcome(
        _ outcome: Outcome, for refused: Refused, _ known: Credential?, at moment: Moment
    ) -> Outcome {
        guard case .fail = outcome, refused == .nothing, let known, !known.isExpired(at: moment.date) else {
            return outcome
        }
        return .use(known)
    }

    /// The app wants a new credential, whatever became of the last attempt.
    public mutating func insist(by abilities: Abilities) -> Answer {
        if isBusy { return .wait }
        isInsisting = true
        remembered = nil
        return begin(known.map { .version($0.credential.version) } ?? .nothing, abilities)
    }

    /// Whether a new credential has come since then.
    func hasRenewed(since moment: Duration) -> Bool { renewed.map { $0.at >= moment } ?? false }

    private mutating func begin(_ refused: Refused, _ abilities: Abilities) -> Answer {
        (wanted, self.abilities, phase, watched) = (refused, abilities, .reading, nil)
        cycle += 1
        return .begin
    }

    /// Whether the credential of the moment is the one that was refused, or is to be renewed before it is used.
    private func isUnusable(after refused: Refused, _ abilities: Abilities, _ moment: Moment) -> Bool {
        guard let known else { return refused != .nothing || abilities.logsInAhead }
        guard refused == .nothing else { return refused == .version(known.credential.version) }
        if abilities.canRefresh(known.credential) { return isDue(at: moment) }
        return abilities.canLogIn && known.credential.isExpired(at: moment.date)
    }

    private func isDue(at moment: Moment) -> Bool {
        known?.credential.isDue(at: moment.date, leeway: policy.leeway) ?? false
    }

    /// Whether what has come in place of what was refused is almost dead itself. Those who waited for it were told so, and one who was
    /// refused together with them, but asks after them, is told the same.
    private func isNoBetter(than refused: Refused, begun: Duration, at moment: Moment) -> Bool {
        guard case .version(let version) = refused, let known, let remembered, remembered.failure == .notRenewed,
            version != known.credential.version,
            remembered.subject == .version(known.credential.version)
        else { return false }
        return isAlmostDead(known.credential, at: moment) && begun <= remembered.at && moment.now < remembered.until
    }

    /// Whether what was refused is so new that the refusal does not mean that it has expired.
    private func isRenewedJustNow(_ refused: Refused, _ abilities: Abilities, at moment: Moment) -> Bool {
        guard let renewed, refused == .version(renewed.version) else { return false }
        if abilities.logsInAhead, known?.credential.isExpired(at: moment.date) ?? false { return false }
        return moment.now - renewed.at < policy.minimumLifetime
    }

    private func failure(after refused: Refused, begun: Duration, at moment: Moment) -> AuthenticationFailure? {
        guard let remembered else { return nil }
        let subject = known.map { Refused.version($0.credential.version) } ?? .anonymous
        guard remembered.subject == subject || remembered.subject == refused else { return nil }
        return moment.now < remembered.until || begun <= remembered.at ? remembered.failure : nil
    }

    /// Forgets a failure from before a moment: what it came of is known to be over.
    mutating func forgive(_ failure: AuthenticationFailure, before moment: Duration) {
        if let remembered, remembered.failure == failure, remembered.at < moment { self.remembered = nil }
    }

    private mutating func remember(
        _ subject: Refused, _ failure: AuthenticationFailure, at moment: Moment, for pause: Duration
    ) {
        remembered = Remembered(subject: subject, failure: failure, at: moment.now, until: moment.now + pause)
    }
}

// MARK: Signing in and out

extension RefreshCoordinator {
    /// The user has signed in. What is under way is not waited for any more.
    ///
    /// - Returns: what is to be written over anything.
    public mutating func signIn(_ credential: Credential) -> CredentialRecord {
        let record = CredentialRecord(credential, version: CredentialVersion.new(random).text)
        discarded = nil
        abandon(record)
        return record
    }

    /// What the user has signed in with could not be written. It is before the vault is believed again.
    mutating func couldNotWrite(_ record: CredentialRecord) {
        guard known?.version == record.version else { return }
        unwritten = (record, .anything)
    }

    /// Whether what the vault had when the user signed out could be deleted.
    mutating func note(isErased: Bool) {
        isUnerased = !isErased && known == nil
    }

    /// The user has signed out. What is under way comes to nothing.
    public mutating func signOut() {
        discarded = known?.credential.version ?? discarded
        abandon(nil)
    }

    private mutating func abandon(_ record: CredentialRecord?) {
        (known, isLoaded, remembered, renewed, unwritten, watched) = (record, true, nil, nil, nil, nil)
        (lookedAt, isUnerased) = (nil, false)
        (phase, isInsisting) = (.idle, false)
        cycle += 1
    }
}

// MARK: A cycle

extension RefreshCoordinator {
    /// Goes on with the cycle.
    ///
    /// - Returns: what is to be done; `nil` when this cycle is over, because the user has signed in or out meanwhile.
    public mutating func next(_ event: Event, cycle: Int, at moment: Moment) -> Action? {
        guard cycle == self.cycle else { return nil }
        switch (phase, event) {
        case (.reading, .begun): return unwritten.map { .save($0.record, over: $0.over) } ?? .load
        case (.reading, .saved):
            unwritten = nil
            return .load
        case (.reading, .slept), (.holding, .slept): return .load
        case (.reading, .loaded(let record)):
            // What was loaded is from before what the user did last.
            if let unwritten { return .save(unwritten.record, over: unwritten.over) }
            return read(record, moment)
        case (.holding(let new, let old), .loaded(let record)): return settle(new, old, over: record, moment)

        case (.claiming(let claimed), .saved(true)):
            guard let claim = claimed.claim, claim.leavesTime(at: moment, policy) else {
                return release(claimed, claimed.claim?.withoutLast(at: moment), .vault(.unavailable))
            }
            (known, phase) = (claimed, .refreshing(claimed))
            return .refresh(claimed.credential)
        case (.claiming, .saved(false)), (.removing, .deleted(false)): return readAgain()

        case (.refreshing(let claimed), .obtained(let new)): return store(new, over: claimed)
        case (.refreshing(let claimed), .failed(let failure)): return failed(failure, claimed, moment)
        case (.removing(let removed), .deleted(true)):
            known = nil
            remember(.version(removed.credential.version), .rejected, at: moment, for: policy.pause)
            return abilities.canLogIn ? logIn(nil) : end(.fail(.rejected))
        case (.releasing(let failure), .saved), (.releasing(let failure), .vaultFailed): return end(.fail(failure))

        case (.loggingIn(let old), .obtained(let new)): return store(new, over: old)
        case (.loggingIn, .failed(let failure)):
            let subject = known.map { Refused.version($0.credential.version) } ?? .anonymous
            remember(subject, failure, at: moment, for: failure == .loginCancelled ? .zero : policy.pause)
            return end(.fail(failure))

        case (.storing(let new, _), .saved(true)): return stored(new, moment)
        case (.storing(let new, let old), .saved(false)):
            phase = .holding(new, over: old)
            return .load
        case (.storing(let new, let old), .vaultFailed), (.holding(let new, let old), .vaultFailed):
            unwritten = (new, old.map { .version($0.version) } ?? .absent)
            return stored(new, moment)
        case (_, .vaultFailed(let error)): return vaultFailed(error, moment)
        default: return end(.fail(.unavailable))
        }
    }

    private mutating func end(_ outcome: Outcome) -> Action {
        (phase, isInsisting) = (.idle, false)
        return .end(outcome)
    }

    private mutating func readAgain() -> Action {
        phase = .reading
        return .load
    }

    // MARK: What the vault has

    /// Read again before anything is sent: another process may have been faster.
    private mutating func read(_ record: CredentialRecord?, _ moment: Moment) -> Action {
        if isUnerased {
            discarded = record?.credential.version ?? discarded
            isUnerased = false
        }
        let isOfUse = record.map { $0.credential.version != discarded } ?? false
        (known, isLoaded, lookedAt) = (isOfUse ? record : nil, true, moment.now)
        guard let record, isOfUse else { return nothingThere(but: record) }
        let credential = record.credential
        // Whoever insists wants another one than the one that is there, also where it is seen only now.
        if isInsisting, wanted == .nothing { wanted = .version(credential.version) }
        let isRefused = wanted == .version(credential.version)
        guard isRefused || wanted == .nothing && isDue(at: moment) else {
            return end(.use(credential))
        }
        guard abilities.canRefresh(credential) else {
            let isOver = isRefused || credential.isExpired(at: moment.date)
            if abilities.canLogIn, isOver { return logIn(record) }
            return end(isRefused ? .fail(.missing) : .use(credential))
        }
        guard let claim = record.claim else { return take(record, RefreshClaim(by: holder, at: moment, policy)) }
        guard !watch(claim, at: moment) else {
            let isUsable = !isRefused && !credential.isExpired(at: moment.date)
            return isUsable ? end(.use(credential)) : .sleep(policy.pollInterval)
        }
        return goOn(with: claim, of: record, moment)
    }

    /// - Parameter discarded: what is there and of no more use.
    private mutating func nothingThere(but discarded: CredentialRecord?) -> Action {
        switch wanted {
        case .nothing where abilities.logsInAhead: logIn(discarded)
        case .nothing: end(isInsisting ? .fail(.missing) : .use(nil))
        case .anonymous: abilities.canLogIn ? logIn(discarded) : end(.fail(.missing))
        case .version: abilities.canLogIn ? logIn(discarded) : end(.fail(.signedOut))
        }
    }

    /// Looks at the claim of somebody else. A date that a clock was moved to, back or forth, holds nobody up for longer than a claim
    /// can last.
    ///
    /// - Returns: whether who left the claim may still be at it.
    private mutating func watch(_ claim: RefreshClaim, at moment: Moment) -> Bool {
        if watched?.claim != claim { watched = (claim, moment.now) }
        let isWatched = watched.map { moment.now - $0.since < policy.lease } ?? false
        return moment.date < claim.until && isWatched
    }

    private mutating func take(_ record: CredentialRecord, _ claim: RefreshClaim) -> Action {
        let claimed = CredentialRecord(record.credential, claim: claim, version: CredentialVersion.new(random).text)
        phase = .claiming(claimed)
        return .save(claimed, over: .version(record.version))
    }

    // MARK: What the server said

    /// Its answer may have been lost, so the refresh token may have been used: once more within the grace, and not again.
    private mutating func goOn(with claim: RefreshClaim, of record: CredentialRecord, _ moment: Moment) -> Action {
        if isInsisting { return take(record, RefreshClaim(by: holder, at: moment, policy)) }
        if let second = claim.second(by: holder, at: moment, policy) { return take(record, second) }
        remember(.version(record.credential.version), .lost, at: moment, for: policy.pause)
        return end(.fail(.lost))
    }

    private mutating func failed(
        _ failure: AuthenticationFailure, _ claimed: CredentialRecord, _ moment: Moment
    ) -> Action {
        let subject = Refused.version(claimed.credential.version)
        switch failure {
        case .rejected:
            phase = .removing(claimed)
            return .delete(version: claimed.version)
        case .lost:
            if let second = claimed.claim?.second(by: holder, at: moment, policy) { return take(claimed, second) }
            remember(subject, .lost, at: moment, for: policy.pause)
            return release(claimed, claimed.claim?.ended(at: moment), .lost)
        default:
            remember(subject, failure, at: moment, for: policy.pause)
            return release(claimed, claimed.claim?.withoutLast(at: moment), failure)
        }
    }

    private mutating func release(
        _ claimed: CredentialRecord, _ claim: RefreshClaim?, _ failure: AuthenticationFailure
    ) -> Action {
        phase = .releasing(failure)
        let released = CredentialRecord(claimed.credential, claim: claim, version: CredentialVersion.new(random).text)
        return .save(released, over: .version(claimed.version))
    }

    // MARK: What was obtained

    /// The same token again keeps its version, so that it is refused for everyone who has it. What came with it is kept in
    /// any case: the refresh token may be a new one.
    private mutating func store(_ new: Credential, over old: CredentialRecord?) -> Action {
        let same = old.map(\.credential).flatMap { $0.token == new.token && $0.user == new.user ? $0 : nil }
        let credential = same.map { new.renamed($0.version) } ?? new
        let record = CredentialRecord(credential, version: CredentialVersion.new(random).text)
        phase = .storing(record, over: old)
        return .save(record, over: old.map { .version($0.version) } ?? .absent)
    }

    private mutating func stored(_ new: CredentialRecord, _ moment: Moment) -> Action {
        let credential = new.credential
        (known, remembered, renewed) = (new, nil, (credential.version, moment.now))
        // Where one is had for the asking, another follows one that dies soon.
        let isTooShort = !abilities.logsInAhead && isAlmostDead(credential, at: moment)
        guard wanted == .version(credential.version) || isTooShort else {
            return end(.use(credential))
        }
        remember(.version(credential.version), .notRenewed, at: moment, for: policy.pause)
        return end(.fail(.notRenewed))
    }

    /// Read again after: something else was there when the new credential was to be written. A logout has won, and so has
    /// another credential. Where it is still the old one, another process thinks that this one has died, and goes first.
    private mutating func settle(
        _ new: CredentialRecord, _ old: CredentialRecord?, over record: CredentialRecord?, _ moment: Moment
    ) -> Action {
        guard let record else {
            known = nil
            return end(.fail(.signedOut))
        }
        guard record.credential.version == old?.credential.version else {
            known = record
            return end(.use(record.credential))
        }
        if let claim = record.claim, watch(claim, at: moment) { return .sleep(policy.pollInterval) }
        phase = .storing(new, over: record)
        return .save(new, over: .version(record.version))
    }

    // MARK: The rest

    private mutating func logIn(_ old: CredentialRecord?) -> Action {
        phase = .loggingIn(old)
        return .logIn(old?.credential)
    }

    private mutating func vaultFailed(_ error: VaultError, _ moment: Moment) -> Action {
        if case .removing(let removed) = phase {
            (known, discarded) = (nil, removed.credential.version)
            remember(.version(removed.credential.version), .rejected, at: moment, for: policy.pause)
            return end(.fail(.rejected))
        }
        if wanted == .nothing, let known, !known.credential.isExpired(at: moment.date) {
            return end(.use(known.credential))
        }
        return end(.fail(.vault(error)))
    }
}
