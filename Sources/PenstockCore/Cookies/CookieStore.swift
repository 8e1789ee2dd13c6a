/// Keeps cookies, those of each isolation key apart from those of every other.
///
/// A key is one user in one environment, by one way. Within it a cookie belongs to a **host**, or to the hosts of a domain, not to
/// an origin: it goes to every port of the host that set it, and one without the `Secure` attribute goes over plain http as well
/// as https, where the call's ``CleartextPolicy`` allows http at all (RFC 6265bis §8.5 and §8.6).
///
/// The client asks for cookies before each request, redirects included, and hands over what each response sets. Of the
/// redirects that one call follows, it hands over twenty cookies in all, so that a chain through many hosts cannot fill a
/// store; what deletes a cookie does not count.
public protocol CookieStore: Sendable {
    /// The value of a `Cookie` field for a request that the app itself makes, or `nil` for none.
    func field(for url: HTTPURL, in isolation: IsolationKey) -> String?

    /// The value of a `Cookie` field for any request, or `nil` for none. What a redirect from another site asks for goes
    /// without those that their `SameSite` attribute keeps back. Unless implemented, none are kept back.
    func field(for query: CookieQuery, in isolation: IsolationKey) -> String?

    /// Takes the values of the `Set-Cookie` fields of a response from `url`.
    func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey)

    /// Forgets everything of a key, or of all.
    func removeAll(in isolation: IsolationKey?)

    /// Forgets everything of a user, in every environment: they have signed out.
    func removeAll(ofIdentity identity: String)
}

extension CookieStore {
    /// Asks for what a request of the app itself would be sent with.
    public func field(for query: CookieQuery, in isolation: IsolationKey) -> String? {
        field(for: query.url, in: isolation)
    }
}
