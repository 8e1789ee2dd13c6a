import Foundation
import PenstockCore

/// Where an ``EncryptedFileVault`` has its key from: 32 random bytes.
public struct VaultKey: Sendable {
    enum Origin: Sendable {
        case file(PrivateFile)
        case held(@Sendable () throws(VaultError) -> Data)
        case app(@Sendable () async throws -> Data)
    }

    let origin: Origin

    /// How many bytes a key has: AES-256's.
    public static let size = 32

    /// A key in a file of its own, which is made with the vault, or with the first of several vaults that share it. It protects from
    /// whoever gets hold of the vault's file alone, such as of a copy; who can read all files of the user reads both.
    ///
    /// A file that others than its owner may read or write is refused as ``VaultError/denied``. Where it is missing, and the
    /// vault's file is not, the vault is ``VaultError/locked``: it may be on a disk that is not there yet.
    public static func file(_ url: URL) -> VaultKey {
        VaultKey(origin: .file(PrivateFile(url)))
    }

    /// What the app gives, which is asked each time that the vault is used: from a hardware token, or made of a password that
    /// the user has typed.
    ///
    /// - Parameter give: ``VaultKey/size`` bytes; any other number is ``VaultError/invalid``. What it throws is what the vault
    ///   throws when it is a ``VaultError``, and ``VaultError/locked`` when it is something else. It runs in a task of its own, which
    ///   is cancelled with the one that waits for it; whether it heeds that or not, the vault is ``VaultError/unavailable`` then.
    public static func app(_ give: @escaping @Sendable () async throws -> Data) -> VaultKey {
        VaultKey(origin: .app(give))
    }

    /// A new one.
    public static func random() -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}

extension VaultKey {
    /// What has to be waited for, without a thread; `nil` for a key that is read where the vault is.
    func given() async throws(VaultError) -> Data? {
        guard case .app(let give) = origin else { return nil }
        // The app's code may never return, and whoever waits for it may leave all the same.
        let asking = SharedTask<Result<Data, VaultError>>()
        _ = asking.join()
        asking.start {
            do {
                return .success(try Self.checked(try await give(), or: .invalid))
            } catch {
                return .failure(error as? VaultError ?? .locked)
            }
        }
        guard let answer = await asking.value() else { throw .unavailable }
        return try answer.get()
    }

    /// - Parameter given: what ``given()`` has returned.
    func bytes(_ given: Data?) throws(VaultError) -> Data {
        switch origin {
        case .app:
            guard let given else { throw .locked }
            return given
        case .held(let read):
            return try Self.checked(try read(), or: .corrupt)
        case .file(let file):
            let found = try VaultError.ofFile { () throws(PrivateFileError) in
                try file.contents(limit: 4_096, .refuses)
            }
            guard let found else { throw .locked }
            return try Self.checked(found, or: .corrupt)
        }
    }

    /// The same for a vault that is not there yet. A new key may be made where there is none, as there is nothing that an old one
    /// had sealed.
    ///
    /// - Returns: `nil` while somebody else makes it.
    func madeBytes(_ given: Data?) throws(VaultError) -> Data? {
        guard case .file(let file) = origin else { return try bytes(given) }
        let found = try VaultError.unlessBusy { () throws(PrivateFileError) in
            // What is there already may be in a folder where nothing may be written.
            if let found = try file.contents(limit: 4_096, .refuses), !found.isEmpty { return found }
            try file.makeFolder()
            // An empty one is being made, or whoever made it was killed.
            return try file.contents(limit: 4_096, .refuses, patience: .zero, orMade: Self.random)
        }
        return try found.map { bytes throws(VaultError) in try Self.checked(bytes, or: .corrupt) }
    }

    private static func checked(_ bytes: Data, or error: VaultError) throws(VaultError) -> Data {
        guard bytes.count == size else { throw error }
        return bytes
    }
}
