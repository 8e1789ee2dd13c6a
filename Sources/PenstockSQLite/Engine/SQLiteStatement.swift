import CSQLite
import Foundation

/// A prepared statement: bound, stepped, read, and reset for its next use. Used by one thread at a time.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let database: OpaquePointer

    init(_ handle: OpaquePointer, of database: OpaquePointer) {
        self.handle = handle
        self.database = database
    }

    deinit {
        sqlite3_finalize(handle)
    }

    func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ values: [Int64]) throws(SQLiteError) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    /// The bytes are not copied: they must stay where they are until the statement is reset. An empty buffer is bound as
    /// an empty blob.
    func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return try check(sqlite3_bind_zeroblob(handle, index, 0))
        }
        try check(sqlite3_bind_blob64(handle, index, base, sqlite3_uint64(bytes.count), nil))
    }

    func bindNull(at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, index))
    }

    /// - Returns: whether there is a row to read.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw lastError()
        }
    }

    /// Runs a statement that gives no rows, and makes it ready for its next use.
    func run(_ values: Int64...) throws(SQLiteError) {
        defer { reset() }
        try bind(values)
        while try step() {}
    }

    /// Ends the use of the bound bytes and of the row.
    func reset() {
        sqlite3_reset(handle)
    }

    func int(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The bytes of a column, valid until the next step or reset. Their count is what SQLite holds, not what a length in
    /// the file claims.
    func bytes(_ column: Int32) throws(SQLiteError) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        if base == nil, sqlite3_errcode(database) == SQLITE_NOMEM { throw lastError() }
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count)
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        if code != SQLITE_OK { throw lastError() }
    }

    private func lastError() -> SQLiteError {
        let code = sqlite3_extended_errcode(database)
        return SQLiteError(code: code, message: String(cString: sqlite3_errmsg(database)))
    }
}
