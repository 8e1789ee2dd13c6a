extension APIClient {
    /// A user has signed out: ends the calls that were made for them, in this client, in those derived from it and in the one
    /// it was derived from; closes the connections that were made for them; and removes their cookies, their credentials, and all
    /// responses that are stored of them, in every environment.
    ///
    /// ```swift
    /// await client.signOut(user.id)
    /// session.user = nil
    /// ```
    ///
    /// Nothing that was under way is kept afterwards, and it does not matter whether ``Configuration/identity`` names somebody
    /// else before this or after it: as long as this client's still names the user, calls for them fail as
    /// ``APIError/Kind/blocked(reason:)``. Once it has named another one they may sign in again.
    ///
    /// - Parameter identity: what ``Configuration/identity`` gave for them. For `""`, which is nobody, no call is refused.
    /// - Returns: whether nothing is left of the credentials, and no byte of the responses; see ``CacheStore/remove(_:)``.
    @discardableResult
    public func signOut(_ identity: String) async -> Bool {
        state.signOuts.begin(identity, asLongAs: configuration.identity)
        state.calls.end { $0.isolation.identity == identity }
        transport.closeConnections(of: identity)
        configuration.cookies?.removeAll(ofIdentity: identity)
        let isSignedOut = await state.credentials.forget(account: identity)
        return await clear([.identity(identity)]) && isSignedOut
    }
}
