import Foundation
import PenstockCore

/// Opening the file, setting it aside, and letting go of it. All of it on the queue.
extension CacheEngine {
    /// The database, opened if it is not.
    func open() throws(SQLiteError) -> CacheDatabase {
        if let database {
            let (hasMoved, owes) = (database.connection.hasMoved, owed.withLock { !$0.isEmpty })
            if !hasMoved && !owes { return database }
            close()
            if hasMoved { countForeign(.removal) }
        }
        if isResting {
            // Not the error itself: what is busy would be tried again at once.
            throw failure.withLock {
                SQLiteError(code: 14, isForeign: $0?.error.problem == .notACache)
            }
        }
        do throws(SQLiteError) {
            let opened = try openFile()
            failure.withLock { $0 = nil }
            return opened
        } catch {
            tell(.failed(.open, .init(error), code: error.code))
            // What cannot even be opened for want of room is of no use to anybody, and in the way of what would be.
            if error.meaning == .full, throwAwayForRoom() { return try openAnew() }
            close()
            rest(after: error)
            throw error
        }
    }

    /// Opens a new file in place of one that was thrown away.
    private func openAnew() throws(SQLiteError) -> CacheDatabase {
        do throws(SQLiteError) { return try openFile() } catch {
            close()
            rest(after: error)
            throw error
        }
    }

    /// Opens the file; when it is ours but cannot be used, sets it aside and opens a new one.
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
        case .foreign: return nil
        case .sqlite(let error):
            // A file that may be written, but says itself that it may not, has a broken header.
            let isBroken = error.meaning == .readOnly && files.isWritable
            return error.meaning == .damaged || isBroken ? .damaged : nil
        }
    }

    private func openAsItIs() throws(CacheSchema.Failure) -> CacheDatabase {
        let database = CacheDatabase(try connect(), configuration, holds)
        self.database = database
        do throws(SQLiteError) {
            try settle(database)
            try reader.use(try connectReader())
        } catch { throw .sqlite(error) }
        // A removal that was given up in the meantime closes the reader, but may have done so before it was opened.
        if owed.withLock({ !$0.isEmpty }) { try? reader.use(nil) }
        database.connection.wait(Int32(clamping: Int64(slice / .milliseconds(1))))
        setAsideBytes = files.setAsideBytes(removingOlderThan: oldest)
        if database.mustMakeRoom { submit(.makeRoom) }
        if database.totals.owesScrub != 0 { scrubSoon() }
        return database
    }

    /// Removes what was left behind or is still to be removed, and counts what there is.
    private func settle(_ database: CacheDatabase) throws(SQLiteError) {
        let owed = self.owed.withLock { $0 }
        let bodies = inUse
        try database.connection.makeDurable(!owed.isEmpty)
        try database.batch { database throws(SQLiteError) in
            try database.sweep(alive: bodies)
            try database.recount()
            for removal in owed { try removal.perform(database) }
            try database.makeRoom()
        }
        self.owed.withLock { $0.removeFirst(owed.count) }
    }

    private func connect() throws(CacheSchema.Failure) -> SQLiteConnection {
        guard !files.isOther else { throw .foreign }
        let connection: SQLiteConnection
        do throws(SQLiteError) {
            guard files.create() else { throw SQLiteError(code: 14) }
            let patience = Int32(clamping: Int64(configuration.patience / .milliseconds(1)))
            connection = try SQLiteConnection(path: files.path, vfs: configuration.vfs, patience: patience)
        } catch { throw .sqlite(error) }
        switch try origin(of: connection) {
        case .foreign: throw .foreign
        case .damaged: throw .sqlite(SQLiteError(code: 26))
        case .ours, .empty: break
        }
        guard files.narrow() else { throw .sqlite(SQLiteError(code: 14)) }
        try CacheSchema.prepare(connection, logBytes: configuration.limits.logBytes)
        return connection
    }

    /// Whose file it is. Nothing in it or beside it is changed, unless a journal or a log says that somebody was
    /// interrupted: then it is read as SQLite reads it, which takes back what was not finished.
    private func origin(of connection: SQLiteConnection) throws(CacheSchema.Failure) -> CacheSchema.Origin {
        do throws(SQLiteError) {
            if let origin = CacheSchema.origin(try connection.firstBytes(CacheSchema.headerBytes)) { return origin }
            guard files.hasJournal else {
                return try CacheSchema.origin(
                    SQLiteConnection(path: files.path, vfs: configuration.vfs, patience: 0, .untouched))
            }
            connection.writeBackAtEnd(false)
            let origin = try CacheSchema.origin(connection)
            if origin != .foreign { connection.writeBackAtEnd(true) }
            return origin
        } catch { throw .sqlite(error) }
    }

    /// Whether the file still begins as ours do. One that cannot be read is what it was when it was opened.
    func isOurs(_ database: CacheDatabase) -> Bool {
        guard let bytes = try? database.connection.firstBytes(CacheSchema.headerBytes) else { return true }
        return CacheSchema.origin(bytes) != nil
    }

    private func connectReader() throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: files.path, vfs: configuration.vfs, patience: CacheReader.patience)
        // No check of the cells of each page, which keeps damage from spreading where something is changed: what is read here
        // has checksums of its own, and pages full of keys are read again and again where they do not fit into the memory.
        try connection.execute("PRAGMA trusted_schema=OFF; PRAGMA cache_size=-8192; PRAGMA query_only=ON")
        return connection
    }

    /// How long SQLite itself waits for others, each time. The engine asks again for as long as a job waits.
    var slice: Duration { min(configuration.patience, .milliseconds(50)) }

    /// What was set aside before that is removed.
    private var oldest: Date? { configuration.limits.validTimes(at: configuration.time.date())?.lowerBound }

    /// Sets the file aside and begins a new one.
    func begin(afresh cause: SQLiteCacheEvent.Cause) -> Bool {
        close()
        guard let name = files.setAside(cause) else {
            rest(after: SQLiteError(code: 14))
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
}
