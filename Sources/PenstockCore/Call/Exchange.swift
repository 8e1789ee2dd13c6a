import Foundation

/// A request as it was sent and the response to it.
public struct Exchange: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var request: HTTPRequest
        var response: HTTPResponse
        var content: (any TransportContent)?
        var timings: Timings
        var connection: ConnectionInfo
        var source: ResponseSource
        /// `nil` while ``request`` is what was sent.
        var sent: HTTPRequest?
        /// When the attempt that was answered was sent.
        var sentAt: Date?
        /// Why it was the last attempt, although it failed.
        var refusal: RetryRefusal?
    }

    /// What the stages it passed have left in it. Beside the rest, which others hold as well when it is changed.
    var remains = Remains()

    /// What stages leave in an exchange.
    struct Remains: Sendable {
        /// What the cache had to do with it; `nil` where it took no part.
        var cache: Boxed<CacheRecord>?
        var settlements: [Left] = []
        /// Whether the credential was refused and can be renewed: whatever the call makes of the response, it is replayed.
        var isRefused = false
        /// Whether an authenticator has put a credential onto the request, in whatever place.
        var hasCredential = false
        /// Whether it is the exchange of another call that asked for the same.
        var isJoined = false

        var isEmpty: Bool { cache == nil && settlements.isEmpty }
    }

    /// A settlement, and where it was left.
    struct Left: Sendable {
        let settlement: any Settlement
        /// Whether it speaks of a redirect that was followed on the way, and not of the answer.
        var isOfHop = false
    }

    /// An exchange of an interceptor's own making.
    ///
    /// - Parameter source: an interceptor unless told otherwise, since that is who makes exchanges besides Penstock itself.
    public init(
        request: HTTPRequest, response: HTTPResponse, content: (any TransportContent)? = nil,
        timings: Timings = .init(), connection: ConnectionInfo = .init(), source: ResponseSource = .interceptor
    ) {
        parts = Boxed(
            Parts(
                request: request, response: response, content: content, timings: timings, connection: connection,
                source: source))
    }

    /// The request that was answered. What came from the network has it as it was sent: with cookies, sealed and
    /// signed.
    public var request: HTTPRequest {
        get { parts.request }
        _modify {
            if parts.sent == nil { parts.sent = parts.request }
            yield &parts.request
        }
    }

    /// The request as it went to the wire, whatever an interceptor has put in its place since.
    var sentRequest: HTTPRequest {
        get { parts.sent ?? parts.request }
        set { parts.sent = newValue }
    }

    /// When the attempt that was answered was sent, by the wall clock; `nil` where no transport has answered.
    var sentAt: Date? {
        get { parts.sentAt }
        set { parts.sentAt = newValue }
    }

    /// Why it was the last attempt, although it failed; `nil` where there is nothing to tell.
    var retryRefusal: RetryRefusal? {
        get { parts.refusal }
        set { parts.refusal = newValue }
    }

    /// The response; of a streamed call, only the head.
    public var response: HTTPResponse {
        get { parts.response }
        _modify { yield &parts.response }
    }

    /// What follows the head of a streamed call; `nil` where the content is in ``response``.
    public var content: (any TransportContent)? {
        get { parts.content }
        set { parts.content = newValue }
    }

    /// When the phases of the exchange ended; all `nil` where nothing was sent.
    public var timings: Timings {
        get { parts.timings }
        set { parts.timings = newValue }
    }

    /// What it went over; all default values where nothing was sent.
    public var connection: ConnectionInfo {
        get { parts.connection }
        set { parts.connection = newValue }
    }

    /// Where the response came from.
    public var source: ResponseSource {
        get { parts.source }
        set { parts.source = newValue }
    }

    /// What the cache had to do with it; `nil` where it took no part.
    var cache: Boxed<CacheRecord>? {
        get { remains.cache }
        set { remains.cache = newValue }
    }

    /// Leaves a settlement.
    mutating func leave(_ settlement: any Settlement) {
        remains.settlements.append(Left(settlement: settlement))
    }
}

/// Where a response came from.
@nonexhaustive
public enum ResponseSource: String, Hashable, Sendable {
    /// The server, which sent all of it for this exchange.
    case network
    /// Stored, and at hand.
    case memory
    /// Stored, and read from where the store keeps what is not at hand.
    case disk
    /// Stored, and the server has just said that it is the current one, or has brought what was missing of it.
    case revalidated
    /// An interceptor answered.
    case interceptor
}

/// What the cache had to do with an exchange, as the caller is told.
struct CacheRecord: Sendable {
    var status: CacheStatus
    /// The age of what was stored; `nil` for what came from the server.
    var age: Duration?
    var isStale = false
}

extension Event.Answer {
    init(_ exchange: Exchange) {
        self.init(
            request: exchange.request, response: exchange.response, source: exchange.source,
            isJoined: exchange.remains.isJoined, isStale: exchange.cache?.isStale ?? false)
    }
}
