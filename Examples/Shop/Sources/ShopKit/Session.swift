import Foundation
import Penstock
import Synchronization

/// The storage layer: who is logged in. A login fills it, and every call to the shop reads it anew. The vault keeps it for the
/// next time that the app is started, for each environment apart.
public final class Session: Sendable {
    private let current = Mutex<User?>(nil)
    private let vault: any CredentialVault

    public init(vault: any CredentialVault = MemoryVault()) {
        self.vault = vault
    }

    public var user: User? { current.withLock { $0 } }

    /// What every call to the shop carries; nothing while nobody is logged in.
    var parameters: ParameterObject {
        guard let user else { return [:] }
        return ["loginId": user.id, "loginToken": user.token]
    }

    /// A vault that cannot keep the login fails nobody's: the user logs in again next time.
    func begin(as user: User, in environment: ServerEnvironment) async {
        current.withLock { $0 = user }
        guard let content = try? JSONEncoder().encode(user) else { return }
        let item = VaultItem(version: UUID().uuidString, content: content)
        _ = try? await vault.save(item, for: Self.key(environment), over: .anything)
    }

    /// Who was logged in when the app was used last, is logged in again.
    func restore(in environment: ServerEnvironment) async throws(VaultError) {
        guard let item = try await vault.load(Self.key(environment)) else { return }
        let user = try? JSONDecoder().decode(User.self, from: item.content)
        current.withLock { $0 = user }
    }

    /// The user has logged out.
    func end(in environment: ServerEnvironment) async {
        forget()
        _ = try? await vault.delete(Self.key(environment), where: .anything)
    }

    /// Nobody is logged in. What the vault has stays.
    func forget() {
        current.withLock { $0 = nil }
    }

    private static func key(_ environment: ServerEnvironment) -> CredentialKey {
        CredentialKey(service: "login", environment: environment.name, origin: "")
    }
}
