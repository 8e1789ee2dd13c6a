import Foundation

/// What a call brought: the typed output, and everything it was made from.
public struct APIResponse<Output: Sendable>: Sendable {
    /// The typed output, as ``Endpoint/decoding-swift.property`` makes it.
    public var value: Output
    /// The content as it came, opened and decoded of its codings; reformers work on it.
    public var payload: Payload
    /// The envelope's code and message, when there was an envelope.
    public var code: BusinessCode?
    /// The envelope's message: `""` where the envelope had none, `nil` where there was no envelope.
    public var message: String?
    /// The properties that took their defaults: they were absent, `null`, or of a wrong type that the policy lets pass.
    /// The first hundred. What a ``ModelDecoder`` of the app's own decodes is not among them, nor what is decoded of the payload
    /// later on; and ``APIClient/lines(of:options:maxLineLength:in:)`` has no response to keep them in.
    public var notes: [DecodingNote]
    /// Every request of the call that was handed to the transport, in order: redirects, retries, hedges, replays with a new
    /// credential, and what the transport sent again by itself (``ConnectionInfo/resends``).
    public var attempts: [APIError.Attempt]
    private(set) var exchange: Exchange

    init(
        _ value: Output, _ notes: [DecodingNote], _ opened: Opened<Output>, _ exchange: Exchange,
        attempts: [APIError.Attempt]
    ) {
        self.value = value
        payload = opened.payload
        self.exchange = exchange
        code = opened.code
        message = opened.message
        self.notes = notes
        self.attempts = attempts
    }

    /// A response made by hand, for a preview, or for a test of what takes one.
    ///
    /// - Parameters:
    ///   - value: the typed output. Nothing checks that it is what `http` says.
    ///   - http: 200 without content by default. Its body becomes the ``payload``.
    ///   - request: what was asked.
    ///   - source: ``ResponseSource/network`` by default.
    public init(
        value: Output, http: HTTPResponse = HTTPResponse(status: 200), request: HTTPRequest,
        source: ResponseSource = .network
    ) {
        self.value = value
        payload = Payload(http.body, contentType: http.fields.combined(.contentType))
        exchange = Exchange(request: request, response: http, source: source)
        notes = []
        attempts = []
    }

    /// The last response with its body: as the server sent it, or as the cache made it of what is stored.
    public var http: HTTPResponse {
        get { exchange.response }
        _modify { yield &exchange.response }
    }

    /// The request of the last exchange, as it was sent.
    public var request: HTTPRequest {
        get { exchange.request }
        _modify { yield &exchange.request }
    }

    /// Where the response came from: the network, the cache, or an interceptor.
    public var source: ResponseSource {
        get { exchange.source }
        set { exchange.source = newValue }
    }

    /// Whether it is the response to another call that asked for the same; see ``InFlightPolicy/Strategy/join``.
    public var isJoined: Bool { exchange.remains.isJoined }

    /// How the cache handled the request, as RFC 9211 says it; `nil` where it took no part.
    public var cacheStatus: CacheStatus? { exchange.cache?.status }

    /// Whether it was stored, is past its freshness, and was not validated (RFC 9111 §4.2.4).
    public var isStale: Bool { exchange.cache?.isStale ?? false }

    /// How old a stored response is, in whole seconds (RFC 9111 §4.2.3); `nil` for what came from the server.
    public var age: Duration? { exchange.cache?.age }

    /// When the phases of the last exchange ended; all `nil` where nothing was sent.
    public var timings: Timings {
        get { exchange.timings }
        set { exchange.timings = newValue }
    }

    /// What the last exchange went over; all default values where nothing was sent.
    public var connection: ConnectionInfo {
        get { exchange.connection }
        set { exchange.connection = newValue }
    }

    /// The raw bytes.
    public var data: Data { payload.data }
}

extension APIResponse: CustomStringConvertible {
    /// Status, source and size, and then the value as it prints: `200 from network, 21 bytes: User(id: "7")`.
    public var description: String { "\(http.status) from \(source), \(data.count) bytes: \(value)" }
}
