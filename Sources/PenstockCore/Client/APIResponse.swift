import Foundation

/// What a call brought: the typed output, and everything it was made from.
public struct APIResponse<Output: Sendable>: Sendable {
    public var value: Output
    /// The content as it came, opened and decoded of its codings; reformers work on it.
    public var payload: Payload
    public var http: HTTPResponse
    /// The request of the last exchange, as it was sent.
    public var request: HTTPRequest
    /// The envelope's code and message, when there was an envelope.
    public var code: BusinessCode?
    public var message: String?
    /// Values that were of the wrong type and were replaced by their defaults.
    public var notes: [DecodingNote]
    public var source: ResponseSource
    public var timings: Timings
    public var connection: ConnectionInfo
    /// Every exchange of the call, the last one last: more than one when it was redirected.
    public var attempts: [APIError.Attempt]

    /// The raw bytes.
    public var data: Data { payload.data }
}
