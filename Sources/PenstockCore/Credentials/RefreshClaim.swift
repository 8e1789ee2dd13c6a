import Foundation

/// The word that a process leaves in the vault while it asks for a new credential, so that no other one that shares the vault
/// does so at the same time, and so that it is known afterwards if it never came to an end.
public struct RefreshClaim: Hashable, Sendable {
    /// A random name of who has left it.
    public var holder: String
    /// How often the refresh token was sent, or is about to be.
    public var tries: Int
    /// When it was sent first.
    public var since: Date
    /// When the holder gives up at the latest.
    public var until: Date

    /// A claim as it was found; ``RefreshCoordinator`` makes its own.
    public init(holder: String, tries: Int, since: Date, until: Date) {
        self.holder = holder
        self.tries = tries
        self.since = since
        self.until = until
    }
}

extension RefreshClaim {
    /// The first.
    init(by holder: String, at moment: RefreshCoordinator.Moment, _ policy: RefreshPolicy) {
        self.init(
            holder: holder, tries: 1, since: moment.date,
            until: moment.date.addingTimeInterval(policy.lease / .seconds(1)))
    }

    /// The claim to the one more try that is allowed within the grace; `nil` when there was one, or it is too late. A clock
    /// that has gone backwards says nothing, so it is too late then as well.
    func second(by holder: String, at moment: RefreshCoordinator.Moment, _ policy: RefreshPolicy) -> RefreshClaim? {
        let passed = moment.date.timeIntervalSince(since)
        guard tries == 1, passed >= 0, passed <= policy.grace / .seconds(1) else { return nil }
        return RefreshClaim(
            holder: holder, tries: 2, since: since, until: moment.date.addingTimeInterval(policy.lease / .seconds(1)))
    }

    /// Whether a request that is sent now ends before the claim does. Where writing the claim has taken too long, another
    /// process could send its own meanwhile.
    func leavesTime(at moment: RefreshCoordinator.Moment, _ policy: RefreshPolicy) -> Bool {
        moment.date.addingTimeInterval(policy.timeout / .seconds(1)) <= until
    }

    /// The claim once nobody is at it any more.
    func ended(at moment: RefreshCoordinator.Moment) -> RefreshClaim {
        RefreshClaim(holder: holder, tries: tries, since: since, until: moment.date)
    }

    /// The claim as it was before its last try, which is known to have done nothing; `nil` when that was the only one.
    func withoutLast(at moment: RefreshCoordinator.Moment) -> RefreshClaim? {
        tries > 1 ? RefreshClaim(holder: holder, tries: tries - 1, since: since, until: moment.date) : nil
    }
}
