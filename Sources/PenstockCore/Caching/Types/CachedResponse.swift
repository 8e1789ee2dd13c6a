import Foundation

/// One stored response: everything but its body, which the store keeps.
///
/// A store finds it by ``key`` and ``variant`` and holds at most one for each pair.
public struct CachedResponse: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        let head: Head
        var bodyLength: Int
        var part: CachedPart?
        var tags: [String]
        var appTTL: Duration?
        var appMaxStale: Duration?
        var isInvalidated: Bool
    }

    /// A response to store, or one that was stored, as it was read.
    ///
    /// - Parameters:
    ///   - key: what it is found by.
    ///   - variant: the request fields that select it. None by default: it fits every request of the key.
    ///   - status: as it came; 206 while only a part is stored.
    ///   - fields: without those that must not be stored (RFC 9111 §3.1).
    ///   - requestTime: when the request was sent, by the wall clock.
    ///   - responseTime: when the head of the response, or of the last one that validated it, came; by the wall clock.
    ///   - bodyLength: in bytes, with content codings removed.
    ///   - part: which bytes the body is; `nil`, the default, when it is complete.
    ///   - tags: the app's own marks. None by default.
    ///   - appTTL: how long the app declared it fresh; `nil`, the default, leaves that to the server.
    ///   - appMaxStale: how long after that the app would still take it when a load fails; `nil`, the default, leaves
    ///     that to the server.
    ///   - isInvalidated: whether it must be validated before any use. `false` by default.
    public init(
        key: CacheKey, variant: CacheVariant = .init(), status: Int, fields: HTTPFields,
        version: HTTPVersion = .http11, requestTime: Date, responseTime: Date, bodyLength: Int,
        part: CachedPart? = nil, tags: [String] = [], appTTL: Duration? = nil, appMaxStale: Duration? = nil,
        isInvalidated: Bool = false
    ) {
        parts = Boxed(
            Parts(
                head: Head(key, variant, status, fields, version, requestTime, responseTime), bodyLength: bodyLength,
                part: part, tags: tags, appTTL: appTTL, appMaxStale: appMaxStale, isInvalidated: isInvalidated))
    }

    /// How many bytes of body the store holds, content codings removed.
    public var bodyLength: Int {
        get { parts.bodyLength }
        set { parts.bodyLength = newValue }
    }

    /// Which bytes those are; `nil` when the body is complete. Of a redirect that was followed none are stored, since its
    /// content was never read.
    public var part: CachedPart? {
        get { parts.part }
        set { parts.part = newValue }
    }

    /// The app's own marks, by which it invalidates groups of responses.
    public var tags: [String] {
        get { parts.tags }
        set { parts.tags = newValue }
    }

    /// How long the app declared it fresh when it was stored; `nil` leaves that to the server.
    public var appTTL: Duration? {
        get { parts.appTTL }
        set { parts.appTTL = newValue }
    }

    /// How long after that the app would still take it when a load fails; `nil` leaves that to the server.
    public var appMaxStale: Duration? {
        get { parts.appMaxStale }
        set { parts.appMaxStale = newValue }
    }

    /// Whether it must be validated before any use (RFC 9111 §4.4).
    public var isInvalidated: Bool {
        get { parts.isInvalidated }
        set { parts.isInvalidated = newValue }
    }
}

extension CachedResponse {
    private var head: Head { parts.head }

    /// What it is found by: the URL, and whose it is.
    public var key: CacheKey { head.key }
    /// The request fields that select this one among the responses of the key.
    public var variant: CacheVariant { head.variant }
    /// The status as it came; 206 while only a part is stored.
    public var status: Int { head.status }
    /// The fields as received, without those that must not be stored (RFC 9111 §3.1).
    public var fields: HTTPFields { head.fields }
    /// The version of HTTP it came by; a response that is made of it has the same.
    public var version: HTTPVersion { head.version }
    /// When the request was sent, by the wall clock.
    public var requestTime: Date { head.requestTime }
    /// When the head of the response, or of the last one that validated it, came; by the wall clock.
    public var responseTime: Date { head.responseTime }
    /// What the fields say about reuse, read when it is first asked for: a look-up need not wait for it.
    package var terms: CacheTerms { head.terms.value { CacheTerms(self) } }

    /// Whether the head alone is stored, because nobody has read the content: of a redirect that was followed.
    var isHeadAlone: Bool { part != nil && bodyLength == 0 && !(200...299).contains(status) }

    /// Whether it is a copy that nothing has been noted on since.
    func isSame(as other: CachedResponse) -> Bool {
        head === other.head && isInvalidated == other.isInvalidated
    }

