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
    ///   throws when it is a ``VaultError``, and ``VaultError/locked`` when it is something else.
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
        do {
            return try Self.checked(try await give(), or: .invalid)
        } catch let error as VaultError {
            throw error
        } catch {
            throw .locked
        }
    }

    /// - Parameters:
    ///   - given: what ``given()`` has returned.
    ///   - makes: whether a new key may be made where there is none, as there is nothing yet that an old one had sealed.
    func bytes(_ given: Data?, makes: Bool) throws(VaultError) -> Data {
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
            // An empty one is being made, or whoever made it was killed.
            if let found, !(makes && found.isEmpty) { return try Self.checked(found, or: .corrupt) }
            guard makes else { throw .locked }
            let key = try VaultError.ofFile { () throws(PrivateFileError) in
                try file.makeFolder()
                return try file.contents(limit: 4_096, .refuses, patience: FileLock.patience, orMade: Self.random)
            }
            return try Self.checked(key, or: .corrupt)
        }
    }

    private static func checked(_ bytes: Data, or error: VaultError) throws(VaultError) -> Data {
        guard bytes.count == size else { throw error }
        return bytes
    }
}
