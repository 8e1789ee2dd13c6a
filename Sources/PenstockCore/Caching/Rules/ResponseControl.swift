/// What a response says about its reuse by a private cache (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// `s-maxage` and `proxy-revalidate` speak to shared caches, and so does `private` with field names.
struct ResponseControl {
    let noStore: Bool
    /// `no-cache` without field names.
    let noCache: Bool
    /// Fields that `no-cache` forbids to reuse; they are not stored.
    let withheldFields: [HTTPFieldName]
    let mustRevalidate: Bool
    let mustUnderstand: Bool
    let isPublic: Bool
    let isPrivate: Bool
    let isImmutable: Bool
    let maxAge: CacheDirectives.Seconds
    /// Seconds after the response went stale.
    let staleWhileRevalidate: Int
    /// Seconds after the response went stale.
    let staleIfError: Int

    /// Of a response that says nothing.
    private static let silent = ResponseControl(CacheDirectives([]))

    /// `Pragma` in a response means nothing (§5.4).
    init(_ fields: HTTPFields) {
        self = fields.contains(.cacheControl) ? Self(CacheDirectives(fields.values(of: .cacheControl))) : .silent
    }

    private init(_ directives: CacheDirectives) {
        let withheld = directives.fieldNames(of: "no-cache")
        noStore = directives.contains("no-store")
        noCache = withheld == nil
        withheldFields = withheld ?? []
        mustRevalidate = directives.contains("must-revalidate")
        mustUnderstand = directives.contains("must-understand")
        isPublic = directives.contains("public")
        isPrivate = directives.contains("private")
        isImmutable = directives.contains("immutable")
        maxAge = directives.seconds("max-age")
        staleWhileRevalidate = Self.window(directives.seconds("stale-while-revalidate"))
        staleIfError = Self.window(directives.seconds("stale-if-error"))
    }

    private static func window(_ seconds: CacheDirectives.Seconds) -> Int {
        if case .value(let value) = seconds { value } else { 0 }
    }
}
