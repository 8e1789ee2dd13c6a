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
/// processes may share it; each waits for the others, by a lock on a file beside it, for ten seconds at most. File and key are
/// 0600, and folders that are made for them 0700.
///
/// Its errors: ``VaultError/locked`` while the key is not to be had; ``VaultError/denied`` where the file belongs to somebody
/// else or was sealed by another key; ``VaultError/corrupt`` when it was damaged or is of a later version, in which case it is
/// left as it is until ``erase()``; ``VaultError/unavailable`` for a full disk, or a process that holds the lock for too long.
public final class EncryptedFileVault: CredentialVault {
    private let file: PrivateFile
    private let key: VaultKey
    private let queue = VaultQueue("file")

    /// Nothing is read or written before it is first used.
    ///
    /// - Parameters:
    ///   - file: made when it is first written, with its folder. No link.
    ///   - key: a file beside the vault's, by its name with `.key` behind, unless told otherwise.
    public init(file: URL, key: VaultKey? = nil) {
        self.file = PrivateFile(file)
        self.key = key ?? .file(file.appendingPathExtension("key"))
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
        try await queue.run { [file, key] () throws(VaultError) in
            try VaultError.ofFile { () throws(PrivateFileError) in
                let lock = try FileLock(ofVault: file)
                defer { withExtendedLifetime(lock) {} }
                try file.remove()
                if case .file(let keyFile) = key.origin { try keyFile.remove() }
            }
        }
    }

    /// What a reader finds is whole, since the file is replaced as a whole: it needs no lock.
    private func read() async throws(VaultError) -> SealedItems {
        let given = try await key.given()
        return try await queue.run { [file, key] () throws(VaultError) in try Self.items(of: file, key, given) }
    }

    private static func items(
        of file: PrivateFile, _ key: VaultKey, _ given: Data?
    ) throws(VaultError) -> SealedItems {
        let found = try VaultError.ofFile { () throws(PrivateFileError) in
            try file.contents(limit: SealedItems.limit, .narrows)
        }
        guard let bytes = found else { return SealedItems() }
        return try SealedItems(bytes, key: key.bytes(given, makes: false))
    }

    /// Reads, changes and writes as one step.
    private func change(
        _ body: @escaping @Sendable (inout [CredentialKey: VaultItem]) -> Bool
    ) async throws(VaultError) -> Bool {
        let given = try await key.given()
        return try await queue.run { [file, key] () throws(VaultError) in
            let lock = try VaultError.ofFile { () throws(PrivateFileError) in try FileLock(ofVault: file) }
            defer { withExtendedLifetime(lock) {} }
            var sealed = try Self.items(of: file, key, given)
            guard body(&sealed.items) else { return false }
            let bytes = try sealed.sealed(by: key.bytes(given, makes: !file.exists))
            try VaultError.ofFile { () throws(PrivateFileError) in try file.replace(with: bytes) }
            return true
        }
    }
}
