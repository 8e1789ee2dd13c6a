import Penstock
import Synchronization

/// The storage layer: who is logged in. A login fills it, and every call to the shop reads it anew.
public final class Session: Sendable {
    private let current = Mutex<User?>(nil)

    public init() {}

    public var user: User? { current.withLock { $0 } }

    /// What every call to the shop carries; nothing while nobody is logged in.
    var parameters: ParameterObject {
        guard let user else { return [:] }
        return ["loginId": user.id, "loginToken": user.token]
    }

    func begin(as user: User) {
        current.withLock { $0 = user }
    }

    func end() {
        current.withLock { $0 = nil }
    }
}
