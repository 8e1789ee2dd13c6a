#if !os(Linux)
    import Penstock

    /// The keychain is closed to programs that are no bundle.
    extension VaultOptions {
        static let platformTable: [OptionRule] = []

        static func platformVault(_ arguments: Arguments) throws(UsageError) -> (any CredentialVault)? { nil }

        static func platformKey(_ arguments: Arguments) throws(UsageError) -> VaultKey? { nil }
    }
#endif
