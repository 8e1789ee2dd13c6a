import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// Random schedules of everything that can happen to a session, against a server that punishes every mistake.
@Suite(.timeLimit(.minutes(10)))
struct RefreshScheduleTests {
    /// 10⁵ in the long form.
    private static let count =
        ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full" ? 100_000 : 20_000
    private static let seed = ProcessInfo.processInfo.environment["PENSTOCK_SEED"].flatMap(UInt64.init) ?? 1

    @Test(
        "In any schedule of expiry, refusal, cancellation, logout, a second process and lost answers, no refresh token is used again and no living session is lost"
    )
    func schedules() {
        var total = SessionSchedule.Tally()
        for index in 0..<Self.count {
            var schedule = SessionSchedule(seed: Self.seed &+ UInt64(index))
            let faults = schedule.run()
            #expect(faults.isEmpty, "PENSTOCK_SEED=\(Self.seed &+ UInt64(index)): \(faults)")
            if !faults.isEmpty { break }
            total.add(schedule.tally)
        }
        // Schedules in which nothing happens show nothing.
        for (what, count) in total.counts { #expect(count > Self.count / 250, "\(what): \(count)") }
    }
}

/// An authorisation server that gives a new refresh token for each that it takes, and ends the session when an old one is
/// used again: but within a grace after it was taken, as its answer may have been lost, or the request be under way still.
private struct RotatingServer {
    struct Family {
        var tokens: [String]
        /// When each token that is an old one by now was taken.
        var taken: [String: Double] = [:]
        var isRevoked = false
        /// How often each token was shown.
        var uses: [String: Int] = [:]
    }

    /// More than all that a message may be under way, and a client that asks once more may wait.
    static let grace = 120.0
    static let lifetime = 60.0

    var families: [Family] = []
    var access: [String: (family: Int, expires: Double)] = [:]
    var reuses = 0

    mutating func start(at now: Double) -> Credential {
        families.append(Family(tokens: ["f\(families.count)-0"]))
        return grant(families.count - 1, Self.lifetime, at: now)
    }

    mutating func refresh(_ token: String, lifetime: Double, at now: Double) -> Credential? {
        guard let index = families.firstIndex(where: { $0.tokens.contains(token) }) else { return nil }
        families[index].uses[token, default: 0] += 1
        guard !families[index].isRevoked else { return nil }
        let tokens = families[index].tokens
        if token == tokens.last {
            families[index].tokens.append("f\(index)-\(tokens.count)")
            families[index].taken[token] = now
        } else if families[index].taken[token].map({ now - $0 > Self.grace }) ?? true {
            reuses += 1
            families[index].isRevoked = true
            return nil
        }
        return grant(index, lifetime, at: now)
    }

    private mutating func grant(_ index: Int, _ lifetime: Double, at now: Double) -> Credential {
        let token = "a\(access.count)"
        access[token] = (index, now + lifetime)
        return Credential(
            token, refreshToken: families[index].tokens.last, expiresIn: .seconds(lifetime), obtained: date(now))
    }

    func accepts(_ token: String, at now: Double) -> Bool {
        guard let known = access[token] else { return false }
        return !families[known.family].isRevoked && now < known.expires
    }

    func date(_ now: Double) -> Date { Date(timeIntervalSince1970: 1_000_000_000 + now) }
}

/// One schedule: two processes that share a vault, a user, and a network that loses and delays.
private struct SessionSchedule {
    struct Tally {
        var counts: [String: Int] = [:]

        mutating func add(_ other: Tally) { counts.merge(other.counts, uniquingKeysWith: +) }
        mutating func note(_ what: String) { counts[what, default: 0] += 1 }
    }

    /// What a process is about to do, or waits for.
    private struct Work {
        let cycle: Int
        let action: RefreshCoordinator.Action
        /// When it began.
        let since: Double
        /// The refresh token that was shown last in this cycle.
        var shown: String?
        /// What the server has answered, and what is on its way back.
        var reply: RefreshCoordinator.Event?
    }

    private struct Process {
        var coordinator: RefreshCoordinator
        var work: [Work] = []
        var waiting = 0
        /// What was sent with which credential, and when.
        var attempts: [(credential: Credential?, begun: Double)] = []
    }

    private var random: Seeded
    private var server = RotatingServer()
    private var vault: CredentialRecord?
    private var processes: [Process] = []
    /// Requests that arrive later, with nobody who waits for their answer.
    private var late: [(token: String, at: Double)] = []
    private var now = 0.0
    private var isSignedIn = false
    /// The refresh tokens whose answers a loss, a crash or a delay may have eaten.
    private var touched: Set<String> = []
    private var isQuiet = false
    private(set) var tally = Tally()
    private var faults: [String] = []

