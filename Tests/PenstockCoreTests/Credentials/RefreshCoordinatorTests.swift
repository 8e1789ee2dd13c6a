import Foundation
import PenstockCore
import Testing

/// What the coordinator decides, step by step.
struct RefreshCoordinatorTests {
    /// A coordinator at a moment, and the credential that it begins with.
    struct Desk {
        var coordinator: RefreshCoordinator
        var now = 0.0
        var canRefresh = true
        var canLogIn = false
        var cycle = 0

        init(_ policy: RefreshPolicy = .init()) {
            coordinator = RefreshCoordinator(policy: policy)
        }

        var moment: RefreshCoordinator.Moment { .init(now: .seconds(now), date: date(now)) }

        var abilities: RefreshCoordinator.Abilities {
            .init(canLogIn: canLogIn) { [canRefresh] _ in canRefresh }
        }

        mutating func ask(
            _ refused: RefreshCoordinator.Refused = .nothing, begun: Double? = nil
        ) -> RefreshCoordinator.Answer {
            let answer = coordinator.ask(refused, begun: .seconds(begun ?? now), by: abilities, at: moment)
            cycle = coordinator.cycle
            return answer
        }

        mutating func tell(_ event: RefreshCoordinator.Event) -> RefreshCoordinator.Action? {
            coordinator.next(event, cycle: cycle, at: moment)
        }

        /// Asks after a refusal and goes on to the request for a new credential.
        ///
        /// - Returns: the record with the claim.
        mutating func begin(_ record: CredentialRecord, refused: Bool = true) throws -> CredentialRecord {
            #expect(ask(refused ? .version(record.credential.version) : .nothing) == .begin)
            #expect(tell(.begun) == .load)
            let claimed = try claim(tell(.loaded(record)), over: record.version)
            #expect(tell(.saved(true)) == .refresh(record.credential))
            return claimed
        }

        func claim(_ action: RefreshCoordinator.Action?, over version: String) throws -> CredentialRecord {
            guard case .save(let claimed, over: .version(version)) = action else {
                throw Failed(what: "no claim but \(String(describing: action))")
            }
            return claimed
        }
    }

