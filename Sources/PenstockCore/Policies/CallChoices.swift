/// Whether calls are made with the credential of their service.
@nonexhaustive
public enum AuthenticationChoice: Hashable, Sendable {
    /// The call goes with the credential, where there is one; a refusal renews it.
    case automatic
    /// The call goes without one: for a login, and whatever must not wait for one.
    case anonymous
}

/// Whether the payload of a call is sealed.
@nonexhaustive
public enum SealingChoice: Hashable, Sendable {
    /// Where the service has a sealer.
    case automatic
    /// It is, or nothing is sent: a call of a service without a sealer fails.
    case sealed
    /// It is not.
    case plain

    /// - Parameter isDefault: whether the service has a sealer.
    func seals(byDefault isDefault: Bool) -> Bool {
        switch self {
        case .automatic: isDefault
        case .sealed: true
        case .plain: false
        }
    }
}

/// Whether a call that finds no way to its server waits until there is one.
public struct ConnectivityWait: Hashable, Sendable {
    let isWaiting: Bool
    /// How long it waits at most; `nil` for as long as the call may take.
    public let limit: Duration?

    /// It fails at once, as by default.
    public static let no = ConnectivityWait(isWaiting: false, limit: nil)

    /// It waits as long as the call may take: up to its total time-out, or until it is cancelled.
    public static let yes = ConnectivityWait(isWaiting: true, limit: nil)

    /// It waits no longer than this in all, and then fails of what it failed of.
    public static func upTo(_ limit: Duration) -> ConnectivityWait { ConnectivityWait(isWaiting: true, limit: limit) }
}

extension ConnectivityRule {
    /// Whether a call that waits for connectivity waits after such a failure: nothing of it was sent, there was no way to the
    /// server, and the machine knows that it has none.
    package static func waits(after kind: APIError.Kind, _ sendState: SendState?, given status: NetworkStatus?) -> Bool
    {
        guard case .unreachable(let reason) = kind, sendState == .unsent else { return false }
        guard status?.isReachable == false else { return false }
        return self.reason(reason, given: status) == .offline
    }
}
