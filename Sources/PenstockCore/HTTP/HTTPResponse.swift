import Foundation

/// A complete response: head and body.
public struct HTTPResponse: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var status: Int
        var fields: HTTPFields
        var body: Data
        var version: HTTPVersion
        var trailers: HTTPFields = [:]
    }

    /// A response, for interceptors that answer themselves, for transports, and for tests.
    ///
    /// - Parameters:
    ///   - status: not checked here.
    ///   - body: with its content codings removed already. Empty by default.
    ///   - version: ``HTTPVersion/http11`` by default.
    public init(status: Int, fields: HTTPFields = [:], body: Data = Data(), version: HTTPVersion = .http11) {
        parts = Boxed(Parts(status: status, fields: fields, body: body, version: version))
    }

    /// The status code as the server sent it: 200 to 999 for anything a transport hands up.
    ///
    /// Interim (1xx) responses are never handed up. A code of 600 or more has no meaning of its own; a client treats it as
    /// a server error, like 500 to 599 (RFC 9110 §15). A transport refuses a code below 100 as a protocol violation.
    public var status: Int {
        get { parts.status }
        set { parts.status = newValue }
    }

    /// The fields as received: `Content-Encoding` and `Content-Length` still speak of the bytes on the wire.
    public var fields: HTTPFields {
        get { parts.fields }
        _modify { yield &parts.fields }
    }

    /// The content with its codings (gzip, br, zstd, deflate) removed.
    public var body: Data {
        get { parts.body }
        _modify { yield &parts.body }
    }

    /// The version of HTTP it came by, ``HTTPVersion/unknown`` where the platform does not tell. For a stored response,
    /// the version by which it came when it was stored.
    public var version: HTTPVersion {
        get { parts.version }
        set { parts.version = newValue }
    }

    /// The fields that came after the content (RFC 9110 §6.5). Never merged into ``fields``: they come too late to say
    /// how the content is to be read.
    public var trailers: HTTPFields {
        get { parts.trailers }
        _modify { yield &parts.trailers }
    }
}

extension HTTPResponse {
    /// Whether content can come after the head of a response (RFC 9110 §6.4.1): never after an interim one, 204, 304, or in answer
    /// to HEAD, whatever `Content-Length` says.
    package static func mayHaveContent(_ status: Int, to method: HTTPMethod) -> Bool {
        method != .head && status >= 200 && status != 204 && status != 304
    }

    /// Whether the same request may well be answered otherwise a little later, with nothing done but waiting: by a server, or by
    /// a gateway before it, that has too much to do, is starting, or failed once.
    static func isPassing(_ status: Int) -> Bool { [408, 425, 429, 500, 502, 503, 504].contains(status) }
}

/// The version of HTTP a response came by.
public struct HTTPVersion: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The ALPN-style name: `http/1.0`, `http/1.1`, `h2`, `h3`.
    public let rawValue: String

    /// A version by its name. One that is not among those below is kept as it is.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// HTTP/1.0 (RFC 1945).
    public static let http10 = HTTPVersion(rawValue: "http/1.0")
    /// HTTP/1.1 (RFC 9112).
    public static let http11 = HTTPVersion(rawValue: "http/1.1")
    /// HTTP/2 (RFC 9113).
    public static let http2 = HTTPVersion(rawValue: "h2")
    /// HTTP/3 (RFC 9114).
    public static let http3 = HTTPVersion(rawValue: "h3")
    /// The transport's platform does not tell.
    public static let unknown = HTTPVersion(rawValue: "unknown")

    public var description: String { rawValue }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(status) (\(body.count) bytes)" }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["status": status, "fields": fields, "bytes": body.count, "trailers": trailers],
            displayStyle: .struct)
    }
}
