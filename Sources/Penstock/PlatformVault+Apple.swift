#if canImport(Darwin)
    import Foundation
    import PenstockCore
    import PenstockSecurity

    extension PlatformVault {
        static func make(in folder: URL) -> any CredentialVault {
            guard Bundle.main.bundleIdentifier != nil else { return file(in: folder) }
            return PurgingVault(KeychainVault(), marker: folder.appendingPathComponent("installed"))
        }
    }
#endif