    struct Failed: Error { let what: String }

    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_000_000_000 + seconds) }

    static func record(
        _ token: String = "old", lifetime: Duration? = .seconds(3_600), obtained: Double = -60,
        claim: RefreshClaim? = nil
    ) -> CredentialRecord {
        CredentialRecord(
            Credential(token, refreshToken: "r-\(token)", expiresIn: lifetime, obtained: date(obtained)), claim: claim,
            version: "1")
    }

    /// Reads what the vault has.
    static func load(_ record: CredentialRecord?, _ desk: inout Desk) {
        #expect(desk.ask() == .begin)
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.loaded(record)) == .end(.use(record?.credential)))
    }

    // MARK: Who asks for nothing new

    @Test("What the vault has is read once, and used by everyone")
    func loaded() {
        var desk = Desk()
        let record = Self.record()
        #expect(desk.coordinator.ready(at: desk.moment) == nil)
        Self.load(record, &desk)
        #expect(desk.ask() == .use(record.credential))
        #expect(desk.coordinator.ready(at: desk.moment) == .use(record.credential))
    }

    @Test("While a cycle is under way everybody waits for it")
    func waiting() {
        var desk = Desk()
        #expect(desk.ask() == .begin)
        #expect(desk.ask() == .wait)
        #expect(desk.ask(.anonymous) == .wait)
        #expect(desk.coordinator.insist(by: desk.abilities) == .wait)
        #expect(desk.coordinator.isBusy)
    }

    @Test("Who was refused nothing waits as well, from the claim until the new credential is written")
    func waitingToTheEnd() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        #expect(desk.ask(.version(old.credential.version)) == .begin)
        _ = desk.tell(.begun)
        let claimed = try desk.claim(desk.tell(.loaded(old)), over: old.version)
        #expect(desk.ask() == .wait, "claiming")
        #expect(desk.tell(.saved(true)) == .refresh(old.credential))
        #expect(desk.ask() == .wait, "refreshing")
        let new = Credential("new", refreshToken: "r", expiresIn: .seconds(3_600), obtained: Self.date(0))
        _ = try desk.claim(desk.tell(.obtained(new)), over: claimed.version)
        #expect(desk.ask() == .wait, "storing")
        #expect(desk.tell(.saved(true)) == .end(.use(new)))
        #expect(desk.ask() == .use(new))
        var asking = Desk()
        asking.canLogIn = true
        Self.load(nil, &asking)
        #expect(asking.ask(.anonymous) == .begin)
        _ = asking.tell(.begun)
        #expect(asking.tell(.loaded(nil)) == .logIn(nil))
        #expect(asking.ask() == .wait, "logging in")
    }

    @Test("What answers a cycle that is over is not listened to, whatever ended it and whatever began since")
    func staleEvents() {
        for isSignedOut in [false, true] {
            var desk = Desk()
            desk.canLogIn = true
            let old = Self.record()
            Self.load(old, &desk)
            let first = desk.cycle
            #expect(desk.ask(.version(old.credential.version)) == .begin)
            if isSignedOut {
                desk.coordinator.signOut()
                #expect(desk.ask(.anonymous) == .begin)
            }
            for cycle in first..<desk.cycle {
                #expect(desk.coordinator.next(.begun, cycle: cycle, at: desk.moment) == nil)
                #expect(desk.coordinator.next(.loaded(old), cycle: cycle, at: desk.moment) == nil)
            }
            #expect(desk.cycle == first + (isSignedOut ? 3 : 1))
            #expect(desk.tell(.begun) == .load)
        }
    }

    @Test("What is due when it is first read and cannot be renewed is used for as long as it is good")
    func dueAtFirst() {
        for canLogIn in [false, true] {
            var desk = Desk()
            (desk.canRefresh, desk.canLogIn, desk.now) = (false, canLogIn, 3_539)
            let record = Self.record()
            #expect(desk.coordinator.ready(at: desk.moment) == nil)
            Self.load(record, &desk)
            #expect(desk.ask() == .use(record.credential))
        }
    }

    @Test("A late refusal of an older credential renews nothing")
    func late() {
        var desk = Desk()
        let record = Self.record()
        Self.load(record, &desk)
        #expect(desk.ask(.version(.init("older"))) == .use(record.credential))
        #expect(desk.ask(.anonymous) == .use(record.credential))
    }

    @Test("Where another process has renewed the refused credential, its credential is used")
    func elsewhere() {
        var desk = Desk()
        let (old, new) = (Self.record(), Self.record("new"))
        Self.load(old, &desk)
        #expect(desk.ask(.version(old.credential.version)) == .begin)
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.loaded(new)) == .end(.use(new.credential)))
        #expect(desk.ask() == .use(new.credential))
    }

    @Test(
        "A credential is renewed from 30 seconds before its expiry, or from half of its lifetime",
        arguments: [
            (3_600.0, 3_569.0, false), (3_600, 3_570, true), (3_600, 3_571, true), (40, 19, false), (40, 20, true),
        ])
    func due(lifetime: Double, age: Double, isDue: Bool) {
        var desk = Desk()
        let record = Self.record(lifetime: .seconds(lifetime), obtained: 0)
        Self.load(record, &desk)
        desk.now = age
        #expect((desk.coordinator.ready(at: desk.moment) == nil) == isDue)
        #expect(desk.ask() == (isDue ? .begin : .use(record.credential)))
    }

    @Test("What never expires is never due, and what cannot be renewed is used until the server refuses it")
    func never() {
        var desk = Desk()
        let record = Self.record(lifetime: nil)
        Self.load(record, &desk)
        desk.now = 1_000_000
        #expect(desk.ask() == .use(record.credential))
        desk = Desk()
        desk.canRefresh = false
        let short = Self.record(lifetime: .seconds(100))
        Self.load(short, &desk)
        desk.now = 1_000
        #expect(desk.ask() == .use(short.credential))
        #expect(desk.ask(.version(short.credential.version)) == .begin)
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.loaded(short)) == .end(.fail(.missing)))
        #expect(desk.ask(.version(short.credential.version)) == .fail(.missing))
    }

    @Test("Without a credential requests go without, and a refusal is the server's to explain")
    func anonymous() {
        var desk = Desk()
        Self.load(nil, &desk)
        #expect(desk.ask() == .use(nil))
        #expect(desk.coordinator.ready(at: desk.moment) == .use(nil))
        #expect(desk.ask(.anonymous) == .fail(.missing))
        #expect(desk.ask(.version(.init("gone"))) == .fail(.signedOut))
    }

    // MARK: A refresh

    @Test("A refused credential is claimed, refreshed, and replaced over the claim")
    func refreshed() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        #expect(claimed.claim?.tries == 1)
        #expect(claimed.claim?.since == Self.date(0))
        #expect(claimed.claim?.until == Self.date(25))
        #expect(claimed.version != old.version)
        let new = Credential("new", refreshToken: "r-new", expiresIn: .seconds(3_600), obtained: Self.date(0))
        let written = try desk.claim(desk.tell(.obtained(new)), over: claimed.version)
        #expect(written.credential == new)
        #expect(written.claim == nil)
        #expect(desk.tell(.saved(true)) == .end(.use(new)))
        #expect(desk.ask() == .use(new))
        #expect(desk.ask(.version(old.credential.version)) == .use(new))
    }

    @Test("Ahead of expiry another process's claim is no reason to wait, and after a refusal it is")
    func claimedElsewhere() {
        for isRefused in [false, true] {
            var desk = Desk()
            let claim = RefreshClaim(holder: "other", tries: 1, since: Self.date(3_515), until: Self.date(3_536))
            let record = Self.record(claim: claim)
            Self.load(record, &desk)
            desk.now = 3_515
            #expect(desk.ask(isRefused ? .version(record.credential.version) : .nothing) == .begin)
            #expect(desk.tell(.begun) == .load)
            #expect(
                desk.tell(.loaded(record)) == (isRefused ? .sleep(.milliseconds(250)) : .end(.use(record.credential))))
            if isRefused { #expect(desk.tell(.slept) == .load) }
        }
    }

    @Test(
        "A claim of a process that has died is taken over within the grace, once",
        arguments: [(1, 21.0, true), (1, 30, true), (1, 30.5, false), (2, 22, false), (1, -5, false)])
    func takenOver(tries: Int, passed: Double, isTakenOver: Bool) throws {
        var desk = Desk()
        desk.now = 1_000
        let since = desk.now - passed
        let claim = RefreshClaim(holder: "dead", tries: tries, since: Self.date(since), until: Self.date(999))
        let record = Self.record(claim: claim)
        #expect(desk.ask(.version(record.credential.version)) == .begin)
        #expect(desk.tell(.begun) == .load)
        let action = desk.tell(.loaded(record))
        guard isTakenOver else {
            #expect(action == .end(.fail(.lost)))
            return
        }
        let second = try desk.claim(action, over: "1")
        #expect(second.claim?.tries == 2)
        #expect(second.claim?.since == Self.date(since))
        #expect(second.claim?.until == Self.date(1_025))
    }

    @Test("A claim that a clock has put into the far future holds nobody up for longer than a claim can last")
    func farFuture() throws {
        var desk = Desk()
        let record = Self.record(
            claim: RefreshClaim(holder: "x", tries: 1, since: Self.date(0), until: Self.date(1_000_000)))
        #expect(desk.ask(.version(record.credential.version)) == .begin)
        #expect(desk.tell(.begun) == .load)
        for now in [0, 10, 24.75] {
            desk.now = now
            #expect(desk.tell(.loaded(record)) == .sleep(.milliseconds(250)))
            #expect(desk.tell(.slept) == .load)
        }
        desk.now = 25
        _ = try desk.claim(desk.tell(.loaded(record)), over: "1")
    }

    @Test("A claim holds until its end, and not at it")
    func edge() throws {
        var desk = Desk()
        let record = Self.record(claim: RefreshClaim(holder: "x", tries: 1, since: Self.date(0), until: Self.date(5)))
        #expect(desk.ask(.version(record.credential.version)) == .begin)
        #expect(desk.tell(.begun) == .load)
        desk.now = 4.9
        #expect(desk.tell(.loaded(record)) == .sleep(.milliseconds(250)))
        desk.now = 5
        _ = try desk.claim(desk.tell(.loaded(record)), over: "1")
    }

    @Test("Who cannot write the claim reads again, and sends nothing")
    func lostRace() {
        var desk = Desk()
        let record = Self.record()
        Self.load(record, &desk)
        #expect(desk.ask(.version(record.credential.version)) == .begin)
        _ = desk.tell(.begun)
        _ = desk.tell(.loaded(record))
        #expect(desk.tell(.saved(false)) == .load)
        #expect(desk.tell(.loaded(nil)) == .end(.fail(.signedOut)))
    }

    @Test("Who took so long to write the claim that it could end before the answer gives it back and sends nothing")
    func slowClaim() throws {
        for (now, isSent) in [(5.0, true), (5.1, false)] {
            var desk = Desk()
            let record = Self.record()
            Self.load(record, &desk)
            #expect(desk.ask(.version(record.credential.version)) == .begin)
            _ = desk.tell(.begun)
            let claimed = try desk.claim(desk.tell(.loaded(record)), over: record.version)
            desk.now = now
            let action = desk.tell(.saved(true))
            guard !isSent else {
                #expect(action == .refresh(record.credential))
                continue
            }
            #expect(try desk.claim(action, over: claimed.version).claim == nil)
            #expect(desk.tell(.saved(true)) == .end(.fail(.vault(.unavailable))))
        }
    }

    // MARK: No better than before

    @Test("The same token again is an error, kept under the version that everybody was refused with")
    func sameToken() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        let same = Credential("old", refreshToken: "rotated", expiresIn: .seconds(3_600), obtained: Self.date(0))
        let written = try desk.claim(desk.tell(.obtained(same)), over: claimed.version)
        #expect(written.credential.version == old.credential.version)
        #expect(written.credential.refreshToken == "rotated")
        #expect(desk.tell(.saved(true)) == .end(.fail(.notRenewed)))
        desk.now = 4.9
        #expect(desk.ask(.version(old.credential.version)) == .fail(.notRenewed))
        desk.now = 5
        #expect(desk.ask(.version(old.credential.version), begun: 5) == .begin)
    }

    @Test("The same token for longer is good enough for who was not refused")
    func sameTokenAhead() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        desk.now = 3_515
        let claimed = try desk.begin(old, refused: false)
        let same = Credential("old", refreshToken: "r", expiresIn: .seconds(3_600), obtained: Self.date(3_515))
        _ = try desk.claim(desk.tell(.obtained(same)), over: claimed.version)
        #expect(desk.tell(.saved(true)) == .end(.use(same.renamed(like: old.credential))))
    }

    @Test(
        "A token that is good for less than five seconds is an error, and is kept with its refresh token",
        arguments: [(4.9, true), (5, false)])
    func almostDead(lifetime: Double, isError: Bool) throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        let new = Credential("new", refreshToken: "r-new", expiresIn: .seconds(lifetime), obtained: Self.date(0))
        let written = try desk.claim(desk.tell(.obtained(new)), over: claimed.version)
        #expect(written.credential.refreshToken == "r-new")
        #expect(desk.tell(.saved(true)) == .end(isError ? .fail(.notRenewed) : .use(new)))
        desk.now = 1
        #expect(desk.ask(.version(new.version)) == .fail(.notRenewed))
    }

    @Test(
        "Who was refused with the old credential and asks late is told the same as those who waited",
        arguments: [
            (4.9, 0.0, 1.0, true), (4.9, 0, 4.9, true), (4.9, 0.1, 1, false), (4.9, 0, 5, false), (5, 0, 1, false),
        ])
    func late(lifetime: Double, begun: Double, now: Double, isError: Bool) throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        let new = Credential("new", refreshToken: "r-new", expiresIn: .seconds(lifetime), obtained: Self.date(0))
        _ = try desk.claim(desk.tell(.obtained(new)), over: claimed.version)
        _ = desk.tell(.saved(true))
        desk.now = now
        #expect(
            desk.ask(.version(old.credential.version), begun: begun) == (isError ? .fail(.notRenewed) : .use(new)))
    }

    @Test("A new token that one endpoint refuses is still used by a call that was refused with the old one")
    func lateAndRefusedElsewhere() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        let new = Credential("new", refreshToken: "r", expiresIn: .seconds(3_600), obtained: Self.date(0))
        _ = try desk.claim(desk.tell(.obtained(new)), over: claimed.version)
        _ = desk.tell(.saved(true))
        desk.now = 1
        #expect(desk.ask(.version(new.version)) == .fail(.notRenewed))
        #expect(desk.ask(.version(old.credential.version), begun: 0) == .use(new))
    }

    @Test(
        "A new token that is refused at once is an error, and renewed again once it is older",
        arguments: [(4.9, false), (5, true)])
    func refusedAtOnce(age: Double, isRenewed: Bool) throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        let new = Credential("new", refreshToken: "r", expiresIn: .seconds(3_600), obtained: Self.date(100))
        desk.now = 100
        _ = try desk.claim(desk.tell(.obtained(new)), over: claimed.version)
        #expect(desk.tell(.saved(true)) == .end(.use(new)))
        desk.now += age
        #expect(desk.ask(.version(new.version)) == (isRenewed ? .begin : .fail(.notRenewed)))
        guard !isRenewed else { return }
        // From then on it is told for as long as any other failure.
        for (now, isTold) in [(105.0, true), (109.8, true), (110, false)] {
            desk.now = now
            #expect(desk.ask(.version(new.version)) == (isTold ? .fail(.notRenewed) : .begin), "\(now)")
        }
    }

    // MARK: Failures

    @Test("A rejected credential is deleted if it is the one that is stored, and the failure is remembered for it")
    func rejected() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        #expect(desk.tell(.failed(.rejected)) == .delete(version: claimed.version))
        #expect(desk.tell(.deleted(true)) == .end(.fail(.rejected)))
        desk.now = 4.9
        #expect(desk.ask(.version(old.credential.version), begun: 4.9) == .fail(.rejected))
        desk.now = 1_000
        #expect(desk.ask(.version(old.credential.version), begun: 0) == .fail(.rejected))
        #expect(desk.ask() == .use(nil))
    }

    @Test("What is stored by now is not deleted but used")
    func rejectedTooLate() throws {
        var desk = Desk()
        let (old, other) = (Self.record(), Self.record("other"))
        Self.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.failed(.rejected))
        #expect(desk.tell(.deleted(false)) == .load)
        #expect(desk.tell(.loaded(other)) == .end(.use(other.credential)))
    }

    @Test("A failure that may pass is told to everyone for five seconds, and the claim is given back")
    func unavailable() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        let released = try desk.claim(desk.tell(.failed(.unavailable)), over: claimed.version)
        #expect(released.claim == nil)
        #expect(released.credential == old.credential)
        #expect(desk.tell(.saved(true)) == .end(.fail(.unavailable)))
        // Who has not been refused can do with what is left.
        #expect(desk.ask() == .use(old.credential))
        for (now, begun, isTold) in [(4.9, 4.0, true), (5, 5, false)] {
            desk.now = now
            #expect(desk.ask(.version(old.credential.version), begun: begun) == (isTold ? .fail(.unavailable) : .begin))
        }
    }

    @Test("Who was sent before a failure has met the same one, however late the answer comes")
    func sentBefore() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        desk.now = 10
        let claimed = try desk.begin(old)
        _ = try desk.claim(desk.tell(.failed(.unavailable)), over: claimed.version)
        _ = desk.tell(.saved(true))
        desk.now = 100
        #expect(desk.ask(.version(old.credential.version), begun: 10) == .fail(.unavailable))
        #expect(desk.ask(.version(old.credential.version), begun: 10.1) == .begin)
    }

    @Test(
        "A refresh whose answer is lost is tried once more with the same refresh token, and then reported with nothing wiped"
    )
    func lost() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let first = try desk.begin(old)
        desk.now = 20
        let second = try desk.claim(desk.tell(.failed(.lost)), over: first.version)
        #expect(second.claim?.tries == 2)
        #expect(second.claim?.since == Self.date(0))
        #expect(desk.tell(.saved(true)) == .refresh(old.credential))
        desk.now = 40
        let left = try desk.claim(desk.tell(.failed(.lost)), over: second.version)
        #expect(left.credential == old.credential)
        #expect(left.claim?.tries == 2)
        #expect(left.claim?.until == Self.date(40))
        #expect(desk.tell(.saved(true)) == .end(.fail(.lost)))
        desk.now = 44.9
        #expect(desk.ask(.version(old.credential.version), begun: 44.9) == .fail(.lost))
        desk.now = 3_000
        #expect(desk.ask(.version(old.credential.version), begun: 40) == .fail(.lost))
        #expect(desk.ask() == .use(old.credential))
    }

    @Test("After the grace it is not tried once more", arguments: [(30.0, true), (30.1, false)])
    func afterGrace(passed: Double, isTried: Bool) throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let claimed = try desk.begin(old)
        desk.now = passed
        let next = try desk.claim(desk.tell(.failed(.lost)), over: claimed.version)
        #expect(next.claim?.tries == (isTried ? 2 : 1))
        #expect(desk.tell(.saved(true)) == (isTried ? .refresh(old.credential) : .end(.fail(.lost))))
    }

    @Test("A second try that is known to have done nothing leaves the first one in doubt")
    func secondUnsent() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        let first = try desk.begin(old)
        desk.now = 2
        let second = try desk.claim(desk.tell(.failed(.lost)), over: first.version)
        _ = desk.tell(.saved(true))
        desk.now = 3
        let left = try desk.claim(desk.tell(.failed(.unavailable)), over: second.version)
        #expect(left.claim?.tries == 1)
        #expect(left.claim?.until == Self.date(3))
        #expect(desk.tell(.saved(false)) == .end(.fail(.unavailable)))
    }

    @Test("The app may take the risk of a refresh token that may have been used")
    func insisting() throws {
        var desk = Desk()
        let claim = RefreshClaim(holder: "x", tries: 2, since: Self.date(-100), until: Self.date(-50))
        let record = Self.record(claim: claim)
        Self.load(record, &desk)
        #expect(desk.coordinator.insist(by: desk.abilities) == .begin)
        desk.cycle = desk.coordinator.cycle
        #expect(desk.tell(.begun) == .load)
        let claimed = try desk.claim(desk.tell(.loaded(record)), over: "1")
        #expect(claimed.claim?.tries == 1)
        #expect(desk.tell(.saved(true)) == .refresh(record.credential))
    }

    @Test("What the app insists on is told nothing of an earlier failure, and nor is who is refused after that")
    func insistingAfterFailure() throws {
        var desk = Desk()
        let old = Self.record()
        Self.load(old, &desk)
        _ = try desk.begin(old)
        _ = desk.tell(.failed(.unavailable))
        _ = desk.tell(.saved(true))
        desk.now = 1
        #expect(desk.ask(.version(old.credential.version)) == .fail(.unavailable))
        #expect(desk.coordinator.insist(by: desk.abilities) == .begin)
        desk.cycle = desk.coordinator.cycle
        #expect(desk.tell(.begun) == .load)
        #expect(desk.tell(.vaultFailed(.locked)) == .end(.fail(.vault(.locked))))
        #expect(desk.ask(.version(old.credential.version)) == .begin)
    }
}

extension Credential {
    /// The same as another process knows it.
    fileprivate func renamed(like other: Credential) -> Credential {
        Credential(
            token, user: user, refreshToken: refreshToken, expiresIn: lifetime, values: values, obtained: obtained,
            version: other.version)
    }
}
