import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPRequest {
    /// Foundation's request, for what an app has already. Its time-out, cache policy and cookie setting are not taken over:
    /// they are options of the call.
    ///
    /// ```swift
    /// let response = try await client.send(HTTPRequest(signedRequest))
    /// ```
    ///
    /// - Throws: ``APIError/Kind/invalidParameter(field:reason:)`` for a URL that is not one of HTTP, or a method that is no
    ///   token; ``APIError/Kind/unsupported(feature:)`` for a body that is a stream, which could be read once at most.
    public init(_ request: URLRequest) throws(APIError) {
        guard request.httpBodyStream == nil || request.httpBody != nil else {
            throw APIError(.unsupported(feature: "a URLRequest whose body is a stream"), stage: .prepare)
        }
        let name = request.httpMethod ?? "GET"
        guard let method = HTTPMethod(rawValue: name) else {
            throw APIError(.invalidParameter(field: "method", reason: "no token (RFC 9110 §9.1)"), stage: .prepare)
        }
        var fields = HTTPFields()
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            fields.append(value, for: HTTPFieldName(name))
        }
        self.init(
            method: method, url: try Self.url(of: request), fields: fields,
            body: request.httpBody.map(HTTPBody.bytes) ?? .none)
    }

    private static func url(of request: URLRequest) throws(APIError) -> HTTPURL {
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(request.url?.absoluteString ?? "")
        } catch {
            throw APIError(.invalidParameter(field: "url", reason: "\(error)"), stage: .prepare, underlying: error)
        }
    }
}

extension URLRequest {
    /// A request as Foundation has it: for web views, for code that is not the app's own.
    ///
    /// - Throws: ``APIError/Kind/unsupported(feature:)`` for a URL that Foundation does not take as it is, and for a body that
    ///   is a stream; of a file Foundation gets a stream of its content.
    public init(_ request: HTTPRequest) throws(APIError) {
        guard let url = URL(request.url) else {
            throw APIError(.unsupported(feature: "this URL in a URLRequest"), stage: .prepare, request: request)
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        for field in request.fields { addValue(field.value, forHTTPHeaderField: field.name.text) }
        switch request.body.source {
        case .none: break
        case .bytes(let data): httpBody = data
        case .file(let file): httpBodyStream = InputStream(url: file)
        default:
            throw APIError(.unsupported(feature: "a streamed body in a URLRequest"), stage: .prepare, request: request)
        }
    }
}

extension HTTPResponse {
    /// Foundation's response, for tests and for code that is not the app's own. Fields come sorted by name, since their own
    /// order is lost, and the version is ``HTTPVersion/unknown``.
    public init(_ response: HTTPURLResponse, body: Data = Data()) {
        self = URLSessionResponse.head(of: response)
        self.body = body
    }

    /// The head as Foundation has it. Fields of one name are joined by commas.
    ///
    /// - Parameter url: where it came from.
    /// - Returns: `nil` where Foundation does not take the URL as it is.
    public func urlResponse(for url: HTTPURL) -> HTTPURLResponse? {
        guard let url = URL(url) else { return nil }
        var joined: [String: String] = [:]
        for field in fields { joined[field.name.text] = fields.combined(field.name) }
        let name = [HTTPVersion.http10: "HTTP/1.0", .http2: "HTTP/2", .http3: "HTTP/3"][version] ?? "HTTP/1.1"
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: name, headerFields: joined)
    }
}
