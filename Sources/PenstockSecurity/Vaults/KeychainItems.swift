import Foundation
import PenstockCore

/// When the system lets an item of a `KeychainVault` be read. None of the classes leaves the device.
@nonexhaustive
public enum KeychainProtection: Hashable, Sendable, CaseIterable {
    /// Items can be read from when the device was unlocked for the first time since it was started, as work in the background needs.
    case afterFirstUnlock
    /// While the device is unlocked.
    case whenUnlocked
    /// While the device is unlocked, and only as long as it has a passcode: without one the items are gone.
    case whenPasscodeSet
}

/// Which items of a keychain are meant: those that have all of this.
struct KeychainQuery: Hashable, Sendable {
    var service: String
    /// `nil` for those of the app's own group.
    var group: String?
    /// `nil` for all accounts.
    var account: String?
    /// `nil` for whatever version.
    var version: String?
}

/// What a keychain says of an item.
struct KeychainRow: Hashable, Sendable {
    /// `nil` where it is none of ours, as is the content.
    var version: String?
    var content: Data?
    /// `nil` for a class that is none of ours.
    var protection: KeychainProtection?
}

/// Why a keychain has not done what it was asked.
enum KeychainFailure: Error, Hashable, Sendable {
    case missing
    case duplicate
    case failed(VaultError)
}

/// The four calls of the keychain, each of which is one step.
protocol KeychainAccess: Sendable {
    func add(
        _ item: VaultItem, _ protection: KeychainProtection, _ query: KeychainQuery
    ) throws(KeychainFailure)
    /// - Parameter item: `nil` for a change of the protection alone.
    func update(
        _ query: KeychainQuery, to item: VaultItem?, _ protection: KeychainProtection
    ) throws(KeychainFailure)
    func find(_ query: KeychainQuery) throws(KeychainFailure) -> KeychainRow
    func accounts(_ query: KeychainQuery) throws(KeychainFailure) -> [String]
    func delete(_ query: KeychainQuery) throws(KeychainFailure)
}

/// A vault over the calls of a keychain: compares by asking for the version beside the name.
struct KeychainItems: Sendable {
    let access: any KeychainAccess
    let service: String
    let group: String?
    let protection: KeychainProtection

    private func query(_ key: CredentialKey?, _ version: String? = nil) -> KeychainQuery {
        KeychainQuery(service: service, group: group, account: key?.accountText, version: version)
    }

    /// - Returns: whether it was there.
    private func attempt(
        _ excuse: KeychainFailure, _ body: () throws(KeychainFailure) -> Void
    ) throws(VaultError) -> Bool {
        do throws(KeychainFailure) {
            try body()
            return true
        } catch {
            guard error != excuse else { return false }
            if case .failed(let reason) = error { throw reason }
            throw .unavailable
        }
    }

    func load(_ key: CredentialKey) throws(VaultError) -> VaultItem? {
        var row = KeychainRow()
        let isThere = try attempt(.missing) { () throws(KeychainFailure) in row = try access.find(query(key)) }
        guard isThere else { return nil }
        guard let version = row.version, let content = row.content else { throw .corrupt }
        if row.protection != protection {
            // It is read all the same where that fails, and tried again when it is next read.
            try? access.update(query(key, version), to: nil, protection)
        }
        return VaultItem(version: version, content: content)
    }

    func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) throws(VaultError) -> Bool {
        switch condition {
        case .absent: return try add(item, key)
        case .version(let version): return try update(query(key, version), item)
        case .anything: break
        }
        // Between the two steps another process may add or delete it.
        for _ in 0..<8 {
            if try update(query(key), item) { return true }
            if try add(item, key) { return true }
        }
        throw .unavailable
    }

    private func add(_ item: VaultItem, _ key: CredentialKey) throws(VaultError) -> Bool {
        try attempt(.duplicate) { () throws(KeychainFailure) in try access.add(item, protection, query(key)) }
    }

    private func update(_ query: KeychainQuery, _ item: VaultItem) throws(VaultError) -> Bool {
        try attempt(.missing) { () throws(KeychainFailure) in try access.update(query, to: item, protection) }
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) throws(VaultError) -> Bool {
        let query: KeychainQuery
        switch condition {
        case .absent: return false
        case .version(let version): query = self.query(key, version)
        case .anything: query = self.query(key)
        }
        return try attempt(.missing) { () throws(KeychainFailure) in try access.delete(query) }
    }

    /// Items under this service that are none of ours are left out.
    func keys() throws(VaultError) -> [CredentialKey] {
        var accounts: [String] = []
        _ = try attempt(.missing) { () throws(KeychainFailure) in accounts = try access.accounts(query(nil)) }
        return accounts.compactMap(CredentialKey.init(accountText:))
    }
}
