import CSQLite
import Foundation
import PenstockCore

/// The tables of an outbox, and whose file it is.
enum OutboxSchema {
    /// The migrations in the order in which they are applied; none is ever changed or taken out.
    static let migrations = [
        """
        CREATE TABLE item (
            position INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL,
            identity BLOB NOT NULL, owner BLOB NOT NULL, lane BLOB NOT NULL, fold BLOB,
            created INTEGER NOT NULL, expires INTEGER NOT NULL, is_kept INTEGER NOT NULL, stops_lane INTEGER NOT NULL,
            number INTEGER, state INTEGER NOT NULL, attempts INTEGER NOT NULL, conflicts INTEGER NOT NULL,
            started INTEGER, unanswered INTEGER, reason INTEGER, status INTEGER, is_doubtful INTEGER,
            intent BLOB, rollback BLOB, checksum INTEGER NOT NULL, payload BLOB NOT NULL
        );
        CREATE UNIQUE INDEX item_id ON item (id);
        CREATE INDEX item_lane ON item (lane, state, position);
        CREATE INDEX item_owner ON item (owner, position);
        CREATE INDEX item_expires ON item (owner, expires) WHERE state = 0;
        CREATE INDEX item_sending ON item (owner, lane) WHERE state = 1;
        CREATE INDEX item_failed ON item (owner, position) WHERE state = 2;
        CREATE INDEX item_stopping ON item (lane) WHERE state = 2 AND stops_lane = 1;
        CREATE INDEX item_fold ON item (fold, position) WHERE fold IS NOT NULL;
        CREATE TABLE lane (
            lane BLOB PRIMARY KEY, owner BLOB NOT NULL, due INTEGER NOT NULL, is_hinted INTEGER NOT NULL,
            last_number INTEGER NOT NULL, is_ready INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX lane_due ON lane (owner, due, lane) WHERE is_ready = 1;
        CREATE TABLE lease (
            id INTEGER PRIMARY KEY CHECK (id = 1), holder BLOB NOT NULL, token INTEGER NOT NULL, expires INTEGER NOT NULL
        );
        """,
        // The destination of a lane is that of its first queued row.
        """
        ALTER TABLE item ADD COLUMN destination BLOB;
        ALTER TABLE lane ADD COLUMN destination BLOB;
        DROP INDEX lane_due;
        CREATE INDEX lane_due ON lane (owner, due, lane, destination) WHERE is_ready = 1;
        """,
        // A lane is not due before its first queued row has rested.
        """
        ALTER TABLE item ADD COLUMN rests_until INTEGER;
        CREATE INDEX item_resting ON item (owner, lane) WHERE rests_until IS NOT NULL;
        """,
    ]

    /// "PSOB": says that the file is an outbox of Penstock's.
    private static let applicationID: Int64 = 0x5053_4F42
    private static let headerBytes = 72
    /// The length, in bytes, up to which a file is looked through when it is opened: some hundred milliseconds on a slow phone, once.
    private static let checkedBytes: Int64 = 32 << 20

    /// Opens a file, and makes it ready. One that is not ours, or that is damaged or newer, is left as it is.
    static func open(_ files: CacheFiles, vfs: String?, patience: Duration) throws -> SQLiteConnection {
        guard !files.isOther else { throw OutboxStoreError.foreign }
        guard files.create() else { throw SQLiteError(code: SQLITE_CANTOPEN) }
        files.system.settle(files.path)
        let milliseconds = OutboxEngine.milliseconds(patience)
        let connection = try SQLiteConnection(path: files.path, vfs: vfs, patience: milliseconds)
        try checkOwner(of: connection, files, vfs)
        guard files.narrow() else { throw SQLiteError(code: SQLITE_PERM) }
        try prepare(connection)
        if files.fileBytes <= checkedBytes {
            let check = try connection.statement("PRAGMA quick_check(1)")
            defer { check.reset() }
            guard try check.step(), String(decoding: try check.bytes(0), as: UTF8.self) == "ok" else {
                throw OutboxStoreError.damaged
            }
        }
        return connection
    }

    /// Looks whose file it is before anything in it or beside it is changed.
    private static func checkOwner(of connection: SQLiteConnection, _ files: CacheFiles, _ vfs: String?) throws {
        let header = try connection.firstBytes(headerBytes)
        if header.isEmpty {
            // The file bears its mark before it has a log: one that is empty beside a log was emptied by somebody.
            if files.logBytes > 0 { throw OutboxStoreError.damaged }
            return
        }
        let mark = header.dropFirst(68).reduce(0 as Int64) { $0 << 8 | Int64($1) }
        if header.count == headerBytes, mark == applicationID { return }
        if files.hasJournal {
            // Somebody was interrupted: what SQLite takes back first may be that mark.
            connection.writeBackAtEnd(false)
            if try isOurs(connection) { return connection.writeBackAtEnd(true) }
        } else if try isOurs(SQLiteConnection(path: files.path, vfs: vfs, patience: 0, .untouched)) {
            return
        }
        throw OutboxStoreError.foreign
    }

    /// - Throws: ``OutboxStoreError/damaged`` for a file with our tables and without our mark.
    private static func isOurs(_ connection: SQLiteConnection) throws -> Bool {
        do {
            if try connection.number("PRAGMA application_id") == applicationID { return true }
            let own = try connection.number(
                "SELECT count(*) FROM sqlite_schema WHERE name IN ('item', 'lane', 'lease')")
            if own == 3 { throw OutboxStoreError.damaged }
            return try connection.number("SELECT count(*) FROM sqlite_schema") == 0
                && connection.number("PRAGMA user_version") == 0
        } catch let error as SQLiteError where error.meaning == .damaged {
            return false
        }
    }

    private static func prepare(_ connection: SQLiteConnection) throws {
        try connection.execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON")
        guard let version = try connection.number("PRAGMA user_version"), version >= 0 else {
            throw OutboxStoreError.damaged
        }
        guard version <= migrations.count else { throw OutboxStoreError.newerVersion }
        // The mark comes first, and into the file itself: a log that holds it may be lost.
        if try connection.number("PRAGMA application_id") != applicationID {
            try connection.execute("PRAGMA synchronous=FULL; PRAGMA application_id=\(applicationID)")
        }
        // The log is 1 MiB long at most while nobody reads for long.
        try connection.execute(
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=256; PRAGMA journal_size_limit=1048576; PRAGMA cache_size=-2048"
        )
        try connection.makeDurable(true)
        guard version < migrations.count else { return }
        try connection.transaction { () throws(SQLiteError) in
            // Another process may have been quicker, and may be of a later version.
            let version = Int(try connection.number("PRAGMA user_version") ?? 0)
            guard version < migrations.count else { return }
            for migration in migrations.dropFirst(version) { try connection.execute(migration) }
            try connection.execute("PRAGMA user_version=\(migrations.count)")
        }
        guard try connection.number("PRAGMA user_version") == Int64(migrations.count) else {
            throw OutboxStoreError.newerVersion
        }
    }
}

extension CacheFiles {
    /// Whether the file or its folder is there, and may not be written.
    var isReadOnly: Bool {
        [path, (path as NSString).deletingLastPathComponent].contains { system.exists($0) && !system.isWritable($0) }
    }
}

extension OutboxStoreError {
    init(_ error: SQLiteError) {
        switch error.meaning {
        case .damaged: self = .damaged
        case .foreign: self = .foreign
        case .busy: self = .busy
        case .full: self = .full
        case .readOnly: self = .readOnly
        case .moved, .failed: self = .inputOutput(code: error.code)
        }
    }
}
