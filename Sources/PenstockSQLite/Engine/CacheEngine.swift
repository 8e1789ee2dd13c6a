import Foundation
import PenstockCore

/// Runs the changes of a store one after the other on a queue, many in one transaction, and opens, sets aside and throws
/// away the file.
///
/// Unchecked because what is not behind a lock is touched on the queue alone.
final class CacheEngine: @unchecked Sendable {
    /// One change. It may be run more than once, when the transaction that it shares with others fails.
    struct Job: Sendable {
        /// Runs in a transaction; what it returns is called once that is committed.
        let run: @Sendable (CacheDatabase) throws(SQLiteError) -> @Sendable () -> Void
        /// Called when nothing of it was done, with whether the file was thrown away, and all that was in it.
        let fail: @Sendable (_ isThrownAway: Bool) -> Void
        /// What is removed or marked: it may not be lost.
        var removal: Removal?
        /// Runs by itself, outside any transaction.
        var isAlone = false
    }

    struct Removal: Sendable {
        let selections: [CacheSelection]
        let onlyMarks: Bool

        func perform(_ database: CacheDatabase) throws(SQLiteError) {
            if onlyMarks { try database.invalidate(selections) } else { try database.remove(selections) }
        }
    }

    private struct Inbox: Sendable {
        var jobs: [Job] = []
        var isDraining = false
    }

    let configuration: SQLiteCacheConfiguration
    let reader: CacheReader
    let files: CacheFiles
    /// The bodies that this process is writing.
    let alive = Locked<Set<Int64>>([])
    private let queue = DispatchQueue(label: "penstock.cache")
    private let inbox = Locked(Inbox())
    /// See ``SharedCacheStore/foreignChanges`` and ``SharedCacheStore/foreignRemovals``.
    private let changes = Locked((all: UInt64(0), removals: UInt64(0)))
    /// When the file was found unusable.
    private let failure = Locked<Duration?>(nil)

    // Touched on the queue alone.
    private(set) var database: CacheDatabase?
    /// Removals that could not be done yet. Until they are, nothing is read.
    private var owed: [Removal] = []
    private var nextSweep: Duration = .zero

    init(_ configuration: SQLiteCacheConfiguration) {
        self.configuration = configuration
        reader = CacheReader(limits: configuration.limits, time: configuration.time)
        files = CacheFiles(path: configuration.file.path, system: configuration.files)
    }

    var foreignChanges: UInt64 { changes.withLock { $0.all } }
    var foreignRemovals: UInt64 { changes.withLock { $0.removals } }

    /// Whether there is no use in trying to open the file now.
    var isResting: Bool {
        guard let failed = failure.withLock({ $0 }) else { return false }
        return configuration.time.now() - failed < configuration.retryInterval
    }

    // MARK: Jobs

