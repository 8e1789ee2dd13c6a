/// A request as it goes to the wire (RFC 9110 §3.4).
public struct HTTPRequest: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var method: HTTPMethod
        var url: HTTPURL
        var fields: HTTPFields
        var body: HTTPBody
    }

    /// A request that is complete but for what the transport adds.
    ///
    /// - Parameters:
    ///   - fields: without those that frame the message or speak of the connection, such as `Content-Length`, `Host`
    ///     and `Connection`: the transport sets them, and a request that has one is refused. None by default.
    ///   - body: none by default.
    public init(method: HTTPMethod, url: HTTPURL, fields: HTTPFields = [:], body: HTTPBody = .none) {
        parts = Boxed(Parts(method: method, url: url, fields: fields, body: body))
    }

    /// Whether nothing of either was changed since the one was copied from the other.
    func isCopy(of other: HTTPRequest) -> Bool { parts.isShared(with: other.parts) }

    /// What is to be done with the target. It is case-sensitive (RFC 9110 §9.1).
    public var method: HTTPMethod {
        get { parts.method }
        set { parts.method = newValue }
    }

    /// Where the request goes: it gives the connection, the `Host` field, and the request target.
    public var url: HTTPURL {
        get { parts.url }
        set { parts.url = newValue }
    }

    /// The header fields in the order in which they are written. A request is refused before anything is sent where
    /// HTTP's grammar forbids one of them, or where one frames the message or speaks of the connection.
    public var fields: HTTPFields {
        get { parts.fields }
        _modify { yield &parts.fields }
    }

    /// What the request carries. The fields that frame it are made from its ``HTTPBody/length``.
    public var body: HTTPBody {
        get { parts.body }
        set { parts.body = newValue }
    }
}

extension HTTPRequest: CustomStringConvertible {
    public var description: String { "\(method) \(url) (\(body))" }
}
