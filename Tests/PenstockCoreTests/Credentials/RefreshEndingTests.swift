import Foundation
import PenstockCore
import Testing

/// What ends a cycle otherwise: a logout, a login, another process, and a vault that fails.
struct RefreshEndingTests {
    typealias Desk = RefreshCoordinatorTests.Desk

    private static func record(_ token: String = "old") -> CredentialRecord { RefreshCoordinatorTests.record(token) }

    private static let new = Credential(
        "new", refreshToken: "r-new", expiresIn: .seconds(3_600), obtained: RefreshCoordinatorTests.date(0))

    @Test("A logout during a refresh wins: what arrives later is thrown away")
    func logout() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        desk.coordinator.signOut()
        #expect(!desk.coordinator.isBusy)
        #expect(desk.tell(.obtained(Self.new)) == nil)
        #expect(desk.ask() == .use(nil))
        #expect(desk.ask(.version(old.credential.version)) == .fail(.signedOut))
    }

    @Test("A login during a refresh wins as well")
    func login() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        let record = desk.coordinator.signIn(Self.new)
        #expect(record.credential == Self.new)
        #expect(record.claim == nil)
        #expect(desk.tell(.failed(.rejected)) == nil)
        #expect(desk.ask(.version(old.credential.version)) == .use(Self.new))
    }

    @Test("A logout by another process wins over a new credential")
    func logoutElsewhere() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.obtained(Self.new))
        #expect(desk.tell(.saved(false)) == .load)
        #expect(desk.tell(.loaded(nil)) == .end(.fail(.signedOut)))
        #expect(desk.coordinator.credential == nil)
    }

    @Test("Another process's credential wins over a new one")
    func replacedElsewhere() throws {
        var desk = Desk()
        let (old, other) = (Self.record(), Self.record("other"))
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.obtained(Self.new))
        _ = desk.tell(.saved(false))
        #expect(desk.tell(.loaded(other)) == .end(.use(other.credential)))
        #expect(desk.coordinator.credential == other.credential)
    }

    @Test("Where another process has taken over it goes first, and if it dies the new credential is kept after all")
    func takenOver() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.obtained(Self.new))
        _ = desk.tell(.saved(false))
        var taken = old
        taken.claim = RefreshClaim(
            holder: "other", tries: 2, since: RefreshCoordinatorTests.date(-30), until: RefreshCoordinatorTests.date(9))
        taken.version = "7"
        #expect(desk.tell(.loaded(taken)) == .sleep(.milliseconds(250)))
        #expect(desk.tell(.slept) == .load)
        desk.now = 9
        let written = try desk.claim(desk.tell(.loaded(taken)), over: "7")
        #expect(written.credential == Self.new)
        #expect(desk.tell(.saved(true)) == .end(.use(Self.new)))
    }

    // MARK: Logging in

    @Test("Without a credential a refusal asks the user, and what the user gives is kept where nothing else is")
    func asked() {
        var desk = Desk()
        desk.canLogIn = true
        RefreshCoordinatorTests.load(nil, &desk)
        #expect(desk.ask() == .use(nil))
        #expect(desk.ask(.anonymous) == .begin)
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.loaded(nil)) == .logIn(nil))
        guard case .save(let record, over: .absent)? = desk.tell(.obtained(Self.new)) else {
            Issue.record("not kept")
            return
        }
        #expect(record.credential == Self.new)
        #expect(desk.tell(.saved(true)) == .end(.use(Self.new)))
    }

    @Test("After a rejection the user is asked, and after a logout as well")
    func askedAfterRejection() throws {
        var desk = Desk()
        desk.canLogIn = true
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.failed(.rejected))
        #expect(desk.tell(.deleted(true)) == .logIn(nil))
        desk.coordinator.signOut()
        #expect(desk.ask(.version(old.credential.version)) == .begin)
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.loaded(nil)) == .logIn(nil))
    }

    @Test(
        "What has expired and cannot be refreshed asks the user before anything is sent",
        arguments: [(3_539.0, false), (3_540, true)])
    func expired(now: Double, isAsked: Bool) {
        var desk = Desk()
        (desk.canLogIn, desk.canRefresh) = (true, false)
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        desk.now = now
        #expect(desk.ask() == (isAsked ? .begin : .use(old.credential)))
        guard isAsked else { return }
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.loaded(old)) == .logIn(old.credential))
        guard case .save(_, over: .version("1"))? = desk.tell(.obtained(Self.new)) else {
            Issue.record("not kept over the old one")
            return
        }
    }

    @Test("A login that the user has cancelled is not shown again to who was sent before, and is to who comes later")
    func cancelled() {
        var desk = Desk()
        desk.canLogIn = true
        RefreshCoordinatorTests.load(nil, &desk)
        #expect(desk.ask(.anonymous) == .begin)
        _ = desk.tell(.begun)
        _ = desk.tell(.loaded(nil))
        desk.now = 10
        #expect(desk.tell(.failed(.loginCancelled)) == .end(.fail(.loginCancelled)))
        desk.now = 11
        #expect(desk.ask(.anonymous, begun: 10) == .fail(.loginCancelled))
        #expect(desk.ask(.version(.init("x")), begun: 10) == .fail(.loginCancelled))
        #expect(desk.ask(.anonymous, begun: 10.1) == .begin)
    }

    // MARK: A vault that fails

    @Test(
        "A vault that cannot be read fails the call, is asked again by the next, and nothing is sent",
        arguments: [VaultError.locked, .denied, .corrupt])
    func unreadable(error: VaultError) {
        var desk = Desk()
        #expect(desk.ask() == .begin)
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.vaultFailed(error)) == .end(.fail(.vault(error))))
        #expect(desk.ask() == .begin)
    }

    @Test("A claim that cannot be written sends nothing")
    func unclaimed() {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        #expect(desk.ask(.version(old.credential.version)) == .begin)
        _ = desk.tell(.begun)
        _ = desk.tell(.loaded(old))
        #expect(desk.tell(.vaultFailed(.locked)) == .end(.fail(.vault(.locked))))
    }

    @Test(
        "Ahead of expiry a vault that fails leaves what has not expired", arguments: [(3_539.0, true), (3_540, false)])
    func ahead(now: Double, isUsed: Bool) {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        desk.now = now
        #expect(desk.ask() == .begin)
        _ = desk.tell(.begun)
        #expect(desk.tell(.vaultFailed(.locked)) == .end(isUsed ? .use(old.credential) : .fail(.vault(.locked))))
    }

    @Test("A new credential that cannot be written is used, and written first when next there is a reason")
    func unwritten() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        let claimed = try desk.begin(old)
        let written = try desk.claim(desk.tell(.obtained(Self.new)), over: claimed.version)
        #expect(desk.tell(.vaultFailed(.unavailable)) == .end(.use(Self.new)))
        desk.now = 3_590
        #expect(desk.ask() == .begin)
        #expect(desk.tell(.begun) == .save(written, over: .version(claimed.version)))
        #expect(desk.tell(.saved(true)) == .load)
        let again = try desk.claim(desk.tell(.loaded(written)), over: written.version)
        #expect(desk.tell(.saved(true)) == .refresh(Self.new))
        // Once it is written, it is not written a second time.
        let newer = Credential(
            "newer", refreshToken: "r", expiresIn: .seconds(3_600), obtained: RefreshCoordinatorTests.date(3_590))
        _ = try desk.claim(desk.tell(.obtained(newer)), over: again.version)
        #expect(desk.tell(.saved(true)) == .end(.use(newer)))
        desk.now = 7_180
        #expect(desk.ask() == .begin)
        #expect(desk.tell(.begun) == .load)
    }

    @Test("A new credential that cannot even be compared is used as well")
    func unreadableAfterwards() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.obtained(Self.new))
        _ = desk.tell(.saved(false))
        #expect(desk.tell(.vaultFailed(.locked)) == .end(.use(Self.new)))
        #expect(desk.ask() == .use(Self.new))
    }

    @Test("A rejected credential that cannot be deleted is not used again")
    func undeleted() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.failed(.rejected))
        #expect(desk.tell(.vaultFailed(.denied)) == .end(.fail(.rejected)))
        #expect(desk.ask(.version(old.credential.version)) == .fail(.rejected))
        #expect(desk.coordinator.credential == nil)
    }

    @Test("A claim that cannot be given back changes nothing about the failure")
    func unreleased() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.failed(.unavailable))
        #expect(desk.tell(.vaultFailed(.denied)) == .end(.fail(.unavailable)))
    }

    @Test("Who waited and was not refused goes on with what has not expired")
    func notRefused() throws {
        var desk = Desk()
        let old = Self.record()
        RefreshCoordinatorTests.load(old, &desk)
        let failed = RefreshCoordinator.Outcome.fail(.unavailable)
        #expect(desk.coordinator.outcome(failed, for: .nothing, at: desk.moment) == .use(old.credential))
        #expect(desk.coordinator.outcome(failed, for: .version(old.credential.version), at: desk.moment) == failed)
        desk.now = 3_540
        #expect(desk.coordinator.outcome(failed, for: .nothing, at: desk.moment) == failed)
        #expect(desk.coordinator.outcome(.use(Self.new), for: .nothing, at: desk.moment) == .use(Self.new))
    }
}
