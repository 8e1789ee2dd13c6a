import Foundation
import PenstockCore

/// Leaving nothing of what was erased in the file, its free pages or its log. It is tried until it is done: while other
/// processes read or write it cannot be, and a file that still owes it says so to whoever opens it next.
extension CacheEngine {
    /// What waits for the file to be clean. Touched on the queue alone.
    struct Scrubbing {
        var waiters: [Waiter] = []
        /// How often it failed, one time after the other.
        var failures = 0
        var isScheduled = false
    }

    struct Waiter {
        let deadline: DispatchTime
        let done: @Sendable (Bool) -> Void
    }

    /// How long somebody who erases waits for it, as a multiple of ``SQLiteCacheConfiguration/patience``.
    private static let patience = 4.0

    /// Makes sure of it, once what was submitted before is done.
    ///
    /// - Parameter done: told whether it was done in time. It is tried again in any case.
    func scrub(_ done: @escaping @Sendable (Bool) -> Void) {
        submit(
            CacheJob(
                run: { [self] database in
                    let patience = configuration.patience / .seconds(1) * Self.patience
                    scrubbing.waiters.append(Waiter(deadline: .now() + patience, done: done))
                    attempt(database)
                    return {}
                }, fail: { _ in done(false) }, isAlone: true, patience: .seconds(3_600)))
    }

    /// Tries it as soon as nothing else is to be done.
    func scrubSoon() {
        guard !scrubbing.isScheduled else { return }
        scrubbing.isScheduled = true
        submit(
            CacheJob(
                run: { [self] database in
                    scrubbing.isScheduled = false
                    attempt(database)
                    return {}
                }, fail: { [self] _ in queue.async { self.giveUpScrubbing() } }, isAlone: true,
                patience: .seconds(3_600), opensFile: !scrubbing.waiters.isEmpty))
    }

    /// The file is not open, or cannot be.
    private func giveUpScrubbing() {
        scrubbing.isScheduled = false
        finish(false)
    }

    private func attempt(_ database: CacheDatabase) {
        do throws(SQLiteError) {
            try clean(database)
            finish(true)
        } catch {
            // There is no room to write it anew, or no way to: then all of it goes, which needs none.
            if error.meaning == .full || error.meaning == .failed, throwAway() { return finish(true) }
            retry(after: error)
        }
    }

    private func finish(_ isClean: Bool) {
        for waiter in scrubbing.waiters { waiter.done(isClean) }
        scrubbing.waiters = []
        scrubbing.failures = 0
    }

    /// Soon, while somebody waits; then at intervals that double up to a minute.
    private func retry(after error: SQLiteError) {
        if scrubbing.failures == 0 { tell(.failed(.scrub, .init(error), code: error.code)) }
        scrubbing.failures += 1
        let now = DispatchTime.now()
        for waiter in scrubbing.waiters where waiter.deadline <= now { waiter.done(false) }
        scrubbing.waiters.removeAll { $0.deadline <= now }
        guard !scrubbing.isScheduled else { return }
        scrubbing.isScheduled = true
        let delay = 0.01 * Double(1 << min(scrubbing.failures, 13))
        queue.asyncAfter(deadline: now + min(delay, scrubbing.waiters.isEmpty ? 60 : 0.1)) { [weak self] in
            guard let self else { return }
            scrubbing.isScheduled = false
            // A file that was let go of is not opened for this, unless somebody waits: it says what it owes when it is.
            scrubSoon()
        }
    }

    /// Empties the log, writes the file anew without its free space, empties the log again, and removes what was set
    /// aside. SQLite overwrites what it deletes, but a page that was split keeps copies of rows in its free part.
    private func clean(_ database: CacheDatabase) throws(SQLiteError) {
        let connection = database.connection
        guard try connection.emptyLog() else { throw SQLiteError(code: 5) }
        // The new file and its way through the log take twice the room of what is in use, at most.
        if let free = files.freeBytes, free < 2 * files.fileBytes { throw SQLiteError(code: 13) }
        try connection.execute("VACUUM")
        guard try connection.emptyLog() else { throw SQLiteError(code: 5) }
        guard files.removeSetAside() else { throw SQLiteError(code: 10) }
        setAsideBytes = 0
        try database.batch { database throws(SQLiteError) in
            database.totals.owesScrub = 0
            // Which looks again how long the file is.
            try database.makeRoom()
        }
    }
}
