import Foundation

/// Small files that are whole whenever the process or the machine stops. Every call waits for the disk.
enum DurableFile {
    /// Puts new content in place of the old in one moment: it is written beside, synchronized, and renamed.
    static func replace(_ path: String, with content: Data) throws(SystemError) {
        let new = path + ".new"
        unlink(new)
        let file = try FileDescriptor.open(new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try file.write(content, at: 0)
        try file.synchronize()
        _ = try SystemError.check { Int(rename(new, path)) }
        synchronizeFolder((path as NSString).deletingLastPathComponent)
    }

    /// What is in a regular file; links are not followed.
    ///
    /// - Returns: `nil` where there is no file, or nothing but an ordinary one. No more than `limit` bytes.
    static func read(_ path: String, upTo limit: Int) throws(SystemError) -> Data? {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            guard error.code == ENOENT || error.code == ELOOP else { throw error }
            return nil
        }
        guard FileFacts.isRegular(try file.facts()) else { return nil }
        return try file.read(limit, at: 0)
    }

    /// The entries of a folder are on the disk only after the folder is. Not every file system can.
    static func synchronizeFolder(_ path: String) {
        if let folder = try? FileDescriptor.open(path, O_RDONLY) { try? folder.synchronize() }
    }
}
