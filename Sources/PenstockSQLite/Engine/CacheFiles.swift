import Foundation

/// The few things that are done to whole files. Tests put another one in its place, under a file system of their own.
package protocol CacheFileSystem: Sendable {
    func exists(_ path: String) -> Bool
    func isFolder(_ path: String) -> Bool
    func isWritable(_ path: String) -> Bool
    /// - Returns: whether it was done.
    func move(_ path: String, to other: String) -> Bool
    /// - Returns: whether there is no such file now.
    func remove(_ path: String) -> Bool
}

/// The machine's own files.
struct MachineFileSystem: CacheFileSystem {
    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    func move(_ path: String, to other: String) -> Bool { rename(path, other) == 0 }

    func remove(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }
}

/// The database file and what stands beside it: setting it aside, and throwing everything away.
struct CacheFiles: Sendable {
    /// How many damaged files are kept for whoever wants to look at them.
    static let keptCount = 2

    let path: String
    let system: any CacheFileSystem

    private var damaged: [String] { (1...Self.keptCount).map { "\(path).damaged-\($0)" } }
    private var newer: String { "\(path).newer" }

    /// Whether the file and its folder may be written.
    var isWritable: Bool {
        system.isWritable(path) && system.isWritable((path as NSString).deletingLastPathComponent)
    }

    /// - Returns: the new name; `nil` when the file could be neither moved nor removed.
    func setAside(_ cause: SQLiteCacheEvent.Cause) -> String? {
        guard !system.isFolder(path) else { return nil }
        let name = cause == .newer ? newer : freeName()
        for end in ["-wal", ""] where system.exists(path + end) {
            _ = system.remove(name + end)
            guard system.move(path + end, to: name + end) || system.remove(path + end) else { return nil }
        }
        return system.remove(path + "-shm") ? name : nil
    }

    /// Removes what was set aside, which may hold what a user asked to be rid of.
    func removeSetAside() -> Bool {
        (damaged + [newer]).flatMap { [$0, $0 + "-wal"] }.allSatisfy { system.remove($0) }
    }

    /// Removes everything.
    func removeAll() -> Bool {
        let isGone = ["", "-wal", "-shm"].allSatisfy { system.remove(path + $0) }
        return removeSetAside() && isGone
    }

    /// A name that is not taken; the first one, when all are.
    private func freeName() -> String {
        damaged.first { !system.exists($0) } ?? damaged[0]
    }
}
