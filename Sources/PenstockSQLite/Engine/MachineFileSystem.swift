import Foundation
import PenstockCore

/// Names of files that must differ.
package enum CacheFileName {
    /// Sixteen hexadecimal digits that follow from a text.
    package static func digest(_ text: String) -> String {
        let digits = String(XXHash64.hash(text), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The machine's own files.
package struct MachineFileSystem: CacheFileSystem {
    package init() {}

    package func exists(_ path: String) -> Bool { status(path) != nil }

    package func isOther(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT != S_IFREG } ?? false }

    package func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    package func size(_ path: String) -> Int64 { status(path).map { Int64($0.st_size) } ?? 0 }

    package func date(_ path: String) -> Date? {
        try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    }

    package func freeBytes(at path: String) -> Int64? {
        var status = statvfs()
        // A file system without a size, such as one in memory without limit, knows no room either: its zeros are no full disk.
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        let (bytes, isTooMuch) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(status.f_frsize))
        return isTooMuch ? nil : bytes
    }

    /// A lock that is held while a new file is open: to close it lets go of the locks that SQLite may have taken on it by then. The value,
    /// how many there are, is for the thread sanitizer: where a lock holds nothing, it takes the lock's own head for it.
    private static let creations = Locked(0)

    package func create(_ path: String) -> Bool {
        Self.creations.withLock { count in
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { return errno == EEXIST }
            close(file)
            count += 1
            return true
        }
    }

    package func narrow(_ path: String) -> Bool {
        guard let status = status(path) else { return true }
        // The administrator may look into anybody's cache, and SQLite leaves it to its owner.
        guard status.st_uid == geteuid() || geteuid() == 0 else { return false }
        // Where a file system has no permissions there are none to take away.
        if status.st_mode & 0o077 != 0 { chmod(path, status.st_mode & 0o700) }
        return true
    }

    package func move(_ path: String, to other: String) -> Bool { rename(path, other) == 0 }

    package func remove(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

    package func settle(_ path: String) {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Makes a folder, and those that it stands in, which their owner alone may enter.
    ///
    /// - Returns: whether there is a folder now.
    @discardableResult
    package static func makeFolder(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
        let parent = (path as NSString).deletingLastPathComponent
        guard errno == ENOENT, parent != path, !parent.isEmpty, makeFolder(parent) else { return false }
        return mkdir(path, 0o700) == 0 || errno == EEXIST
    }

    private func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
