/// The credentials of a client and of those derived from it.
final class CredentialTable: Sendable {
    let vault: any CredentialVault
    private let time: TimeSource
    private let random: RandomSource
    private let work: ClientWork
    private let keepers = Locked<[CredentialKey: CredentialKeeper]>([:])
    private let sessions = Locked(0)

    /// - Parameter work: of the client that brought the vault.
    init(_ vault: any CredentialVault, _ time: TimeSource, _ random: RandomSource, _ work: ClientWork) {
        (self.vault, self.time, self.random, self.work) = (vault, time, random, work)
    }

    /// The lineage of the client that brought the vault. What renews a credential is that client's, whoever's call began it: all who share
    /// the credential need it.
    var owner: ClientLineage { work.client }

    func keeper(for key: CredentialKey, _ policy: @autoclosure () -> RefreshPolicy) -> CredentialKeeper {
        if let known = keepers.withLock({ $0[key] }) { return known }
        let new = CredentialKeeper(key, in: vault, policy(), time, random, work)
        return keepers.withLock { keepers in
            if let other = keepers[key] { return other }
            keepers[key] = new
            return new
        }
    }

    /// How often somebody has signed in or out, whoever it was.
    var session: Int { sessions.withLock { $0.self } }

    /// What is shared from now on is shared with nobody who was there before.
    func beginSession() {
        sessions.withLock { $0 += 1 }
    }

    /// Signs whoever has signed out of everything, at once; nothing is waited for.
    ///
    /// - Returns: what deletes their credentials from the vault, and says whether nothing of them is left there.
    func forgetting(_ leaver: Leaver) -> @Sendable () async -> Bool {
        beginSession()
        let known = keepers.withLock { $0.filter { leaver.has($0.key) } }.values
        // All of them before any is waited for: a vault that hangs with the first leaves none of the others in use.
        let writings = known.map { $0.signingOut() }
        return { [self] in
            var isGone = true
            for writing in writings {
                do { try await writing() } catch { isGone = false }
            }
            if await vault.forget(leaver) {
                for keeper in known { keeper.noteErased() }
            } else {
                isGone = false
            }
            // Who has signed in meanwhile stays so.
            for keeper in keepers.withLock({ $0 }).values where leaver.has(keeper.key) {
                do { try await keeper.settleVault(after: nil) } catch { isGone = false }
            }
            return isGone
        }
    }
}

/// Whose credentials are deleted by a logout.
struct Leaver: Sendable {
    let identity: String
    /// The services whose credentials of nobody's go as well: what a login has brought may be kept there, where the app named
    /// its user only after. None for a client that names no users, all of whose credentials are nobody's.
    let nobodysServices: [ServiceID]

    func has(_ key: CredentialKey) -> Bool {
        if key.account.isWritten(as: identity) { return true }
        return key.account.isEmpty && nobodysServices.contains { $0.name.isWritten(as: key.service) }
    }
}

extension CredentialVault {
    /// - Returns: whether nothing of theirs is left.
    func forget(_ leaver: Leaver) async -> Bool {
        do {
            for key in try await keys() where leaver.has(key) {
                try await delete(key, where: .anything)
            }
            return true
        } catch {
            return false
        }
    }
}
