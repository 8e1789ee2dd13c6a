import CSQLite
import Foundation

/// One connection to a database file, with the statements that were prepared on it. Used by one thread at a time.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]
    private var isDurable = false

    /// No row may be longer, whatever its header in the file says: this is what bounds SQLite's own allocations.
    static let maximumRowBytes: Int32 = 1 << 20

    /// How a file is opened.
    enum Manner {
        /// A connection for reading and writing. SQLite makes no file, since it would give it the permissions of the process.
        case existing
        /// A connection for reading and writing, whose file is made if there is none.
        case creating
        /// A connection for reading what stands in the file itself, whatever its journal or its log say, and whoever has locked it. No
        /// byte is written, and no file is made beside it.
        case untouched
    }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - vfs: SQLite's name of the file system below; `nil` for the machine's own.
    ///   - patience: how long to wait for others who hold the file, in milliseconds.
    init(path: String, vfs: String?, patience: Int32, _ manner: Manner = .existing) throws(SQLiteError) {
        var opened: OpaquePointer?
        let flags = Self.flags(manner) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(manner == .untouched ? Self.untouched(path) : path, &opened, flags, vfs)
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

    private static func flags(_ manner: Manner) -> Int32 {
        switch manner {
        case .existing: SQLITE_OPEN_READWRITE
        case .creating: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .untouched: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
    }

    /// The path as SQLite reads it when it must leave the file alone (https://www.sqlite.org/uri.html).
    private static func untouched(_ path: String) -> String {
        "file://\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)?immutable=1"
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

    /// The texts of all statements that were prepared and kept.
    var preparedStatements: [String] { statements.keys.sorted() }

    /// How long to wait for others who hold the file, in milliseconds.
    func wait(_ patience: Int32) {
        sqlite3_busy_timeout(handle, patience)
    }

    /// Whether a commit is on the disk when it returns. Otherwise a power cut may undo the last commits, in their order.
    /// Not to be called in a transaction.
    func makeDurable(_ isDurable: Bool) throws(SQLiteError) {
        guard isDurable != self.isDurable else { return }
        // The second one is for systems where a sync alone leaves the bytes in the disk's own memory.
        try execute(
            isDurable
                ? "PRAGMA synchronous=FULL; PRAGMA fullfsync=ON" : "PRAGMA synchronous=NORMAL; PRAGMA fullfsync=OFF")
        self.isDurable = isDurable
    }

    /// Whether the log is written back into the file when the last connection is closed, which is SQLite's own manner.
    func writeBackAtEnd(_ isWrittenBack: Bool) {
        csqlite_write_back_at_end(handle, isWrittenBack ? 1 : 0)
    }

    /// The first bytes of the file itself, past any log and without any lock; fewer, when it is shorter.
    func firstBytes(_ count: Int) throws(SQLiteError) -> [UInt8] {
        var read: Int32 = 0
        var code = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            code = csqlite_first_bytes(handle, buffer.baseAddress, Int32(clamping: count), &read)
            used = code == SQLITE_OK ? Int(read) : 0
        }
        guard code == SQLITE_OK else { throw SQLiteError(code: code) }
        return bytes
    }

    /// Whether another file stands where this one was opened.
    var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// Writes the log back into the file and cuts it to nothing.
    ///
    /// - Parameter keepsBytes: whether it is not cut, so that what comes next is written over what stands in it.
    /// - Returns: `false` when somebody still reads from the log.
    func emptyLog(keepsBytes: Bool = false) throws(SQLiteError) -> Bool {
        let manner = keepsBytes ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(handle, "main", manner, nil, nil)
        if code & 0xFF == SQLITE_BUSY { return false }
        if code != SQLITE_OK { throw lastError(code) }
        _ = pagesWritten(beginsAnew: true)
        return true
    }

    /// How many pages this connection has written into the log since it last emptied it: the size of the log's file does not say
    /// so where that keeps its bytes.
    var pagesInLog: Int { pagesWritten() }

    /// - Parameter beginsAnew: whether what is written from now on is counted from nothing.
    private func pagesWritten(beginsAnew: Bool = false) -> Int {
        var (count, most): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &count, &most, beginsAnew ? 1 : 0)
        return Int(count)
    }

    private func lastError(_ code: Int32) -> SQLiteError {
        SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
}
