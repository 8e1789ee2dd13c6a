/// A request as it goes to the wire (RFC 9110 §3.4).
public struct HTTPRequest: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var method: HTTPMethod
        var url: HTTPURL
        var fields: HTTPFields
        var body: HTTPBody
    }

    public init(method: HTTPMethod, url: HTTPURL, fields: HTTPFields = [:], body: HTTPBody = .none) {
        parts = Boxed(Parts(method: method, url: url, fields: fields, body: body))
    }

    public var method: HTTPMethod {
        get { parts.method }
        set { parts.method = newValue }
    }

    public var url: HTTPURL {
        get { parts.url }
        set { parts.url = newValue }
    }

    public var fields: HTTPFields {
        get { parts.fields }
        _modify { yield &parts.fields }
    }

    public var body: HTTPBody {
        get { parts.body }
        set { parts.body = newValue }
    }
}
