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
/// anything else is done, and the file is made after. Of several processes that begin at the same time one does so. On tvOS, where an
/// app has no folder whose files stay, the user's defaults take the place of the file: ``init(_:markerInDefaults:)``.
public final class PurgingVault: CredentialVault {
    private let vault: any CredentialVault
    private let marker: any InstallationMarker
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
    public convenience init(_ vault: any CredentialVault, marker: URL) {
        self.init(vault, marker: FileMarker(PrivateFile(marker)))
    }

    /// The same with a value in the user's defaults in place of the file, for an app whose files the system may delete: on tvOS an
    /// app may write to `Library/Caches` alone, and who would be signed out whenever that is emptied. For one process: the defaults
    /// cannot be locked.
    ///
    /// - Parameters:
    ///   - vault: of this app alone: everything in it is deleted.
    ///   - suite: the name of the defaults; `nil` for those of the app.
    public convenience init(_ vault: any CredentialVault, markerInDefaults suite: String?) {
        self.init(vault, marker: DefaultsMarker(suite: suite))
    }

    init(_ vault: any CredentialVault, marker: any InstallationMarker) {
        self.vault = vault
        self.marker = marker
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
        let lock = try await queue.run { () throws(VaultError) in try marker.lock() }
        defer { withExtendedLifetime(lock) {} }
        guard !marker.isThere else { return }
        for key in try await vault.keys() {
            guard try await isReadable(key) else { continue }
            try await vault.delete(key, where: .anything)
        }
        try await queue.run { () throws(VaultError) in try marker.make() }
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

/// What goes with the app, and so tells one installation of it from another.
protocol InstallationMarker: Sendable {
    var isThere: Bool { get }
    /// Keeps other processes from the vault for as long as what it returns is kept. It waits on this thread.
    func lock() throws(VaultError) -> FileLock?
    func make() throws(VaultError)
}

private struct FileMarker: InstallationMarker {
    private let file: PrivateFile

    init(_ file: PrivateFile) {
        self.file = file
    }

    var isThere: Bool { file.exists }

    func lock() throws(VaultError) -> FileLock? {
        try VaultError.ofFile { () throws(PrivateFileError) in try FileLock(ofVault: file) }
    }

    func make() throws(VaultError) {
        try VaultError.ofFile { () throws(PrivateFileError) in _ = try file.replace(with: Data()) }
    }
}

private struct DefaultsMarker: InstallationMarker {
    let suite: String?

    private static let key = "penstock.installed"
    private var defaults: UserDefaults { suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard }

    var isThere: Bool { defaults.bool(forKey: Self.key) }

    func lock() -> FileLock? { nil }

    func make() {
        defaults.set(true, forKey: Self.key)
    }
}
