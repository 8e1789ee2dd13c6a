import Foundation
import PenstockCore

/// Runs the changes of a store one after the other on a queue, many in one transaction.
///
/// Unchecked because what is not behind a lock is touched on the queue alone.
final class CacheEngine: @unchecked Sendable {
    struct Inbox: Sendable {
        var jobs: [CacheJob] = []
        /// The jobs that the queue has taken out and not finished.
        var current: [CacheJob] = []
        var isDraining = false
        /// Whether somebody looks for jobs that have waited too long.
        var isWatched = false
        /// When the last change was done.
        var lastDone = DispatchTime.now()
    }

    let configuration: SQLiteCacheConfiguration
    let reader: CacheReader
    let files: CacheFiles
    /// The bodies that this process is writing.
    let alive = Locked<Set<Int64>>([])
    /// The bodies that this process is reading.
    let holds = Locked(CacheHolds())
    let queue = DispatchQueue(label: "penstock.cache")
    private let inbox = Locked(Inbox())
    /// See ``SharedCacheStore/foreignChanges`` and ``SharedCacheStore/foreignRemovals``.
    let changes = Locked((all: UInt64(0), removals: UInt64(0)))
    /// When the file was found unusable, and why.
    let failure = Locked<(moment: Duration, error: SQLiteCacheError)?>(nil)
    /// Removals that could not be done yet. Until they are, nothing is read.
    let owed = Locked<[CacheRemoval]>([])

    // Touched on the queue alone.
    var database: CacheDatabase?
    /// The bytes of files that were set aside.
    var setAsideBytes: Int64 = 0
    var scrubbing = Scrubbing()
    private var nextSweep: Duration = .zero
    /// When something may again be removed for want of room on the disk; `nil` at any time.
    var nextRelief: Duration?
    /// Whether there was no room on the disk even for making some, when that was last tried.
    var wasOutOfRoom = false

    init(_ configuration: SQLiteCacheConfiguration) {
        self.configuration = configuration
        reader = CacheReader(limits: configuration.limits, time: configuration.time)
        files = CacheFiles(path: configuration.file.path, system: configuration.files)
    }

    var foreignChanges: UInt64 { changes.withLock { $0.all } }
    var foreignRemovals: UInt64 { changes.withLock { $0.removals } }

    /// Whether there is no use in trying to open the file now.
    var isResting: Bool {
        guard let failed = failure.withLock({ $0?.moment }) else { return false }
        return configuration.time.now() - failed < configuration.retryInterval
    }

    // MARK: Jobs

