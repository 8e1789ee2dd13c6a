import Foundation
import PenstockCore
import Testing

/// What a process learns of a session that another one has begun, through the vault that both share.
struct SessionElsewhereTests {
    typealias Desk = RefreshCoordinatorTests.Desk

    /// Reads the vault after a refusal.
    private func look(
        _ desk: inout Desk, _ refused: RefreshCoordinator.Refused, finding record: CredentialRecord?
    ) -> RefreshCoordinator.Action? {
        #expect(desk.ask(refused) == .begin)
        #expect(desk.tell(.begun) == .load)
        return desk.tell(.loaded(record))
    }

    @Test(
        "Who knows of no credential looks again after a refusal, once in five seconds, and uses what is there by then")
    func nothingKnown() {
        for (refused, failure) in [
            (RefreshCoordinator.Refused.anonymous, AuthenticationFailure.missing),
            (.version(.init("gone")), .signedOut),
        ] {
            var desk = Desk()
            RefreshCoordinatorTests.load(nil, &desk)
            desk.now = 4.9
            #expect(desk.ask(refused) == .fail(failure))
            desk.now = 5
            #expect(look(&desk, refused, finding: nil) == .end(.fail(failure)))
            desk.now = 9.9
            #expect(desk.ask(refused) == .fail(failure))
            #expect(desk.ask() == .use(nil))
            desk.now = 10
            let record = RefreshCoordinatorTests.record("new")
            #expect(look(&desk, refused, finding: record) == .end(.use(record.credential)))
            #expect(desk.ask() == .use(record.credential))
        }
    }

    @Test("While it looks, who was not refused goes without as before, and who was refused waits")
    func whileLooking() {
        for (canLogIn, insists) in [(false, false), (true, false), (false, true)] {
            var desk = Desk()
            #expect(desk.ask() == .begin)
            #expect(desk.ask() == .wait, "nothing is known yet")
            #expect(desk.tell(.begun) == .load)
            #expect(desk.tell(.loaded(nil)) == .end(.use(nil)))
            desk.now = 5
            desk.canLogIn = canLogIn
            let answer = insists ? desk.coordinator.insist(by: desk.abilities) : desk.ask(.anonymous)
            #expect(answer == .begin)
            #expect(desk.ask(.anonymous) == .wait)
            // A login, or what the app insists on, is waited for by everyone.
            #expect(desk.ask() == (canLogIn || insists ? .wait : .use(nil)))
        }
        var desk = Desk()
        let record = RefreshCoordinatorTests.record()
        RefreshCoordinatorTests.load(record, &desk)
        #expect(desk.ask(.version(record.credential.version)) == .begin)
        #expect(desk.ask() == .wait, "what is known is being looked after")
    }

    @Test("A rejection holds for five seconds, and then the vault is read again")
    func afterRejection() throws {
        let (old, new) = (RefreshCoordinatorTests.record(), RefreshCoordinatorTests.record("new"))
        for (isWritable, found) in [(true, new), (false, new), (false, old)] {
            var desk = Desk()
            RefreshCoordinatorTests.load(old, &desk)
            desk.now = 100
            _ = try desk.begin(old)
            _ = desk.tell(.failed(.rejected))
            desk.now = 110
            #expect(desk.tell(isWritable ? .deleted(true) : .vaultFailed(.unavailable)) == .end(.fail(.rejected)))
            let refused = RefreshCoordinator.Refused.version(old.credential.version)
            desk.now = 114.9
            #expect(desk.ask(refused) == .fail(.rejected))
            desk.now = 115
            let expected = found == new ? RefreshCoordinator.Outcome.use(new.credential) : .fail(.signedOut)
            #expect(look(&desk, refused, finding: found) == .end(expected))
        }
    }

    @Test("A lost answer holds for five seconds; then the vault is read again, and nothing is sent")
    func afterLoss() throws {
        let (old, new) = (RefreshCoordinatorTests.record(), RefreshCoordinatorTests.record("new"))
        let refused = RefreshCoordinator.Refused.version(old.credential.version)
        let used = RefreshClaim(
            holder: "other", tries: 2, since: RefreshCoordinatorTests.date(-100),
            until: RefreshCoordinatorTests.date(-50))
        let spent = RefreshCoordinatorTests.record(claim: used)
        // As this process has made it, and as it has found it.
        for isOwn in [true, false] {
            var desk = Desk()
            var left = CredentialRecord(old.credential, claim: spent.claim, version: "2")
            RefreshCoordinatorTests.load(isOwn ? old : left, &desk)
            if isOwn {
                let first = try desk.begin(old)
                desk.now = 31
                left = try desk.claim(desk.tell(.failed(.lost)), over: first.version)
                #expect(desk.tell(.saved(true)) == .end(.fail(.lost)))
            } else {
                #expect(look(&desk, refused, finding: left) == .end(.fail(.lost)))
            }
            let failed = desk.now
            desk.now = failed + 4.9
            #expect(desk.ask(refused) == .fail(.lost))
            desk.now = failed + 5
            #expect(look(&desk, refused, finding: left) == .end(.fail(.lost)))
            desk.now = failed + 9.9
            #expect(desk.ask(refused) == .fail(.lost))
            desk.now = failed + 10
            #expect(look(&desk, refused, finding: new) == .end(.use(new.credential)))
        }
    }

    @Test("What cannot be renewed and is refused may have been replaced: the vault is read, once in five seconds")
    func notRenewable() {
        var desk = Desk()
        desk.canRefresh = false
        let (old, new) = (RefreshCoordinatorTests.record(), RefreshCoordinatorTests.record("new"))
        let refused = RefreshCoordinator.Refused.version(old.credential.version)
        RefreshCoordinatorTests.load(old, &desk)
        desk.now = 4.9
        #expect(desk.ask(refused) == .fail(.missing))
        desk.now = 5
        #expect(look(&desk, refused, finding: new) == .end(.use(new.credential)))
    }

    @Test("After a logout what the user has left is not taken up again, and what somebody else has begun is")
    func afterLogout() {
        let (old, new) = (RefreshCoordinatorTests.record(), RefreshCoordinatorTests.record("new"))
        let refused = RefreshCoordinator.Refused.version(old.credential.version)
        for found in [old, new] {
            var desk = Desk()
            RefreshCoordinatorTests.load(old, &desk)
            desk.now = 100
            desk.coordinator.signOut()
            desk.coordinator.signOut()
            // The vault may be busy with the deletion yet.
            #expect(desk.ask(refused) == .fail(.signedOut))
            desk.now = 104.9
            #expect(desk.ask(refused) == .fail(.signedOut))
            desk.now = 105
            let expected = found == old ? RefreshCoordinator.Outcome.fail(.signedOut) : .use(new.credential)
            #expect(look(&desk, refused, finding: found) == .end(expected))
        }
        // What the user is asked for is written over it.
        var asked = Desk()
        RefreshCoordinatorTests.load(old, &asked)
        asked.canLogIn = true
        asked.coordinator.signOut()
        #expect(look(&asked, refused, finding: old) == .logIn(old.credential))
        guard case .save(_, over: .version(old.version)) = asked.tell(.obtained(new.credential)) else {
            Issue.record("it is not written over what is left")
            return
        }
        // Who signs in with it again has it again.
        var desk = Desk()
        RefreshCoordinatorTests.load(old, &desk)
        desk.coordinator.signOut()
        let record = desk.coordinator.signIn(old.credential)
        #expect(desk.ask(refused) == .begin)
        #expect(desk.tell(.begun) == .load)
        guard case .save = desk.tell(.loaded(record)) else {
            Issue.record("it is not renewed")
            return
        }
    }
}
