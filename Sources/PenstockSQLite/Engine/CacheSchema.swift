import CSQLite

/// The tables, step by step: each version of the schema is the one before and a migration.
enum CacheSchema {
    struct Migration: Sendable {
        let name: String
        let sql: String
    }

    /// In the order in which they are applied; none is ever changed or taken out.
    static let migrations = [
        Migration(
            name: "responses, their bodies, and how much of both there is",
            sql: """
                CREATE TABLE entry (
                    id INTEGER PRIMARY KEY,
                    identity INTEGER NOT NULL, environment INTEGER NOT NULL,
                    place INTEGER NOT NULL, url INTEGER NOT NULL,
                    stored INTEGER NOT NULL, used INTEGER NOT NULL,
                    size INTEGER NOT NULL, body INTEGER NOT NULL,
                    head BLOB NOT NULL, content BLOB
                );
                CREATE INDEX entry_used ON entry (used, size);
                CREATE INDEX entry_stored ON entry (stored);
                CREATE INDEX entry_place ON entry (place);
                CREATE INDEX entry_owner ON entry (identity, environment);
                CREATE TABLE tag (
                    tag INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (tag, entry)
                ) WITHOUT ROWID;
                CREATE INDEX tag_entry ON tag (entry);
                CREATE TABLE chunk (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
                CREATE TABLE unfinished (
                    body INTEGER PRIMARY KEY, identity INTEGER NOT NULL, environment INTEGER NOT NULL,
                    size INTEGER NOT NULL, renewed INTEGER NOT NULL
                );
                CREATE TABLE state (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    entries INTEGER NOT NULL, bytes INTEGER NOT NULL, epoch INTEGER NOT NULL,
                    owes_scrub INTEGER NOT NULL
                );
                INSERT INTO state VALUES (1, 0, 0, 1, 0);
                """),
        Migration(
            name: "the key of the digests that stand for credentials",
            sql: """
                CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL);
                INSERT INTO secret VALUES (1, randomblob(32));
                """),
    ]

    /// "PSTK": says that the file is a cache of Penstock's.
    private static let applicationID: Int64 = 0x5053_544B

    enum Failure: Error {
        case newer
        case sqlite(SQLiteError)

        var sqlite: SQLiteError {
            switch self {
            case .newer: SQLiteError(code: SQLITE_CANTOPEN)
            case .sqlite(let error): error
            }
        }
    }

    /// Makes a new connection ready: its manner of working, and the newest schema.
    static func prepare(_ connection: SQLiteConnection) throws(Failure) {
        do throws(SQLiteError) {
            try connection.execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON")
            try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-2048")
            if try isCurrent(connection) { return }
            try connection.transaction { () throws(SQLiteError) in try migrate(connection) }
        } catch {
            throw (try? version(connection)).map { $0 > migrations.count } == true ? .newer : .sqlite(error)
        }
    }

    private static func version(_ connection: SQLiteConnection) throws(SQLiteError) -> Int {
        Int(try connection.number("PRAGMA user_version") ?? 0)
    }

    private static func isCurrent(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        let application = try connection.number("PRAGMA application_id")
        return application == applicationID ? try version(connection) == migrations.count : false
    }

    /// Applies what is missing. A file that is not empty and not ours, or newer, is refused.
    private static func migrate(_ connection: SQLiteConnection) throws(SQLiteError) {
        if try isCurrent(connection) { return }
        let version = try version(connection)
        let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
        let isOurs = try connection.number("PRAGMA application_id") == applicationID
        guard isEmpty || isOurs, version >= 0, version <= migrations.count else {
            throw SQLiteError(code: SQLITE_NOTADB, message: "not a cache of this version")
        }
        for migration in migrations.dropFirst(version) { try connection.execute(migration.sql) }
        try connection.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(migrations.count)")
    }
}