    func submit(_ job: CacheJob) {
        let (mustStart, mustWatch) = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { (inbox.isDraining, inbox.isWatched) = (true, true) }
            return (!inbox.isDraining, !inbox.isWatched)
        }
        if mustStart { queue.async { self.drain() } }
        if mustWatch { watch() }
    }

    private func drain() {
        while true {
            let jobs = inbox.withLock { inbox in
                inbox.takeBatch(of: Int(configuration.limits.logBytes) / 2)
                if inbox.current.isEmpty { inbox.isDraining = false }
                return inbox.current
            }
            if jobs.isEmpty { return }
            process(jobs)
        }
    }

    private func process(_ jobs: [CacheJob]) {
        var together: [CacheJob] = []
        for job in jobs {
            guard job.isAlone else {
                together.append(job)
                continue
            }
            runTogether(together)
            together = []
            runAlone(job)
        }
        runTogether(together)
    }

    private func runTogether(_ jobs: [CacheJob]) {
        var jobs = jobs
        var isRelieved = false
        while true {
            jobs.removeAll(where: \.isOver)
            if database == nil, !jobs.contains(where: \.opensFile) {
                for job in jobs where job.end() { job.fail(false) }
                return
            }
            guard !jobs.isEmpty else { return }
            do throws(SQLiteError) {
                let completions = try commit(jobs)
                noteProgress()
                if isRelieved { nextRelief = nil }
                for complete in completions { complete() }
                return
            } catch {
                if error.meaning == .busy {
                    // Others hold the file: who has waited long enough goes, the rest try again.
                    let lastDone = inbox.withLock { $0.lastDone }
                    for job in jobs where job.isLate(patience: configuration.patience, lastDone: lastDone) {
                        fail(job, error)
                    }
                } else if jobs.count == 1 || database == nil {
                    if !isRelieved, relieve(jobs[0], of: error) {
                        isRelieved = true
                    } else {
                        for job in jobs { fail(job, error) }
                    }
                } else {
                    for job in jobs { runTogether([job]) }
                    return
                }
            }
        }
    }

    private func commit(_ jobs: [CacheJob]) throws(SQLiteError) -> [@Sendable () -> Void] {
        let database = try open()
        let weight = jobs.reduce(0) { $0 &+ $1.weight }
        let uses = takeUses(for: weight)
        let completions: [@Sendable () -> Void]
        do throws(SQLiteError) {
            try database.connection.makeDurable(jobs.contains { $0.removal != nil })
            completions = try database.batch { database throws(SQLiteError) in
                if !uses.isEmpty { try database.touch(uses) }
                try makeRoomAhead(for: weight, database)
                var completions: [@Sendable () -> Void] = []
                for job in jobs where job.take() { completions.append(try job.run(database)) }
                return completions
            }
        } catch {
            reader.giveBack(uses)
            throw error
        }
        if weight > 0 { wasOutOfRoom = false }
        announceForeignChange(database)
        if database.mustMakeRoom { submit(.makeRoom) }
        keepSize(database, after: weight)
        return completions
    }

    /// Uses are written down with other changes: when there are many, or when the file is near its limits or those of the disk, so
    /// that the right rows go.
    private func takeUses(for bytes: Int) -> [Int64] {
        guard reader.useCount > 0 else { return [] }
        let isNearLimits = database?.isNearLimits ?? false || isDiskNearlyFull(for: bytes)
        return reader.useCount >= (isNearLimits ? 1 : 4_096) ? reader.takeUses() : []
    }

    private func runAlone(_ job: CacheJob) {
        guard !job.isOver else { return }
        guard database != nil || job.opensFile else {
            if job.end() { job.fail(false) }
            return
        }
        do throws(SQLiteError) {
            let complete = try run(job)
            noteProgress()
            complete()
        } catch { fail(job, error) }
    }

    /// A function of its own, so that nothing holds on to the database when somebody is told that it was closed.
    private func run(_ job: CacheJob) throws(SQLiteError) -> @Sendable () -> Void {
        let database = try open()
        guard job.take() else { return {} }
        return try job.run(database)
    }

    private func noteProgress() {
        inbox.withLock { $0.lastDone = .now() }
    }

    // MARK: Waiting

    /// Looks from time to time for jobs that have waited for longer than they may, whatever holds up the queue.
    private func watch() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { [weak self] in self?.giveUpLateJobs()
        }
    }

    private func giveUpLateJobs() {
        let patience = configuration.patience
        let (late, goesOn) = inbox.withLock { inbox in
            let late = (inbox.current + inbox.jobs).filter { job in
                job.isLate(patience: patience, lastDone: inbox.lastDone) && job.giveUp()
            }
            inbox.isWatched = !inbox.current.isEmpty || !inbox.jobs.isEmpty
            return (late, inbox.isWatched)
        }
        for job in late {
            tellFailure(of: job, SQLiteError(code: 5))
            if let removal = job.removal { owe(removal) }
            job.fail(false)
        }
        if goesOn { watch() }
    }

    // MARK: Failures

    private func fail(_ job: CacheJob, _ error: SQLiteError) {
        guard job.end() else { return }
        tellFailure(of: job, error)
        guard let removal = job.removal else {
            repair(after: error)
            return job.fail(false)
        }
        let isThrownAway = throwAway(after: error)
        if !isThrownAway {
            owe(removal)
            close()
        }
        job.fail(isThrownAway)
    }

    private func tellFailure(of job: CacheJob, _ error: SQLiteError) {
        tell(.failed(job.removal == nil ? .write : .remove, .init(error), code: error.code))
    }

    /// Does what an error of a statement asks for.
    private func repair(after error: SQLiteError) {
        switch error.meaning {
        case .damaged:
            guard let database else { return }
            // What somebody else has put in its place is looked at when it is next opened.
            guard isOurs(database) else { return close() }
            _ = begin(afresh: .damaged)
        case .moved: close()
        case .busy, .full, .readOnly, .foreign, .failed: break
        }
    }

    /// A removal could not be written: what cannot be changed is thrown away. A full disk lets files be removed.
    private func throwAway(after error: SQLiteError) -> Bool {
        guard error.meaning != .busy, error.meaning != .moved else { return false }
        return throwAway()
    }

    /// Removes the file and all that stands beside it.
    func throwAway() -> Bool {
        guard let database, !database.connection.hasMoved, isOurs(database) else { return false }
        close()
        guard files.removeAll() else { return false }
        setAsideBytes = 0
        countForeign(.removal)
        tell(.thrownAway)
        return true
    }

    /// A removal could not even be made by throwing the file away: nothing is read until it has been made up for, which
    /// ``open()`` sees to. May be called from anywhere.
    private func owe(_ removal: CacheRemoval) {
        owed.withLock { $0.append(removal) }
        rest(after: SQLiteError(code: 5))
        try? reader.use(nil)
    }

    func rest(after error: SQLiteError) {
        let error = SQLiteCacheError(.init(error), code: error.code)
        failure.withLock { $0 = (configuration.time.now(), error) }
    }

    func tell(_ event: SQLiteCacheEvent) {
        configuration.onEvent(event)
    }

    /// An error of the reader.
    func readFailed(_ error: SQLiteError) {
        tell(.failed(.read, .init(error), code: error.code))
        guard error.meaning == .damaged || error.meaning == .moved else { return }
        submit(
            CacheJob(
                run: { [self] database in
                    if database === self.database { repair(after: error) }
                    return {}
                }, isAlone: true))
    }

    func announceForeignChange(_ database: CacheDatabase) {
        countForeign(database.takeForeignChange())
    }

    func countForeign(_ change: CacheDatabase.ForeignChange) {
        guard change != .none else { return }
        changes.withLock { changes in
            changes.all += 1
            if change == .removal { changes.removals += 1 }
        }
    }

    /// Renews what is being written and removes what was left behind, once a minute.
    func sweepIfDue(_ database: CacheDatabase) throws(SQLiteError) {
        let now = configuration.time.now()
        guard now >= nextSweep else { return }
        nextSweep = now + .seconds(60)
        try database.sweep(alive: inUse)
    }

    /// The bodies that this process is writing or reading.
    var inUse: Set<Int64> { alive.withLock { $0 }.union(holds.withLock { $0.bodies }) }

    /// Somebody has read a body, which goes where nothing else keeps it.
    func letGo(of body: Int64) {
        guard holds.withLock({ $0.end(body) }) else { return }
        submit(
            CacheJob(
                run: { database throws(SQLiteError) in
                    try database.abandon(body)
                    return {}
                }, opensFile: false))
    }
}

extension CacheEngine.Inbox {
    /// Takes as many jobs as make a transaction of a bounded length, and at least one.
    fileprivate mutating func takeBatch(of bytes: Int) {
        var (count, weight) = (0, 0)
        for job in jobs.prefix(64) {
            weight &+= job.weight
            if count > 0, weight > bytes { break }
            count += 1
        }
        current = Array(jobs.prefix(count))
        jobs.removeFirst(count)
    }
}

extension CacheJob {
    /// Goes on making room, behind what waits already.
    static var makeRoom: CacheJob {
        CacheJob(
            run: { database throws(SQLiteError) in
                try database.makeRoom()
                return {}
            }, opensFile: false)
    }
}
