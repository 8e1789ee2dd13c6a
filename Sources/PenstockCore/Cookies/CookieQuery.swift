/// A request as far as it decides which cookies go with it.
public struct CookieQuery: Hashable, Sendable {
    /// What is asked for.
    public var url: HTTPURL
    /// A method that is not safe takes no cookie along to another site, unless that cookie is `SameSite=None`.
    public var method: HTTPMethod
    /// Where the request comes from: for a redirect, what the app has asked for. `nil`, where the app itself asks.
    public var initiator: HTTPURL?

    /// A query; by default one of the app itself.
    ///
    /// - Parameters:
    ///   - method: `GET` by default.
    ///   - initiator: `nil`, the default, where the app itself asks.
    public init(_ url: HTTPURL, method: HTTPMethod = .get, initiator: HTTPURL? = nil) {
        self.url = url
        self.method = method
        self.initiator = initiator
    }

    /// Whether a cookie may go along by its `SameSite` attribute (RFC 6265bis §5.8.3). An app is no web page: what it asks
    /// for by itself is of the same site. Where a redirect leads to another site, it is as if a link there were followed.
    ///
    /// - Parameter suffixes: tell what one site is. Without them every host is one of its own.
    func allows(_ sameSite: Cookie.SameSite, by suffixes: (any PublicSuffixes)?) -> Bool {
        guard sameSite != .none, let initiator, !isSameSite(initiator, by: suffixes) else { return true }
        return sameSite != .strict && method.isSafe
    }

    /// Same scheme and same registrable domain (RFC 6265bis §5.2).
    private func isSameSite(_ initiator: HTTPURL, by suffixes: (any PublicSuffixes)?) -> Bool {
        guard initiator.scheme == url.scheme else { return false }
        if initiator.host == url.host { return true }
        guard let suffixes, !Cookie.isAddress(initiator.host), !Cookie.isAddress(url.host),
            let home = suffixes.registrableDomain(of: initiator.host)
        else { return false }
        return home == suffixes.registrableDomain(of: url.host)
    }
}
