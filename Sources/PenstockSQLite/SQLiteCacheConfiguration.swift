import Foundation
import PenstockCore

/// Where a ``SQLiteCacheStore`` keeps its file, and how much.
public struct SQLiteCacheConfiguration: Sendable {
    /// The database. Beside it stand its `-wal` and `-shm`, and files that were set aside. Nobody but their owner may read
    /// any of them. A file that is neither empty nor a cache is left as it is, and nothing is stored.
    public var file: URL
    /// How much is kept. The file and its log are together no longer than ``CacheLimits/bytes`` and 256 KiB, in which a
    /// cache has its empty tables; while something is changed the log may take as much again as that change removes or
    /// replaces, and while a user's responses are erased the file is written anew beside the old one. Files that were set
    /// aside count, and are the first to go; none is kept for longer than ``CacheLimits/age``.
    public var limits: CacheLimits
    /// The date gives ages; the monotonic time says when to try a file again that could not be opened.
    public var time: TimeSource
    /// Told of everything that went wrong, on a thread of the store's own. It must return soon.
    public var onEvent: @Sendable (SQLiteCacheEvent) -> Void
    /// How long a change waits while nothing gets done, because another process holds the file or the file is being erased:
    /// 500 ms unless told otherwise. Then it is given up: what was to be stored is not, and what was to be removed or
    /// invalidated is found no more until that could be done. Whoever erases waits four times as long for the file to be
    /// clean. The first look-up, which opens the file, waits as long; a later one waits for none of this, but up to 50 ms
    /// for others that look something up and up to 50 ms for a process that has taken the whole file.
    public var patience: Duration = .milliseconds(500)
    /// How long a file that could not be used is left alone.
    public var retryInterval: Duration = .seconds(5)

    /// Bodies up to this length stand in the row of their response.
    package var inlineBytes = 16 << 10
    /// Longer ones are cut into pieces of this length.
    package var chunkBytes = 64 << 10
    /// SQLite's name of the file system; `nil` for the machine's own.
    package var vfs: String?
    /// How files are set aside.
    package var files: any CacheFileSystem = MachineFileSystem()
    /// Makes the numbers that tell one body from another.
    package var nextVersion: @Sendable () -> UInt64 = { .random(in: 1 ... .max) }
    /// Longer bodies are stored in several transactions, so that the log stays short.
    package var largestChange: Int { max(Int(limits.logBytes) / 2, chunkBytes) }

    /// A configuration with the default of every property that is not named.
    ///
    /// - Parameters:
    ///   - file: in a folder that exists and may be written.
    ///   - limits: 256 MiB, 200,000 responses and 90 days unless told otherwise.
    public init(
        file: URL, limits: CacheLimits = .disk, time: TimeSource = .system,
        onEvent: @escaping @Sendable (SQLiteCacheEvent) -> Void = { _ in }
    ) {
        self.file = file
        self.limits = limits
        self.time = time
        self.onEvent = onEvent
    }
}

/// What a ``SQLiteCacheStore`` met and dealt with. None of it fails a call: it is a miss, or is not stored.
@nonexhaustive
public enum SQLiteCacheEvent: Hashable, Sendable {
    /// The file could not be read as a cache, was given another name, and a new one was begun.
    case setAside(Cause, file: URL)
    /// The file could not be written when something had to be removed, so all of it was removed.
    case thrownAway
    /// A row was not what had been written, and was removed.
    case damagedRow
    /// Something could not be done; `code` is SQLite's extended result code.
    case failed(Operation, Problem, code: Int32)

    /// Why a file was set aside.
    @nonexhaustive
    public enum Cause: String, Hashable, Sendable {
        /// SQLite cannot read it, or what stands in it is not what this package writes.
        case damaged
        /// A later version of this package wrote it.
        case newer
    }

    /// What could not be done.
    @nonexhaustive
    public enum Operation: String, Hashable, Sendable {
        /// Opening the file. The store is empty until it is tried again (``SQLiteCacheConfiguration/retryInterval``).
        case open
        /// Looking something up: a miss.
        case read
        /// Storing or changing something: it is not stored.
        case write
        /// Removing or invalidating something: it is found no more until that could be made up for.
        case remove
        /// Erasing what was removed from the file's free pages and its log. It is tried again and again.
        case scrub
    }

    /// What stood in the way.
    @nonexhaustive
    public enum Problem: String, Hashable, Sendable {
        /// The file is not what this store wrote (`SQLITE_CORRUPT`, `SQLITE_NOTADB` and the like).
        case damaged
        /// Another process or connection had the file for longer than the store waits for others (`SQLITE_BUSY`).
        case busy
        /// There was no room, on the disk or in the file (`SQLITE_FULL`).
        case full
        /// The file or its folder may not be written (`SQLITE_READONLY`, `SQLITE_PERM`).
        case readOnly
        /// Reading or writing failed, there was no memory, or the file was moved or replaced meanwhile (`SQLITE_IOERR`
        /// and what is none of the others).
        case inputOutput
        /// The file is neither empty nor a cache: another program's database, a text, a folder. It is left as it is.
        case notACache
    }
}

/// Why the file of a ``SQLiteCacheStore`` cannot be used.
public struct SQLiteCacheError: Error, Hashable, Sendable {
    /// What stood in the way.
    public let problem: SQLiteCacheEvent.Problem
    /// SQLite's extended result code.
    public let code: Int32

    package init(_ problem: SQLiteCacheEvent.Problem, code: Int32) {
        self.problem = problem
        self.code = code
    }
}

extension SQLiteCacheEvent.Problem {
    init(_ error: SQLiteError) {
        switch error.meaning {
        case .damaged: self = .damaged
        case .foreign: self = .notACache
        case .busy: self = .busy
        case .full: self = .full
        case .readOnly: self = .readOnly
        case .moved, .failed: self = .inputOutput
        }
    }
}
