#if canImport(Darwin)
    import Foundation
    import PenstockCore
    import Security

    /// Keeps credentials in the keychain of Apple's systems, on this device only: never in iCloud, nor in a backup that another
    /// device restores.
    ///
    /// ```swift
    /// configuration.vault = KeychainVault(group: "group.com.example.shop")
    /// ```
    ///
    /// Each is a generic password whose service is the app's and whose account is made of the key's parts. The keychain compares
    /// and replaces in one step, by the version as `kSecAttrGeneric`, so that an app and its extensions may share a group.
    ///
    /// The keychain outlives an app that is deleted; see ``PurgingVault``.
    ///
    /// What this package's tests run is everything but the calls of the Security framework: the rules of the vault, over a keychain
    /// in memory that answers as Apple documents. The calls themselves are type-checked and were not run.
    ///
    /// Its errors: ``VaultError/locked`` before the device was unlocked, which never reads as "there is nothing";
    /// ``VaultError/denied`` where the user or the system refuses, or the program lacks the entitlement; ``VaultError/corrupt``
    /// for what cannot be decrypted, or was not written by this class.
    public final class KeychainVault: CredentialVault {
        private let items: KeychainItems
        private let queue = VaultQueue("keychain")

        /// Nothing is read or written before it is first used.
        ///
        /// - Parameters:
        ///   - service: whose items they are; the bundle's identifier unless told otherwise.
        ///   - group: the access group that shares them; the app's own unless told otherwise.
        ///   - protection: an item that has another one gets this one when it is next read or written.
        public init(
            service: String? = nil, group: String? = nil, protection: KeychainProtection = .afterFirstUnlock
        ) {
            let service = service ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            items = KeychainItems(
                access: SecurityKeychain(), service: service + ".penstock", group: group, protection: protection)
        }

        public func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
            try await queue.run { [items] () throws(VaultError) in try items.load(key) }
        }

        @discardableResult
        public func save(
            _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
        ) async throws(VaultError) -> Bool {
            try item.validate(for: key)
            return try await queue.run { [items] () throws(VaultError) in
                try items.save(item, for: key, over: condition)
            }
        }

        @discardableResult
        public func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
            try await queue.run { [items] () throws(VaultError) in try items.delete(key, where: condition) }
        }

        public func keys() async throws(VaultError) -> [CredentialKey] {
            try await queue.run { [items] () throws(VaultError) in try items.keys() }
        }
    }

    extension KeychainVault {
        /// Whether the keychain is open to this program. It is closed to one that was signed without an access group, such as a tool
        /// or an app of macOS that was signed to run locally. What else is wrong, such as a device that was not unlocked, passes.
        ///
        /// It waits for the keychain, on this thread.
        package static var isOpenToThisProgram: Bool {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "penstock.none",
                kSecUseDataProtectionKeychain as String: true, kSecMatchLimit as String: kSecMatchLimitOne,
            ]
            return SecItemCopyMatching(query as CFDictionary, nil) != errSecMissingEntitlement
        }
    }

    /// Apple's keychain, by the Security framework.
    struct SecurityKeychain: KeychainAccess {
        func add(
            _ item: VaultItem, _ protection: KeychainProtection, _ query: KeychainQuery
        ) throws(KeychainFailure) {
            let attributes = values(query).merging(values(item, protection)) { $1 }
            try check(SecItemAdd(attributes as CFDictionary, nil))
        }

        func update(
            _ query: KeychainQuery, to item: VaultItem?, _ protection: KeychainProtection
        ) throws(KeychainFailure) {
            try check(SecItemUpdate(values(query) as CFDictionary, values(item, protection) as CFDictionary))
        }

        func find(_ query: KeychainQuery) throws(KeychainFailure) -> KeychainRow {
            var values = values(query)
            values[kSecReturnData as String] = true
            values[kSecReturnAttributes as String] = true
            values[kSecMatchLimit as String] = kSecMatchLimitOne
            guard let found = try copy(values) as? [String: Any] else { return KeychainRow() }
            let name = found[kSecAttrAccessible as String] as? String
            return KeychainRow(
                version: (found[kSecAttrGeneric as String] as? Data).flatMap { String(utf8: $0) },
                content: found[kSecValueData as String] as? Data,
                protection: KeychainProtection.allCases.first { $0.attribute as String == name })
        }

        func accounts(_ query: KeychainQuery) throws(KeychainFailure) -> [String] {
            var values = values(query)
            values[kSecReturnAttributes as String] = true
            values[kSecMatchLimit as String] = kSecMatchLimitAll
            let found = try copy(values) as? [[String: Any]] ?? []
            return found.compactMap { $0[kSecAttrAccount as String] as? String }
        }

        func delete(_ query: KeychainQuery) throws(KeychainFailure) {
            try check(SecItemDelete(values(query) as CFDictionary))
        }

        private func copy(_ values: [String: Any]) throws(KeychainFailure) -> CFTypeRef? {
            var result: CFTypeRef?
            try check(SecItemCopyMatching(values as CFDictionary, &result))
            return result
        }

        /// What says which items are meant: such as never leave the device, in the keychain that macOS shares with iOS.
        private func values(_ query: KeychainQuery) -> [String: Any] {
            var values: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: query.service,
                kSecAttrSynchronizable as String: false, kSecUseDataProtectionKeychain as String: true,
            ]
            if let account = query.account { values[kSecAttrAccount as String] = account }
            if let group = query.group { values[kSecAttrAccessGroup as String] = group }
            if let version = query.version { values[kSecAttrGeneric as String] = Data(version.utf8) }
            return values
        }

        private func values(_ item: VaultItem?, _ protection: KeychainProtection) -> [String: Any] {
            var values: [String: Any] = [kSecAttrAccessible as String: protection.attribute]
            if let item {
                values[kSecValueData as String] = item.content
                values[kSecAttrGeneric as String] = Data(item.version.utf8)
            }
            return values
        }

        private func check(_ status: OSStatus) throws(KeychainFailure) {
            switch status {
            case errSecSuccess: return
            case errSecItemNotFound: throw .missing
            case errSecDuplicateItem: throw .duplicate
            case errSecInteractionNotAllowed: throw .failed(.locked)
            case errSecAuthFailed, errSecUserCanceled, errSecMissingEntitlement: throw .failed(.denied)
            case errSecDecode: throw .failed(.corrupt)
            default: throw .failed(.unavailable)
            }
        }
    }

    extension KeychainProtection {
        fileprivate var attribute: CFString {
            switch self {
            case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .whenUnlocked: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .whenPasscodeSet: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        }
    }
#endif
