import Foundation
import PenstockCore

/// Deletes what an earlier installation of the app has left in a vault that outlives it, as Apple's keychain does: whoever
/// installs the app anew is not signed in as the one who had it before.
///
/// ```swift
/// configuration.vault = PurgingVault(KeychainVault(), marker: folder.appendingPathComponent("installed"))
/// ```
///
/// A file that goes with the app tells the installations apart: where it is missing, all that is in the vault is deleted before
/// anything else is done, and the file is made after. Of several processes that begin at the same time one does so.
public final class PurgingVault: CredentialVault {
    private let vault: any CredentialVault
    private let marker: PrivateFile
    private let queue = VaultQueue("purge")
    private let state = Locked(State())

    /// Whether it is done, and the task that is about it: all who come meanwhile wait for that one.
    private struct State: Sendable {
        var isPurged = false
        var task: Task<Result<Void, VaultError>, Never>?
    }

    /// Nothing is read or deleted before it is first used.
    ///
    /// - Parameters:
    ///   - vault: of this app alone: everything in it is deleted.
    ///   - marker: in a folder that is deleted with the app, and that every process which shares the vault shares.
    public init(_ vault: any CredentialVault, marker: URL) {
        self.vault = vault
        self.marker = PrivateFile(marker)
    }

    public func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
        try await purge()
        return try await vault.load(key)
    }

    @discardableResult
    public func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) async throws(VaultError) -> Bool {
        try await purge()
        return try await vault.save(item, for: key, over: condition)
    }

    @discardableResult
    public func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        try await purge()
        return try await vault.delete(key, where: condition)
    }

    public func keys() async throws(VaultError) -> [CredentialKey] {
        try await purge()
        return try await vault.keys()
    }

    private func purge() async throws(VaultError) {
        let task = state.withLock { state -> Task<Result<Void, VaultError>, Never>? in
            if state.isPurged { return nil }
            let task = state.task ?? Task { await self.outcome() }
            state.task = task
            return task
        }
        try await task?.value.get()
    }

    /// A failure is forgotten with its task: who comes next tries again.
    private func outcome() async -> Result<Void, VaultError> {
        let result: Result<Void, VaultError>
        do throws(VaultError) {
            result = .success(try await deleteAll())
        } catch {
            result = .failure(error)
        }
        state.withLock { state in
            state.task = nil
            if case .success = result { state.isPurged = true }
        }
        return result
    }

    private func deleteAll() async throws(VaultError) {
        let marker = marker
        let lock = try await queue.run { () throws(VaultError) in
            try VaultError.ofFile { () throws(PrivateFileError) in try FileLock(ofVault: marker) }
        }
        defer { withExtendedLifetime(lock) {} }
        guard !marker.exists else { return }
        for key in try await vault.keys() {
            guard try await isReadable(key) else { continue }
            try await vault.delete(key, where: .anything)
        }
        try await queue.run { () throws(VaultError) in
            try VaultError.ofFile { () throws(PrivateFileError) in _ = try marker.replace(with: Data()) }
        }
    }

    /// Where an item can be read the device has been unlocked since it was started. Before that the marker may seem to be
    /// missing as well, and nobody is signed out for it: it is tried again.
    private func isReadable(_ key: CredentialKey) async throws(VaultError) -> Bool {
        do throws(VaultError) {
            return try await vault.load(key) != nil
        } catch .corrupt {
            return true
        }
    }
}
