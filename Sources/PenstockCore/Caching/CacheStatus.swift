/// How a cache handled a request, in the form of the `Cache-Status` field (RFC 9211).
///
/// ```
/// Penstock; hit; ttl=376
/// Penstock; fwd=stale; fwd-status=304; detail=expired
/// ```
public struct CacheStatus: Hashable, Sendable, CustomStringConvertible {
    /// Why a request was sent (RFC 9211 §2.2).
    public enum Forward: String, Hashable, Sendable, CaseIterable {
        /// The app's policy asks the server each time.
        case bypass
        /// The request's method is not answered from a cache.
        case method
        /// The request's own fields ask for it: `no-cache`, `no-store`, `max-age`, `min-fresh`, or a precondition that
        /// only the server may evaluate.
        case request
        /// What is stored is not fresh, or must be validated before it is used.
        case stale
        /// What is stored does not hold all the bytes that were asked for.
        case partial
        /// Nothing that is stored could be used, and the request was not to be sent.
        case miss
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// What is stored for the URL was selected by other request fields (RFC 9111 §4.1).
        case varyMiss = "vary-miss"
    }

    /// Where the answer came from.
    public enum Outcome: Hashable, Sendable {
        /// Answered from the cache, with nothing sent before; `ttl` is in seconds, negative when stale (§2.1, §2.4).
        case hit(ttl: Int)
        /// The request was sent, for this reason (§2.2), also where what is stored has stepped in for an answer that did not come.
        case forward(Forward)
        /// Neither: nothing usable was stored, and nothing was allowed to be sent.
        case none
    }

    /// Whether the request was answered from the cache, sent, or neither.
    public var outcome: Outcome
    /// Why, more exactly than the words of RFC 9211 tell: the field shows it as its `detail` (§2.8).
    public var reason: CacheReason
    /// The status of the response to what was sent (§2.3).
    public var forwardStatus: Int?
    /// Whether the response was stored (§2.5).
    public var isStored = false
    /// Whether the request was answered by the response to another one (§2.6).
    public var isCollapsed = false
    /// The cache key (§2.7); left out by default, as it may tell whom a response belongs to.
    public var key: String?

    /// The status of a step that is about to be carried out. Where the answer to what is sent changes it, the status is made anew of the
    /// ``CacheHit`` or the ``CacheExchange``.
    package init(_ step: CacheStep) {
        reason = step.reason
        switch step {
        case .deliver(let hit): outcome = .hit(ttl: hit.ttl)
        case .send, .refresh: outcome = .forward(step.reason.forward)
        case .refuse: outcome = .none
        }
    }

    /// The status of an answer that needed nothing to be sent.
    package init(_ hit: CacheHit) {
        self.init(.deliver(hit))
    }

    /// The status of a request that is sent, whether or not something stored becomes its answer.
    package init(_ exchange: CacheExchange) {
        self.init(.send(exchange))
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

extension CacheStatus: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["status": description], displayStyle: .struct) }
}