    private static let abilities = RefreshCoordinator.Abilities { $0.refreshToken != nil }

    init(seed: UInt64) {
        random = Seeded(seed: seed)
        processes = [makeProcess(), makeProcess()]
    }

    private var moment: RefreshCoordinator.Moment { .init(now: .seconds(now), date: server.date(now)) }

    /// The names that it gives out are random and decide nothing.
    private func makeProcess() -> Process {
        Process(coordinator: RefreshCoordinator(random: .system))
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    // MARK: The schedule

    mutating func run() -> [String] {
        signIn(0)
        for _ in 0..<80 where faults.isEmpty { step() }
        quieten()
        callAgain()
        check()
        return faults
    }

    private mutating func step() {
        let index = Int.random(in: 0..<processes.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: call(index)
        case 22..<34: answer(index)
        case 34..<76: work(index)
        case 76..<88: pass()
        case 88..<90: signOut(index)
        case 90..<92: signIn(index)
        case 92..<94: crash(index)
        default: work(1 - index)
        }
        deliverLate()
    }

    private mutating func pass() {
        now += chance(70) ? Double.random(in: 0..<2, using: &random) : Double.random(in: 5..<40, using: &random)
    }

    private mutating func call(_ index: Int) {
        let answer = processes[index].coordinator.ask(.nothing, begun: moment.now, by: Self.abilities, at: moment)
        take(answer, index)
    }

    /// One of the attempts under way is answered: perhaps it is refused.
    private mutating func answer(_ index: Int) {
        guard !processes[index].attempts.isEmpty else { return }
        let place = Int.random(in: 0..<processes[index].attempts.count, using: &random)
        let attempt = processes[index].attempts.remove(at: place)
        if let credential = attempt.credential, server.accepts(credential.token, at: now) { return }
        tally.note("refusals")
        let refused = attempt.credential.map { RefreshCoordinator.Refused.version($0.version) } ?? .anonymous
        let answer = processes[index].coordinator.ask(
            refused, begun: .seconds(attempt.begun), by: Self.abilities, at: moment)
        take(answer, index)
    }

    private mutating func take(_ answer: RefreshCoordinator.Answer, _ index: Int) {
        switch answer {
        case .use(let credential): processes[index].attempts.append((credential, now))
        case .fail: tally.note("failures")
        case .wait: processes[index].waiting += 1
        case .begin:
            processes[index].waiting += 1
            goOn(.begun, processes[index].coordinator.cycle, nil, index)
        }
    }

    // MARK: The user

    private mutating func signIn(_ index: Int) {
        let credential = server.start(at: now)
        vault = processes[index].coordinator.signIn(credential)
        processes[index].waiting = 0
        isSignedIn = true
    }

    private mutating func signOut(_ index: Int) {
        if processes[index].coordinator.isBusy { tally.note("logouts in a refresh") }
        processes[index].coordinator.signOut()
        processes[index].waiting = 0
        vault = nil
        isSignedIn = false
    }

    /// The process ends where it stands; what it has sent is still on its way.
    private mutating func crash(_ index: Int) {
        for work in processes[index].work {
            if case .save(let record, _) = work.action, record.claim == nil {
                touch(work.shown)
                tally.note("crashes before the answer was kept")
            }
            guard case .refresh(let credential) = work.action else { continue }
            touch(credential.refreshToken)
            tally.note("crashes in a refresh")
            if work.reply == nil, chance(50) { delay(credential) }
        }
        processes[index] = makeProcess()
    }

    // MARK: What processes do

    private mutating func work(_ index: Int) {
        guard !processes[index].work.isEmpty else { return }
        let place = Int.random(in: 0..<processes[index].work.count, using: &random)
        let work = processes[index].work.remove(at: place)
        switch work.action {
        case .load: goOn(.loaded(vault), after: work, index)
        case .save(let record, let condition):
            let isAllowed = condition.allows(vault?.version)
            if isAllowed { vault = record }
            // It was so slow with what it has got that it was taken for dead.
            if !isAllowed, record.claim == nil {
                touch(work.shown)
                tally.note("overtaken processes")
            }
            goOn(.saved(isAllowed), after: work, index)
        case .delete(let version):
            let isAllowed = vault?.version == version
            if isAllowed { vault = nil }
            goOn(.deleted(isAllowed), after: work, index)
        case .sleep(let duration):
            now += duration / .seconds(1)
            tally.note("waits for the other process")
            goOn(.slept, after: work, index)
        case .refresh(let credential): exchange(credential, work, index)
        case .logIn, .end: faults.append("unexpected \(work.action)")
        }
    }

    /// One step of a request for a new credential: on its way there, or back.
    private mutating func exchange(_ credential: Credential, _ work: Work, _ index: Int) {
        var work = work
        work.shown = credential.refreshToken
        guard now - work.since < 20 else {
            touch(credential.refreshToken)
            tally.note("time-outs")
            if work.reply == nil, chance(50) { delay(credential) }
            return goOn(.failed(.lost), after: work, index)
        }
        if let reply = work.reply {
            if !isQuiet, chance(15) {
                touch(credential.refreshToken)
                now += Double.random(in: 0..<20, using: &random)
                tally.note("lost answers")
                return goOn(.failed(.lost), after: work, index)
            }
            return goOn(reply, after: work, index)
        }
        if !isQuiet, chance(8) { return goOn(.failed(.unavailable), after: work, index) }
        if !isQuiet, chance(8) {
            touch(credential.refreshToken)
            tally.note("cancellations")
            if chance(50) { delay(credential) }
            return goOn(.failed(.lost), after: work, index)
        }
        work.reply = process(credential.refreshToken ?? "", at: now).map { .obtained($0) } ?? .failed(.rejected)
        processes[index].work.append(work)
    }

    private mutating func process(_ token: String, at time: Double) -> Credential? {
        tally.note("requests")
        // Now and then one that is almost dead.
        return server.refresh(token, lifetime: !isQuiet && chance(5) ? 1 : RotatingServer.lifetime, at: time)
    }

    private mutating func delay(_ credential: Credential) {
        late.append((credential.refreshToken ?? "", now + Double.random(in: 0..<20, using: &random)))
    }

    private mutating func deliverLate() {
        while let place = late.firstIndex(where: { $0.at <= now }) {
            tally.note("late requests")
            let request = late.remove(at: place)
            _ = process(request.token, at: request.at)
        }
    }

    private mutating func goOn(_ event: RefreshCoordinator.Event, after work: Work, _ index: Int) {
        goOn(event, work.cycle, work.shown, index)
    }

    private mutating func goOn(_ event: RefreshCoordinator.Event, _ cycle: Int, _ shown: String?, _ index: Int) {
        guard let action = processes[index].coordinator.next(event, cycle: cycle, at: moment) else { return }
        guard case .end(let outcome) = action else {
            processes[index].work.append(Work(cycle: cycle, action: action, since: now, shown: shown))
            return
        }
        if case .use(let credential) = outcome { processes[index].attempts.append((credential, now)) }
        processes[index].waiting = 0
    }

    // MARK: The end

    /// Everything that is under way ends, with no more accidents.
    private mutating func quieten() {
        isQuiet = true
        for _ in 0..<2_000 {
            deliverLate()
            let busy = processes.indices.filter { !processes[$0].work.isEmpty }
            guard let index = busy.randomElement(using: &random) else { break }
            work(index)
        }
        now += 40
        deliverLate()
    }

    private mutating func check() {
        if server.reuses > 0 { faults.append("a refresh token was used again") }
        for family in server.families {
            for (token, uses) in family.uses where uses > (touched.contains(token) ? 2 : 1) {
                faults.append("\(token) was shown \(uses) times")
            }
        }
        for index in processes.indices where processes[index].waiting > 0 || processes[index].coordinator.isBusy {
            faults.append("process \(index) waits for ever")
        }
        if !isSignedIn, vault != nil { faults.append("a credential came back after the logout") }
        guard isSignedIn, let family = server.families.last, !family.isRevoked else { return }
        guard let vault else { return faults.append("a living session was lost") }
        if touched.isDisjoint(with: family.tokens), vault.credential.refreshToken != family.tokens.last {
            faults.append("the vault holds an old refresh token")
        }
    }

    /// Every process finds the session that is in the vault, whatever it has been through; where no accident has happened to that,
    /// not even one that left a claim.
    private mutating func callAgain() {
        guard vault?.claim == nil, isSignedIn, let family = server.families.last, !family.isRevoked,
            touched.isDisjoint(with: family.tokens), vault?.credential.refreshToken == family.tokens.last
        else { return }
        for index in processes.indices where !reaches(index) {
            faults.append("process \(index) does not find the living session")
        }
    }

    /// Whether a process that calls now and then comes to use what the server accepts, as a session that lives is in the vault.
    private mutating func reaches(_ index: Int) -> Bool {
        for _ in 0..<4 {
            // More than a failure holds.
            now += 6
            processes[index].attempts = []
            call(index)
            finish(index)
            guard let attempt = processes[index].attempts.last else { continue }
            if let credential = attempt.credential, server.accepts(credential.token, at: now) {
                tally.note("sessions that were found")
                return true
            }
            processes[index].attempts = [attempt]
            answer(index)
            finish(index)
        }
        return false
    }

    private mutating func finish(_ index: Int) {
        while !processes[index].work.isEmpty { work(index) }
    }

    private mutating func touch(_ token: String?) {
        if let token { touched.insert(token) }
    }
}
