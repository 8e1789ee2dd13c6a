import CSQLite

/// What SQLite answered in place of success.
struct SQLiteError: Error {
    /// SQLite's extended result code.
    let code: Int32
    /// SQLite's own words; they hold no data of the file.
    let message: String
    /// The file is somebody else's, as far as anybody can tell.
    let isForeign: Bool

    init(code: Int32, message: String? = nil, isForeign: Bool = false) {
        self.code = code
        self.isForeign = isForeign
        self.message = message ?? String(cString: sqlite3_errstr(code))
    }

    /// What the code means for a cache.
    enum Meaning: Sendable {
        /// The file is not what this store wrote.
        case damaged
        /// No store of this kind wrote the file.
        case foreign
        /// Somebody else holds the file.
        case busy
        /// No room.
        case full
        case readOnly
        /// The file moved away or another one stands in its place.
        case moved
        /// Reading or writing failed, or there is no memory.
        case failed
    }

    var meaning: Meaning {
        if isForeign { return .foreign }
        if code == SQLITE_READONLY | (4 << 8) { return .moved }
        return switch code & 0xFF {
        // SQLITE_ERROR: every statement is right for the schema that this store makes, so the schema is another.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_TOOBIG,
            SQLITE_FORMAT:
            .damaged
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
        case SQLITE_FULL: .full
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        default: .failed
        }
    }
}
