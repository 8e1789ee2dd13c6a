/// A request as it goes to the wire (RFC 9110 §3.4).
public struct HTTPRequest: Sendable {
    public var method: HTTPMethod
    public var url: HTTPURL
    public var fields: HTTPFields
    public var body: HTTPBody

    public init(method: HTTPMethod, url: HTTPURL, fields: HTTPFields = [:], body: HTTPBody = .none) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}
