import CSQLite

/// One connection to a database file, with the statements that were prepared on it. Used by one thread at a time.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// No row may be longer, whatever its header in the file says: this is what bounds SQLite's own allocations.
    static let maximumRowBytes: Int32 = 1 << 20

    /// Opens a file, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - vfs: SQLite's name of the file system below; `nil` for the machine's own.
    ///   - patience: how long to wait for others who hold the file, in milliseconds.
    init(path: String, vfs: String?, patience: Int32) throws(SQLiteError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, vfs)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw SQLiteError(code: code)
        }
        handle = opened
        sqlite3_busy_timeout(handle, patience)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.maximumRowBytes)
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        csqlite_make_defensive(handle)
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// A statement of the cache, prepared at its first use.
    func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        if let known = statements[sql] { return known }
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw lastError(code) }
        let statement = SQLiteStatement(prepared, of: handle)
        statements[sql] = statement
        return statement
    }

    /// Runs one or several statements and passes over their rows.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw lastError(code) }
    }

    /// The first column of the first row; `nil` when there is none.
    func number(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int(0) : nil
    }

    /// Runs `body` in a transaction that has the right to write from its beginning, and undoes it when it throws.
    func transaction<Output>(_ body: () throws(SQLiteError) -> Output) throws(SQLiteError) -> Output {
        try statement("BEGIN IMMEDIATE").run()
        do throws(SQLiteError) {
            let output = try body()
            try statement("COMMIT").run()
            return output
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Whether a transaction was begun, and neither committed nor undone.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Where the header of the log's index is, once something was read; `nil` where it is in no shared memory.
    var logMemory: UnsafeRawPointer? { csqlite_log_memory(handle) }

    /// Whether another file stands where this one was opened.
    var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// Writes the log back into the file and cuts it to nothing.
    ///
    /// - Returns: `false` when somebody still reads from the log.
    func emptyLog() throws(SQLiteError) -> Bool {
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xFF == SQLITE_BUSY { return false }
        if code != SQLITE_OK { throw lastError(code) }
        return true
    }

    private func lastError(_ code: Int32) -> SQLiteError {
        SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
}
