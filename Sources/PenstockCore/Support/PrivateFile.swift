import Foundation

/// A file with users' data: its owner alone may read it, it is replaced as a whole, and one process changes it at a time.
/// Everything here waits for the disk.
package struct PrivateFile: Sendable {
    /// What is done with a file that others than its owner may read or write.
    package enum Leniency: Sendable {
        /// The permissions are taken away from them, once the content is known to be one of ours. What is something else, or empty,
        /// stays as it is.
        case narrows(if: @Sendable (Data) -> Bool)
        /// It is refused, as `ssh` does with its keys: they may have read it.
        case refuses
    }

    package let path: String

    package init(_ url: URL) {
        self.init(path: url.path)
    }

    package init(path: String) {
        self.path = path
    }

    /// Whether there is something by its name.
    package var exists: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Whether a ``FileLock`` was made beside it. Where none was, what is there may be anything, and is looked at before one is made.
    package var hasLock: Bool { PrivateFile(path: FileLock.path(beside: self)).exists }

    /// - Returns: `nil` when there is none.
    /// - Throws: ``PrivateFileError/unusable`` for what is no file or has more than `limit` bytes;
    ///   ``PrivateFileError/exposed`` for a link, for what belongs to somebody else, or is refused for its permissions.
    package func contents(limit: Int, _ leniency: Leniency) throws(PrivateFileError) -> Data? {
        // A pipe in its place is not waited for, and a link that somebody has put there is not followed.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .last
        }
        defer { close(file) }
        return try Self.contents(of: file, limit: limit, leniency)
    }

    private static func contents(
        of file: Int32, limit: Int, _ leniency: Leniency
    ) throws(PrivateFileError) -> Data {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { throw .unusable }
        // The administrator may read what is anybody's.
        guard status.st_uid == geteuid() || geteuid() == 0 else { throw .exposed }
        let isWide = status.st_mode & 0o077 != 0
        if isWide, case .refuses = leniency { throw .exposed }
        let found = try bytes(of: file, count: Int(status.st_size))
        // Where it has no effect the file system has no permissions.
        if isWide, case .narrows(let isOurs) = leniency, isOurs(found) { fchmod(file, status.st_mode & 0o700) }
        return found
    }

    /// The content of a file that is written once, and made where there is none or an empty one. Of several who make it at one
    /// time, in whatever processes, all get what the first of them has written.
    ///
    /// The file is its own lock, since nothing ever takes its place. One who is killed in between leaves it empty, for the next.
    ///
    /// - Parameter patience: how long one who is making it is waited for.
    package func contents(
        limit: Int, _ leniency: Leniency, patience: Duration, orMade make: () -> Data
    ) throws(PrivateFileError) -> Data {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        try FileLock.take(file, patience: patience)
        // A process that another thread starts just now holds the descriptor until it runs its program, and the lock with it.
        defer { flock(file, LOCK_UN) }
        let found = try Self.contents(of: file, limit: limit, leniency)
        guard found.isEmpty else { return found }
        let made = make()
        do throws(PrivateFileError) {
            try Self.write(made, to: file)
            guard fsync(file) == 0 else { throw .last }
        } catch {
            ftruncate(file, 0)
            throw error
        }
        settle()
        return made
    }

    private static func bytes(of file: Int32, count: Int) throws(PrivateFileError) -> Data {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let more = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: done), count - done) }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw .last }
            guard more > 0 else { break }
            done += more
        }
        return Data(bytes.prefix(done))
    }

    /// Puts new content in the place of the old one at one moment. Whoever is killed, or finds the disk full, leaves the old
    /// one, and a file beside it that the next one removes. For whoever has the ``FileLock`` alone.
    ///
    /// - Returns: the new file, open behind its last byte.
    @discardableResult
    package func replace(with data: Data) throws(PrivateFileError) -> FileHandle {
        let new = path + ".new"
        // One that an earlier process left may have other permissions, or lead elsewhere.
        unlink(new)
        let file = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .last }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        do throws(PrivateFileError) {
            try Self.write(data, to: file)
            guard fsync(file) == 0, rename(new, path) == 0 else { throw .last }
        } catch {
            unlink(new)
            throw error
        }
        settle()
        return handle
    }

    private static func write(_ data: Data, to file: Int32) throws(PrivateFileError) {
        var done = 0
        while done < data.count {
            let more = data.withUnsafeBytes {
                Foundation.write(file, $0.baseAddress?.advanced(by: done), data.count - done)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { throw more == 0 ? .system(ENOSPC) : .last }
            done += more
        }
    }

    package func remove() throws(PrivateFileError) {
        unlink(path + ".new")
        guard unlink(path) == 0 || errno == ENOENT else { throw .last }
        settle()
    }

    /// A new name is on disk only after its folder is. Not every file system can.
    package func settle() {
        let folder = open(self.folder, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// Makes the folder that it stands in, and those around it, which their owner alone may enter. One that is there stays as
    /// it is.
    package func makeFolder() throws(PrivateFileError) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .system((error as? CocoaError)?.code == .fileWriteNoPermission ? EACCES : ENOTDIR)
        }
    }
}

/// Why a ``PrivateFile`` cannot be used.
package enum PrivateFileError: Error, Hashable, Sendable {
    /// What is there is no file, or larger than any of ours.
    case unusable
    /// Others may read it, or have put it there.
    case exposed
    /// Somebody else holds the lock.
    case busy
    /// What the system says: an `errno`.
    case system(Int32)

    fileprivate static var last: Self { errno == ELOOP ? .exposed : .system(errno) }
}

extension SystemError {
    /// Runs something with a ``PrivateFile``, whose errors become what the system would say of them.
    static func ofFile<Value>(_ body: () throws(PrivateFileError) -> Value) throws(SystemError) -> Value {
        do throws(PrivateFileError) { return try body() } catch {
            switch error {
            case .unusable: throw SystemError(code: EINVAL)
            case .exposed: throw SystemError(code: EACCES)
            case .busy: throw SystemError(code: EWOULDBLOCK)
            case .system(let code): throw SystemError(code: code)
            }
        }
    }
}

extension PrivateFileError: LocalizedError {
    package var errorDescription: String? {
        switch self {
        case .unusable: "It is not a file of this kind."
        case .exposed: "Others than its owner can read or change it."
        case .busy: "Somebody else is using it."
        case .system(let code): POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO).localizedDescription
        }
    }
}

/// Keeps other processes, and other objects of this one, from a file while it is changed. It lies beside the file, which is
/// replaced. The end of the process lets go of it, however it comes.
package final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits on this thread.
    ///
    /// - Parameter patience: how long one who holds it is waited for; not at all by default.
    /// - Throws: ``PrivateFileError/busy`` when somebody else holds it for longer.
    package init(beside file: PrivateFile, patience: Duration = .zero) throws(PrivateFileError) {
        let descriptor = open(Self.path(beside: file), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .last }
        do throws(PrivateFileError) {
            try Self.take(descriptor, patience: patience)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    fileprivate static func path(beside file: PrivateFile) -> String { file.path + ".lock" }

    /// Waits for the lock of an open file.
    fileprivate static func take(_ descriptor: Int32, patience: Duration) throws(PrivateFileError) {
        let end = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            let isBusy = reason == EWOULDBLOCK || reason == EINTR
            guard isBusy, ContinuousClock.now < end else { throw isBusy ? .busy : .system(reason) }
            // It is held for as long as a file takes to be written.
            usleep(1_000)
        }
    }

    deinit {
        // A process that another thread starts just now holds the descriptor until it runs its program, and the lock with it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
