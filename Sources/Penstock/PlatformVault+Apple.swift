#if canImport(Darwin)
    import Foundation
    import PenstockCore
    import PenstockSecurity

    extension PlatformVault {
        /// The keychain is asked once, when the vault is first needed.
        static func make(in folder: URL) -> any CredentialVault {
            guard Bundle.main.bundleIdentifier != nil, KeychainVault.isOpenToThisProgram else {
                return file(in: folder)
            }
            return purging(KeychainVault(), in: folder)
        }
    }

    #if os(tvOS)
        extension PlatformVault {
            /// A vault whose marker is in no file: none of an app stays for certain, and nobody is to be signed out because the system
            /// needed room.
            private static func purging(_ vault: KeychainVault, in folder: URL) -> PurgingVault {
                PurgingVault(vault, markerInDefaults: nil)
            }
        }
    #else
        extension PlatformVault {
            private static func purging(_ vault: KeychainVault, in folder: URL) -> PurgingVault {
                PurgingVault(vault, marker: folder.appendingPathComponent("installed"))
            }
        }
    #endif
#endif
