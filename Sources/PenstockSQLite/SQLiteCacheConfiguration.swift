import Foundation
import PenstockCore

/// Where a ``SQLiteCacheStore`` keeps its file, and how much.
public struct SQLiteCacheConfiguration: Sendable {
    /// The database. Beside it stand its `-wal` and `-shm`, and files that were set aside.
    public var file: URL
    public var limits: CacheLimits
    /// The date gives ages; the monotonic time says when to try a file again that could not be opened.
    public var time: TimeSource
    /// Told of everything that went wrong, on the store's own thread. It must return soon.
    public var onEvent: @Sendable (SQLiteCacheEvent) -> Void
    /// How long to wait for another process that writes.
    public var patience: Duration = .seconds(2)
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

    @nonexhaustive
    public enum Cause: String, Hashable, Sendable {
        case damaged
        /// A later version of this package wrote it.
        case newer
    }

    @nonexhaustive
    public enum Operation: String, Hashable, Sendable {
        case open, read, write, remove, scrub
    }

    @nonexhaustive
    public enum Problem: String, Hashable, Sendable {
        case damaged, busy, full, readOnly, inputOutput
    }
}

extension SQLiteCacheEvent.Problem {
    init(_ error: SQLiteError) {
        switch error.meaning {
        case .damaged: self = .damaged
        case .busy: self = .busy
        case .full: self = .full
        case .readOnly: self = .readOnly
        case .moved, .failed: self = .inputOutput
        }
    }
}
