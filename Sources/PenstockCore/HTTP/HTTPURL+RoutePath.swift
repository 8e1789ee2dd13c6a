extension HTTPURL {
    /// This URL, as a base, with a path and a query added.
    ///
    /// The base path is always kept and stands before `path` with exactly one slash between them, whether or not
    /// `path` begins with one. An empty path changes nothing. The pairs of `query` follow those of the base.
    ///
    /// | base | path | query | result |
    /// |---|---|---|---|
    /// | `https://a/api` | `users` | | `https://a/api/users` |
    /// | `https://a/api/` | `/users/` | | `https://a/api/users/` |
    /// | `https://a/api/?k=1` | (empty) | `p=2` | `https://a/api/?k=1&p=2` |
    ///
    /// - Parameter query: escaped pairs without a `?`, as ``FormFormat/text(_:)`` makes them.
    /// - Throws: what makes `path` unusable.
    public func appending(_ path: RoutePath, query: String? = nil) throws(RoutePath.Invalid) -> HTTPURL {
        try path.validated()
        return HTTPURL(origin: origin, path: joined(with: path.encoded), query: joined(withQuery: query))
    }

    private func joined(with encoded: String) -> String {
        guard !encoded.isEmpty else { return path }
        if path == "/" { return encoded }
        var base = path[...]
        while base.utf8.last == UInt8(ascii: "/") { base = Substring(base.utf8.dropLast()) }
        return base + encoded
    }

    private func joined(withQuery added: String?) -> String? {
        guard let added, !added.isEmpty else { return query }
        let repaired = PercentEncoding.repaired(added)
        guard let query, !query.isEmpty else { return repaired }
        return "\(query)&\(repaired)"
    }
}
