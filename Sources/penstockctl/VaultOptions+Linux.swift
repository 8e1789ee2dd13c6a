#if os(Linux)
    import Penstock

    /// The vaults and keys of Linux alone.
    extension VaultOptions {
        static let platformTable = [
            OptionRule(
                names: ["--keyring"], placeholder: "NAME",
                help: "its key is in the kernel, by this name; not with --key"),
            OptionRule(
                names: ["--secret-service"], placeholder: "APPLICATION",
                help: "the desktop's keyring, and the items of this application; not with --vault"),
        ]

        static func platformVault(_ arguments: Arguments) throws(UsageError) -> (any CredentialVault)? {
            guard let application = arguments.value("--secret-service") else { return nil }
            for name in ["--vault", "--key", "--keyring"] where arguments.has(name) {
                throw UsageError("\(name) does not go with --secret-service")
            }
            return SecretServiceVault(application: application)
        }

        static func platformKey(_ arguments: Arguments) throws(UsageError) -> VaultKey? {
            guard let name = arguments.value("--keyring") else { return nil }
            if arguments.has("--key") { throw UsageError("--key does not go with --keyring") }
            return .kernelKeyring(name)
        }
    }
#endif
