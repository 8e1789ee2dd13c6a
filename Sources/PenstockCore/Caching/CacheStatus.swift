/// How a cache handled a request, in the form of the `Cache-Status` field (RFC 9211).
///
/// ```
/// Penstock; hit; ttl=376
/// Penstock; fwd=stale; fwd-status=304; detail=expired
/// ```
public struct CacheStatus: Hashable, Sendable, CustomStringConvertible {
    /// Why a request was sent (RFC 9211 §2.2).
    public enum Forward: String, Hashable, Sendable, CaseIterable {
        case bypass, method, request, stale, partial, miss
        case uriMiss = "uri-miss"
        case varyMiss = "vary-miss"
    }

    public enum Outcome: Hashable, Sendable {
        /// Answered from the cache; `ttl` is in seconds, negative when stale (§2.1, §2.4).
        case hit(ttl: Int)
        case forward(Forward)
        /// Neither: nothing usable was stored, and nothing might be sent.
        case none
    }

    public var outcome: Outcome
    public var reason: CacheReason
    /// The status of the response to what was sent (§2.3).
    public var forwardStatus: Int?
    /// Whether the response was stored (§2.5).
    public var isStored = false
    /// Whether the request was answered by the response to another one (§2.6).
    public var isCollapsed = false
    /// The cache key (§2.7); left out by default, as it may tell whom a response belongs to.
    public var key: String?

    public init(_ decision: CacheDecision) {
        reason = decision.reason
        switch decision {
        case .use(let hit), .useStaleAndRevalidate(let hit, _): outcome = .hit(ttl: hit.ttl)
        case .revalidate, .load: outcome = .forward(decision.reason.forward)
        case .refuse: outcome = .none
        }
    }

    /// Of an answer that needed nothing to be sent.
    public init(_ hit: CacheHit) {
        reason = hit.reason
        outcome = .hit(ttl: hit.ttl)
    }

    /// Of a request that is sent, whether or not something stored becomes its answer.
    public init(_ exchange: CacheExchange) {
        reason = exchange.reason
        outcome = .forward(exchange.reason.forward)
    }

    /// The field's value: one member of a list of structured items (RFC 8941), without the secrets of ``key``.
    public var description: String {
        var parts = ["Penstock"]
        switch outcome {
        case .hit(let ttl): parts += ["hit", "ttl=\(ttl)"]
        case .forward(let forward): parts.append("fwd=\(forward.rawValue)")
        case .none: break
        }
        if let forwardStatus { parts.append("fwd-status=\(forwardStatus)") }
        if isStored { parts.append("stored") }
        if isCollapsed { parts.append("collapsed") }
        if let key { parts.append("key=\(Self.quoted(Redaction.text(key)))") }
        parts.append("detail=\(reason.rawValue)")
        return parts.joined(separator: "; ")
    }

    /// A string of visible ASCII (RFC 8941 §3.3.3); what else there is becomes a question mark.
    private static func quoted(_ text: String) -> String {
        let body = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
            case 0x20...0x7E: [byte]
            default: [UInt8(ascii: "?")]
            }
        }
        return "\"\(String(decoding: body, as: UTF8.self))\""
    }
}

extension CacheReason {
    /// The word of RFC 9211 §2.2 for a request that was sent because of this.
    var forward: CacheStatus.Forward {
        switch self {
        case .uriMiss: .uriMiss
        case .varyMismatch: .varyMiss
        case .method: .method
        case .requestNoCache, .requestMaxAge, .requestMinFresh, .noStoreRequest, .originCondition: .request
        case .partial, .codedRange, .completed: .partial
        case .policy: .bypass
        case .onlyIfCached, .cacheOnly: .miss
        case .fresh, .maxStale, .staleWhileRevalidate, .staleIfError, .disconnected, .validated, .expired, .noCache,
            .invalidated, .clockMovedBack:
            .stale
        }
    }
}
