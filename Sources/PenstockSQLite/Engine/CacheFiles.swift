import Foundation
import PenstockCore

/// The few things that are done to whole files. Tests put another one in its place, under a file system of their own.
package protocol CacheFileSystem: Sendable {
    func exists(_ path: String) -> Bool
    /// Whether something stands there that is no ordinary file, such as a folder or a device.
    func isOther(_ path: String) -> Bool
    func isWritable(_ path: String) -> Bool
    /// The size of a file in bytes; 0 when there is no such file.
    func size(_ path: String) -> Int64
    /// When it was last written.
    func date(_ path: String) -> Date?
    /// How many bytes there is room for beside a file; `nil` when nobody knows.
    func freeBytes(at path: String) -> Int64?
    /// Makes an empty file that its owner alone may read and write, and never another, not even for a moment.
    ///
    /// - Returns: whether there is a file now.
    func create(_ path: String) -> Bool
    /// Takes the right to read or write a file from everybody but its owner.
    ///
    /// - Returns: `false` when it belongs to somebody else.
    func narrow(_ path: String) -> Bool
    /// - Returns: whether it was done.
    func move(_ path: String, to other: String) -> Bool
    /// - Returns: whether there is no such file now.
    func remove(_ path: String) -> Bool
    /// Makes the moves and removals in a file's folder outlive a power cut.
    func settle(_ path: String)
}

/// The database file and what stands beside it: setting it aside, and throwing everything away.
struct CacheFiles: Sendable {
    /// How many damaged files are kept for whoever wants to look at them.
    static let keptCount = 2

    let path: String
    let system: any CacheFileSystem

    private var damaged: [String] { (1...Self.keptCount).map { "\(path).damaged-\($0)" } }
    private var newer: String { "\(path).newer" }
    private var asides: [String] { (damaged + [newer]).flatMap { [$0, $0 + "-wal"] } }

    /// Whether the file and its folder may be written.
    var isWritable: Bool {
        system.isWritable(path) && system.isWritable((path as NSString).deletingLastPathComponent)
    }

    /// Whether something stands in the place of the file that no database can be in.
    var isOther: Bool { system.isOther(path) }

    /// Whether somebody who changed the file was interrupted, or is at it.
    var hasJournal: Bool { system.size(path + "-wal") > 0 || system.size(path + "-journal") > 0 }

    var fileBytes: Int64 { system.size(path) }
    var logBytes: Int64 { system.size(path + "-wal") }
    var freeBytes: Int64? { system.freeBytes(at: path) }

    /// Makes the file, if there is none, before SQLite does: what SQLite makes beside it has the same permissions.
    func create() -> Bool { system.create(path) }

    /// Takes the rights of others from files that were made before this version.
    func narrow() -> Bool {
        ["", "-wal", "-shm", "-journal"].allSatisfy { !system.exists(path + $0) || system.narrow(path + $0) }
    }

    /// - Returns: the new name; `nil` when the file could be neither moved nor removed.
    func setAside(_ cause: SQLiteCacheEvent.Cause) -> String? {
        guard !isOther else { return nil }
        let name = cause == .newer ? newer : freeName()
        defer { system.settle(path) }
        for end in ["-wal", ""] where system.exists(path + end) {
            _ = system.remove(name + end)
            guard system.move(path + end, to: name + end) || system.remove(path + end) else { return nil }
        }
        return system.remove(path + "-shm") ? name : nil
    }

    /// What is set aside, once what is older than a date is gone.
    func setAsideBytes(removingOlderThan oldest: Date?) -> Int64 {
        var bytes: Int64 = 0
        for aside in asides where system.exists(aside) {
            if let oldest, let date = system.date(aside), date < oldest, system.remove(aside) { continue }
            bytes += system.size(aside)
        }
        return bytes
    }

    /// Removes what was set aside, which may hold what a user asked to be rid of.
    func removeSetAside() -> Bool {
        let existing = asides.filter(system.exists)
        defer { if !existing.isEmpty { system.settle(path) } }
        return existing.allSatisfy { system.remove($0) }
    }

    /// Removes everything.
    func removeAll() -> Bool {
        defer { system.settle(path) }
        let isGone = ["", "-wal", "-shm"].allSatisfy { system.remove(path + $0) }
        return removeSetAside() && isGone
    }

    /// A name that is not taken; the first one, when all are.
    private func freeName() -> String {
        damaged.first { !system.exists($0) } ?? damaged[0]
    }
}
