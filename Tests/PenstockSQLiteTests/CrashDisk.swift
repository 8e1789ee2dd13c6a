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
    /// Whether it says how much room there is. Set before it is used.
    var knowsRoom = false

    init(seed: UInt64) throws {
        name = "crash-\(Self.count.add(1, ordering: .relaxed).newValue)"
        guard let handle = crash_disk_create(name, seed) else { throw POSIXError(.ENOMEM) }
        self.handle = handle
    }

    deinit {
        crash_disk_destroy(handle)
    }

    /// Whether these bytes stand in any file.
    func contains(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { crash_disk_contains(handle, $0.baseAddress, $0.count) }
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
    func isOther(_ path: String) -> Bool { false }
    func size(_ path: String) -> Int64 { crash_disk_file_size(handle, path) }
    func date(_ path: String) -> Date? { nil }
    func freeBytes(at path: String) -> Int64? {
        knowsRoom && crash_disk_room(handle) > 0 ? crash_disk_room(handle) - crash_disk_size(handle) : nil
    }
    func create(_ path: String) -> Bool { crash_disk_touch(handle, path) }
    func narrow(_ path: String) -> Bool { true }
    func settle(_ path: String) {}
    func isWritable(_ path: String) -> Bool { false }
    func move(_ path: String, to other: String) -> Bool { crash_disk_rename(handle, path, other) }
    func remove(_ path: String) -> Bool { crash_disk_remove(handle, path) }
}
