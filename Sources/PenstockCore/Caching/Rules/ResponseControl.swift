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

    /// The control of a response that says nothing.
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

/// What a request asks of caches (RFC 9111 §5.2.1, §5.4; RFC 5861 §4).
struct RequestControl {
    /// `max-stale`: how stale a response may be.
    enum Tolerance: Equatable {
        case none
        case seconds(Int)
        case any
    }

    var noCache = false
    var noStore = false
    var onlyIfCached = false
    /// Seconds; the smallest where there are several. One that is no number accepts nothing.
    var maxAge: Int?
    /// Seconds.
    var minFresh = 0
    var maxStale = Tolerance.none
    /// Seconds.
    var staleIfError: Int?

    /// The control of a request that asks for nothing.
    init() {}

    init(_ fields: HTTPFields) {
        let lines = fields.values(of: .cacheControl)
        // §5.4: Pragma counts only where there is no Cache-Control.
        guard !lines.isEmpty else {
            noCache = CacheDirectives(fields.values(of: .pragma)).contains("no-cache")
            return
        }
        let directives = CacheDirectives(lines)
        noCache = directives.contains("no-cache")
        noStore = directives.contains("no-store")
        onlyIfCached = directives.contains("only-if-cached")
        maxAge = Self.strictest(directives.seconds("max-age"))
        if case .value(let seconds) = directives.seconds("min-fresh") { minFresh = seconds }
        if case .value(let seconds) = directives.seconds("stale-if-error") { staleIfError = seconds }
        maxStale = Self.tolerance(directives)
    }

    private static func strictest(_ seconds: CacheDirectives.Seconds) -> Int? {
        switch seconds {
        case .absent: nil
        case .invalid: 0
        case .value(let value): value
        }
    }

    private static func tolerance(_ directives: CacheDirectives) -> Tolerance {
        let isBare = directives.directives.contains { $0.name == "max-stale" && $0.argument == nil }
        switch directives.seconds("max-stale") {
        case .value(let seconds): return .seconds(seconds)
        case .invalid:
            return isBare && directives.directives.count(where: { $0.name == "max-stale" }) == 1 ? .any : .none
        case .absent: return .none
        }
    }
}
