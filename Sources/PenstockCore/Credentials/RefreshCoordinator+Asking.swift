import Foundation

/// What whoever needs a credential asks, and what is answered.
extension RefreshCoordinator {
    /// What time it is.
    public struct Moment: Hashable, Sendable {
        /// The moment by a clock that is monotonic, for what happens in this process.
        public var now: Duration
        /// The moment by the calendar, for what outlives the process.
        public var date: Date

        /// The same moment by both clocks.
        public init(now: Duration, date: Date) {
            self.now = now
            self.date = date
        }
    }

    /// What a request was refused with.
    public enum Refused: Hashable, Sendable {
        /// Nothing was: the request is about to be sent.
        case nothing
        /// It carried no credential.
        case anonymous
        /// It carried this one.
        case version(CredentialVersion)
    }

    /// What can be done about a credential.
    public struct Abilities: Sendable {
        let canRefresh: @Sendable (Credential) -> Bool
        let canLogIn: Bool
        let logsInAhead: Bool

        /// Nobody is asked to log in unless told otherwise.
        ///
        /// - Parameter logsInAhead: whether who has no credential logs in before anything is refused; of no effect unless `canLogIn`.
        public init(
            canLogIn: Bool = false, logsInAhead: Bool = false, canRefresh: @escaping @Sendable (Credential) -> Bool
        ) {
            self.canRefresh = canRefresh
            self.canLogIn = canLogIn
            self.logsInAhead = canLogIn && logsInAhead
        }
    }

    /// What whoever needs a credential has to do.
    public enum Answer: Hashable, Sendable {
        /// The credential of the moment; `nil` where there is none.
        case use(Credential?)
        /// A cycle is under way.
        case wait
        /// A cycle begins, which whoever asked must carry out.
        case begin
        /// There is none to go with, and none is asked for.
        case fail(AuthenticationFailure)
    }

    /// What a cycle comes to.
    public enum Outcome: Hashable, Sendable {
        /// There is a credential to go with; `nil` where requests go without.
        case use(Credential?)
        /// The same is told to all who wait.
        case fail(AuthenticationFailure)
    }
}

// MARK: What a cycle is made of

extension RefreshCoordinator {
    /// What is to be done next.
    public enum Action: Hashable, Sendable {
        /// The vault is read.
        case load
        /// The record is written, where what is there satisfies the condition.
        case save(CredentialRecord, over: VaultCondition)
        /// The record is deleted, where the one of this version is there.
        case delete(version: String)
        /// A new credential is asked for in place of this one.
        case refresh(Credential)
        /// The credential is the one that is of no more use.
        case logIn(Credential?)
        /// Another process is at it, and is looked after when so long has passed.
        case sleep(Duration)
        /// The cycle is over.
        case end(Outcome)
    }
}

extension RefreshCoordinator {
    /// Whether a credential is of use for so short a time that it is no better than the one before.
    func isAlmostDead(_ credential: Credential, at moment: Moment) -> Bool {
        credential.lifetime.map { $0 < policy.minimumLifetime } ?? false
            || credential.isDue(at: moment.date, leeway: policy.leeway)
    }
}
