import Foundation
import Penstock

/// Uses a vault in a process of its own:
///
/// - `vault-writer fill FILE` saves one item again and again until it is killed, and prints each version once it is saved.
/// - `vault-writer count FILE TIMES` adds one to a number so often, over the version that it has read.
/// - `vault-writer keyed FILE KEYFILE` saves one item in a vault with that key.
/// - `vault-writer full FILE BYTES` saves something longer than any file of the process may get, and prints what that comes to.
/// - `vault-writer login URL TOKEN` signs in with the platform's own vault.
/// - `vault-writer canary URL FOLDER TRANSPORT` uses secrets of all kinds, and writes down whatever prints.
/// - `vault-writer call URL` sends a request with whatever login it finds.
@main
enum VaultWriter {
    static let key = CredentialKey(
        service: "main", environment: "production", origin: "https://a.example", account: "alice")

    static func main() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("fill", 3): try await fill(vault(arguments[2]))
        case ("count", 4): try await count(vault(arguments[2]), Int(arguments[3]) ?? 0)
        case ("keyed", 4):
            let key = VaultKey.file(URL(fileURLWithPath: arguments[3]))
            try await keep(EncryptedFileVault(file: URL(fileURLWithPath: arguments[2]), key: key))
        case ("full", 4): try await full(vault(arguments[2]), Int(arguments[3]) ?? 0)
        case ("login", 4): try await client(arguments[2]).signIn(Credential(arguments[3], expiresIn: .seconds(3_600)))
        case ("call", 3): try await client(arguments[2]).get("/me")
        case ("canary", 5):
            try await CanaryRun(arguments[2], arguments[3], isFoundation: arguments[4] == "URLSession").run()
        default: exit(64)
        }
    }

    private static func vault(_ path: String) -> EncryptedFileVault {
        EncryptedFileVault(file: URL(fileURLWithPath: path))
    }

    private static func fill(_ vault: EncryptedFileVault) async throws {
        for number in 1... {
            // Of another length each time, so that half of a new one is no old one.
            let content = Data(repeating: UInt8(number % 256), count: 1 + number * 37 % 20_000)
            try await vault.save(VaultItem(version: "\(number)", content: content), for: key, over: .anything)
            say("\(number)")
        }
    }

    private static func count(_ vault: EncryptedFileVault, _ times: Int) async throws {
        var done = 0
        while done < times {
            let old = try await vault.load(key)
            let number = old.flatMap { Int($0.version) } ?? 0
            let new = VaultItem(version: "\(number + 1)", content: Data())
            let condition = old.map { VaultCondition.version($0.version) } ?? .absent
            if try await vault.save(new, for: key, over: condition) { done += 1 }
        }
    }

    private static func keep(_ vault: EncryptedFileVault) async throws {
        try await vault.save(VaultItem(version: "1", content: Data("kept".utf8)), for: key, over: .absent)
    }

    /// As on a disk that is full, a write fails after some bytes.
    private static func full(_ vault: EncryptedFileVault, _ bytes: Int) async throws {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        do {
            try await vault.save(VaultItem(version: "2", content: Data(count: bytes)), for: key, over: .anything)
            say("saved")
        } catch {
            say("\(error)")
        }
    }

    private static func client(_ url: String) -> APIClient {
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: url], authenticator: BearerAuthenticator())
        ])
        configuration.environment = .production
        configuration.identity = { "alice" }
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        return APIClient(configuration)
    }

    /// Past every buffer: what was said is heard, also of one that is killed.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