    /// What never changes, shared by all copies: a response is handed on many times on its way.
    private final class Head: Sendable {
        let key: CacheKey
        let variant: CacheVariant
        let status: Int
        let fields: HTTPFields
        let version: HTTPVersion
        let requestTime: Date
        let responseTime: Date
        let terms = Once<CacheTerms>()

        init(
            _ key: CacheKey, _ variant: CacheVariant, _ status: Int, _ fields: HTTPFields, _ version: HTTPVersion,
            _ requestTime: Date, _ responseTime: Date
        ) {
            self.key = key
            self.variant = variant
            self.status = status
            self.fields = fields
            self.version = version
            self.requestTime = requestTime
            self.responseTime = responseTime
        }
    }
}

extension CachedResponse: Equatable {
    public static func == (left: CachedResponse, right: CachedResponse) -> Bool {
        left.key == right.key && left.variant == right.variant && left.status == right.status
            && left.fields == right.fields && left.version == right.version && left.requestTime == right.requestTime
            && left.responseTime == right.responseTime && left.bodyLength == right.bodyLength
            && left.part == right.part && left.tags == right.tags && left.appTTL == right.appTTL
            && left.appMaxStale == right.appMaxStale && left.isInvalidated == right.isInvalidated
    }
}

extension CachedResponse {
    /// Which bytes of the representation are held. `nil` for numbers that no response has and that only a store which has
    /// been tampered with gives.
    var held: Range<Int>? {
        let offset = part?.offset ?? 0
        let (end, isTooFar) = offset.addingReportingOverflow(bodyLength)
        return offset >= 0 && bodyLength >= 0 && !isTooFar ? offset..<end : nil
    }
}

/// Which bytes of a representation are stored (RFC 9111 §3.3).
public struct CachedPart: Hashable, Sendable {
    /// Offset of the first stored byte.
    public let offset: Int
    /// Length of the whole representation; `nil` when the server did not tell.
    public let completeLength: Int?

    /// A part of a representation.
    ///
    /// - Parameters:
    ///   - offset: of its first byte, counted from 0.
    ///   - completeLength: of the whole representation, in bytes; `nil` when the server did not tell.
    public init(offset: Int, completeLength: Int?) {
        self.offset = offset
        self.completeLength = completeLength
    }
}

/// A response as a store hands it out: what is known of it, and its body or the way to it.
public struct StoredResponse: Sendable {
    /// Everything but the body: key, variant, head, times and marks.
    public let response: CachedResponse
    /// Where the store has it.
    public let entry: CacheEntryID
    /// The body, when it came along; `nil` when it is to be read with ``CacheStore/bytes(of:from:)``.
    public let body: Data?

    /// A response that a store has found or has just stored.
    ///
    /// - Parameters:
    ///   - entry: where the store has its body.
    ///   - body: all of it; `nil` when it did not come along.
    public init(_ response: CachedResponse, entry: CacheEntryID, body: Data?) {
        self.response = response
        self.entry = entry
        self.body = body
    }
}

/// One body that was put into a store, and only that: whatever takes its place has another id.
public struct CacheEntryID: Hashable, Sendable {
    /// The place in the store.
    public let row: Int64
    /// Different for each body that was ever put there.
    public let version: UInt64

    /// An entry as a store of its own making numbers it.
    ///
    /// - Parameters:
    ///   - row: the place in the store; a later body may have the same one.
    ///   - version: a number that no other body in that place has had, such as a random one.
    public init(row: Int64, version: UInt64) {
        self.row = row
        self.version = version
    }
}

/// How much is stored.
public struct CacheStatistics: Hashable, Sendable {
    /// How many responses are stored. Each variant of a URL counts.
    public var entries: Int
    /// Bodies and metadata, as the store reckons them against its limit.
    public var bytes: Int

    /// Figures of a store; those of an empty one by default.
    ///
    /// - Parameters:
    ///   - entries: how many responses are stored.
    ///   - bytes: bodies and metadata, as the store reckons them against its limit.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

extension CachedResponse: CustomReflectable {
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "key": key, "variant": variant, "status": status, "fields": fields, "bodyLength": bodyLength,
            "part": part as Any, "tags": tags, "responseTime": responseTime, "isInvalidated": isInvalidated,
        ]
        return Redaction.mirror(of: self, children)
    }
}

extension StoredResponse: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(
            self, children: ["response": response, "entry": entry, "bytes": body?.count as Any], displayStyle: .struct)
    }
}