    func submit(_ job: Job) {
        let mustStart = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isDraining = true }
            return !inbox.isDraining
        }
        if mustStart { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let jobs = inbox.withLock { inbox -> [Job] in
                let jobs = Array(inbox.jobs.prefix(64))
                inbox.jobs.removeFirst(jobs.count)
                if jobs.isEmpty { inbox.isDraining = false }
                return jobs
            }
            if jobs.isEmpty { return }
            process(jobs)
        }
    }

    private func process(_ jobs: [Job]) {
        var together: [Job] = []
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

    private func runTogether(_ jobs: [Job]) {
        guard !jobs.isEmpty else { return }
        do throws(SQLiteError) {
            let completions = try commit(jobs)
            for complete in completions { complete() }
        } catch {
            if jobs.count == 1 || error.meaning == .busy || database == nil {
                for job in jobs { fail(job, error) }
            } else {
                for job in jobs { runTogether([job]) }
            }
        }
    }

    private func commit(_ jobs: [Job]) throws(SQLiteError) -> [@Sendable () -> Void] {
        let database = try open()
        let uses = takeUses(for: jobs)
        reader.endShared()
        let completions = try database.batch { database throws(SQLiteError) in
            if !uses.isEmpty { try database.touch(uses) }
            var completions: [@Sendable () -> Void] = []
            for job in jobs { completions.append(try job.run(database)) }
            return completions
        }
        announceForeignChange(database)
        if database.hasTooMuch { submit(.makeRoom) }
        return completions
    }

    /// Uses are written down with other changes: when there are many, or when the file is near its limits, so that the
    /// right rows go.
    private func takeUses(for jobs: [Job]) -> [Int64] {
        let isNearLimits = database?.isNearLimits ?? false
        return reader.useCount >= (isNearLimits ? 1 : 4_096) ? reader.takeUses() : []
    }

    private func runAlone(_ job: Job) {
        do throws(SQLiteError) {
            reader.endShared()
            let complete = try job.run(try open())
            complete()
        } catch { fail(job, error) }
    }

    // MARK: Failures

    private func fail(_ job: Job, _ error: SQLiteError) {
        tell(.failed(job.removal == nil ? .write : .remove, .init(error), code: error.code))
        guard let removal = job.removal else {
            repair(after: error)
            return job.fail(false)
        }
        let isThrownAway = throwAway(after: error)
        if !isThrownAway { owe(removal) }
        job.fail(isThrownAway)
    }

    /// Does what an error of a statement asks for.
    private func repair(after error: SQLiteError) {
        switch error.meaning {
        case .damaged: if database != nil { _ = begin(afresh: .damaged) }
        case .moved: close()
        case .busy, .full, .readOnly, .failed: break
        }
    }

    /// A removal could not be written: what cannot be changed is thrown away. A full disk lets files be removed.
    private func throwAway(after error: SQLiteError) -> Bool {
        guard error.meaning != .busy, error.meaning != .moved, database != nil else { return false }
        close()
        guard files.removeAll() else { return false }
        countForeign(.removal)
        tell(.thrownAway)
        return true
    }

    /// A removal could not even be made by throwing the file away: nothing is read until it has been made up for.
    private func owe(_ removal: Removal) {
        owed.append(removal)
        close()
        rest()
    }

    private func rest() {
        failure.withLock { $0 = configuration.time.now() }
    }

    /// Ends the transaction that look-ups share when it has lasted long enough.
    func endSharedSoon() {
        DispatchQueue.global().asyncAfter(deadline: .now() + SharedRead.longest) { [weak self] in
            // The reader must not outlive the engine, which holds what the reader's file stands on.
            withExtendedLifetime(self) { self?.reader.endShared(isDue: true) }
        }
    }

    func tell(_ event: SQLiteCacheEvent) {
        configuration.onEvent(event)
    }

    /// An error of the reader.
    func readFailed(_ error: SQLiteError) {
        tell(.failed(.read, .init(error), code: error.code))
        guard error.meaning == .damaged || error.meaning == .moved else { return }
        submit(
            Job(
                run: { [self] database in
                    if database === self.database { repair(after: error) }
                    return {}
                }, fail: { _ in }, isAlone: true))
    }

    // MARK: The file

    /// The database, opened if it is not.
    private func open() throws(SQLiteError) -> CacheDatabase {
        if let database {
            if !database.connection.hasMoved { return database }
            close()
            countForeign(.removal)
        }
        if isResting { throw SQLiteError(code: 14) }
        do throws(SQLiteError) {
            let opened = try openFile()
            failure.withLock { $0 = nil }
            return opened
        } catch {
            tell(.failed(.open, .init(error), code: error.code))
            close()
            rest()
            throw error
        }
    }

    /// Opens the file; when it is not ours to use, sets it aside and opens a new one.
    private func openFile() throws(SQLiteError) -> CacheDatabase {
        do throws(CacheSchema.Failure) { return try openAsItIs() } catch {
            guard let cause = cause(of: error), begin(afresh: cause) else { throw error.sqlite }
        }
        do throws(CacheSchema.Failure) { return try openAsItIs() } catch { throw error.sqlite }
    }

    /// Why a file is to be set aside; `nil` when it is not.
    private func cause(of failure: CacheSchema.Failure) -> SQLiteCacheEvent.Cause? {
        switch failure {
        case .newer: return .newer
        case .sqlite(let error):
            // A file that may be written, but says itself that it may not, has a broken header.
            let isBroken = error.meaning == .readOnly && files.isWritable
            return error.meaning == .damaged || isBroken ? .damaged : nil
        }
    }

    private func openAsItIs() throws(CacheSchema.Failure) -> CacheDatabase {
        let database = CacheDatabase(try connect(), configuration)
        self.database = database
        do throws(SQLiteError) {
            try settle(database)
            try reader.use(try connectReader())
        } catch { throw .sqlite(error) }
        if database.totals.owesScrub != 0 { submit(.scrub(self)) }
        return database
    }

    /// Removes what was left behind or is still to be removed, and counts what there is.
    private func settle(_ database: CacheDatabase) throws(SQLiteError) {
        let owed = self.owed
        let bodies = alive.withLock { $0 }
        try database.batch { database throws(SQLiteError) in
            try database.sweep(alive: bodies)
            try database.recount()
            for removal in owed { try removal.perform(database) }
        }
        self.owed = []
    }

    private func connect() throws(CacheSchema.Failure) -> SQLiteConnection {
        let connection: SQLiteConnection
        do throws(SQLiteError) {
            connection = try SQLiteConnection(path: files.path, vfs: configuration.vfs, patience: patience)
        } catch { throw .sqlite(error) }
        try CacheSchema.prepare(connection)
        return connection
    }

    private func connectReader() throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: files.path, vfs: configuration.vfs, patience: 200)
        // No check of the cells of each page, which keeps damage from spreading where something is changed: what is read here
        // has checksums of its own, and pages full of keys are read again and again where they do not fit into the memory.
        try connection.execute("PRAGMA trusted_schema=OFF; PRAGMA cache_size=-8192; PRAGMA query_only=ON")
        return connection
    }

    private var patience: Int32 {
        Int32(clamping: Int(configuration.patience / .milliseconds(1)))
    }

    /// Sets the file aside and begins a new one.
    private func begin(afresh cause: SQLiteCacheEvent.Cause) -> Bool {
        close()
        guard let name = files.setAside(cause) else {
            rest()
            return false
        }
        countForeign(.removal)
        tell(.setAside(cause, file: URL(fileURLWithPath: name)))
        return true
    }

    /// Lets go of the file.
    func close() {
        try? reader.use(nil)
        database = nil
    }

    func announceForeignChange(_ database: CacheDatabase) {
        countForeign(database.takeForeignChange())
    }

    private func countForeign(_ change: CacheDatabase.ForeignChange) {
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
        try database.sweep(alive: alive.withLock { $0 })
    }
}

