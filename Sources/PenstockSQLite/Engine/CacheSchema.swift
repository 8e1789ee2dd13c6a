import CSQLite
import Foundation
import PenstockCore

/// The tables, step by step: each version of the schema is the one before and a migration.
enum CacheSchema {
    struct Migration: Sendable {
        let name: String
        let sql: String
    }

    /// The migrations in the order in which they are applied; none is ever changed or taken out.
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
            name: "an index for everything that selects rows, and who writes a body and how much of it there is",
            sql: """
                DROP INDEX entry_place;
                DROP INDEX entry_owner;
                CREATE INDEX entry_place ON entry (place, url);
                CREATE INDEX entry_owner ON entry (identity, environment, place, url);
                CREATE TABLE owned_tag (
                    tag INTEGER NOT NULL, identity INTEGER NOT NULL, environment INTEGER NOT NULL,
                    entry INTEGER NOT NULL, PRIMARY KEY (tag, identity, environment, entry)
                ) WITHOUT ROWID;
                INSERT INTO owned_tag
                    SELECT tag, identity, environment, entry FROM tag JOIN entry ON entry.id = tag.entry;
                DROP TABLE tag;
                ALTER TABLE owned_tag RENAME TO tag;
                CREATE INDEX tag_entry ON tag (entry);
                ALTER TABLE state ADD COLUMN unfinished INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE unfinished ADD COLUMN writer INTEGER NOT NULL DEFAULT 0;
                """),
        Migration(
            name: "the key of the digests that stand for credentials",
            sql: """
                CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL);
                INSERT INTO secret VALUES (1, randomblob(32));
                """),
        Migration(
            name: "no secrets: what was written with those of its URL and its fields goes, and every byte of it",
            sql: emptying),
        Migration(
            name: "no digests of credentials that can be made without the file's secret: what has some goes",
            sql: emptying),
    ]

    /// Removes all that is stored, and has every byte of it erased.
    private static let emptying = """
        DELETE FROM entry;
        DELETE FROM tag;
        DELETE FROM chunk;
        DELETE FROM unfinished;
        UPDATE state SET entries = 0, bytes = 0, unfinished = 0, owes_scrub = 1;
        """

    /// "PSTK": says that the file is a cache of Penstock's.
    private static let applicationID: Int64 = 0x5053_544B

    enum Failure: Error {
        case newer
        /// The file is none of ours, and not empty.
        case foreign
        case sqlite(SQLiteError)

        var sqlite: SQLiteError {
            switch self {
            case .newer: SQLiteError(code: SQLITE_CANTOPEN)
            case .foreign: SQLiteError(code: SQLITE_NOTADB, isForeign: true)
            case .sqlite(let error): error
            }
        }
    }

    // MARK: Its secret

    /// The key of the file's digests.
    static func secret(_ connection: SQLiteConnection) throws(SQLiteError) -> Data? {
        let statement = try connection.statement("SELECT key FROM secret WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return Data(try statement.bytes(0))
    }

    /// How keys and responses are written into the file. One that has lost its secret is damaged.
    static func form(_ connection: SQLiteConnection) throws(SQLiteError) -> CacheAtRest {
        guard let secret = try secret(connection), !secret.isEmpty else {
            throw SQLiteError(code: SQLITE_CORRUPT, message: "no secret")
        }
        return CacheAtRest(secret: secret)
    }

    // MARK: Whose file it is

    enum Origin {
        /// It bears the mark of a cache.
        case ours
        /// It may become one.
        case empty
        /// It has the tables of a cache, but not the mark.
        case damaged
        case foreign
    }

    /// How many of the first bytes of a file say whose it is.
    static let headerBytes = 72

    /// Whose file begins so; `nil` when that is not enough to know.
    static func origin(_ header: [UInt8]) -> Origin? {
        if header.isEmpty { return .empty }
        guard header.count >= headerBytes else { return nil }
        // The application id (https://www.sqlite.org/fileformat.html, 1.3).
        let mark = header[68..<72].reduce(0 as Int64) { $0 << 8 | Int64($1) }
        return mark == applicationID ? .ours : nil
    }

    /// Whose file it is that SQLite reads so.
    static func origin(_ connection: SQLiteConnection) throws(SQLiteError) -> Origin {
        do throws(SQLiteError) {
            let mark = try connection.number("PRAGMA application_id") ?? 0
            if mark == applicationID { return .ours }
            let version = try connection.number("PRAGMA user_version") ?? 0
            if try connection.number("SELECT count(*) FROM sqlite_schema") == 0 {
                return mark == 0 && version == 0 ? .empty : .foreign
            }
            let tables = "('entry', 'tag', 'chunk', 'unfinished', 'state', 'secret')"
            let others = try connection.number("SELECT count(*) FROM sqlite_schema WHERE tbl_name NOT IN \(tables)")
            let own = try connection.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table'")
            // The first versions had no table for the key of the digests.
            return others == 0 && (own == 5 || own == 6) ? .damaged : .foreign
        } catch {
            if error.meaning == .damaged { return .foreign }
            throw error
        }
    }

    // MARK: Making it ready

    /// Makes a new connection ready: its manner of working, and the newest schema.
    ///
    /// - Parameter logBytes: how long the log may grow.
    static func prepare(_ connection: SQLiteConnection, logBytes: Int64) throws(Failure) {
        do throws(SQLiteError) {
            try connection.execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON")
            // The mark comes first, and into the file itself: a log that holds it may be lost.
            if try connection.number("PRAGMA application_id") != applicationID {
                try connection.execute("PRAGMA application_id=\(applicationID)")
            }
            try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-2048")
            try connection.execute(
                "PRAGMA wal_autocheckpoint=\(logBytes / 2 / 4_096); PRAGMA journal_size_limit=\(logBytes / 2)")
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

    /// Applies what is missing. A file of a newer version is refused.
    private static func migrate(_ connection: SQLiteConnection) throws(SQLiteError) {
        if try isCurrent(connection) { return }
        let version = try version(connection)
        guard version >= 0, version <= migrations.count else {
            throw SQLiteError(code: SQLITE_NOTADB, message: "not a cache of this version")
        }
        for migration in migrations.dropFirst(version) { try connection.execute(migration.sql) }
        // A new file holds nothing that must go, and what was set aside before it was made stays.
        if version == 0 { try connection.execute("UPDATE state SET owes_scrub = 0") }
        try connection.execute("PRAGMA user_version=\(migrations.count)")
    }
}
