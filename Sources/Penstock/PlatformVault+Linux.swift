#if !canImport(Darwin)
    import Foundation
    import PenstockCore

    extension PlatformVault {
        static func make(in folder: URL) -> any CredentialVault { file(in: folder) }
    }
#endif
