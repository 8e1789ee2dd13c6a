/// The users who have signed out and whom the app still names as its user.
final class SignOuts: Sendable {
    private let identities = Locked<[String: @Sendable () -> String]>([:])

    /// - Parameter present: the app's user at any moment.
    func begin(_ identity: String, asLongAs present: @escaping @Sendable () -> String) {
        guard !identity.isEmpty, present() == identity else { return }
        identities.withLock { $0[identity] = present }
    }

    /// Lets those in again whom the app has ceased to name.
    func review() {
        let all = identities.withLock { $0 }
        for (identity, present) in all where present() != identity { identities.withLock { $0[identity] = nil } }
    }

    /// - Throws: ``APIError/Kind/blocked(reason:)`` for a call of a user who has signed out.
    func check(_ identity: String) throws(APIError) {
        guard let present = identities.withLock({ $0.isEmpty ? nil : $0[identity] }) else { return }
        guard present() == identity else { return review() }
        throw APIError(
            .blocked(reason: "this user has signed out, and the client's identity still names them"), stage: .prepare)
    }
}
