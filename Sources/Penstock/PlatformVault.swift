import Foundation
import PenstockCore
import PenstockSecurity

/// Where the credentials of a client are kept on this platform whose ``ClientConfiguration/vault`` is `nil`.
public enum PlatformVault {
    /// The vault of this program: whoever starts it again finds the login in it.
    ///
    /// - On Linux an ``EncryptedFileVault``, `penstock/<program>/credentials.vault` in the folder of ``PlatformOutbox/shared``,
    ///   with its key in a file beside it, so that it is there with and without a desktop. Who wants the desktop's keyring takes a
    ///   `SecretServiceVault`.
    /// - On Apple's systems a `KeychainVault`, emptied when the app is installed anew; the same file as on Linux for a program that
    ///   the keychain is closed to: one that is no bundle, or that was signed without an access group, as an app of macOS may be.
    ///   What tells the installations apart is a file beside the outbox; on tvOS, where no file of an app stays for certain, the
    ///   app's defaults.
    ///
    /// Processes of one program share it; `<program>` is as in ``PlatformCache/shared``. In a process that runs tests each
    /// client has a ``MemoryVault`` of its own instead.
    public static let shared: any CredentialVault = {
        let name = PlatformCache.folderName(
            bundle: Bundle.main.bundleIdentifier, executable: Bundle.main.executablePath ?? CommandLine.arguments.first,
            process: ProcessInfo.processInfo.processName)
        let home = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        let folder = PlatformOutbox.folder(ProcessInfo.processInfo.environment, home: home)
        return make(in: folder.appendingPathComponent("penstock").appendingPathComponent(name))
    }()

    static func file(in folder: URL) -> any CredentialVault {
        EncryptedFileVault(file: folder.appendingPathComponent("credentials.vault"))
    }

    /// - Returns: `nil` in a process that runs tests.
    static var standard: (any CredentialVault)? {
        let process = ProcessInfo.processInfo
        return PlatformCache.runsTests(process.processName, process.environment) ? nil : shared
    }
}
