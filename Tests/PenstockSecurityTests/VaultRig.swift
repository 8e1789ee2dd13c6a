import Foundation
import PenstockCore
import Testing

@testable import PenstockSecurity

/// A folder of a test's own, gone when the test is over.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("vault-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// In a folder that is not there yet.
    var file: URL { url.appendingPathComponent("state/shop/credentials.vault") }

    var keyFile: URL { file.appendingPathExtension("key") }

    var vault: EncryptedFileVault { EncryptedFileVault(file: file) }

    static func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    static func setMode(_ mode: Int, _ url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }
}

enum Sample {
    static let key = CredentialKey(
        service: "main", environment: "production", origin: "https://a.example", account: "alice")

    static func key(_ account: String) -> CredentialKey {
        CredentialKey(service: "main", environment: "production", origin: "https://a.example", account: account)
    }

    static func item(_ version: String, _ text: String = "secret") -> VaultItem {
        VaultItem(version: version, content: Data(text.utf8))
    }
}

/// What a vault throws; `nil` where it does not.
func vaultError(_ body: () async throws -> some Any) async -> VaultError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? VaultError
    }
}
