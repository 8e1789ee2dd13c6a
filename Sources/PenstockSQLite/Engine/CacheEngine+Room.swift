import Foundation
import PenstockCore

/// Keeping the file and its log within their limits, and within the room of the disk. All of it on the queue.
extension CacheEngine {
    /// Keeps the log and what was set aside within the limits, after a change.
    ///
    /// - Parameter bytes: how many were written.
    func keepSize(_ database: CacheDatabase, after bytes: Int) {
        let (limits, free) = (configuration.limits, files.freeBytes)
        // Where it cannot be written back, the next change tries again. The file of a log that keeps its bytes stays as long as
        // it is, so what was written since counts instead; half of the room is left to the change after which it is written back.
        let most = mostOfLog(free)
        if isNearlyFull(free, for: bytes) {
            let written = Int64(database.connection.pagesInLog) &* Self.logPageBytes
            if written > most / 2 { try? emptyLog(of: database, keepsBytes: true) }
        } else if files.logBytes > most {
            try? emptyLog(of: database, keepsBytes: false)
        }
        if setAsideBytes > 0, database.usedBytes > limits.pageBytes &- setAsideBytes, files.removeSetAside() {
            setAsideBytes = 0
        }
        // Only limits that have become smaller leave a file that is larger than what it holds may be.
        if database.fileBytes > limits.pageBytes &+ limits.logBytes, !database.mustMakeRoom { scrubSoon() }
    }

    /// What a page takes in the log, with its header.
    private static let logPageBytes: Int64 = 4_096 + 24

    /// How long the log may grow: to write it back may take as much room as it has itself.
    private func mostOfLog(_ free: Int64?) -> Int64 {
        min(configuration.limits.logBytes, max((free ?? .max) / 4, CacheLimits.emptyBytes))
    }

    /// Writes the log back, unless somebody still reads from it: that is not waited for.
    ///
    /// - Parameter keepsBytes: whether its bytes stay its own, to be written over; otherwise it is cut to nothing.
    private func emptyLog(of database: CacheDatabase, keepsBytes: Bool) throws(SQLiteError) {
        database.connection.wait(0)
        defer { database.connection.wait(Int32(clamping: Int64(slice / .milliseconds(1)))) }
        _ = try database.connection.emptyLog(keepsBytes: keepsBytes)
    }

    // MARK: A disk that is nearly full

    /// Whether there is so little room on the disk for what is to be written that the file must not grow: what makes room has to
    /// pass through the log, and the log has to be written back, both of which take some.
    ///
    /// - Parameter free: the room; `nil` where nobody knows.
    private func isNearlyFull(_ free: Int64?, for bytes: Int) -> Bool {
        let enough = min(2 &* configuration.limits.logBytes, max(4 &* Int64(bytes), 2 &* CacheLimits.emptyBytes))
        return free.map { $0 < enough } ?? false
    }

    func isDiskNearlyFull(for bytes: Int) -> Bool { isNearlyFull(files.freeBytes, for: bytes) }

    /// Removes what was used least recently for what is about to be written, where the file has no free pages for it and must not
    /// grow. A small file grows all the same while there is room for that beside the log: nearly all that it holds would go for
    /// each response that comes.
    ///
    /// - Parameter bytes: how many are to be written; none is no reason to remove anything.
    func makeRoomAhead(for bytes: Int, _ database: CacheDatabase) throws(SQLiteError) {
        guard bytes > 0, let free = files.freeBytes, isNearlyFull(free, for: bytes) else { return }
        if setAsideBytes > 0, files.removeSetAside() { setAsideBytes = 0 }
        if maySmallFileGrow(database, by: bytes, free) { return }
        // Pages are not filled to the last byte.
        guard try database.freeBytes() < Int64(bytes) &+ Int64(bytes) / 8 else { return }
        _ = try database.evict(for: Int64(bytes))
    }

    /// Whether a file is small, and the disk has room for what is to be written even once the log is as long as it may become and
    /// is written back.
    private func maySmallFileGrow(_ database: CacheDatabase, by bytes: Int, _ free: Int64) -> Bool {
        guard database.fileBytes < 2 &* CacheLimits.emptyBytes else { return false }
        let pending = database.fileBytes &- files.fileBytes
        let room = free &+ files.logBytes &- mostOfLog(free) &- pending
        return room >= max(CacheLimits.emptyBytes / 2, 2 &* Int64(bytes))
    }

    // MARK: A full disk

    /// Makes room where the disk had none for something that was to be stored: by the log and by what was set aside, and by a few
    /// of the responses that were used least recently. Where there is no room for that either, all of it goes, which needs none.
    ///
    /// - Returns: whether to try once more.
    func relieve(_ job: CacheJob, of error: SQLiteError) -> Bool {
        guard error.meaning == .full, job.weight > 0, let database,
            nextRelief.map({ configuration.time.now() >= $0 }) ?? true
        else { return false }
        // Room that does not do is not made again at once: it would cost everything that is stored, a little at a time.
        nextRelief = configuration.time.now() + configuration.retryInterval
        if setAsideBytes > 0, files.removeSetAside() { setAsideBytes = 0 }
        let uses = reader.takeUses()
        do throws(SQLiteError) {
            try emptyLog(of: database, keepsBytes: false)
            return try database.batch { database throws(SQLiteError) in
                let hasRoom = try database.evict(for: Int64(job.weight), sparing: uses)
                try database.touch(uses)
                return hasRoom
            }
        } catch {
            if error.meaning == .full, throwAwayForRoom(job.weight) { return true }
            reader.giveBack(uses)
            return false
        }
    }

    /// Throws away a file whose responses cannot even be removed for want of room, so that a new one can be begun. Not at the first
    /// time: a disk that is full for a moment costs nothing. Nor where it would give little more room than an empty file takes.
    ///
    /// - Parameter bytes: how many are to be written.
    func throwAwayForRoom(_ bytes: Int = 0) -> Bool {
        guard wasOutOfRoom else {
            wasOutOfRoom = true
            return false
        }
        guard files.fileBytes &+ files.logBytes > CacheLimits.emptyBytes &+ 2 &* Int64(bytes), throwAway() else {
            return false
        }
        wasOutOfRoom = false
        return true
    }
}
