import Foundation

/// One stored response: everything but its body, which the store keeps.
///
/// A store finds it by ``key`` and ``variant`` and holds at most one for each pair.
public struct CachedResponse: Sendable {
    public let key: CacheKey
    /// The request fields that select this one among the responses of the key.
    public let variant: CacheVariant
    /// As it came; 206 while only a part is stored.
    public let status: Int
    /// As received, without those that must not be stored (RFC 9111 §3.1).
    public let fields: HTTPFields
    public let version: HTTPVersion
    /// When the request was sent, by the wall clock.
    public let requestTime: Date
    /// When the head of the response, or of the last one that validated it, came; by the wall clock.
    public let responseTime: Date
    /// How many bytes of body the store holds, content codings removed.
    public var bodyLength: Int
    /// Which bytes those are; `nil` when the body is complete.
    public var part: CachedPart?
    /// The app's own marks, by which it invalidates groups of responses.
    public var tags: [String]
    /// How long the app declared it fresh when it was stored; `nil` leaves that to the server.
    public var appTTL: Duration?
    /// How long after that the app would still take it when a load fails; `nil` leaves that to the server.
    public var appMaxStale: Duration?
    /// Must be validated before any use (RFC 9111 §4.4).
    public var isInvalidated: Bool
    /// What the fields say about reuse, read when it is first asked for: a look-up need not wait for it.
    package var terms: CacheTerms {
        readTerms.value {
            CacheTerms(status: status, fields: fields, requestTime: requestTime, responseTime: responseTime)
        }
    }

    private let readTerms = Once<CacheTerms>()

    public init(
        key: CacheKey, variant: CacheVariant = .init(), status: Int, fields: HTTPFields,
        version: HTTPVersion = .http11, requestTime: Date, responseTime: Date, bodyLength: Int,
        part: CachedPart? = nil, tags: [String] = [], appTTL: Duration? = nil, appMaxStale: Duration? = nil,
        isInvalidated: Bool = false
    ) {
        self.key = key
        self.variant = variant
        self.status = status
        self.fields = fields
        self.version = version
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.bodyLength = bodyLength
        self.part = part
        self.tags = tags
        self.appTTL = appTTL
        self.appMaxStale = appMaxStale
        self.isInvalidated = isInvalidated
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

/// Which bytes of a representation are stored (RFC 9111 §3.3).
public struct CachedPart: Hashable, Sendable {
    /// Offset of the first stored byte.
    public let offset: Int
    /// Length of the whole representation; `nil` when the server did not tell.
    public let completeLength: Int?

    public init(offset: Int, completeLength: Int?) {
        self.offset = offset
        self.completeLength = completeLength
    }
}
