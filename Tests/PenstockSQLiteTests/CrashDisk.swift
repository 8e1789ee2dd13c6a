import Foundation
import SQLiteCrash
import Synchronization

@testable import PenstockSQLite

/// The file system that loses what a power cut loses.
///
/// Unchecked because C guards it with a lock of its own.
final class CrashDisk: @unchecked Sendable {
    private static let count = Atomic(0)

    let handle: OpaquePointer
    let name: String

    init(seed: UInt64) throws {
        name = "crash-\(Self.count.add(1, ordering: .relaxed).newValue)"
        guard let handle = crash_disk_create(name, seed) else { throw POSIXError(.ENOMEM) }
        self.handle = handle
    }

    deinit {
        crash_disk_destroy(handle)
    }

    /// Small pieces, so that a body of a few thousand bytes has many.
    func configure(_ configuration: inout SQLiteCacheConfiguration) {
        configuration.file = URL(fileURLWithPath: "/cache.db")
        configuration.vfs = name
        configuration.files = self
        configuration.inlineBytes = 1_024
        configuration.chunkBytes = 1_024
    }
}

extension CrashDisk: CacheFileSystem {
    func exists(_ path: String) -> Bool { crash_disk_exists(handle, path) }
    func isFolder(_ path: String) -> Bool { false }
    func isWritable(_ path: String) -> Bool { false }
    func move(_ path: String, to other: String) -> Bool { crash_disk_rename(handle, path, other) }
    func remove(_ path: String) -> Bool { crash_disk_remove(handle, path) }
}
