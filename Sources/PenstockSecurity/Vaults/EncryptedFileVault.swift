import Foundation
import PenstockCore

/// Keeps credentials in one encrypted file.
///
/// ```swift
/// configuration.vault = EncryptedFileVault(file: folder.appendingPathComponent("credentials.vault"))
/// configuration.vault = EncryptedFileVault(file: file, key: .app { try await token.key() })
/// ```
///
/// The file is encrypted with AES-256-GCM as a whole, so that it does not tell whose credentials are in it, or for what, and
/// nothing in it can be changed unnoticed. That an older copy of it was put in its place cannot be noticed, nor that another
/// vault's file of the same key was: give each vault a key of its own.
///
/// It is replaced as a whole and at one moment: whoever is killed while writing leaves the old one, or the new one. Several
/// processes may share it; each that writes waits for the others, by a lock on a file beside it, for ten seconds from its
/// own call at most, or until its task is cancelled. Which of several that wait comes first is not said. Whoever reads waits for nobody. File and key are 0600, and folders that are
/// made for them 0700.
///
/// Its errors: ``VaultError/locked`` while the key is not to be had; ``VaultError/denied`` where the file belongs to somebody
/// else or was sealed by another key; ``VaultError/corrupt`` when it is something else, was damaged or is of a later version, in
/// which case it is left as it is until ``erase()``; ``VaultError/unavailable`` for a full disk, a process that holds the lock for too long, or a
/// task that was cancelled while it waited.
public final class EncryptedFileVault: CredentialVault {
    private let file: PrivateFile
    private let key: VaultKey
    private let time: TimeSource
    private let changes = VaultQueue("file")

    /// Nothing is read or written before it is first used.
    ///
    /// - Parameters:
    ///   - file: made when it is first written, with its folder. No link.
    ///   - key: a file beside the vault's, by its name with `.key` behind, unless told otherwise.
    public convenience init(file: URL, key: VaultKey? = nil) {
        self.init(file: file, key: key, time: .system)
    }

    /// - Parameter time: by which others are waited for.
    init(file: URL, key: VaultKey? = nil, time: TimeSource) {
        self.file = PrivateFile(file)
        self.key = key ?? .file(file.appendingPathExtension("key"))
        self.time = time
    }

    public func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
        try await read().items[key]
    }

    public func keys() async throws(VaultError) -> [CredentialKey] {
        try await Array(read().items.keys)
    }

    @discardableResult
    public func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) async throws(VaultError) -> Bool {
        try item.validate(for: key)
        return try await change { items in
            guard condition.allows(items[key]?.version) else { return false }
            items[key] = item
            return true
        }
    }

    @discardableResult
    public func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        try await change { items in
            guard let item = items[key], condition.allows(item.version) else { return false }
            items[key] = nil
            return true
        }
    }

    /// Deletes the file and, where it has a file of its own, its key, whatever is in them: the way out when the vault is
    /// ``VaultError/corrupt``, or its key is lost. Other vaults that share the key's file lose what is in them, too.
    public func erase() async throws(VaultError) {
        try await changes.runPatiently(by: time) { [file, key] () throws(VaultError) -> Void? in
            guard let lock = try Self.lock(file) else { return nil }
            defer { withExtendedLifetime(lock) {} }
            try VaultError.ofFile { () throws(PrivateFileError) in
                try file.remove()
                if case .file(let keyFile) = key.origin { try keyFile.remove() }
            }
            return ()
        }
    }

    /// - Returns: `nil` while somebody else holds it.
    private static func lock(_ file: PrivateFile) throws(VaultError) -> FileLock? {
        try VaultError.unlessBusy { () throws(PrivateFileError) in try FileLock(ofVault: file, patience: .zero) }
    }

    /// What a reader finds is whole, since the file is replaced as a whole: it needs no lock.
    private func read() async throws(VaultError) -> SealedItems {
        let given = try await key.given()
        // It is not held up by what waits for its turn to write, nor by another that reads from a slow disk.
        return try await DiskWork.run { [file, key] () throws(VaultError) in
            var found = try Self.contents(of: file)
            while true {
                do throws(VaultError) {
                    return try Self.items(in: found, key, given)
                } catch {
                    // File and key are two: the vault may have been erased, and made anew, between the one and the other.
                    let present = try Self.contents(of: file)
                    guard present != found else { throw error }
                    found = present
                }
            }
        }
    }

    private static func contents(of file: PrivateFile) throws(VaultError) -> Data? {
        try VaultError.ofFile { () throws(PrivateFileError) in
            try file.contents(limit: SealedItems.limit, .narrows(if: SealedItems.isOurs))
        }
    }

    private static func items(
        in bytes: Data?, _ key: VaultKey, _ given: Data?
    ) throws(VaultError) -> SealedItems {
        guard let bytes else { return SealedItems() }
        // What is something else is said to be that, whether there is a key or not.
        try SealedItems.check(bytes)
        return try SealedItems(bytes, key: key.bytes(given))
    }

    /// Reads, changes and writes as one step.
    private func change(
        _ body: @escaping @Sendable (inout [CredentialKey: VaultItem]) -> Bool
    ) async throws(VaultError) -> Bool {
        let given = try await key.given()
        return try await changes.runPatiently(by: time) { [file, key] () throws(VaultError) in
            // Nothing is left beside what is somebody else's.
            if !file.hasLock, let found = try Self.contents(of: file) { try SealedItems.check(found) }
            guard let lock = try Self.lock(file) else { return nil }
            defer { withExtendedLifetime(lock) {} }
            var sealed = try Self.items(in: Self.contents(of: file), key, given)
            guard body(&sealed.items) else { return false }
            guard let sealing = file.exists ? try key.bytes(given) : try key.madeBytes(given) else { return nil }
            let bytes = try sealed.sealed(by: sealing)
            try VaultError.ofFile { () throws(PrivateFileError) in try file.replace(with: bytes) }
            return true
        }
    }
}