extension CacheDatabase {
    var hasTooMuch: Bool { totals.bytes > Int64(limits.bytes) || totals.entries > Int64(limits.entries) }

    /// More than nine tenths of a limit are used.
    var isNearLimits: Bool {
        totals.bytes > Int64(limits.bytes / 10 * 9) || totals.entries > Int64(limits.entries / 10 * 9)
    }
}

extension CacheEngine.Job {
    /// Goes on making room, behind what waits already.
    static let makeRoom = CacheEngine.Job(
        run: { database throws(SQLiteError) in
            try database.makeRoom()
            return {}
        }, fail: { _ in })

    /// Makes sure that nothing of what was erased is left in the file, its free pages or its log.
    static func scrub(_ engine: CacheEngine, _ done: @escaping @Sendable (Bool) -> Void = { _ in }) -> Self {
        CacheEngine.Job(
            run: { database throws(SQLiteError) in
                let isClean = engine.scrub(database)
                return { done(isClean) }
            }, fail: { _ in done(false) }, isAlone: true)
    }
}

extension CacheEngine {
    /// Empties the log, writes the file anew without its free space, empties the log again, and removes what was set
    /// aside. SQLite overwrites what it deletes, but a page that was split keeps copies of rows in its free part.
    func scrub(_ database: CacheDatabase) -> Bool {
        do throws(SQLiteError) {
            guard try database.connection.emptyLog() else { throw SQLiteError(code: 5) }
            try database.connection.execute("VACUUM")
            guard try database.connection.emptyLog() else { throw SQLiteError(code: 5) }
            guard files.removeSetAside() else { throw SQLiteError(code: 10) }
            try database.batch { $0.totals.owesScrub = 0 }
            return true
        } catch {
            tell(.failed(.scrub, .init(error), code: error.code))
            return false
        }
    }
}
