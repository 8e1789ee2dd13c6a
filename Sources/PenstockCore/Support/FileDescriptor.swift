import Foundation

/// What the system said when a call to it failed.
struct SystemError: Error, Hashable {
    /// `errno`.
    let code: Int32

    /// The error of the call that has just failed on this thread.
    static var latest: SystemError { SystemError(code: errno) }

    /// Repeats a call for as long as a signal interrupts it.
    static func check(_ call: () -> Int) throws(SystemError) -> Int {
        var result = call()
        while result < 0, errno == EINTR { result = call() }
        guard result >= 0 else { throw latest }
        return result
    }
}

/// An open file, closed when nobody holds it any more. Every call waits for the disk.
final class FileDescriptor: Sendable {
    let raw: Int32

    init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        // A process that another thread starts just now holds the descriptor until it runs its program, and a lock with it.
        flock(raw, LOCK_UN)
        close(raw)
    }

    /// Opens a file.
    ///
    /// - Parameter mode: of a file that is made, before the process's mask takes its part.
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws(SystemError) -> FileDescriptor {
        let raw = try SystemError.check { Int(Foundation.open(path, flags | O_CLOEXEC, mode)) }
        return FileDescriptor(Int32(truncatingIfNeeded: raw))
    }

    /// The bytes at a place, at most `count`; none behind the end.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> Data {
        guard count > 0 else { return Data() }
        var data = Data(count: count)
        let result = data.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in
                try SystemError.check { pread(raw, bytes.baseAddress, count, off_t(offset)) }
            }
        }
        let got = try result.get()
        return got == count ? data : data.prefix(got)
    }

    /// Writes all of the bytes at a place.
    func write(_ data: Data, at offset: Int) throws(SystemError) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in
                var done = 0
                while done < bytes.count, let base = bytes.baseAddress {
                    done += try SystemError.check { pwrite(raw, base + done, bytes.count - done, off_t(offset + done)) }
                }
            }
        }
        try result.get()
    }

    /// Cuts or extends the file.
    func truncate(to length: Int) throws(SystemError) {
        _ = try SystemError.check { Int(ftruncate(raw, off_t(length))) }
    }

    /// Returns when the disk has what was written.
    func synchronize() throws(SystemError) {
        _ = try SystemError.check { Int(fsync(raw)) }
    }

    func facts() throws(SystemError) -> stat {
        var facts = stat()
        _ = try SystemError.check { Int(fstat(raw, &facts)) }
        return facts
    }
}

/// What is read of `stat`, whose fields have other names elsewhere.
enum FileFacts {
    static func isRegular(_ facts: stat) -> Bool { facts.st_mode & S_IFMT == S_IFREG }
    static func isFolder(_ facts: stat) -> Bool { facts.st_mode & S_IFMT == S_IFDIR }
    static func isLink(_ facts: stat) -> Bool { facts.st_mode & S_IFMT == S_IFLNK }

    /// What stands at a path, links not followed; `nil` for nothing.
    static func at(_ path: String) -> stat? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts : nil
    }
}
